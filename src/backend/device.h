// device.h: the interface of a device with memory of its own: a GPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "backend/backend.h"
#include "ir/kernel.h"
#include "ir/matrix_products.h"

namespace frit {
namespace codegen {
struct GridCode;
}

using DeviceAddress = std::uint64_t;

// A Kernel made ready for a device.
class DeviceCode {
 public:
  virtual ~DeviceCode() = default;
  // May a launch end with `is_rare`?
  virtual bool may_be_rare() const = 0;
  // Operands that must not be memory that the launch writes.
  virtual std::span<const std::int32_t> read_early() const = 0;
  // Do threads share its inner loops, too? (Else each takes whole iterations of the outer one.)
  virtual bool shares_inner_loops() const = 0;
  // Can it run with operands at these addresses, and these strides?
  virtual bool fits(std::span<const DeviceAddress> operands,
                    std::span<const std::int64_t> integers) const = 0;
};

struct DeviceLaunch {
  std::span<const DeviceAddress> operands;  // of a scratch operand: 0
  std::span<const std::int64_t> integers;
  std::span<const Scalar> scalars;
  std::int64_t extent = 0;         // of the parallel loop
  std::int64_t elements = 0;       // of its loops inside too
  std::int64_t scratch_bytes = 0;  // of one part
};

// What a stopped launch (backend/stop.h) has left is of no use to anybody.
struct DeviceOutcome {
  unsigned flags = 0;    // floating-point status flags
  bool is_rare = false;  // a formula didn't hold for an element: what was stored is not the answer
};

// When a launch's outcome is told.
enum class Told : std::uint8_t { Now, Later, Never };

// Used under the engine's lock. What goes on there is in order.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string description() const = 0;  // "NVIDIA H100 80GB HBM3"
  // Throws std::bad_alloc. Aligned to 256 bytes; the contents are undefined.
  virtual DeviceAddress allocate(std::int64_t bytes) = 0;
  virtual void deallocate(DeviceAddress memory, std::int64_t bytes) = 0;  // bytes as allocated
  // These wait until `from` or `to` is of no more use to the device. They throw DeviceError.
  virtual void upload(DeviceAddress to, const std::byte* from, std::int64_t bytes) = 0;
  virtual void download(std::byte* to, DeviceAddress from, std::int64_t bytes) = 0;
  virtual void copy(DeviceAddress to, DeviceAddress from, std::int64_t bytes) = 0;

  virtual void wait() = 0;  // until all is done

  struct Found {
    const DeviceCode* code = nullptr;  // null: it isn't there yet or, where that is settled,
    bool is_settled = false;           // the kernel is none for this device
    std::string_view why_not{};        // it is none; of the device's own
  };
  // wait: as long as it takes to make the code.
  virtual Found code_for(const std::shared_ptr<const Kernel>& kernel, bool wait) = 0;
  // Throws DeviceError, or std::bad_alloc where there is no scratch memory for it. Unless its
  // outcome is told now, it may go on behind the call.
  virtual DeviceOutcome run(const DeviceCode& code, const DeviceLaunch& launch, Told outcome) = 0;
  // Of all launches whose outcome is told later. Waits for them.
  virtual DeviceOutcome told_later() = 0;

  // The device's own library computes it. False: it has none for this, and nothing was done.
  // is_finite: whether all results are finite numbers, where that is asked for.
  struct Product {
    DeviceAddress left = 0, right = 0, out = 0;
    bool* is_finite = nullptr;
    // How the host does it, on memory at such addresses of its own: the result, left, right.
    std::function<void(std::span<std::byte* const>)> on_host;
  };
  virtual bool multiply(const MatrixProducts& products, const Product& where) = 0;

  // Nanoseconds that a launch takes beside its work, and a byte takes on its way over and back.
  struct Costs {
    double launch = 0, upload_byte = 0, download_byte = 0;
    // A thread takes so many times as long as a core of a CPU, whose lanes are several; more than
    // so many threads at a time gain nothing.
    double slowness = 0, most_threads = 1;
    // Of work that takes a core so long, shared by so many threads.
    double time_of(double cost, std::int64_t threads) const {
      const double used = std::min(static_cast<double>(threads), most_threads);
      return launch + cost * slowness / std::max(1.0, used);
    }
  };
  virtual Costs costs() const = 0;
  // As measured on an H200 behind PCIe, with 16 threads that copy.
  static constexpr Costs costs_of_gpu() {
    return {.launch = 15e3,
            .upload_byte = 0.04,
            .download_byte = 0.042,
            .slowness = 40,
            .most_threads = 1e4};
  }
};

// What a device takes from its host.
struct DeviceHost {
  // Code for a grid; `use` gets it on another thread, at some time. wait: until all is made.
  std::function<void(const Kernel&, std::function<void(codegen::GridCode&&)> use)> request_grid;
  std::function<void()> wait;
  // Copies memory by several threads.
  std::function<void(std::byte* to, const std::byte* from, std::size_t bytes)> copy;
  // The interpreter, and the status flags that the function raises.
  std::function<std::unique_ptr<Backend>()> make_interpreter;
  std::function<unsigned(const std::function<void()>&)> flags_of;
};
// These throw DeviceError where there is no such device.
std::unique_ptr<Device> make_cuda_device(DeviceHost host);
std::unique_ptr<Device> make_emulated_device(DeviceHost host, Device::Costs costs);

}  // namespace frit
