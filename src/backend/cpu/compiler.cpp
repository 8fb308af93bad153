// compiler.cpp: the compile service: requests, the thread that serves them, and the caches.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "backend/cpu/cpu.h"
#include "backend/cpu/disk_cache.h"
#include "backend/cpu/executable.h"
#include "backend/cpu/identity.h"
#include "codegen/code.h"
#include "ir/error.h"
#include "ir/library.h"

namespace frit {
namespace {

// Opens libfrit_jit, and with it LLVM.
std::unique_ptr<codegen::Jit> open_libfrit_jit(const std::string& path) {
  try {
    return std::unique_ptr<codegen::Jit>(
        find_function<decltype(&frit_make_jit)>(path, "frit_make_jit")());
  } catch (const DeviceError& error) {
    throw DeviceError(text("the compiled tier is not available: ", error.what()));
  }
}

// LLVM's own clean-up at exit must not meet a running compile. Handlers run in the reverse order of
// their registration, so ours is registered once LLVM's are.
class ExitGuard {
 public:
  static ExitGuard& instance() {
    static ExitGuard* const guard = new ExitGuard;  // never destroyed: used while the process exits
    return *guard;
  }
  void add(Compiler* compiler) {
    const std::lock_guard lock(mutex_);
    live_.push_back(compiler);
  }
  void remove(Compiler* compiler) {
    const std::lock_guard lock(mutex_);
    std::erase(live_, compiler);
  }
  void arm() {
    std::atexit([] { instance().stop_all(); });
  }
  // LLVM registers more of its own whenever a compile needs something for the first time, and one
  // that runs may do so at any moment. But what belongs to a thread that ends the process is
  // destroyed before any handler runs.
  void watch_main_thread() {
    struct AtEnd {
      ~AtEnd() {
        if (getpid() == gettid()) instance().stop_all();
      }
    };
    static thread_local AtEnd at_end;
  }

 private:
  void stop_all() {
    const std::lock_guard lock(mutex_);
    for (Compiler* compiler : live_) compiler->stop();
  }
  std::mutex mutex_;
  std::vector<Compiler*> live_;
};

// The thread that loads the library is the main one wherever a program is linked with it. Other
// threads may then do all the work, and the main one end the process.
[[maybe_unused]] const bool is_main_thread_watched = [] {
  ExitGuard::instance().watch_main_thread();
  return true;
}();

class CompileService final : public Compiler {
  // Compiles and dumps take turns.
  template <class Use>
  auto with_jit(Use&& use) {
    const std::lock_guard lock(sync_->jit);
    if (!jit_) {
      if (!jit_failure_.empty()) throw DeviceError(jit_failure_);
      try {
        jit_ = open_jit_();
      } catch (const std::exception& error) {
        jit_failure_ = error.what();
        throw;
      }
      ExitGuard::instance().arm();
    }
    try {
      auto result = use(*jit_);
      ExitGuard::instance().arm();
      return result;
    } catch (...) {
      if (jit_->is_broken()) leave_jit();
      throw;
    }
  }
  // One kernel that LLVM can't do is no reason to interpret all others; many are.
  void leave_jit() {
    static_cast<void>(jit_.release());
    constexpr int most = 8;
    if (++jits_left_ == most)
      jit_failure_ = "the compiled tier is not available: LLVM has failed too often";
  }

 public:
  explicit CompileService(OpenJit open_jit)
      : jit_path_(path_beside_libfrit("libfrit_jit.so")),
        open_jit_(std::move(open_jit)),
        disk_({.folder = store_folder_from_environment(),
               .identity = cpu::code_identity(jit_path_)}) {
    if (!open_jit_) open_jit_ = [this] { return open_libfrit_jit(jit_path_); };
    ExitGuard::instance().add(this);
  }
  ~CompileService() override {
    ExitGuard::instance().remove(this);
    CompileService::stop();
  }

  Slot request(const Kernel& kernel) override {
    std::string key = serialize(kernel);
    const std::lock_guard lock(sync_->mutex);
    auto [entry, is_new] = entries_.try_emplace(std::move(key));
    Slot slot = entry->second.slot;
    if (!is_new) {
      if (!queue_.empty()) start_thread();  // after a fork they wait for a new thread
      return slot;
    }
    slot = entry->second.slot = std::make_shared<std::atomic<const Executable*>>(nullptr);
    if (stopping_ || load_from_disk(entry->first, entry->second)) return slot;
    enqueue({&entry->first, kernel, &entry->second, codegen::Effort::Quick, nullptr});
    return slot;
  }

