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
#include <utility>

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

// Of one run of a loop nest after another, each of which brings its arrays and takes them back. Its
// launches follow one another at once, so that most of what they will save can be known: it is what
// those of the run before would have. Without one they rent, as above.
class NestAccount {
 public:
  void begin() {
    expected_ = std::exchange(possible_, 0);
    // Launches that the host comes between bring their arrays again and again.
    if (sent_ && net_ < 0) {
      expected_ = 0;
      trust_ *= less_trust;
    }
    balance_ = spent_ = net_ = 0;
    sent_ = false;
  }
  // saved: how much less a launch takes there; transfers: what it has to bring, and what has to be
  // taken back for it; avoided: the host would have to fetch what is there, which will be wanted
  // there again.
  bool pays(double saved, double transfers, double avoided) const {
    if (saved + avoided <= 0) return false;
    return balance_ + saved + avoided >= transfers ||
           expected_ - possible_ - spent_ >= transfers;
  }
  void stayed(double saved) {
    possible_ += std::max(0.0, saved);
    balance_ += trust_ * std::max(0.0, saved);
  }
  void went(double saved, double transfers) {
    possible_ += std::max(0.0, saved);
    balance_ += saved - transfers;
    net_ += saved - transfers;
    spent_ += transfers;
    sent_ = true;
  }

 private:
  static constexpr double less_trust = 0.25;

  double expected_ = 0;  // to be saved by the whole run, going by the one before
  double possible_ = 0;  // saved by now, or missed
  double balance_ = 0, spent_ = 0, net_ = 0;
  double trust_ = 1;
  bool sent_ = false;
};

}  // namespace frit
