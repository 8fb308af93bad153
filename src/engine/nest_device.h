// nest_device.h: launches of a loop nest on a device, and the nest's arrays there while it runs.
//
// NumPy's arrays are seen by others as soon as the nest has run. So an array is brought when a
// launch first needs it, stays for those behind it, and comes back where the host needs it in
// between, or at the end. Arrays of ours that nobody else sees lie where the engine has them
// (residence.h), and stay there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "engine/nest_memory.h"
#include "engine/residence.h"
#include "engine/stopwatch.h"
#include "schedule/nest_program.h"

namespace frit {

// Used under the engine's lock, for one run.
class NestOnDevice {
 public:
  NestOnDevice(const NestCall& call, const Nest& nest, NestAccount& account);
  NestOnDevice(const NestOnDevice&) = delete;
  NestOnDevice& operator=(const NestOnDevice&) = delete;
  ~NestOnDevice();  // what hasn't been brought home is lost

  // A launch on the host: what it took decides for later ones, where it was compiled.
  void note_host(KernelCode& code, bool is_compiled, double nanoseconds, double cost);
  // Is the launch worth its way? cost: on one core, in ns. extent: of the parallel loop; elements:
  // of the lanes in it, too, about.
  bool takes(const NestLaunch& launch, KernelCode& code, double cost, std::int64_t extent,
             double elements);
  // What a launch that it takes is given. own: of each operand that is no array of the call, the
  // memory of the host's; else empty.
  struct Run {
    const NestLaunch& launch;
    KernelCode& code;
    std::span<void* const> pointers;
    std::span<const std::int64_t> integers;
    std::span<const Scalar> scalars;
    std::int64_t extent = 0;
    double elements = 0;
    std::span<const std::span<std::byte>> own;
  };
  // false: it can't be done there, and nothing has been.
  bool run(const Run& run);
  // The host is about to read the arrays, or to write them.
  void bring_home(bool is_written);
  // All is home. The floating-point status flags that the launches raised.
  unsigned finish();
  // The same behind a launch that has stopped: what it has not stored stays what it was.
  void give_up();

 private:
  // Memory of arrays that share some, and the device's copy.
  struct Area {
    std::byte *low = nullptr, *high = nullptr;
    DeviceAddress address = 0;
    bool is_there = false;   // the copy is as new as the host's, or newer
    bool is_newest = false;  // the host's is older
    bool is_written = false;
    bool is_partial = false;  // what was not stored there was not brought either
    std::int32_t arrays = 1;
    Base* base = nullptr;  // whose memory it is, where that may stay there
    std::int64_t bytes() const { return high - low; }
  };
  struct Costs {
    double there = 0, saved = 0, brought = 0, avoided = 0;  // NestAccount
  };
  void locate();
  bool is_any_newest() const;
  std::vector<bool> whole_areas(const NestLaunch& launch) const;  // that it stores all of
  Costs costs_of(const NestLaunch& launch, double cost, std::int64_t threads) const;
  bool reads_what_it_writes(const Run& run, std::span<const std::int32_t> read) const;
  void wait();
  void look_for_own();  // where arrays of ours are now
  bool try_run(const Run& run);
  void bring(Area& area, bool is_whole);
  void drop_own(Area& area);
  void fetch(Area& area);
  void fetch_array(std::size_t array, const Area& area);
  ByteSpan span_of(std::size_t array) const {
    return bytes_of(call_.arrays[array], body_.operands[array].dtype);
  }

  const NestCall& call_;
  const Nest& nest_;
  const Kernel& body_;
  NestAccount& account_;
  Residence* residence_ = nullptr;  // null: not needed yet
  std::vector<Area> areas_;
  std::vector<std::int32_t> area_of_;  // by array; -1: it has no elements
  // Of the launch that was taken: its costs; by area, whether it stores all of it.
  Costs latest_;
  std::vector<bool> is_whole_;
  bool is_open_ = false;  // else all stays on the host
  const Stopwatch watch_;
  double cost_ = 0;         // guessed, of all launches by now
  bool is_typical_ = true;  // none on the host was interpreted
  double ahead_ = 0;        // the time of launches that nobody has waited for
  unsigned flags_ = 0;
  bool is_told_later_ = false;
};

}  // namespace frit
