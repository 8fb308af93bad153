// residence.h: which arrays lie in a device's memory, and whose contents are the newest there.
//
// An array of which a device has a copy counts one pending access: as if a node were still to read
// it. Where only the device has its newest contents that access is a write. So who reads or writes
// memory waits for a device as he waits for nodes, and nobody else has to know that there is one.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "backend/device.h"
#include "engine/device_account.h"
#include "ir/trace.h"
#include "schedule/schedule.h"

namespace frit {

// All under the engine's lock.
class Residence {
 public:
  explicit Residence(std::unique_ptr<Device> device) : device_(std::move(device)) {}

  // What the device has of some memory of the host's. No address: nothing.
  struct Copy {
    DeviceAddress address = 0;
    std::int64_t bytes = 0;
    bool is_newest = false;  // the host's is older
  };
  struct Figures {
    std::int64_t uploaded = 0, downloaded = 0;  // bytes
  };

  Device& device() { return *device_; }
  DeviceAccount& account() { return account_; }
  const Figures& figures() const { return figures_; }
  void reset_figures() { figures_ = {}; }

  // ---- arrays ----
  bool is_newest(const Base& base) const;
  // The array's copy, made where there is none; has_contents: the host's memory holds something.
  // Throws std::bad_alloc where the device has no room, though other arrays made some.
  DeviceAddress bring(Base& base, bool has_contents);
  // By the device, to its copy.
  void note_written(Base& base);
  // All of the array is in this memory of the device's now.
  void replace(Base& base, DeviceAddress address);
  void fetch(Base& base);  // the host's memory is as new, if it was not
  void fetch_all();
  void drop(Base& base);  // the copy is gone, whatever it holds
  void drop_all();

  // ---- memory of a plan's own ----
  void bring(Copy& copy, const std::byte* host, std::int64_t bytes, bool has_contents);
  void fetch(Copy& copy, std::byte* host);
  static void note_written(Copy& copy) { copy.is_newest = true; }
  void drop(Copy& copy);
  // A plan's table, which doesn't change.
  DeviceAddress table(const std::shared_ptr<const Plan>& plan,
                      const std::vector<std::int64_t>& table);

  void upload(DeviceAddress to, const std::byte* from, std::int64_t bytes);
  void download(std::byte* to, DeviceAddress from, std::int64_t bytes);
  DeviceAddress allocate(std::int64_t bytes);
  void deallocate(DeviceAddress address, std::int64_t bytes) {
    device_->deallocate(address, bytes);
  }
  // These must stay as they are until this is called again.
  void begin_launch() { ++launch_; }

  // In the child after fork: the device can't be used any more, and all was fetched before.
  void forget_all();

 private:
  struct Resident : Copy {
    std::uint64_t launch = 0;  // the latest that has used it
  };
  struct Table {
    std::weak_ptr<const Plan> plan;
    DeviceAddress address = 0;
    std::int64_t bytes = 0;
  };
  bool make_room();
  void charge(const Copy& fetched);
  void lose(Resident& resident, Base& base);
  static void add(std::int32_t& count, std::int32_t number);

  std::unique_ptr<Device> device_;
  std::unordered_map<Base*, Resident> arrays_;
  std::unordered_map<const void*, Table> tables_;
  std::uint64_t launch_ = 1;
  Figures figures_;
  DeviceAccount account_;
};

}  // namespace frit
