// nest_device.cpp: what a nest's launches bring to a device, and what they leave there.
#include "engine/nest_device.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "backend/stop.h"
#include "engine/pack.h"
#include "engine/pool.h"
#include "ir/error.h"
#include "ir/kernel.h"
#include "schedule/nest_cost.h"

namespace frit {
namespace {

using PointerKind = NestLaunch::Pointer::Kind;

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

// How many cores a launch is worth on the host.
double cores_for(double cost) {
  return std::clamp(cost / nest_cost::part_awake, 1.0,
                    static_cast<double>(ThreadPool::get().threads()));
}

bool is_dense(const NestArgument& a, std::int64_t bytes, std::int64_t item) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : a.shape) elements *= extent;
  return elements * item == bytes && is_nested(a.shape, a.strides, item);
}

}  // namespace

NestOnDevice::NestOnDevice(const NestCall& call, const Nest& nest, NestAccount& account)
    : call_(call), nest_(nest), body_(nest.routine.body), account_(account) {
  is_open_ = account.begin();
  for (const NestArgument& a : call.arrays) {
    if (!a.base) continue;
    a.base->stamp = 0;
    if (a.base->is_on_device) residence_ = Engine::get().device_for(0);
  }
  if (!residence_) return;
  locate();
  look_for_own();
  is_open_ = is_open_ || is_any_newest();
}

NestOnDevice::~NestOnDevice() {
  if (!residence_) return;
  for (const Area& area : areas_)
    if (area.address && !area.base) residence_->deallocate(area.address, area.bytes());
  if (!is_told_later_) return;
  try {
    residence_->device().told_later();  // of no launch that comes
  } catch (const DeviceError&) {
  }
}

// Arrays that meet are one area.
void NestOnDevice::locate() {
  if (!area_of_.empty() || call_.arrays.empty()) return;
  for (std::size_t p = 0; p < call_.arrays.size(); ++p) {
    const ByteSpan bytes = span_of(p);
    Area added{.low = const_cast<std::byte*>(bytes.low),
               .high = const_cast<std::byte*>(bytes.high),
               .is_written = body_.operands[p].written};
    if (added.low >= added.high) continue;
    if (Base* base = call_.arrays[p].base) {
      added.base = base;
      added.low = base->data;
      added.high = base->data + base->bytes;
    }
    const auto meets = [&](const Area& other) {
      return added.low < other.high && other.low < added.high;
    };
    for (auto found = areas_.begin();
         (found = std::ranges::find_if(areas_, meets)) != areas_.end();) {
      added.low = std::min(added.low, found->low);
      added.high = std::max(added.high, found->high);
      added.is_written |= found->is_written;
      added.arrays += found->arrays;
      areas_.erase(found);
    }
    areas_.push_back(added);
  }
  for (std::size_t p = 0; p < call_.arrays.size(); ++p) {
    const ByteSpan bytes = span_of(p);
    const auto found = std::ranges::find_if(areas_, [&](const Area& area) {
      return bytes.low < bytes.high && area.low <= bytes.low && bytes.high <= area.high;
    });
    area_of_.push_back(found == areas_.end() ? -1
                                             : static_cast<std::int32_t>(found - areas_.begin()));
  }
}

// The engine makes room by arrays that no launch has used for long.
void NestOnDevice::look_for_own() {
  for (Area& area : areas_) {
    if (!area.base) continue;
    area.is_there = area.base->is_on_device;
    area.is_newest = residence_->is_newest(*area.base);
  }
}

// What the host has holds.
void NestOnDevice::drop_own(Area& area) {
  residence_->drop(*area.base);
  area.address = 0;
  area.is_there = area.is_newest = false;
}

bool NestOnDevice::is_any_newest() const { return std::ranges::any_of(areas_, &Area::is_newest); }

