// on_device.cpp: steps of a plan on a device, and what the host needs of them.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

#include "backend/interp/interp.h"
#include "engine/engine.h"
#include "engine/float_flags.h"
#include "engine/overwritten.h"
#include "engine/pool.h"
#include "engine/residence.h"
#include "engine/running.h"

namespace frit {
namespace {

void copy_by_threads(std::byte* to, const std::byte* from, std::size_t bytes) {
  static constexpr std::size_t share = 256 << 10;
  if (bytes <= share) {
    std::memcpy(to, from, bytes);
    return;
  }
  struct Copy {
    std::byte* to;
    const std::byte* from;
    std::size_t bytes;
  } copy{to, from, bytes};
  ThreadPool::get().run(
      static_cast<std::int64_t>((bytes + share - 1) / share),
      [](void* p, std::int64_t k) {
        const auto& c = *static_cast<Copy*>(p);
        const std::size_t at = static_cast<std::size_t>(k) * share;
        std::memcpy(c.to + at, c.from + at, std::min(share, c.bytes - at));
      },
      &copy);
}

}  // namespace

// When first there is work for it: to open one takes some tenths of a second.
void Engine::open_device(const Running& running) {
  if (settings.device == DeviceKind::Cpu || residence_) return;
  const std::span steps(running.cached.plan->steps);
  double taken = 0;
  for (std::size_t k = 0; k < steps.size(); ++k)
    if (steps[k].kind == StepKind::Call)
      taken += work_for_device(running.nodes[steps[k].node]);
    else if (steps[k].kind == StepKind::Launch && steps[k].launch.cost >= least_device_cost())
      taken += time_on_host(steps[k].launch, *running.cached.code[k]);
  if (taken > 0 && is_worth_opening(taken)) try_open_device();
}

double Engine::time_on_host(const LaunchStep& launch, const KernelCode& code) {
  return code.host_rate.time_of(launch.cost, launch.cost / ThreadPool::get().threads());
}

bool Engine::is_worth_opening(double nanoseconds) {
  constexpr double opening = 3e8;
  if (!device_pays()) return true;
  closed_time_ += nanoseconds;
  return closed_time_ >= opening;
}

bool Engine::try_open_device() {
  try {
    open_device(settings.device);
    return true;
  } catch (const DeviceError& error) {
    const bool was_asked_for = !device_pays();
    settings.device = DeviceKind::Cpu;
    if (!was_asked_for) return false;
    std::fputs(text("frit: the device can't be used, the CPU is: ", error.what(), "\n").c_str(),
               stderr);
    return false;
  }
}

Residence* Engine::device_for(double cost) {
  if (!residence_ && !(is_worth_opening(cost / ThreadPool::get().threads()) && try_open_device()))
    return nullptr;
  return residence_;
}

void Engine::open_device(DeviceKind kind) {
  const auto known = std::ranges::find(residences_, kind, [](const auto& p) { return p.first; });
  if (known != residences_.end()) {
    residence_ = known->second.get();
    return;
  }
  DeviceHost host{.request_grid =
                      [this](const Kernel& kernel, std::function<void(codegen::GridCode &&)> use) {
                        compiler_->request_grid(kernel, std::move(use));
                      },
                  .wait = [this] { compiler_->wait(); },
                  .copy = copy_by_threads,
                  .make_interpreter = make_interpreter,
                  .flags_of =
                      [](const std::function<void()>& run) {
                        clear_float_flags();
                        run();
                        const unsigned raised = float_flags();
                        clear_float_flags();
                        return raised;
                      }};
  std::unique_ptr<Device> device;
  switch (kind) {
    case DeviceKind::Emulated:
      device = make_emulated_device(std::move(host), {});
      break;
    case DeviceKind::AutoEmulated:
      device = make_emulated_device(std::move(host), Device::costs_of_gpu());
      break;
    default:
      device = make_cuda_device(std::move(host));
  }
  residences_.emplace_back(kind, std::make_unique<Residence>(std::move(device)));
  residence_ = residences_.back().second.get();
}

void Engine::set_device(DeviceKind kind) {
  eval();
  if (residence_) residence_->drop_all();
  residence_ = nullptr;
  settings.device = DeviceKind::Cpu;
  for (auto& [_, code] : kernels_) {
    code->on_device = nullptr;
    code->is_for_host = false;
    code->why_not_on_device.clear();
  }
  if (kind != DeviceKind::Cpu && !has_to_pay(kind)) open_device(kind);  // the others wait for work
  settings.device = kind;
  forget_plans();  // these were made for another one
}

std::string Engine::device_description() {
  return residence_ ? residence_->device().description() : std::string();
}

void Engine::synchronize() {
  run_pending();
  if (residence_) residence_->device().wait();
}

// Of the emulated one all is tested.
double Engine::least_device_cost() const {
  return settings.device == DeviceKind::Emulated ? 0 : settings.device_cost;
}

void Engine::fetch(Base* base) {
  run_pending(base);
  if (residence_) residence_->fetch(*base);
}

void Engine::fetch_all() {
  if (residence_) residence_->fetch_all();
}

// Of the slots that others see all the time.
void Engine::fetch_pinned(Running& running) {
  if (!residence_) return;
  for (Base* base : running.slots) {
    if (!base->is_on_device || (base->exports == 0 && !base->foreign)) continue;
    residence_->fetch(*base);
    residence_->drop(*base);
  }
}

// For explain.
void Engine::note_place(const Step& step, std::string_view why_not_there) {
  last_places_[step.group] =
      why_not_there.empty() ? "on the device" : text("on the CPU: ", why_not_there);
}

// The host is about to read the memory, and perhaps to write it.
void Engine::bring_home(std::uint32_t slot, bool is_written, Running& running) {
  if (slot < running.slots.size()) {
    Base& base = *running.slots[slot];
    residence_->fetch(base);
    if (is_written) residence_->drop(base);
  } else {
    const std::size_t t = slot - running.slots.size();
    Residence::Copy& copy = running.copies[t];
    residence_->fetch(copy, running.temporaries[t]);
    if (is_written) residence_->drop(copy);
  }
  if (is_written) running.undefined[slot] = false;
}

void Engine::bring_home(const Step& step, Running& running) {
  switch (step.kind) {
    case StepKind::Launch:
      for (std::size_t k = 0; k < step.launch.operands.size(); ++k) {
        const Binding& b = step.launch.operands[k];
        const bool is_written = step.launch.kernel->operands[k].written;
        if (b.kind == Binding::Kind::Slot) bring_home(b.slot, is_written, running);
      }
      for (const LaunchStep::Shadow& shadow : step.launch.shadows)
        bring_home(shadow.slot, true, running);
      return;
    case StepKind::Combine:
      bring_home(step.combine.partials, false, running);
      bring_home(step.combine.out.slot, true, running);
      return;
    case StepKind::Call:
      for_each_access(running.nodes[step.node], [&](const Access& a, bool is_write) {
        bring_home(a.base->slot, is_write, running);
      });
      return;
  }
}

namespace {

// Does the launch read memory, as one operand, that it writes as another, or the same?
bool reads_what_it_writes(const LaunchStep& launch, std::span<const std::int32_t> read) {
  const auto is_written = [&](const Binding& b) {
    for (std::size_t k = 0; k < launch.operands.size(); ++k) {
      const Binding& other = launch.operands[k];
      if (launch.kernel->operands[k].written && other.kind == b.kind && other.slot == b.slot)
        return true;
    }
    return false;
  };
  return std::ranges::any_of(read, [&](std::int32_t k) {
    const Binding& b = launch.operands[static_cast<std::size_t>(k)];
    return (b.kind == Binding::Kind::Slot || b.kind == Binding::Kind::Shadow) && is_written(b);
  });
}

// Operands that are read somewhere: all that are loaded.
std::vector<std::int32_t> loaded_operands(const Kernel& kernel) {
  std::vector<std::int32_t> loaded;
  for_each_instr(kernel.code, [&](const Instr& instr) {
    if (instr.kind == InstrKind::Load) loaded.push_back(instr.address.operand);
  });
  return loaded;
}

}  // namespace

bool Engine::is_ready_on_device(KernelCode& code) {
  if (code.on_device) return true;
  const Device::Found found =
      residence_->device().code_for(code.kernel, settings.tier == Tier::Compiled);
  code.on_device = found.code;
  code.is_for_host = found.is_settled && !found.code;
  if (code.is_for_host) code.why_not_on_device = text("no code for the device: ", found.why_not);
  return code.on_device != nullptr;
}

Engine::Transfers Engine::transfers_of(const LaunchStep& launch, const Running& running) const {
  Transfers transfers;
  for (const Binding& b : launch.operands) {
    if (b.kind != Binding::Kind::Slot) continue;
    bool is_there = false, is_newest = false;
    std::int64_t bytes = 0;
    if (b.slot >= running.slots.size()) {
      const std::size_t t = b.slot - running.slots.size();
      is_there = running.copies[t].address != 0;
      is_newest = running.copies[t].is_newest;
      bytes = running.cached.plan->temporaries[t];
    } else {
      const Base& base = *running.slots[b.slot];
      is_there = base.is_on_device;
      is_newest = residence_->is_newest(base);
      bytes = base.bytes;
    }
    if (is_newest) transfers.back += bytes;
    if (!is_there && !running.undefined[b.slot]) transfers.there += bytes;
  }
  return transfers;
}

Engine::DeviceChoice Engine::device_code_for(const Step& step, KernelCode& code,
                                             const Running& running) {
  const LaunchStep& launch = step.launch;
  if (code.is_for_host) return {nullptr, code.why_not_on_device};
  const Transfers transfers = transfers_of(launch, running);
  if (transfers.back == 0 && launch.cost < least_device_cost()) return {nullptr, "it is short"};
  const Device::Costs costs = residence_->device().costs();
  const double on_host = time_on_host(launch, code);
  const auto saved_by = [&](std::int64_t threads) {
    return on_host - costs.time_of(launch.cost, threads);
  };
  const double brought = costs.upload_byte * static_cast<double>(transfers.there);
  const double avoided = costs.download_byte * static_cast<double>(transfers.back);
  DeviceAccount& account = residence_->account();
  const auto pays = [&](double saved) {
    return !device_pays() || account.pays(saved, brought, avoided);
  };
  const auto stays = [&](double saved, std::string_view why) {
    account.stayed(saved);
    return DeviceChoice{nullptr, why};
  };
  constexpr std::string_view too_dear = "what it would save doesn't pay for the transfers yet";
  if (const double saved = saved_by(launch.elements); !pays(saved)) return stays(saved, too_dear);
  if (!is_ready_on_device(code))
    return code.is_for_host
               ? DeviceChoice{nullptr, code.why_not_on_device}
               : stays(saved_by(launch.elements), "its code for the device isn't there yet");
  const double saved =
      saved_by(code.on_device->shares_inner_loops() ? launch.elements : launch.extent);
  // Few threads are slower than the host, even if it has to fetch what they need.
  if (saved + avoided < -costs.launch && !device_takes_all())
    return {nullptr, "few threads could share it"};
  if (!pays(saved)) return stays(saved, too_dear);
  constexpr std::string_view overlaps = "threads would read what others write";
  if (reads_what_it_writes(launch, code.on_device->read_early())) return {nullptr, overlaps};
  if (code.on_device->may_be_rare() && reads_what_it_writes(launch, loaded_operands(*code.kernel)))
    return {nullptr, "elements that need a second look would be gone"};
  return {code.on_device, {}, saved, brought};
}

// One that is taken from the account's first launch on decides for all: what follows finds its
// arrays there.
bool Engine::takes_apart(const PlanSweep& sweep, Running& running) {
  if (!device_pays()) return true;
  const std::span steps(running.cached.plan->steps);
  for (std::size_t k = sweep.first; k < sweep.behind; ++k)
    if (steps[k].kind == StepKind::Launch &&
        device_code_for(steps[k], *running.cached.code[k], running).code)
      return true;
  for (const Step& step : steps.subspan(sweep.first, sweep.behind - sweep.first))
    bring_home(step, running);
  return false;
}

// Each of its launches is taken to have had a part of the time.
void Engine::note_sweep(const PlanSweep& sweep, double nanoseconds, const CachedPlan& cached) {
  double cost = 0;
  for (std::size_t k = sweep.first; k < sweep.behind; ++k)
    if (cached.plan->steps[k].kind == StepKind::Launch) cost += cached.plan->steps[k].launch.cost;
  for (std::size_t k = sweep.first; k < sweep.behind; ++k)
    if (cached.plan->steps[k].kind == StepKind::Launch)
      cached.code[k]->host_rate.note(nanoseconds, cost);
}

std::string_view Engine::run_on_device(const Step& step, KernelCode& code, Running& running) {
  const LaunchStep& launch = step.launch;
  const auto [ready, why_not, saved, brought] = device_code_for(step, code, running);
  if (!ready) return why_not;
  Residence& residence = *residence_;
  residence.begin_launch();
  struct Shadow {
    Base* base;
    std::uint32_t slot;
    DeviceAddress address;
  };
  std::vector<Shadow> shadows;
  const auto give_up = [&](std::string_view why) {
    for (const Shadow& s : shadows) residence.deallocate(s.address, s.base->bytes);
    return why;
  };
  const auto address_of = [&](std::uint32_t slot) {
    const bool has_contents = !running.undefined[slot];
    if (slot < running.slots.size()) return residence.bring(*running.slots[slot], has_contents);
    const std::size_t t = slot - running.slots.size();
    residence.bring(running.copies[t], running.temporaries[t], running.cached.plan->temporaries[t],
                    has_contents);
    return running.copies[t].address;
  };
  std::vector<DeviceAddress> addresses;
  const auto bind_all = [&] {
    for (const LaunchStep::Shadow& s : launch.shadows) {
      Base* base = running.slots[s.slot];
      shadows.push_back({base, s.slot, residence.allocate(base->bytes)});
      if (!s.border.empty())
        residence.device().copy(shadows.back().address, address_of(s.slot), base->bytes);
    }
    for (const Binding& b : launch.operands) {
      DeviceAddress address = 0;
      switch (b.kind) {
        case Binding::Kind::Slot:
          address = address_of(b.slot);
          break;
        case Binding::Kind::Shadow:
          address = std::ranges::find(shadows, b.slot, &Shadow::slot)->address;
          break;
        case Binding::Kind::Table:
          address = residence.table(running.cached.plan, running.cached.plan->tables[b.slot]);
          break;
        case Binding::Kind::Scratch:
          break;
      }
      addresses.push_back(address + static_cast<DeviceAddress>(b.offset));
    }
  };
  const auto& group = running.cached.plan->groups[step.group].nodes;
  const bool is_checked =
      std::ranges::any_of(group, [&](std::uint32_t k) { return is_candidate(running.nodes[k]); });
  Overwritten overwritten;
  DeviceOutcome outcome;
  const std::vector<Scalar> scalars = running.scalars(launch);
  try {
    bind_all();
    if (!ready->fits(addresses, launch.integers))
      return give_up("its elements are not aligned as the device wants them");
    if (is_checked) overwritten = keep_overwritten(step, running);
    outcome = residence.device().run(*ready,
                                     {.operands = addresses,
                                      .integers = launch.integers,
                                      .scalars = scalars,
                                      .extent = launch.extent,
                                      .elements = launch.elements,
                                      .scratch_bytes = launch.scratch_bytes},
                                     is_checked || ready->may_be_rare() ? Told::Now : Told::Never);
  } catch (const std::bad_alloc&) {
    return give_up("the device has no memory for it");
  } catch (...) {
    give_up({});
    throw;
  }
  if (outcome.is_rare) return give_up("elements needed a second look");
  ++statistics.device_launches;
  residence.account().went(saved, brought);
  for (std::size_t k = 0; k < launch.operands.size(); ++k) {
    const Binding& b = launch.operands[k];
    if (b.kind != Binding::Kind::Slot || !launch.kernel->operands[k].written) continue;
    if (b.slot < running.slots.size())
      residence.note_written(*running.slots[b.slot]);
    else
      residence.note_written(running.copies[b.slot - running.slots.size()]);
    running.undefined[b.slot] = false;
  }
  if (is_checked && (outcome.flags & flags_of_interest))
    diagnose_from_device(step, running, overwritten, outcome.flags);
  for (const Shadow& s : shadows) {
    residence.replace(*s.base, s.address);
    running.undefined[s.slot] = false;
  }
  return {};
}

// As run_launch does, of small arrays.
Overwritten Engine::keep_overwritten(const Step& step, const Running& running) {
  const std::int64_t most_bytes = Overwritten::most_bytes_of(running.cached);
  const auto& group = running.cached.plan->groups[step.group].nodes;
  const auto is_small = [&](const Binding& b) {
    return b.kind == Binding::Kind::Slot && b.slot < running.slots.size() &&
           running.slots[b.slot]->bytes <= most_bytes;
  };
  if (std::ranges::none_of(step.launch.operands, is_small)) return {};
  return overwritten_by(group, running.nodes, most_bytes,
                        [&](Base& base) { residence_->fetch(base); });
}

// The shadowed arrays still have their old contents.
void Engine::diagnose_from_device(const Step& step, Running& running, Overwritten& overwritten,
                                  unsigned flags) {
  for (std::uint32_t k : running.cached.plan->groups[step.group].nodes)
    for_each_access(running.nodes[k], [&](const Access& a, bool) {
      if (a.base->data) residence_->fetch(*a.base);
    });
  for (std::size_t t = 0; t < running.copies.size(); ++t)
    if (running.temporaries[t]) residence_->fetch(running.copies[t], running.temporaries[t]);
  if (overwritten.empty())
    diagnose(step, running.cached, running.temporaries, flags);
  else
    diagnose(Overwritten::Restored(overwritten, step).step(), running.cached, running.temporaries,
             flags);
}

}  // namespace frit