  Slot find(const Kernel& kernel) override {
    std::string key = serialize(kernel);
    const std::lock_guard lock(sync_->mutex);
    if (const auto known = entries_.find(key); known != entries_.end()) {
      if (!queue_.empty()) start_thread();  // as in request
      return known->second.slot;
    }
    Entry entry{.slot = std::make_shared<std::atomic<const Executable*>>(nullptr)};
    if (stopping_ || !load_from_disk(key, entry)) return nullptr;
    Slot slot = entry.slot;
    entries_.emplace(std::move(key), std::move(entry));
    return slot;
  }

  bool improve(const Kernel& kernel, double seconds) override {
    const std::lock_guard lock(sync_->mutex);
    const auto known = entries_.find(serialize(kernel));
    if (known == entries_.end() || !known->second.is_improvable || stopping_) return true;
    // It takes two to three times the first compile, and gains a quarter of what follows; a program
    // that ends waits for it.
    if (seconds < 10 * known->second.compile_seconds) return false;
    known->second.is_improvable = false;
    enqueue({&known->first, kernel, &known->second, codegen::Effort::Thorough, nullptr});
    return true;
  }

  void request_grid(const Kernel& kernel, std::function<void(codegen::GridCode)> use) override {
    const std::lock_guard lock(sync_->mutex);
    if (!stopping_) enqueue({nullptr, kernel, nullptr, codegen::Effort::Quick, std::move(use)});
  }
  codegen::GridCode grid(const Kernel& kernel) override {
    return with_jit([&](codegen::Jit& jit) { return jit.compile_grid(kernel); });
  }

  void wait() override {
    std::unique_lock lock(sync_->mutex);
    if (!queue_.empty()) start_thread();
    sync_->changed.wait(lock, [&] { return stopping_ || (queue_.empty() && !busy_); });
  }
  void pause() override {
    std::unique_lock lock(sync_->mutex);
    ++pauses_;
    sync_->changed.notify_all();
    const std::unique_ptr<std::thread> thread = std::move(thread_);
    lock.unlock();
    if (thread) thread->join();
  }
  void resume() override {
    const std::lock_guard lock(sync_->mutex);
    if (--pauses_ == 0 && !queue_.empty()) start_thread();
  }
  // The thread does not exist in the child, and mutexes may be in any state: all are given up, not
  // destroyed. Where nobody paused the compiler before the fork, LLVM may be in any state too.
  void after_fork_in_child() override {
    static_cast<void>(sync_.release());
    static_cast<void>(thread_.release());
    sync_ = std::make_unique<Sync>();
    pauses_ = 0;
    if (!busy_) return;
    busy_ = false;
    static_cast<void>(jit_.release());
    jit_failure_ = "the compiled tier is not available: the process was forked during a compile";
  }
  void stop() override {
    {
      const std::lock_guard lock(sync_->mutex);
      stopping_ = true;
      queue_.clear();
      sync_->changed.notify_all();
    }
    if (thread_ && thread_->joinable()) thread_->join();
    thread_.reset();
  }
  CompilerStatistics statistics() const override {
    const std::lock_guard lock(sync_->mutex);
    return statistics_;
  }

  std::string llvm_text(const Kernel& kernel) override {
    return with_jit(
        [&](codegen::Jit& jit) { return jit.llvm_text(kernel, codegen::Effort::Quick); });
  }
  std::string assembly(const Kernel& kernel) override {
    return with_jit(
        [&](codegen::Jit& jit) { return jit.assembly(kernel, codegen::Effort::Quick); });
  }

 private:
  struct Entry {
    Slot slot;
    bool is_improvable = false;  // its code is there, and more effort would make it faster
    double compile_seconds = 0;  // of the first compile; 0 where it was read from disk
  };
  struct Request {
    const std::string* key;  // of the entry; both stay where they are
    Kernel kernel;
    Entry* entry;
    codegen::Effort effort;
    std::function<void(codegen::GridCode)> use_grid;  // of a request for a grid, which has no entry
  };
  struct Sync {
    std::mutex mutex;
    std::condition_variable changed;
    std::mutex jit;  // LLVM's context belongs to one thread at a time
  };