std::vector<bool> NestOnDevice::whole_areas(const NestLaunch& launch) const {
  std::vector<bool> found(areas_.size());
  for (const WholeStore& whole : launch.wholes) {
    const std::int32_t a = area_of_[at(whole.parameter)];
    if (a < 0 || areas_[at(a)].arrays != 1) continue;
    const NestArgument& array = call_.arrays[at(whole.parameter)];
    if (is_dense(array, areas_[at(a)].bytes(),
                 size_of(body_.operands[at(whole.parameter)].dtype)) &&
        covers(whole, nest_, call_.integers, array.shape))
      found[at(a)] = true;
  }
  return found;
}

NestOnDevice::Costs NestOnDevice::costs_of(const NestLaunch& launch, double cost,
                                           std::int64_t threads) const {
  const Device::Costs costs = residence_->device().costs();
  const auto over = [&](const Area& area, double byte) {
    return costs.launch + byte * static_cast<double>(area.bytes());
  };
  Costs found;
  for (const Area& area : areas_)
    if (area.is_newest) found.avoided += over(area, costs.download_byte);
  std::vector<bool> is_needed(areas_.size()), is_written(areas_.size());
  for (std::size_t k = 0; k < launch.operands.size(); ++k) {
    const NestLaunch::Pointer& p = launch.operands[k];
    if (p.kind != PointerKind::Parameter || area_of_[at(p.number)] < 0) continue;
    is_needed[at(area_of_[at(p.number)])] = true;
    if (launch.kernel->operands[k].written) is_written[at(area_of_[at(p.number)])] = true;
  }
  for (std::size_t a = 0; a < areas_.size(); ++a) {
    if (is_needed[a] && !areas_[a].is_there && !is_whole_[a])
      found.brought += over(areas_[a], costs.upload_byte);
    if (is_written[a] && !areas_[a].is_newest && !areas_[a].base)
      found.brought += over(areas_[a], costs.download_byte);
  }
  found.there = costs.time_of(cost, threads);
  found.saved = cost / cores_for(cost) - found.there;
  return found;
}

bool NestOnDevice::takes(const NestLaunch& launch, KernelCode& code, double guessed,
                         std::int64_t extent, double elements) {
  Engine& engine = Engine::get();
  cost_ += guessed;
  const double cost = std::max(guessed, code.core_rate.time_of(guessed, guessed));
  if (!is_open_ && !engine.device_takes_all()) return false;
  if (code.is_for_host || (cost < engine.least_device_cost() && !is_any_newest())) return false;
  if (!residence_) residence_ = engine.device_for(cost);
  if (!residence_) return false;
  locate();
  look_for_own();
  is_whole_ = whole_areas(launch);
  latest_ = costs_of(launch, cost, static_cast<std::int64_t>(elements));
  const auto pays = [&] {
    return engine.device_takes_all() ||
           account_.pays(latest_.saved, latest_.brought, latest_.avoided);
  };
  const auto stays = [&] {
    account_.stayed(latest_.saved);
    return false;
  };
  if (!pays()) return stays();
  if (!engine.is_ready_on_device(code)) return code.is_for_host ? false : stays();
  if (!code.on_device->shares_inner_loops()) {
    latest_ = costs_of(launch, cost, extent);
    if (!pays()) return stays();
  }
  return true;
}

// As operands that some threads read while others write.
bool NestOnDevice::reads_what_it_writes(const Run& run, std::span<const std::int32_t> read) const {
  const auto bytes_at = [&](std::size_t k) {
    const NestLaunch::Pointer& p = run.launch.operands[k];
    if (p.kind == PointerKind::Parameter) return span_of(at(p.number));
    return ByteSpan{run.own[k].data(), run.own[k].data() + run.own[k].size()};
  };
  return std::ranges::any_of(read, [&](std::int32_t r) {
    for (std::size_t k = 0; k < run.launch.operands.size(); ++k)
      if (run.launch.kernel->operands[k].written && overlap(bytes_at(k), bytes_at(at(r))))
        return true;
    return false;
  });
}

