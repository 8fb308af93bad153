// space.h: isl's sets over the iterations of two accesses of a nest.
#pragma once

#include <algorithm>

#include "schedule/isl/owned.h"
#include "schedule/nest.h"

namespace frit {

// Past the limit of work, or an error in isl.
struct TooHard {};

template <class T>
isl::Owned<T> made(T* x) {
  if (!x) throw TooHard();
  return isl::Owned<T>(x);
}
inline bool is_true(isl_bool answer) {
  if (answer == isl_bool_error) throw TooHard();
  return answer == isl_bool_true;
}

inline bool is_empty(const isl::Set& set) { return is_true(isl_set_is_empty(set.get())); }
inline isl::Set intersection(isl::Set a, isl::Set b) {
  return made(isl_set_intersect(a.take(), b.take()));
}
inline isl::Set both(const isl::Set& a, isl::BasicSet b) {
  return made(isl_set_intersect(a.copy(), isl_set_from_basic_set(b.take())));
}

inline isl::BasicSet at_least(isl::Aff a, isl::Aff b) {
  return made(isl_aff_ge_basic_set(a.take(), b.take()));
}
inline isl::BasicSet above(isl::Aff a, isl::Aff b) {
  return made(isl_aff_gt_basic_set(a.take(), b.take()));
}
inline isl::BasicSet equal(isl::Aff a, isl::Aff b) {
  return made(isl_aff_eq_basic_set(a.take(), b.take()));
}

// The symbols of a nest, which are isl's parameters, in one order for all sets.
class Symbols {
 public:
  explicit Symbols(const Nest& nest);
  const std::vector<ValueId>& values() const { return values_; }
  std::int32_t number_of(ValueId value) const;

 private:
  void add(const Affine& form, int depth);
  void add_condition(ValueId condition);
  const Nest& nest_;
  std::vector<ValueId> values_;
};

// The dimensions of one copy of the iteration space of an access in a set.
struct Frame {
  std::vector<std::int32_t> loops;  // outermost first
  unsigned first_loop = 0;          // dimension of loops[0]
  unsigned first_unknown = 0;       // of unknowns[0]
};

// Sets over: the loops of x, the loops of y, the unknowns of x, those of y.
class PairSpace {
 public:
  PairSpace(const Nest& nest, const Symbols& symbols, isl_ctx* ctx, std::vector<std::int32_t> x,
            std::vector<std::int32_t> y, std::vector<ValueId> unknowns);
  isl::Set universe() const { return made(isl_set_universe(space_.copy())); }
  const Frame& frame(int side) const { return frames_[side]; }
  const std::vector<ValueId>& unknowns() const { return unknowns_; }
  isl::Aff constant(std::int64_t value) const;
  isl::Aff dimension(unsigned number) const;
  isl::Aff index(int side, std::size_t depth) const;
  isl::Aff unknown(int side, std::size_t number) const;
  // Where the form is one of this side's iteration.
  isl::Aff value(const Affine& form, int side) const;
  isl_ctx* ctx() const { return isl_space_get_ctx(space_.get()); }

 private:
  isl::Aff variable(ValueId id, int side) const;
  const Nest& nest_;
  const Symbols& symbols_;
  std::vector<ValueId> unknowns_;
  Frame frames_[2];
  isl::Space space_;
};

// Bounds and conditions of iterations, as constraints of a PairSpace.
class Domains {
 public:
  Domains(const Nest& nest, const PairSpace& space) : nest_(nest), space_(space) {}
  isl::Set loops(isl::Set set, int side) const;
  isl::Set guards(isl::Set set, const NestAccess& access, int side) const;
  // The largest (smallest) of these is the bound.
  std::vector<Affine> bounds(ValueId value, Op join) const;

 private:
  void add_bounds(const Affine& form, Op join, int depth, std::vector<Affine>& found) const;
  // A set that holds all iterations in which the condition is (not) true.
  isl::Set where(ValueId condition, bool holds, int side, int depth) const;
  const Nest& nest_;
  const PairSpace& space_;
};

// A set of symbols as a Condition; none where it is too long.
std::optional<Condition> condition_of(const Nest& nest, const Symbols& symbols, isl::Set sizes);

}  // namespace frit
