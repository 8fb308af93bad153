// residence.cpp: copies of arrays: made, fetched and given up.
#include "engine/residence.h"

#include <algorithm>
#include <atomic>
#include <new>

#include "ir/error.h"

namespace frit {

// Other threads look at these without the lock, to read the elements where they are 0.
void Residence::add(std::int32_t& count, std::int32_t number) {
  std::atomic_ref(count).store(count + number, std::memory_order_release);
}

bool Residence::is_newest(const Base& base) const {
  if (!base.is_on_device) return false;
  return arrays_.at(const_cast<Base*>(&base)).is_newest;
}

DeviceAddress Residence::bring(Base& base, bool has_contents) {
  if (!base.is_on_device) {
    Resident made;
    made.bytes = base.bytes;
    made.address = allocate(base.bytes);
    try {
      arrays_.emplace(&base, made);
    } catch (...) {
      device_->deallocate(made.address, made.bytes);
      throw;
    }
    base.is_on_device = true;
    add(base.pending, 1);
    if (has_contents) upload(made.address, base.data, base.bytes);
  }
  Resident& resident = arrays_.at(&base);
  resident.launch = launch_;
  return resident.address;
}

void Residence::note_written(Base& base) {
  Resident& resident = arrays_.at(&base);
  if (!resident.is_newest) add(base.pending_writes, 1);
  resident.is_newest = true;
}

void Residence::replace(Base& base, DeviceAddress address) {
  if (!base.is_on_device) {
    Resident made;
    made.bytes = base.bytes;
    made.launch = launch_;
    arrays_.emplace(&base, made);
    base.is_on_device = true;
    add(base.pending, 1);
  }
  Resident& resident = arrays_.at(&base);
  if (resident.address) device_->deallocate(resident.address, resident.bytes);
  resident.address = address;
  note_written(base);
}

void Residence::charge(const Copy& fetched) {
  const Device::Costs costs = device_->costs();
  account_.fetched(costs.launch + costs.download_byte * static_cast<double>(fetched.bytes));
}

void Residence::fetch(Base& base) {
  if (!is_newest(base)) return;
  Resident& resident = arrays_.at(&base);
  download(base.data, resident.address, resident.bytes);
  charge(resident);
  resident.is_newest = false;
  add(base.pending_writes, -1);
}

void Residence::fetch_all() {
  for (auto& [base, resident] : arrays_)
    if (resident.is_newest) fetch(*base);
}

void Residence::lose(Resident& resident, Base& base) {
  device_->deallocate(resident.address, resident.bytes);
  if (resident.is_newest) add(base.pending_writes, -1);
  add(base.pending, -1);
  base.is_on_device = false;
}

void Residence::drop(Base& base) {
  if (!base.is_on_device) return;
  const auto found = arrays_.find(&base);
  lose(found->second, base);
  arrays_.erase(found);
}

void Residence::drop_all() {
  while (!arrays_.empty()) drop(*arrays_.begin()->first);
  for (auto& [_, table] : tables_)
    if (table.address) device_->deallocate(table.address, table.bytes);
  tables_.clear();
}

// ---- memory -------------------------------------------------------------------------------------

void Residence::upload(DeviceAddress to, const std::byte* from, std::int64_t bytes) {
  device_->upload(to, from, bytes);
  figures_.uploaded += bytes;
}
void Residence::download(std::byte* to, DeviceAddress from, std::int64_t bytes) {
  device_->download(to, from, bytes);
  figures_.downloaded += bytes;
}

// Half of what other launches have used, the longest ago first, goes back to the host.
bool Residence::make_room() {
  std::vector<std::pair<std::uint64_t, Base*>> others;
  for (const auto& [base, resident] : arrays_)
    if (resident.launch != launch_) others.emplace_back(resident.launch, base);
  if (others.empty()) return false;
  std::ranges::sort(others);
  others.resize((others.size() + 1) / 2);
  for (const auto& [_, base] : others) {
    fetch(*base);
    drop(*base);
  }
  return true;
}

DeviceAddress Residence::allocate(std::int64_t bytes) {
  for (;;) {
    try {
      return device_->allocate(bytes);
    } catch (const std::bad_alloc&) {
      if (!make_room()) throw;
    }
  }
}

void Residence::bring(Copy& copy, const std::byte* host, std::int64_t bytes, bool has_contents) {
  if (copy.address) return;
  copy.address = allocate(bytes);
  copy.bytes = bytes;
  copy.is_newest = false;
  if (has_contents) upload(copy.address, host, bytes);
}

void Residence::fetch(Copy& copy, std::byte* host) {
  if (!copy.is_newest) return;
  download(host, copy.address, copy.bytes);
  charge(copy);
  copy.is_newest = false;
}

void Residence::drop(Copy& copy) {
  if (copy.address) device_->deallocate(copy.address, copy.bytes);
  copy = {};
}

DeviceAddress Residence::table(const std::shared_ptr<const Plan>& plan,
                               const std::vector<std::int64_t>& table) {
  constexpr std::size_t most_tables = 1024;
  Table& known = tables_[table.data()];
  if (known.address && known.plan.lock() == plan) return known.address;
  if (known.address) device_->deallocate(known.address, known.bytes);
  known = {};
  if (tables_.size() > most_tables)
    std::erase_if(tables_, [&](auto& entry) {
      if (entry.first == table.data() || !entry.second.plan.expired()) return false;
      if (entry.second.address) device_->deallocate(entry.second.address, entry.second.bytes);
      return true;
    });
  Table& made = tables_[table.data()];
  made.bytes = static_cast<std::int64_t>(table.size() * sizeof(std::int64_t));
  made.address = allocate(made.bytes);
  made.plan = plan;
  upload(made.address, reinterpret_cast<const std::byte*>(table.data()), made.bytes);
  return made.address;
}

void Residence::forget_all() {
  for (auto& [base, resident] : arrays_) {
    if (resident.is_newest) add(base->pending_writes, -1);
    add(base->pending, -1);
    base->is_on_device = false;
  }
  arrays_.clear();
  tables_.clear();
  static_cast<void>(device_.release());  // what it holds belongs to the parent
}

}  // namespace frit
