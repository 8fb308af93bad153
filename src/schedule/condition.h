// condition.h: a condition on integer arguments, evaluated in well under a microsecond.
//
// It is a flat program over int64 words: alternatives of rows, each a sum of arguments and of
// quotients that must be zero or not negative. Arithmetic is checked: where a number leaves int64
// the answer is "may hold".
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace frit {

class Condition {
 public:
  struct Row {
    std::int64_t constant = 0;
    std::vector<std::pair<std::int32_t, std::int64_t>> terms = {};  // variable and coefficient
  };
  // Variables 0 .. n-1 are the integer arguments. A quotient (the floor of row / divisor) is the
  // next variable; it counts for the alternative it is written in.
  struct Quotient {
    Row row;
    std::int64_t divisor = 1;
  };
  struct Alternative {
    std::vector<Quotient> quotients;
    std::vector<Row> zero, not_negative;
  };

  Condition() = default;  // never holds
  Condition(std::int32_t arguments, std::span<const Alternative> alternatives);

  // The same again, from what these two gave.
  static Condition of_words(std::int32_t arguments, std::vector<std::int64_t> words) {
    Condition made;
    made.words_ = std::move(words);
    made.arguments_ = arguments;
    return made;
  }
  std::int32_t arguments() const { return arguments_; }
  const std::vector<std::int64_t>& words() const { return words_; }

  bool may_hold(std::span<const std::int64_t> arguments) const;
  bool operator==(const Condition&) const = default;

 private:
  void add(const Row& row);
  // Alternatives: {words behind, quotients, zero rows, other rows, ..rows}; a row: {terms,
  // constant, (variable, coefficient) ..}; a quotient: its divisor, then its row.
  std::vector<std::int64_t> words_;
  std::int32_t arguments_ = 0;
};

}  // namespace frit
