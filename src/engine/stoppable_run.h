// stoppable_run.h: work under the engine's lock in a thread of its own, that may be stopped.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace frit {

class StoppableRun {
 public:
  // Throws std::system_error where there are no more threads. The work outlives the run.
  explicit StoppableRun(const std::function<void()>& work)
      : thread_([this, &work] { run(work); }) {}
  StoppableRun(const StoppableRun&) = delete;
  StoppableRun& operator=(const StoppableRun&) = delete;
  ~StoppableRun() { thread_.join(); }

  bool has_ended_after(std::chrono::milliseconds time);
  // Asks its launch to (backend/stop.h), and waits until it has.
  void stop();
  void throw_error() const;  // that the work, which has ended, has thrown

 private:
  // Only what runs under the engine's lock is asked to stop: before, that is another's launch.
  enum class Stage : std::uint8_t { Waits, Runs, Ended };

  void run(const std::function<void()>& work);
  bool may_begin();

  std::mutex mutex_;
  std::condition_variable news_;
  Stage stage_ = Stage::Waits;
  bool is_unwanted_ = false;
  std::exception_ptr error_;
  std::thread thread_;  // the last: it uses the others
};

// Runs it in this thread, which is not the main one. false: the process ends, and stopped it.
bool run_elsewhere(const std::function<void()>& work);
// Does such a run last? It may be endless, and began when nothing was pending.
bool is_running_elsewhere();
// At exit: stops it, and lets none begin.
void end_runs_elsewhere();

}  // namespace frit
