// device_account.h: whether what a device saves pays for what has to be brought there and back.
//
// For FRIT_DEVICE=auto, and for loop nests. One large kernel on arrays that lie in the program's
// memory is mostly not worth their way over the bus; a thousand of them are. Nobody knows how many
// will come, so they wait, as one rents skis until the rent would have bought them: launches go
// when what the device would have saved so far pays for the transfers. So it takes at most about
// twice what it would have taken had one known.
#pragma once

#include <algorithm>
#include <utility>

namespace frit {

// Of all kernels of a program: what one brings is there for the others. All in nanoseconds.
class DeviceAccount {
 public:
  // saved: how much less a launch takes there; transfers: what has to be brought for it; avoided:
  // what the host would have to fetch for it.
  bool pays(double saved, double transfers, double avoided) {
    most_ = std::max(most_, 2 * transfers);
    return saved + avoided > 0 && balance_ + saved + avoided >= transfers;
  }
  void stayed(double saved) { add(trust_ * std::max(0.0, saved)); }
  void went(double saved, double transfers) {
    add(saved - transfers);
    trust_ = std::min(1.0, more_trust * trust_);
  }
  // The host needed something that was there.
  void fetched(double cost) {
    balance_ -= cost;
    if (balance_ >= 0) return;
    balance_ = std::min(balance_, -cost);  // the next one has to earn it first
    trust_ *= less_trust;
  }

 private:
  // What one part of a program has saved is not for the next one to lose.
  void add(double saved) { balance_ = std::min(most_, balance_ + saved); }

  static constexpr double less_trust = 0.25, more_trust = 1.05;

  double balance_ = 0;
  double most_ = 0;   // some transfers' worth
  double trust_ = 1;  // the part of what would have been saved that counts
};

// Of one run of a loop nest after another, each of which brings its arrays and takes them back. Its
// launches follow one another at once, so that most of what they will save can be known: it is what
// those of the run before would have. Without one they rent, as above. Guesses can be wrong by much
// (nobody knows how often a while goes round): what runs took, there and on the host alone, decides
// once it is known.
class NestAccount {
 public:
  // false: all of the run stays on the host.
  bool begin() {
    expected_ = std::exchange(possible_, 0);
    // Launches that the host comes between bring their arrays again and again.
    if (sent_ && net_ < 0) {
      expected_ = 0;
      trust_ *= less_trust;
    }
    balance_ = spent_ = net_ = 0;
    sent_ = false;
    constexpr int known = 3, warm = 2;  // runs; the first one there waits until all is ready
    constexpr double worth = 60e3;      // below it, no way there and back pays
    return here_.runs >= known && here_.least * cost_ > worth &&
           (there_.runs < warm || there_.least < here_.least);
  }
  // How long the run took, which was guessed to take `cost` of a core. is_typical: none of its
  // launches was interpreted.
  void end(double took, double cost, bool is_typical) {
    cost_ = cost;
    if (cost <= 0) return;
    if (sent_)
      there_.add(took / cost);
    else if (is_typical)
      here_.add(took / cost);
  }
  // saved: how much less a launch takes there; transfers: what it has to bring, and what has to be
  // taken back for it; avoided: the host would have to fetch what is there, which will be wanted
  // there again.
  bool pays(double saved, double transfers, double avoided) const {
    if (saved + avoided <= 0) return false;
    return balance_ + saved + avoided >= transfers || expected_ - possible_ - spent_ >= transfers;
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
  struct Rate {
    double least = 0;
    int runs = 0;
    void add(double rate) { least = runs++ == 0 ? rate : std::min(least, rate); }
  };
  static constexpr double less_trust = 0.25;

  Rate there_, here_;
  double cost_ = 0;      // guessed, of the run before
  double expected_ = 0;  // to be saved by the whole run, going by the one before
  double possible_ = 0;  // saved by now, or missed
  double balance_ = 0, spent_ = 0, net_ = 0;
  double trust_ = 1;
  bool sent_ = false;
};

}  // namespace frit
