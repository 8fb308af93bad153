// stoppable_run.cpp: who may be asked to stop, and when.
#include "engine/stoppable_run.h"

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
  if (stage_ == Stage::Runs) stop_flag = true;
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
  stop_flag = false;
  stage_ = Stage::Ended;
  news_.notify_one();
}

bool StoppableRun::may_begin() {
  const std::scoped_lock lock(mutex_);
  if (!is_unwanted_) stage_ = Stage::Runs;
  return !is_unwanted_;
}

}  // namespace frit
