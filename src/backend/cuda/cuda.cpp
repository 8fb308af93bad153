// cuda.cpp: NVIDIA's GPUs: memory, transfers and launches, all in one stream.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>
#include <unordered_map>
#include <vector>

#include "backend/cuda/blas.h"
#include "backend/cuda/driver.h"
#include "backend/device.h"
#include "backend/stop.h"
#include "codegen/code.h"
#include "ir/error.h"

namespace frit {
namespace {

using namespace cuda;

class CudaCode final : public DeviceCode {
 public:
  CudaCode(std::shared_ptr<const Kernel> kernel, codegen::GridCode code, Function function)
      : kernel(std::move(kernel)), code(std::move(code)), function(function) {}

  bool may_be_rare() const override { return code.may_be_rare; }
  bool shares_inner_loops() const override { return code.form != codegen::GridForm::Threads; }
  std::span<const std::int32_t> read_early() const override { return code.read_early; }
  // Elements have to be aligned there.
  bool fits(std::span<const DeviceAddress> operands,
            std::span<const std::int64_t> integers) const override {
    const auto mask = [&](std::size_t operand) {
      return static_cast<std::uint64_t>(size_of(real_of(kernel->operands[operand].dtype)) - 1);
    };
    for (std::size_t k = 0; k < operands.size(); ++k)
      if (operands[k] & mask(k)) return false;
    return std::ranges::none_of(code.strides, [&](const auto& pair) {
      return static_cast<std::uint64_t>(integers[static_cast<std::size_t>(pair.second)]) &
             mask(static_cast<std::size_t>(pair.first));
    });
  }

  const std::shared_ptr<const Kernel> kernel;
  const codegen::GridCode code;
  const Function function;
};

// Sizes that blocks of memory have: eight for each power of two, so that an array of nearly the
// size of one that is gone finds its block.
std::int64_t rounded(std::int64_t bytes) {
  constexpr std::int64_t least = 512;
  if (bytes <= least) return least;
  const std::int64_t step =
      std::max(least, std::int64_t{1} << (std::bit_width(static_cast<std::uint64_t>(bytes)) - 4));
  return (bytes + step - 1) / step * step;
}

// Sets the state's first bit where one of n floats is infinite or NaN: these have all of its bits.
std::string look_for_infinities(std::string_view name, std::string_view bits,
                                std::string_view exponent, std::string_view shift) {
  return text(".visible .entry ", name, R"((.param .u64 data, .param .u64 n, .param .u64 state) {
  .reg .pred %p<3>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<8>;
  .reg .b)",
              bits, R"( %x;
  ld.param.u64 %rd1, [data];
  ld.param.u64 %rd2, [n];
  ld.param.u64 %rd3, [state];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %nctaid.x;
  mul.wide.u32 %rd4, %r3, %r2;
  cvt.u64.u32 %rd5, %r1;
  add.u64 %rd4, %rd4, %rd5;
  mul.wide.u32 %rd6, %r4, %r2;
next:
  setp.ge.u64 %p1, %rd4, %rd2;
  @%p1 bra end;
  shl.b64 %rd7, %rd4, )",
              shift, R"(;
  add.u64 %rd7, %rd1, %rd7;
  ld.global.b)",
              bits, R"( %x, [%rd7];
  and.b)",
              bits, " %x, %x, ", exponent, R"(;
  setp.eq.b)",
              bits, " %p2, %x, ", exponent, R"(;
  add.u64 %rd4, %rd4, %rd6;
  @!%p2 bra next;
  atom.global.or.b32 %r5, [%rd3], 1;
end:
  ret;
}
)");
}

