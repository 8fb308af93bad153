// stopwatch.h: how long something took.
#pragma once

#include <chrono>

namespace frit {

class Stopwatch {
 public:
  // runs: else nobody will ask.
  explicit Stopwatch(bool runs = true) {
    if (runs) start_ = Clock::now();
  }
  double nanoseconds() const {
    return std::chrono::duration<double, std::nano>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_{};
};

}  // namespace frit
