// nest_kept.cpp: dependences as words, and back.
#include "schedule/nest_kept.h"

#include <chrono>
#include <cstring>

namespace frit {
namespace {

constexpr std::chrono::microseconds long_search(500);

using Words = std::vector<std::int64_t>;

std::string bytes_of(const Words& words) {
  return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof words[0]};
}

// ---- the answer ---------------------------------------------------------------------------------

void write(const std::vector<std::optional<std::int64_t>>& numbers, Words& words) {
  for (const auto& number : numbers) {
    words.push_back(number ? 1 : 0);
    words.push_back(number.value_or(0));
  }
}

void write(const Dependence& d, Words& words) {
  words.insert(words.end(), {d.source, d.sink, static_cast<std::int64_t>(d.kind), d.level, d.common,
                             d.condition, d.assumed ? 1 : 0, d.gone_if_split,
                             static_cast<std::int64_t>(d.directions.size())});
  for (const auto& signs : d.directions) {
    words.push_back(static_cast<std::int64_t>(signs.size()));
    words.insert(words.end(), signs.begin(), signs.end());
  }
  write(d.least, words);
  write(d.most, words);
}

// Reads words one after the other; where there are none left, all that it reads is 0.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : words_(bytes.size() / sizeof(std::int64_t)) {
    if (!words_.empty())
      std::memcpy(words_.data(), bytes.data(), words_.size() * sizeof(std::int64_t));
  }
  bool is_at_end() const { return !has_failed_ && at_ == words_.size(); }
  bool has_failed() const { return has_failed_; }

  std::int64_t word() {
    if (at_ < words_.size()) return words_[at_++];
    has_failed_ = true;
    return 0;
  }
  std::int32_t number(std::int64_t least, std::int64_t end) {
    const std::int64_t found = word();
    if (found < least || found >= end) has_failed_ = true;
    return has_failed_ ? 0 : static_cast<std::int32_t>(found);
  }
  // Of words that follow, at least one each.
  std::size_t count() {
    return static_cast<std::size_t>(number(0, static_cast<std::int64_t>(words_.size() - at_) + 1));
  }
  std::vector<std::optional<std::int64_t>> numbers(std::size_t count) {
    std::vector<std::optional<std::int64_t>> found(has_failed_ ? 0 : count);
    for (auto& number : found) {
      const bool is_there = word() != 0;
      const std::int64_t value = word();
      if (is_there) number = value;
    }
    return found;
  }

 private:
  Words words_;
  std::size_t at_ = 0;
  bool has_failed_ = false;
};

Dependence read_dependence(Reader& reader, const Nest& nest, std::size_t conditions) {
  const auto accesses = static_cast<std::int64_t>(nest.accesses.size());
  const auto loops = static_cast<std::int64_t>(nest.loops.size());
  Dependence d;
  d.source = reader.number(0, accesses);
  d.sink = reader.number(0, accesses);
  d.kind = static_cast<DependenceKind>(reader.number(0, 3));
  d.level = reader.number(0, loops + 1);
  d.common = reader.number(d.level, loops + 1);
  d.condition = reader.number(-1, static_cast<std::int64_t>(conditions));
  d.assumed = reader.number(0, 2) != 0;
  d.gone_if_split = static_cast<std::uint32_t>(reader.word());
  d.directions.resize(reader.count());
  for (auto& signs : d.directions) {
    signs.resize(reader.count());
    for (std::int8_t& sign : signs) sign = static_cast<std::int8_t>(reader.number(-1, 2));
  }
  d.least = reader.numbers(static_cast<std::size_t>(d.common));
  d.most = reader.numbers(static_cast<std::size_t>(d.common));
  return d;
}

}  // namespace

std::string question_of(const Routine& routine, const NestFacts& facts) {
  Words words{routine.rank, static_cast<std::int64_t>(routine.parameter_ranks.size())};
  words.insert(words.end(), routine.parameter_ranks.begin(), routine.parameter_ranks.end());
  words.push_back(static_cast<std::int64_t>(facts.integers.size()));
  for (const auto& value : facts.integers) {
    words.push_back(value ? 1 : 0);
    words.push_back(value.value_or(0));
  }
  words.push_back(static_cast<std::int64_t>(facts.same.size()));
  for (const NestFacts::Same& same : facts.same) {
    words.push_back(same.array);
    words.push_back(static_cast<std::int64_t>(same.shift.size()));
    words.insert(words.end(), same.shift.begin(), same.shift.end());
  }
  words.push_back(static_cast<std::int64_t>(facts.mixed.size()));
  for (const auto& [a, b] : facts.mixed) words.insert(words.end(), {a, b});
  return "nest " + bytes_of(words) + serialize(routine.body);
}

std::string dependences_as_bytes(const Nest& nest) {
  Words words{static_cast<std::int64_t>(nest.conditions.size())};
  for (const Condition& condition : nest.conditions) {
    words.push_back(condition.arguments());
    words.push_back(static_cast<std::int64_t>(condition.words().size()));
    words.insert(words.end(), condition.words().begin(), condition.words().end());
  }
  words.push_back(static_cast<std::int64_t>(nest.dependences.size()));
  for (const Dependence& d : nest.dependences) write(d, words);
  return bytes_of(words);
}

bool read_dependences(std::string_view bytes, Nest& nest) {
  Reader reader(bytes);
  std::vector<Condition> conditions(reader.count());
  for (Condition& condition : conditions) {
    const std::int32_t arguments = reader.number(0, nest.routine.body.integers + 1);
    Words words(reader.count());
    for (std::int64_t& word : words) word = reader.word();
    condition = Condition::of_words(arguments, std::move(words));
  }
  std::vector<Dependence> dependences(reader.count());
  for (Dependence& d : dependences) {
    d = read_dependence(reader, nest, conditions.size());
    if (reader.has_failed()) return false;
  }
  if (!reader.is_at_end()) return false;
  nest.conditions = std::move(conditions);
  nest.dependences = std::move(dependences);
  return true;
}

void find_or_load_dependences(const Routine& routine, Nest& nest, DiskStore& store) {
  if (!store.is_enabled()) return find_nest_dependences(nest);
  const std::string question = question_of(routine, nest.facts);
  if (const auto bytes = store.load(question); bytes && read_dependences(*bytes, nest)) return;
  const auto start = std::chrono::steady_clock::now();
  find_nest_dependences(nest);
  if (nest.has_pair_judge && std::chrono::steady_clock::now() - start > long_search)
    store.store(question, dependences_as_bytes(nest));
}

}  // namespace frit
