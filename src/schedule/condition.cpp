// condition.cpp: writes and evaluates the flat program of a Condition.
#include "schedule/condition.h"

#include <array>
#include <optional>

namespace frit {
namespace {

constexpr std::size_t most_quotients = 16;

// What the rows of one alternative may refer to.
struct Variables {
  std::span<const std::int64_t> arguments;
  std::array<std::int64_t, most_quotients> quotients;
  std::size_t count = 0;

  std::int64_t operator[](std::size_t number) const {
    return number < arguments.size() ? arguments[number] : quotients[number - arguments.size()];
  }
};

// Reads a row at `word` and moves behind it; none where a number leaves int64.
std::optional<std::int64_t> value_of_row(const std::int64_t*& word, const Variables& variables) {
  const std::int64_t terms = *word++;
  std::int64_t sum = *word++;
  bool overflows = false;
  for (std::int64_t k = 0; k < terms; ++k, word += 2) {
    std::int64_t product;
    overflows |=
        __builtin_mul_overflow(variables[static_cast<std::size_t>(word[0])], word[1], &product) ||
        __builtin_add_overflow(sum, product, &sum);
  }
  if (overflows) return std::nullopt;
  return sum;
}

std::int64_t floor_divide(std::int64_t x, std::int64_t y) {
  return x / y - (x % y != 0 && x < 0 ? 1 : 0);
}

}  // namespace

Condition::Condition(std::int32_t arguments, std::span<const Alternative> alternatives)
    : arguments_(arguments) {
  for (const Alternative& a : alternatives) {
    if (a.quotients.size() > most_quotients) {  // too long to evaluate: may hold
      words_ = {4, 0, 0, 0};
      return;
    }
    const std::size_t start = words_.size();
    words_.insert(words_.end(), {0, static_cast<std::int64_t>(a.quotients.size()),
                                 static_cast<std::int64_t>(a.zero.size()),
                                 static_cast<std::int64_t>(a.not_negative.size())});
    for (const Quotient& q : a.quotients) {
      words_.push_back(q.divisor);
      add(q.row);
    }
    for (const Row& row : a.zero) add(row);
    for (const Row& row : a.not_negative) add(row);
    words_[start] = static_cast<std::int64_t>(words_.size() - start);
  }
}

void Condition::add(const Row& row) {
  words_.push_back(static_cast<std::int64_t>(row.terms.size()));
  words_.push_back(row.constant);
  for (const auto& [variable, coefficient] : row.terms) {
    words_.push_back(variable);
    words_.push_back(coefficient);
  }
}

bool Condition::may_hold(std::span<const std::int64_t> arguments) const {
  Variables variables{arguments.first(static_cast<std::size_t>(arguments_)), {}, 0};
  const std::int64_t* const end = words_.data() + words_.size();
  for (const std::int64_t* start = words_.data(); start < end; start += start[0]) {
    const std::int64_t* word = start + 4;
    variables.count = 0;
    for (std::int64_t k = 0; k < start[1]; ++k) {
      const std::int64_t divisor = *word++;
      const auto value = value_of_row(word, variables);
      if (!value) return true;
      variables.quotients[variables.count++] = floor_divide(*value, divisor);
    }
    const auto all_rows = [&](std::int64_t count, auto&& is_met) {
      for (std::int64_t k = 0; k < count; ++k) {
        const auto value = value_of_row(word, variables);
        if (value && !is_met(*value)) return false;
      }
      return true;
    };
    if (all_rows(start[2], [](std::int64_t x) { return x == 0; }) &&
        all_rows(start[3], [](std::int64_t x) { return x >= 0; }))
      return true;
  }
  return false;
}

}  // namespace frit