void NestOnDevice::bring(Area& area, bool is_whole) {
  if (area.base) {
    if (!area.base->is_on_device) area.is_partial = is_whole;
    area.address = residence_->bring(*area.base, !is_whole);
    area.is_there = true;
    return;
  }
  if (area.is_there) return;
  if (!area.address) area.address = residence_->allocate(area.bytes());
  area.is_partial = is_whole;
  if (is_whole) return;
  residence_->upload(area.address, area.low, area.bytes());
  area.is_there = true;
}

bool NestOnDevice::run(const Run& run) {
  if (try_run(run)) return true;
  for (Area& area : areas_)
    if (area.base && area.is_partial && !area.is_newest) drop_own(area);
  return false;
}

bool NestOnDevice::try_run(const Run& run) {
  const Kernel& kernel = *run.launch.kernel;
  const DeviceCode& code = *run.code.on_device;
  if (reads_what_it_writes(run, code.read_early())) return false;
  Device& device = residence_->device();
  residence_->begin_launch();
  // Of the host's own, and what arrays were where the launch may turn out not to hold.
  struct Memory {
    DeviceAddress address;
    std::int64_t bytes;
  };
  struct Release {
    Residence& residence;
    std::vector<Memory> all;
    ~Release() {
      for (const Memory& m : all) residence.deallocate(m.address, m.bytes);
    }
  } held{*residence_, {}};
  const auto allocate = [&](std::int64_t bytes) {
    held.all.reserve(held.all.size() + 1);
    held.all.push_back({residence_->allocate(bytes), bytes});
    return held.all.back().address;
  };
  std::vector<DeviceAddress> addresses;
  std::vector<Area*> written;
  bool has_own = false;
  DeviceOutcome outcome;
  std::vector<std::pair<Area*, DeviceAddress>> kept;
  try {
    for (std::size_t k = 0; k < run.launch.operands.size(); ++k) {
      const NestLaunch::Pointer& p = run.launch.operands[k];
      const auto* first = static_cast<const std::byte*>(run.pointers[k]);
      if (p.kind != PointerKind::Parameter) {
        const auto bytes = static_cast<std::int64_t>(run.own[k].size());
        addresses.push_back(allocate(bytes));
        residence_->upload(addresses.back(), run.own[k].data(), bytes);
        addresses.back() += static_cast<DeviceAddress>(first - run.own[k].data());
        has_own = true;
      } else if (const std::int32_t a = area_of_[at(p.number)]; a >= 0) {
        Area& area = areas_[at(a)];
        bring(area, is_whole_[at(a)]);
        addresses.push_back(area.address + static_cast<DeviceAddress>(first - area.low));
        if (kernel.operands[k].written && std::ranges::find(written, &area) == written.end())
          written.push_back(&area);
      } else {
        addresses.push_back(0);
      }
    }
    if (!code.fits(addresses, run.integers)) return false;
    if (code.may_be_rare())
      for (Area* area : written) {
        if (!area->is_newest) continue;  // the host's memory is as it was
        kept.emplace_back(area, allocate(area->bytes()));
        device.copy(kept.back().second, area->address, area->bytes());
      }
    outcome = device.run(code,
                         {.operands = addresses,
                          .integers = run.integers,
                          .scalars = run.scalars,
                          .extent = run.extent,
                          .elements = static_cast<std::int64_t>(run.elements),
                          .scratch_bytes = 0},
                         code.may_be_rare() ? Told::Now : Told::Later);
  } catch (const std::bad_alloc&) {
    return false;
  }
  if (outcome.is_rare) {
    for (Area* area : written) {
      if (area->is_newest) continue;  // what it was is put back
      if (area->base)
        drop_own(*area);
      else
        area->is_there = false;
    }
    for (const auto& [area, copy] : kept) device.copy(area->address, copy, area->bytes());
    run.code.is_for_host = true;
    run.code.why_not_on_device = "elements needed a second look";
    return false;
  }
  flags_ |= outcome.flags;
  is_told_later_ = is_told_later_ || !code.may_be_rare();
  for (Area* area : written) {
    area->is_there = area->is_newest = true;
    if (area->base) residence_->note_written(*area->base);
    area->is_partial = area->is_partial && is_asked_to_stop();
  }
  if (has_own)
    for (std::size_t k = 0; k < run.launch.operands.size(); ++k)
      if (run.launch.operands[k].kind != PointerKind::Parameter && kernel.operands[k].written) {
        const auto* first = static_cast<const std::byte*>(run.pointers[k]);
        residence_->download(run.own[k].data(),
                             addresses[k] - static_cast<DeviceAddress>(first - run.own[k].data()),
                             static_cast<std::int64_t>(run.own[k].size()));
      }
  ++Engine::get().statistics.device_launches;
  constexpr double far_ahead = 1e8;
  ahead_ += latest_.there;
  if (ahead_ > far_ahead) wait();  // else who asks it to stop would have to
  account_.went(latest_.saved, latest_.brought);
  return true;
}

