// emulated.cpp: a device for tests: the interpreter, on memory that is not the program's.
//
// What the engine does for a GPU (which copy of an array is the newest, who waits for it) goes
// wrong here as it would there, without one.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backend/device.h"

namespace frit {
namespace {

struct EmulatedCode final : DeviceCode {
  std::shared_ptr<const Kernel> kernel;
  std::shared_ptr<const Executable> executable;

  bool may_be_rare() const override { return false; }
  bool shares_inner_loops() const override { return true; }
  std::span<const std::int32_t> read_early() const override { return {}; }
  bool fits(std::span<const DeviceAddress>, std::span<const std::int64_t>) const override {
    return true;
  }
};

class EmulatedDevice final : public Device {
 public:
  EmulatedDevice(DeviceHost host, Costs costs)
      : host_(std::move(host)), costs_(costs), interpreter_(host_.make_interpreter()) {}

  std::string description() const override { return "the interpreter on memory of its own"; }

  DeviceAddress allocate(std::int64_t bytes) override {
    if (in_use_ + bytes > most_) throw std::bad_alloc();
    in_use_ += bytes;
    auto* memory = static_cast<std::byte*>(
        ::operator new(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)), alignment));
    // What nobody has written there is no number that a program could take for one.
    std::memset(memory, 0xa5, static_cast<std::size_t>(bytes));
    return reinterpret_cast<DeviceAddress>(memory);
  }
  void deallocate(DeviceAddress memory, std::int64_t bytes) override {
    in_use_ -= bytes;
    std::memset(at(memory), 0x5a, static_cast<std::size_t>(bytes));
    ::operator delete(at(memory), alignment);
  }
  void upload(DeviceAddress to, const std::byte* from, std::int64_t bytes) override {
    std::memcpy(at(to), from, static_cast<std::size_t>(bytes));
  }
  void download(std::byte* to, DeviceAddress from, std::int64_t bytes) override {
    std::memcpy(to, at(from), static_cast<std::size_t>(bytes));
  }
  void copy(DeviceAddress to, DeviceAddress from, std::int64_t bytes) override {
    std::memmove(at(to), at(from), static_cast<std::size_t>(bytes));
  }

  void wait() override {}

  Found code_for(const std::shared_ptr<const Kernel>& kernel, bool) override {
    auto& code = codes_[serialize(*kernel)];
    if (!code) {
      code = std::make_unique<EmulatedCode>();
      code->kernel = kernel;
      code->executable = interpreter_->compile(*kernel);
    }
    return {code.get(), true};
  }

  DeviceOutcome run(const DeviceCode& code, const DeviceLaunch& launch, Told told) override {
    std::vector<void*> pointers;
    for (const DeviceAddress operand : launch.operands) pointers.push_back(at(operand));
    std::vector<std::byte> scratch(static_cast<std::size_t>(launch.scratch_bytes) + 64);
    void* aligned = scratch.data();
    std::size_t room = scratch.size();
    std::align(64, static_cast<std::size_t>(launch.scratch_bytes), aligned, room);
    const unsigned flags = host_.flags_of([&] {
      static_cast<const EmulatedCode&>(code).executable->run(
          {pointers.data(), launch.integers.data(), launch.scalars.data()}, 0, launch.extent,
          static_cast<std::byte*>(aligned));
    });
    if (told == Told::Later) later_ |= flags;
    return {.flags = told == Told::Now ? flags : 0, .is_rare = false};
  }
  DeviceOutcome told_later() override {
    return {.flags = std::exchange(later_, 0U), .is_rare = false};
  }
  // As the host does, so that the bits are the same.
  bool multiply(const MatrixProducts& products, const Product& where) override {
    std::byte* const pointers[] = {at(where.out), at(where.left), at(where.right)};
    where.on_host(pointers);
    if (!where.is_finite) return true;
    const DType part = real_of(products.dtype);
    const auto count = static_cast<std::int64_t>(products.starts.size()) * products.rows *
                       products.columns * (is_complex(products.dtype) ? 2 : 1);
    std::vector<std::uint8_t> answers(static_cast<std::size_t>(count));
    void* args[] = {answers.data(), at(where.out)};
    loop(Op::Isfinite, part)(args, count, 0);
    *where.is_finite = std::ranges::find(answers, 0) == answers.end();
    return true;
  }
  // Where there are none, all is worth it: the more goes there, the more is tested.
  Costs costs() const override { return costs_; }

 private:
  static constexpr std::align_val_t alignment{256};
  static std::byte* at(DeviceAddress address) { return reinterpret_cast<std::byte*>(address); }

  // FRIT_EMULATED_MEMORY: how many bytes it has.
  const std::int64_t most_ = [] {
    const char* given = std::getenv("FRIT_EMULATED_MEMORY");
    return given ? std::strtoll(given, nullptr, 10) : std::numeric_limits<std::int64_t>::max();
  }();
  std::int64_t in_use_ = 0;
  unsigned later_ = 0;
  const DeviceHost host_;
  const Costs costs_;
  std::unique_ptr<Backend> interpreter_;
  std::unordered_map<std::string, std::unique_ptr<EmulatedCode>> codes_;
};

}  // namespace

std::unique_ptr<Device> make_emulated_device(DeviceHost host, Device::Costs costs) {
  return std::make_unique<EmulatedDevice>(std::move(host), costs);
}

}  // namespace frit