std::string looks_for_infinities() {
  return ".version 6.3\n.target sm_70\n.address_size 64\n" +
         look_for_infinities("look_at_words", "32", "0x7f800000", "2") +
         look_for_infinities("look_at_long_words", "64", "0x7ff0000000000000", "3");
}

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(DeviceHost host) : host_(std::move(host)) {
    int count = 0;
    check(driver_.cuDeviceGetCount(&count), "cuDeviceGetCount");
    if (count == 0) throw DeviceError("CUDA: there is no GPU");
    check(driver_.cuDeviceGet(&device_, 0), "cuDeviceGet");
    int major = 0;
    check(driver_.cuDeviceGetAttribute(&major, attribute_major, device_), "cuDeviceGetAttribute");
    constexpr int volta = 7;
    if (major < volta) throw DeviceError("CUDA: the GPU is older than compute capability 7.0");
    check(driver_.cuDeviceGetAttribute(&processors_, attribute_multiprocessors, device_),
          "cuDeviceGetAttribute");
    check(driver_.cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain");
    use_context();
    for (Stream* stream : {&stream_, &beside_})
      check(driver_.cuStreamCreate(stream, stream_non_blocking), "cuStreamCreate");
    for (Staging& staging : staging_) {
      void* memory = nullptr;
      check(driver_.cuMemAllocHost(&memory, staging_bytes), "cuMemAllocHost");
      staging.memory = static_cast<std::byte*>(memory);
      check(driver_.cuEventCreate(&staging.done, event_without_timing), "cuEventCreate");
    }
    void* word = nullptr;
    check(driver_.cuMemAllocHost(&word, sizeof *outcome_), "cuMemAllocHost");
    outcome_ = static_cast<std::uint32_t*>(word);
    check(driver_.cuMemAlloc(&state_, 3 * sizeof *outcome_), "cuMemAlloc");
    check(driver_.cuMemsetD32Async(state_, 0, 3, stream_), "cuMemsetD32Async");
    const std::string looks = looks_for_infinities();
    looks_at_ = {function_of(looks.c_str(), "look_at_words"),
                 function_of(looks.c_str(), "look_at_long_words")};
    blas_ = Blas(stream_);
  }

  std::string description() const override {
    char words[128] = {};
    check(driver_.cuDeviceGetName(words, sizeof words - 1, device_), "cuDeviceGetName");
    return words;
  }

  // ---- memory ----

  DeviceAddress allocate(std::int64_t bytes) override {
    const std::int64_t size = rounded(bytes);
    if (auto& free = free_[size]; !free.empty()) {
      const Pointer memory = free.back();
      free.pop_back();
      return memory;
    }
    use_context();
    Pointer memory = 0;
    Result result = driver_.cuMemAlloc(&memory, static_cast<std::size_t>(size));
    if (result == out_of_memory) {
      release_free();
      result = driver_.cuMemAlloc(&memory, static_cast<std::size_t>(size));
    }
    if (result == out_of_memory) throw std::bad_alloc();
    check(result, "cuMemAlloc");
    return memory;
  }
  // What is still to be done with it comes before what the next owner does.
  void deallocate(DeviceAddress memory, std::int64_t bytes) override {
    free_[rounded(bytes)].push_back(memory);
  }

  // The driver copies from ordinary memory by one thread, at a third of the speed of the bus: so
  // through memory that it can reach itself, one block while the other is on its way.
  void upload(DeviceAddress to, const std::byte* from, std::int64_t bytes) override {
    use_context();
    const auto all = static_cast<std::size_t>(bytes);
    for (std::size_t at = 0; at < all; at += staging_bytes) {
      Staging& staging = next_staging();
      const std::size_t size = std::min(staging_bytes, all - at);
      move(staging.memory, from + at, size);
      check(driver_.cuMemcpyHtoDAsync(to + at, staging.memory, size, stream_), "cuMemcpyHtoDAsync");
      check(driver_.cuEventRecord(staging.done, stream_), "cuEventRecord");
    }
  }
  void download(std::byte* to, DeviceAddress from, std::int64_t bytes) override {
    use_context();
    const auto all = static_cast<std::size_t>(bytes);
    const std::size_t blocks = (all + staging_bytes - 1) / staging_bytes;
    const auto size_of_block = [&](std::size_t k) {
      return std::min(staging_bytes, all - k * staging_bytes);
    };
    const std::size_t first = staging_turn_;
    for (std::size_t k = 0; k <= blocks; ++k) {
      if (k < blocks) {
        Staging& staging = next_staging();
        check(driver_.cuMemcpyDtoHAsync(staging.memory, from + k * staging_bytes, size_of_block(k),
                                        stream_),
              "cuMemcpyDtoHAsync");
        check(driver_.cuEventRecord(staging.done, stream_), "cuEventRecord");
      }
      if (k == 0) continue;
      Staging& staging = staging_[(first + k - 1) % staging_.size()];
      check(driver_.cuEventSynchronize(staging.done), "a kernel or a copy");
      move(to + (k - 1) * staging_bytes, staging.memory, size_of_block(k - 1));
    }
  }
  void copy(DeviceAddress to, DeviceAddress from, std::int64_t bytes) override {
    use_context();
    check(driver_.cuMemcpyDtoDAsync(to, from, static_cast<std::size_t>(bytes), stream_),
          "cuMemcpyDtoDAsync");
  }

  void wait() override {
    use_context();
    check(driver_.cuStreamSynchronize(stream_), "a kernel or a copy");
  }

  // ---- code ----

  Found code_for(const std::shared_ptr<const Kernel>& kernel, bool wait) override {
    std::string key = serialize(*kernel);
    {
      const std::lock_guard lock(shared_->mutex);
      auto [entry, is_new] = shared_->entries.try_emplace(key);
      if (!is_new && (entry->second.is_done || !wait)) return found_in(entry->second);
      if (is_new) {
        host_.request_grid(*kernel, [this, kernel, key](codegen::GridCode&& code) {
          make_ready(key, kernel, std::move(code));
        });
        if (!wait) return {};
      }
    }
    host_.wait();
    const std::lock_guard lock(shared_->mutex);
    return found_in(shared_->entries[key]);
  }

  DeviceOutcome run(const DeviceCode& given, const DeviceLaunch& launch, Told told) override {
    const auto& code = static_cast<const CudaCode&>(given);
    use_context();
    Shape shape = shape_of(code, launch);
    Pointer scratch = 0;
    std::int64_t scratch_size = 0, scratch_bytes = launch.scratch_bytes;
    if (scratch_bytes > 0) {
      // As many parts at a time as this much memory is enough for.
      constexpr std::int64_t most_scratch = std::int64_t{256} << 20;
      const bool by_thread = code.code.form == codegen::GridForm::Threads;
      if (by_thread) shape.block_x = 32;
      const std::int64_t per_block = scratch_bytes * (by_thread ? shape.block_x : 1);
      if (per_block > most_scratch) throw std::bad_alloc();
      shape.grid_x = static_cast<unsigned>(
          std::clamp<std::int64_t>(shape.grid_x, 1, most_scratch / per_block));
      scratch_size = per_block * shape.grid_x;
      scratch = allocate(scratch_size);
    }
    Pointer state = told != Told::Never ? state_ : state_ + sizeof *outcome_;
    std::int64_t extent = launch.extent;
    std::vector<void*> parameters;
    parameters.reserve(launch.operands.size() + launch.integers.size() + 2 * launch.scalars.size() +
                       4);
    const auto pass = [&](const auto& value) {
      parameters.push_back(const_cast<void*>(static_cast<const void*>(&value)));
    };
    for (const DeviceAddress& operand : launch.operands) pass(operand);
    for (std::int32_t k = 0; k < code.kernel->integers; ++k)
      pass(launch.integers[static_cast<std::size_t>(k)]);
    for (std::size_t k = 0; k < code.kernel->scalars.size(); ++k) {
      const DType dtype = code.kernel->scalars[k];
      pass(launch.scalars[k].bytes[0]);
      if (is_complex(dtype)) pass(launch.scalars[k].bytes[size_of(real_of(dtype))]);
    }
    pass(extent);
    pass(scratch);
    pass(scratch_bytes);
    pass(state);
    const Pointer stop = state_ + 2 * sizeof *outcome_;
    if (code.kernel->may_stop) pass(stop);
    const Result result =
        driver_.cuLaunchKernel(code.function, shape.grid_x, shape.grid_y, 1, shape.block_x,
                               shape.block_y, 1, 0, stream_, parameters.data(), nullptr);
    if (scratch) deallocate(scratch, scratch_size);
    check(result, "cuLaunchKernel");
    if (code.code.looks_for_stop) stop_where_asked(stop);
    return told == Told::Now ? told_later() : DeviceOutcome{};
  }
  DeviceOutcome told_later() override {
    use_context();
    const std::uint32_t outcome = this->outcome();
    return {.flags = outcome & ~codegen::grid_rare, .is_rare = (outcome & codegen::grid_rare) != 0};
  }

  bool multiply(const MatrixProducts& products, const Product& where) override {
    use_context();
    if (!blas_.multiply(products, where.left, where.right, where.out)) return false;
    if (!where.is_finite) return true;
    const DType part = real_of(products.dtype);
    const Function looks = part == DType::Float32 ? looks_at_.words : looks_at_.long_words;
    std::uint64_t count = static_cast<std::uint64_t>(products.rows) *
                          static_cast<std::uint64_t>(products.columns) * products.starts.size() *
                          (is_complex(products.dtype) ? 2U : 1U);
    Pointer out = where.out, state = state_;
    void* parameters[] = {&out, &count, &state};
    constexpr unsigned threads = codegen::most_grid_threads;
    const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(
        (count + threads - 1) / threads, std::uint64_t{32} * static_cast<unsigned>(processors_)));
    check(
        driver_.cuLaunchKernel(looks, blocks, 1, 1, threads, 1, 1, 0, stream_, parameters, nullptr),
        "cuLaunchKernel");
    *where.is_finite = outcome() == 0;
    return true;
  }

  Costs costs() const override { return costs_of_gpu(); }

 private:
  struct Shape {
    unsigned grid_x = 1, grid_y = 1, block_x = 1, block_y = 1;
  };
  struct Entry {
    bool is_done = false;
    std::unique_ptr<const CudaCode> code;  // null: the kernel is none for a grid
    std::string why_not;
  };
  static Found found_in(const Entry& entry) {
    return {entry.code.get(), entry.is_done, entry.why_not};
  }
  struct Shared {  // with the compile thread
    std::mutex mutex;
    std::unordered_map<std::string, Entry> entries;
  };
  struct Staging {
    std::byte* memory = nullptr;
    Event done = nullptr;
  };
  static constexpr std::size_t staging_bytes = 4 << 20;
  static constexpr std::int64_t elements_of_tree_thread = 16;

  void check(Result result, const char* what) const { driver_.check(result, what); }

  void use_context() const {
    static thread_local Context current = nullptr;
    if (current == context_) return;
    check(driver_.cuCtxSetCurrent(context_), "cuCtxSetCurrent");
    current = context_;
  }

  // Waits for what goes on, and passes on what somebody asks of it meanwhile.
  void stop_where_asked(Pointer stop) {
    bool was_asked = false;
    for (;;) {
      const Result result = driver_.cuStreamQuery(stream_);
      if (result != not_ready) {
        check(result, "a kernel");
        break;
      }
      if (!was_asked && is_asked_to_stop()) {
        was_asked = true;
        check(driver_.cuMemsetD32Async(stop, 1, 1, beside_), "cuMemsetD32Async");
      }
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    if (!was_asked) return;
    check(driver_.cuStreamSynchronize(beside_), "cuStreamSynchronize");
    check(driver_.cuMemsetD32Async(stop, 0, 1, stream_), "cuMemsetD32Async");
  }

  // Waits for the state of what has been launched, and clears it.
  std::uint32_t outcome() {
    check(driver_.cuMemcpyDtoHAsync(outcome_, state_, sizeof *outcome_, stream_),
          "cuMemcpyDtoHAsync");
    check(driver_.cuStreamSynchronize(stream_), "a kernel");
    const std::uint32_t outcome = *outcome_;
    if (outcome != 0) check(driver_.cuMemsetD32Async(state_, 0, 1, stream_), "cuMemsetD32Async");
    return outcome;
  }

  void release_free() {
    driver_.cuStreamSynchronize(stream_);
    for (auto& [_, blocks] : free_) {
      for (const Pointer memory : blocks) driver_.cuMemFree(memory);
      blocks.clear();
    }
  }

  Staging& next_staging() {
    Staging& staging = staging_[staging_turn_];
    staging_turn_ = (staging_turn_ + 1) % staging_.size();
    check(driver_.cuEventSynchronize(staging.done), "a kernel or a copy");
    return staging;
  }
  void move(std::byte* to, const std::byte* from, std::size_t bytes) const {
    host_.copy(to, from, bytes);
  }

  // On the compile thread.
  void make_ready(const std::string& key, const std::shared_ptr<const Kernel>& kernel,
                  codegen::GridCode code) {
    std::unique_ptr<const CudaCode> made;
    try {
      if (code.why_not.empty()) {
        use_context();
        const Function function = function_of(code.text.c_str(), codegen::grid_entry);
        made = std::make_unique<const CudaCode>(kernel, std::move(code), function);
      }
    } catch (const DeviceError& error) {  // the driver refuses it: the CPU goes on
      code.why_not = error.what();
    }
    std::string why_not = made ? std::string() : std::move(code.why_not);
    const std::lock_guard lock(shared_->mutex);
    shared_->entries[key] = {true, std::move(made), std::move(why_not)};
  }
  Function function_of(const char* ptx, const char* name) const {
    Module module = nullptr;
    check(driver_.cuModuleLoadDataEx(&module, ptx, 0, nullptr, nullptr), "cuModuleLoadDataEx");
    Function function = nullptr;
    check(driver_.cuModuleGetFunction(&function, module, name), "cuModuleGetFunction");
    return function;
  }

  // Enough blocks to fill the device several times over; threads go on from there.
  Shape shape_of(const CudaCode& code, const DeviceLaunch& launch) const {
    const std::int64_t most_blocks = std::int64_t{32} * processors_;
    const auto blocks = [&](std::int64_t count, std::int64_t most) {
      return static_cast<unsigned>(std::clamp<std::int64_t>(count, 1, most));
    };
    const auto parts = [](std::int64_t all, std::int64_t each) { return (all + each - 1) / each; };
    constexpr std::int64_t threads = codegen::most_grid_threads;
    const std::int64_t inner =
        std::max<std::int64_t>(1, launch.elements / std::max<std::int64_t>(1, launch.extent));
    const auto width = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(inner)));
    Shape shape;
    switch (code.code.form) {
      case codegen::GridForm::Threads:
        // A few threads each on all processors, rather than many on some.
        shape.block_x = static_cast<unsigned>(std::clamp<std::int64_t>(
            std::int64_t(
                std::bit_floor(static_cast<std::uint64_t>(launch.extent / processors_ + 1))),
            32, threads));
        shape.grid_x = blocks(parts(launch.extent, shape.block_x), most_blocks);
        break;
      case codegen::GridForm::Rows:
        shape.block_x = static_cast<unsigned>(std::min(width, threads));
        shape.block_y = static_cast<unsigned>(threads / shape.block_x);
        shape.grid_x = blocks(parts(launch.extent, shape.block_y), most_blocks);
        shape.grid_y = blocks(parts(inner, shape.block_x),
                              std::max<std::int64_t>(1, most_blocks / shape.grid_x));
        break;
      case codegen::GridForm::Blocks:
        // More threads than a tree has use for would only keep other blocks away.
        shape.block_x = static_cast<unsigned>(std::clamp<std::int64_t>(
            code.code.adds_in_trees ? width / elements_of_tree_thread : width, 32, threads));
        shape.grid_x = blocks(launch.extent, most_blocks);
        break;
    }
    return shape;
  }

  const Driver driver_;
  const DeviceHost host_;
  DeviceNumber device_ = 0;
  int processors_ = 1;
  Context context_ = nullptr;
  Stream stream_ = nullptr, beside_ = nullptr;
  std::array<Staging, 2> staging_;
  std::size_t staging_turn_ = 0;
  std::uint32_t* outcome_ = nullptr;  // where the launch's state arrives
  struct LooksAt {
    Function words = nullptr, long_words = nullptr;
  } looks_at_;
  Blas blas_{nullptr};
  // Words: of launches that somebody waits for; of others; the one that asks them to stop.
  Pointer state_ = 0;
  std::unordered_map<std::int64_t, std::vector<Pointer>> free_;
  std::unique_ptr<Shared> shared_ = std::make_unique<Shared>();
};

}  // namespace

std::unique_ptr<Device> make_cuda_device(DeviceHost host) {
  return std::make_unique<CudaDevice>(std::move(host));
}

}  // namespace frit