// Between the elements of an array there may be memory that others write meanwhile.
void NestOnDevice::fetch_array(std::size_t array, const Area& area) {
  const NestArgument& a = call_.arrays[array];
  const ByteSpan span = span_of(array);
  const std::int64_t bytes = span.high - span.low, item = size_of(body_.operands[array].dtype);
  const DeviceAddress from = area.address + static_cast<DeviceAddress>(span.low - area.low);
  std::byte* low = area.low + (span.low - area.low);
  std::vector<std::byte> memory;
  bool has_gaps = !is_dense(a, bytes, item);
  try {
    if (has_gaps) memory.resize(static_cast<std::size_t>(bytes));
  } catch (const std::bad_alloc&) {  // better than to lose the results
    has_gaps = false;
  }
  if (!has_gaps) return residence_->download(low, from, bytes);
  residence_->download(memory.data(), from, bytes);
  copy_elements({a.data, a.strides}, {memory.data() + (a.data - low), a.strides}, a.shape,
                static_cast<int>(item));
}

void NestOnDevice::fetch(Area& area) {
  if (area.base) {
    residence_->fetch(*area.base);
    area.is_newest = false;
    return;
  }
  if (!area.is_newest) return;
  for (std::size_t p = 0; p < call_.arrays.size(); ++p)
    if (body_.operands[p].written && area_of_[p] >= 0 && &areas_[at(area_of_[p])] == &area)
      fetch_array(p, area);
  area.is_newest = false;
}

void NestOnDevice::bring_home(bool is_written) {
  if (!residence_) return;
  for (Area& area : areas_) {
    fetch(area);
    if (!is_written || !area.is_written) continue;
    if (area.base)
      drop_own(area);
    else
      area.is_there = false;
  }
}

void NestOnDevice::give_up() {
  for (Area& area : areas_) {
    if (!area.is_partial) continue;
    if (area.base)
      drop_own(area);
    else
      area.is_newest = false;
  }
  finish();
}

void NestOnDevice::wait() {
  if (std::exchange(is_told_later_, false)) flags_ |= residence_->device().told_later().flags;
  ahead_ = 0;
}

unsigned NestOnDevice::finish() {
  for (Area& area : areas_)
    if (!area.base) {
      fetch(area);
    } else if (area.base->exports > 0) {
      fetch(area);
      drop_own(area);
    }
  wait();
  account_.end(watch_.nanoseconds(), cost_, is_typical_);
  return flags_;
}

// By the cores that shared it. It varies with the data, and with what else the machine does.
void NestOnDevice::note_host(KernelCode& code, bool is_compiled, double nanoseconds, double cost) {
  is_typical_ = is_typical_ && is_compiled;
  if (is_compiled) code.core_rate.note(nanoseconds * cores_for(cost), cost);
}

}  // namespace frit