  // Called with the mutex held; a file of a few KB takes some ten microseconds.
  bool load_from_disk(const std::string& key, Entry& entry) {
    try {
      const std::optional<codegen::Code> code = disk_.load(key);
      if (!code) return false;
      publish(*code, entry);
      ++statistics_.loaded_from_disk;
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }
  void publish(const codegen::Code& code, Entry& entry) {
    executables_.push_back(cpu::make_executable(code));
    entry.slot->store(executables_.back().get(), std::memory_order_release);
    entry.is_improvable = code.is_improvable;
  }
  void enqueue(Request request) {
    ExitGuard::instance().watch_main_thread();
    // What has no code yet comes before what has some.
    auto place = queue_.end();
    if (request.effort == codegen::Effort::Quick)
      place = std::find_if(queue_.begin(), queue_.end(), [](const Request& other) {
        return other.effort == codegen::Effort::Thorough;
      });
    queue_.insert(place, std::move(request));
    start_thread();
    sync_->changed.notify_all();
  }

  // Signals are the program's own threads' business.
  void start_thread() {
    if (thread_ || stopping_ || pauses_ > 0) return;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      thread_ = std::make_unique<std::thread>([this] { serve(); });
    } catch (const std::system_error&) {
      queue_.clear();  // no thread to be had: the interpreter goes on
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  void serve() {
    pthread_setname_np(pthread_self(), "frit-compile");
    Sync& sync = *sync_;
    std::unique_lock lock(sync.mutex);
    while (true) {
      sync.changed.wait(lock, [&] { return stopping_ || pauses_ > 0 || !queue_.empty(); });
      if (stopping_ || pauses_ > 0) return;
      const Request request = std::move(queue_.front());
      queue_.pop_front();
      busy_ = true;
      lock.unlock();
      serve(request, lock);
      busy_ = false;
      sync.changed.notify_all();
    }
  }
  // Returns with the lock held.
  void serve(const Request& request, std::unique_lock<std::mutex>& lock) {
    if (request.use_grid) {
      const std::string key = serialize(request.kernel);
      std::optional<codegen::GridCode> kept = disk_.load_grid(key);
      const bool is_kept = kept.has_value();
      if (!kept) kept = new_grid(request.kernel, key);
      request.use_grid(std::move(*kept));
      lock.lock();
      ++(is_kept ? statistics_.loaded_from_disk : statistics_.compiled);
      return;
    }
    const auto start = std::chrono::steady_clock::now();
    std::optional<codegen::Code> code;
    std::string failure;
    try {
      code =
          with_jit([&](codegen::Jit& jit) { return jit.compile(request.kernel, request.effort); });
    } catch (const std::exception& error) {  // the slot stays empty: the interpreter goes on
      failure = error.what();
    }
    if (code) disk_.store(*request.key, *code);
    lock.lock();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    statistics_.compile_seconds += seconds;
    request.entry->compile_seconds = seconds;
    try {
      if (code) publish(*code, *request.entry);
    } catch (const std::exception& error) {
      failure = error.what();
      code.reset();
    }
    if (!code && statistics_.failed == 0) statistics_.failure = std::move(failure);
    if (request.effort == codegen::Effort::Thorough)
      statistics_.improved += code ? 1 : 0;
    else
      ++(code ? statistics_.compiled : statistics_.failed);
  }

  // Where there is none: why.
  codegen::GridCode new_grid(const Kernel& kernel, const std::string& key) {
    try {
      codegen::GridCode code = grid(kernel);
      disk_.store_grid(key, code);
      return code;
    } catch (const std::exception& error) {  // the CPU goes on
      codegen::GridCode none;
      none.why_not = error.what();
      return none;
    }
  }

  const std::string jit_path_;
  OpenJit open_jit_;
  cpu::DiskCache disk_;
  std::unique_ptr<Sync> sync_ = std::make_unique<Sync>();
  // By serialize(kernel); its keys stay where they are.
  std::unordered_map<std::string, Entry> entries_;
  std::vector<std::unique_ptr<const Executable>> executables_;
  std::deque<Request> queue_;
  std::unique_ptr<std::thread> thread_;
  bool busy_ = false, stopping_ = false;
  int pauses_ = 0;
  CompilerStatistics statistics_;

  std::unique_ptr<codegen::Jit> jit_;
  std::string jit_failure_;
  int jits_left_ = 0;
};

}  // namespace

std::unique_ptr<Compiler> make_compiler(OpenJit open_jit) {
  return std::make_unique<CompileService>(std::move(open_jit));
}

}  // namespace frit
