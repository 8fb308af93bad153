// stoppable_run.cpp: who may be asked to stop, and when.
#include "engine/stoppable_run.h"

#include <atomic>

#include "backend/stop.h"
#include "engine/engine.h"

namespace frit {

bool StoppableRun::has_ended_after(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return news_.wait_for(lock, time, [this] { return stage_ == Stage::Ended; });
}

void StoppableRun::stop() {
  std::unique_lock lock(mutex_);
  is_unwanted_ = true;
  if (stage_ == Stage::Runs) stop_state = StopState::Asked;
  news_.wait(lock, [this] { return stage_ == Stage::Ended; });
}

void StoppableRun::throw_error() const {
  if (error_) std::rethrow_exception(error_);
}

void StoppableRun::run(const std::function<void()>& work) {
  const std::scoped_lock engine(Engine::lock());
  if (may_begin()) {
    try {
      work();
    } catch (...) {
      error_ = std::current_exception();
    }
  }
  const std::scoped_lock lock(mutex_);
  stop_state = StopState::Unasked;
  stage_ = Stage::Ended;
  news_.notify_one();
}

bool StoppableRun::may_begin() {
  const std::scoped_lock lock(mutex_);
  if (!is_unwanted_) stage_ = Stage::Runs;
  return !is_unwanted_;
}

namespace {

std::atomic<bool> is_over = false, is_elsewhere = false;
struct Elsewhere {
  Elsewhere() { is_elsewhere = true; }
  ~Elsewhere() { is_elsewhere = false; }
  Elsewhere(const Elsewhere&) = delete;
  Elsewhere& operator=(const Elsewhere&) = delete;
};

}  // namespace

bool run_elsewhere(const std::function<void()>& work) {
  const std::scoped_lock engine(Engine::lock());
  if (is_over) return false;
  const Elsewhere here;  // one at a time has the lock
  try {
    work();
  } catch (const Stopped&) {
    return false;
  }
  return true;
}

bool is_running_elsewhere() { return is_elsewhere; }

void end_runs_elsewhere() {
  is_over = true;
  stop_state = StopState::Asked;
  const std::scoped_lock engine(Engine::lock());  // it has ended
  stop_state = StopState::Unasked;
}

}  // namespace frit
