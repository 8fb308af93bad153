// kept_flags.h: what a comparison raises for a NaN is taken back.
#pragma once

#include <cfenv>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "ops/status_flags.h"

namespace frit::interp {

// While it lives, if `is_wanted`, the status flags that are raised are nobody's concern.
class KeptFlags {
 public:
  explicit KeptFlags(bool is_wanted) : is_wanted_(is_wanted) {
    if (is_wanted) read();
  }
  ~KeptFlags() {
    if (is_wanted_) put_back();
  }
  KeptFlags(const KeptFlags&) = delete;
  KeptFlags& operator=(const KeptFlags&) = delete;

 private:
#if defined(__x86_64__)
  // fegetexceptflag asks two units, and takes longer than a short loop.
  void read() { flags_ = _mm_getcsr(); }
  void put_back() const {
    if ((_mm_getcsr() ^ flags_) & known_flags) _mm_setcsr(flags_);
  }
  unsigned flags_;
#else
  void read() { std::fegetexceptflag(&flags_, FE_ALL_EXCEPT); }
  void put_back() const { std::fesetexceptflag(&flags_, FE_ALL_EXCEPT); }
  std::fexcept_t flags_;
#endif
  const bool is_wanted_;
};

}  // namespace frit::interp
