// routine_forms.h: In: a Routine with extents and integers. Out: its integer values as sums.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ir/routine.h"

namespace frit {

// constant + sum of coefficient * value, over values that are not sums themselves (axes, loop
// indices, what was computed otherwise).
struct Affine {
  std::int64_t constant = 0;
  std::vector<std::pair<ValueId, std::int64_t>> terms;  // by rising value; no coefficient is 0
  bool operator==(const Affine&) const = default;
};

// a + factor * b, unless a number leaves int64.
std::optional<Affine> add(const Affine& a, const Affine& b, std::int64_t factor);

struct Range {
  std::int64_t low = 0, high = 0;
  bool operator==(const Range&) const = default;
};

// An index (of an axis or a loop) of which somebody takes the quotient and remainder by a number.
struct IndexCut {
  ValueId index = no_value;
  std::int64_t divisor = 0;
};

// The form of each Int64 and Int32 value; a value that is no sum is its own only term. In Int32 a
// sum is one here where it is known to stay in 32 bits; casts between the two change nothing then.
// What is read of a local has the form of what was written to it, or of what was read before, where
// nothing was written between.
class Forms {
 public:
  Forms(const Routine& routine, std::span<const std::int64_t> extents,
        std::span<const std::int64_t> integers);
  // Indices of which quotients and remainders are taken are sums of *parts*, divisor * quotient +
  // remainder: new values behind those of the body. So i / 8 and i % 8 are sums, and two indices
  // are different where some part is.
  static Forms in_parts(const Routine& routine, std::span<const std::int64_t> extents,
                        std::span<const std::int64_t> integers);

  const Affine& operator[](ValueId value) const { return forms_[static_cast<std::size_t>(value)]; }
  // Of values that are their own term, and of parts.
  const Range& range_of(ValueId value) const { return ranges_[static_cast<std::size_t>(value)]; }
  // What an axis or a loop's index is the sum of: itself, or its parts.
  std::vector<ValueId> parts_of(ValueId index) const;
  // The axis or loop's index that a part is of; other values are their own.
  ValueId index_of(ValueId value) const;
  // Cuts that would make a sum of a quotient or a remainder that is none.
  const std::vector<IndexCut>& wanted_cuts() const { return wanted_; }

 private:
  // Ranges that no write to a local leaves; 0, which locals begin with, is in each.
  using LocalRanges = std::vector<std::optional<Range>>;

  struct Division {
    Affine quotient, remainder;
  };

  Forms(const Routine& routine, std::span<const std::int64_t> extents,
        std::span<const std::int64_t> integers, std::vector<IndexCut> cuts, LocalRanges locals);
  static LocalRanges ranges_of_locals(const Routine& routine, std::span<const std::int64_t> extents,
                                      std::span<const std::int64_t> integers);

  void walk(const Block& block);
  void walk_inside(const Block& first, const Block& second, bool repeats);
  void write(const Instr& instr);
  void read(const Instr& instr);
  void define(const Instr& instr);
  void set_index(ValueId index);
  std::optional<Affine> form_of(const Instr& instr);
  std::optional<Affine> quotient_or_remainder(const Instr& instr);
  std::optional<Division> divided(const Affine& form, std::int64_t divisor);
  std::optional<Range> sum_range(const Affine& form) const;
  ValueId first_part(std::size_t cut) const {
    return static_cast<ValueId>(values_.size() + 2 * cut);
  }

  const std::vector<DType>& values_;
  const std::vector<DType>& local_types_;
  std::span<const std::int64_t> integers_;
  std::vector<IndexCut> cuts_;
  std::vector<Affine> forms_;
  std::vector<Range> ranges_;
  std::vector<bool> is_index_;  // an axis, a loop's index, or a part
  std::vector<IndexCut> wanted_;
  LocalRanges locals_;                       // as they were taken to be
  std::vector<Range> written_;               // what is written to them, if they are so
  std::vector<std::optional<Affine>> held_;  // by local, at the place of the walk
};

}  // namespace frit
