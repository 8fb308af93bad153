// device_account.h: whether what a device saves pays for what has to be brought there and back.
//
// For FRIT_DEVICE=auto. One large kernel on arrays that lie in the program's memory is mostly not
// worth their way over the bus; a thousand of them are. Nobody knows how many will come, so they
// wait, as one rents skis until the rent would have bought them: a kernel goes when what the
// device would have saved so far pays for the transfers. So it takes at most about twice what it
// would have taken had one known. What is fetched later is charged to the kernel that made it; one
// that was sent in vain has to wait longer the next time.
#pragma once

#include <algorithm>

namespace frit {

// Of one kernel. All in nanoseconds.
class DeviceAccount {
 public:
  // saved: how much less it takes there, transfers aside. May be negative.
  bool pays(double saved, double transfers) const {
    return saved > 0 && balance_ + saved >= transfers;
  }
  void stayed(double saved) { balance_ += trust_ * std::max(0.0, saved); }
  void went(double saved, double transfers) { balance_ += saved - transfers; }
  // Somebody needed its result in the program's memory.
  void fetched(double cost) {
    balance_ -= cost;
    if (balance_ < 0) trust_ *= less_trust;
  }

 private:
  static constexpr double less_trust = 0.25;

  double balance_ = 0;
  double trust_ = 1;  // the part of what it would have saved that counts
};

}  // namespace frit
