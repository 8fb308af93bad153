// executable.cpp: code pages: written first, executable then, never both.
#include "backend/cpu/executable.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "backend/stop.h"
#include "ir/error.h"

namespace frit::cpu {
namespace {

class CodePages {
 public:
  explicit CodePages(const std::string& bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    size_ = (bytes.size() + page - 1) / page * page;
    memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED)
      throw DeviceError(text("mmap of ", size_, " bytes: ", std::strerror(errno)));
    std::memcpy(memory_, bytes.data(), bytes.size());
    if (mprotect(memory_, size_, PROT_READ | PROT_EXEC) != 0) {
      const int error = errno;
      munmap(memory_, size_);
      throw DeviceError(text("mprotect of code: ", std::strerror(error)));
    }
    __builtin___clear_cache(static_cast<char*>(memory_), static_cast<char*>(memory_) + size_);
  }
  ~CodePages() { munmap(memory_, size_); }
  CodePages(const CodePages&) = delete;
  CodePages& operator=(const CodePages&) = delete;

  const std::byte* begin() const { return static_cast<const std::byte*>(memory_); }

 private:
  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

class CompiledKernel final : public Executable {
 public:
  explicit CompiledKernel(const codegen::Code& code) : pages_(code.bytes) {
    check(code.entry < code.bytes.size(), "compiled code has its entry inside");
    entry_ = reinterpret_cast<codegen::Entry>(reinterpret_cast<std::uintptr_t>(pages_.begin()) +
                                              code.entry);
    static_assert(static_cast<std::uint8_t>(StopState::Asked) == codegen::asked_to_stop);
    outside_.push_back(&stop_state);
    for (const codegen::CallOut& call_out : code.call_outs) {
      const void* const function = function_of_numbers(call_out.math, call_out.op, call_out.in);
      outside_.push_back(
          function ? function
                   : reinterpret_cast<const void*>(loop(call_out.math, call_out.op, call_out.in)));
      check(outside_.back() != nullptr, "what compiled code calls exists");
    }
  }
  void run(const LaunchArguments& arguments, std::int64_t begin, std::int64_t end,
           std::byte* scratch) const override {
    entry_(arguments.pointers, arguments.integers, arguments.scalars, begin, end, scratch,
           outside_.data());
  }

 private:
  CodePages pages_;
  codegen::Entry entry_ = nullptr;
  std::vector<const void*> outside_;
};

}  // namespace

std::unique_ptr<const Executable> make_executable(const codegen::Code& code) {
  return std::make_unique<CompiledKernel>(code);
}

}  // namespace frit::cpu
