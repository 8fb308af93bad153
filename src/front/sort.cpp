// sort.cpp: sorting elements, and places by keys that hold them.
//
// Threads sort parts of a long row, and merge what they have sorted. Elements that are equal look
// the same, but for zeros of two signs: only where a row has both the result tells how it was
// sorted.
//
// To find places, a long row is first cut into buckets, by elements of a sample: each thread finds
// and counts the buckets of a part of the row, and then moves its elements there. Buckets fit into
// the caches and are sorted side by side.
//
// Places are sorted by loops for numbers, as the low bits of words whose high bits are the
// elements'. To compare the elements that places name instead takes a jump through memory each
// time. Among equal elements the places are then in order, as a stable sort has them. Other ways to
// sort have orders of their own there: where two elements are equal, these sort the row themselves.
#include "front/sort.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "front/common.h"
#include "front/order.h"
#include "front/parts.h"
#include "ops/loops.h"

namespace frit {
namespace {

// Elements that are cut into buckets, and of one bucket, about; elements whose places are sorted as
// words.
constexpr std::int64_t least_cut = 1 << 16, bucket_elements = 1 << 15, least_by_words = 64;
constexpr std::int64_t most_by_words = std::int64_t{1} << 32;
constexpr std::int64_t most_buckets = 256;
constexpr std::size_t sampled_per_bucket = 16;
// Elements that several threads sort.
constexpr std::int64_t least_merged = 1 << 17;
// What sorting an element takes, in plain work, and what merging it does.
constexpr std::int64_t sort_elements = 16, merge_elements = 4;

// Unsigned numbers in the order of elements. Zeros share one, and NaNs.
template <class T>
auto key_of(T x) {
  using Key = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  constexpr Key sign = Key{1} << (8 * sizeof(Key) - 1);
  if constexpr (std::is_floating_point_v<T>) {
    const Key bits = std::bit_cast<Key>(x + T{0});
    const Key key = bits ^ ((Key{0} - (bits >> (8 * sizeof(Key) - 1))) | sign);
    return x == x ? key : std::numeric_limits<Key>::max();
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<Key>(x) ^ sign;
  } else {
    return x;
  }
}
template <class T>
using KeyOf = decltype(key_of(T{}));

// f(an element of a type that has keys), or otherwise().
template <class F, class Otherwise>
auto with_key(DType dtype, F&& f, Otherwise&& otherwise) {
  if (dtype == DType::UInt64) return f(std::uint64_t{});
  if (dtype == DType::UInt32) return f(std::uint32_t{});
  const bool has_key = size_of(dtype) >= 4 && !is_complex(dtype);
  return has_key ? with_ordered_element(dtype, f) : otherwise();
}

// Rows of so few runs a stable sort merges in no time.
template <class T>
bool has_few_runs(std::span<const T> row) {
  constexpr std::int64_t few = 32, block = 1024;
  std::int64_t turns = 0;
  const auto n = std::ssize(row);
  for (std::int64_t begin = 2; begin < n && turns <= few; begin += block) {
    const T* const x = row.data();
    for (std::int64_t k = begin; k < std::min(begin + block, n); ++k)
      turns += (x[k - 1] < x[k - 2]) != (x[k] < x[k - 1]);
  }
  return turns <= few;
}

// Whether each element and the next one are so.
bool are_neighbours(Op comparison, const std::byte* row, std::int64_t n, DType dtype) {
  constexpr std::int64_t block = 1024;
  const Loop compare = loop(comparison, dtype);
  const std::int64_t item = size_of(dtype);
  std::uint8_t answers[block];
  for (std::int64_t begin = 0; begin < n - 1; begin += block) {
    const std::int64_t count = std::min(block, n - 1 - begin);
    auto* const first = const_cast<std::byte*>(row + begin * item);
    void* const pair[] = {answers, first, first + item};
    compare(pair, count, 0);
    if (std::memchr(answers, 0, static_cast<std::size_t>(count))) return false;
  }
  return true;
}

// Whether each element is less than the next one (or, for a stable sort, no greater).
bool is_in_order(const std::byte* row, std::int64_t n, DType dtype, bool is_stable) {
  return are_neighbours(is_stable ? Op::LessEqual : Op::Less, row, n, dtype);
}

// Keys of some elements of the row, at places that no pattern in it follows; sorted. Empty: the
// loop failed.
template <class T>
std::vector<std::uint64_t> sample_of(std::span<const T> row, std::size_t size, SortElements sort) {
  std::vector<std::uint64_t> sample(size);
  std::uint64_t state = 0x9e3779b97f4a7c15u;
  for (std::size_t k = 0; k < size; ++k) {
    const std::size_t begin = row.size() * k / size, end = row.size() * (k + 1) / size;
    state = state * 6364136223846793005u + 1442695040888963407u;
    sample[k] = key_of(row[begin + (state >> 33) % (end - begin)]);
  }
  if (sort(sample.data(), static_cast<std::intptr_t>(size), nullptr) < 0) sample.clear();
  return sample;
}

bool has_equal_neighbours(std::span<const std::uint64_t> sorted) {
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

// Memory for a while, of blocks that the engine keeps: fresh pages take longer than sorting does.
// For the caller of a launch.
class Room {
 public:
  explicit Room(std::int64_t bytes) : memory_(empty({&bytes, 1}, DType::UInt8)) {
    Engine::get().allocate(memory_.base());
  }
  template <class T>
  T* at(std::int64_t byte) const {
    return reinterpret_cast<T*>(memory_.base()->data + byte);
  }

 private:
  Array memory_;
};

std::int64_t bucket_count(std::int64_t wanted) {
  return std::min(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(wanted))),
                  most_buckets);
}

// A row that is cut at elements of a sample.
template <class T>
class Buckets {
 public:
  using Key = KeyOf<T>;

  Buckets(std::span<const T> row, std::span<const std::uint64_t> sample, std::int64_t count)
      : row_(row),
        count_(count),
        parts_(ThreadPool::get().threads() * 4),
        places_(static_cast<std::size_t>(parts_ * count_)),
        begins_(static_cast<std::size_t>(count_ + 1)),
        room_(std::ssize(row)),
        bucket_of_(room_.at<std::uint8_t>(0)) {
    for (std::int64_t k = 1; k < count_; ++k)
      cuts_.push_back(static_cast<Key>(
          sample[sample.size() * static_cast<std::size_t>(k) / static_cast<std::size_t>(count_)]));
  }

  std::int64_t count() const { return count_; }
  std::int64_t begin_of(std::int64_t bucket) const {
    return begins_[static_cast<std::size_t>(bucket)];
  }

  // Where each element belongs.
  void find() {
    for_ranges([&](std::int64_t part, std::int64_t begin, std::int64_t end) {
      find_in(part, begin, end);
    });
    std::int64_t place = 0;
    for (std::int64_t bucket = 0; bucket < count_; ++bucket) {
      begins_[static_cast<std::size_t>(bucket)] = place;
      for (std::int64_t part = 0; part < parts_; ++part) {
        std::int64_t& slot = places_[static_cast<std::size_t>(part * count_ + bucket)];
        place += std::exchange(slot, place);
      }
    }
    begins_.back() = place;
  }
  // put(k, its place), for each of the row's elements; those of a bucket stay in order.
  template <class Put>
  void move(Put&& put) {
    for_ranges([&](std::int64_t part, std::int64_t begin, std::int64_t end) {
      std::int64_t* const places = places_.data() + part * count_;
      for (std::int64_t k = begin; k < end; ++k) put(k, places[bucket_of_[k]]++);
    });
  }
  // work(a bucket's number), side by side. False: it was so for one of them.
  template <class Work>
  bool for_each(Work&& work) const {
    std::atomic<bool> is_well = true;
    for_parts(count_, std::ssize(row_) / count_ * sort_elements,
              [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t k = begin; k < end && is_well; ++k)
                  if (!work(k)) is_well = false;
              });
    return is_well;
  }

 private:
  template <class Work>
  void for_ranges(Work&& work) const {
    constexpr std::int64_t find_elements = 4;
    const auto n = std::ssize(row_);
    for_parts(parts_, n / parts_ * find_elements, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) work(k, n * k / parts_, n * (k + 1) / parts_);
    });
  }

  void find_in(std::int64_t part, std::int64_t begin, std::int64_t end) {
    std::int64_t counts[most_buckets] = {};
    for (; begin + together <= end; begin += together) find_some<together>(begin, counts);
    for (; begin < end; ++begin) find_some<1>(begin, counts);
    std::copy_n(counts, count_, places_.data() + part * count_);
  }
  // Searches of several elements: what one waits for, the others don't.
  static constexpr std::int64_t together = 8;
  template <std::int64_t several>
  void find_some(std::int64_t begin, std::int64_t* counts) {
    const Key* const cuts = cuts_.data();
    Key keys[several];
    std::int64_t found[several] = {};
    for (std::int64_t k = 0; k < several; ++k)
      keys[k] = key_of(row_[static_cast<std::size_t>(begin + k)]);
    for (std::int64_t half = count_ / 2; half > 0; half /= 2)
      for (std::int64_t k = 0; k < several; ++k)
        found[k] += -static_cast<std::int64_t>(cuts[found[k] + half - 1] <= keys[k]) & half;
    for (std::int64_t k = 0; k < several; ++k) {
      bucket_of_[begin + k] = static_cast<std::uint8_t>(found[k]);
      ++counts[found[k]];
    }
  }

  std::span<const T> row_;
  std::int64_t count_, parts_;
  std::vector<Key> cuts_;
  std::vector<std::int64_t> places_;  // of each part, for each bucket: how many, then where
  std::vector<std::int64_t> begins_;
  Room room_;
  std::uint8_t* bucket_of_;
};

enum class Outcome : std::uint8_t { Sorted, EqualElements, Failed };

// Finds in which order keys are.
class KeyOrder {
 public:
  KeyOrder(SortElements sort, bool is_stable) : sort_(sort), is_stable_(is_stable) {}

  // order[k]: the place of the k-th of the keys key(0), key(1), ..
  template <class Key>
  Outcome find(std::span<std::uint64_t> order, Key&& key) const {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max(), greatest = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      least = std::min<std::uint64_t>(least, key(k));
      greatest = std::max<std::uint64_t>(greatest, key(k));
    }
    if (order.empty()) return Outcome::Sorted;
    // As many of the high bits as there is room for.
    const int place_bits = std::max(1, static_cast<int>(std::bit_width(order.size() - 1)));
    const int dropped =
        std::max(0, static_cast<int>(std::bit_width(greatest - least)) + place_bits - 64);
    for (std::size_t k = 0; k < order.size(); ++k)
      order[k] = (((key(k) - least) >> dropped) << place_bits) | k;
    if (sort_(order.data(), std::ssize(order), nullptr) < 0) return Outcome::Failed;
    bool has_equals = false;
    for (std::size_t k = 1; k < order.size(); ++k)
      has_equals |= (order[k - 1] ^ order[k]) >> place_bits == 0;
    if (has_equals && dropped == 0 && !is_stable_) return Outcome::EqualElements;
    if (has_equals && dropped > 0)
      if (const Outcome outcome = tell_apart(order, place_bits, key); outcome != Outcome::Sorted)
        return outcome;
    const std::uint64_t places = (std::uint64_t{1} << place_bits) - 1;
    for (std::uint64_t& word : order) word &= places;
    return Outcome::Sorted;
  }

 private:
  // Those that only bits which were dropped tell apart. Each time there are fewer such bits.
  template <class Key>
  Outcome tell_apart(std::span<std::uint64_t> order, int place_bits, Key&& key) const {
    const std::uint64_t places = (std::uint64_t{1} << place_bits) - 1;
    std::vector<std::uint64_t> room;
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      for (end = begin + 1; end < order.size() && (order[begin] ^ order[end]) >> place_bits == 0;)
        ++end;
      const std::span<std::uint64_t> run = order.subspan(begin, end - begin);
      if (run.size() == 1) continue;
      room.resize(2 * run.size());
      const std::span<std::uint64_t> all(room), keys = all.first(run.size()),
                                                run_order = all.last(run.size());
      for (std::uint64_t& word : run) word &= places;
      bool are_equal = true;
      for (std::size_t k = 0; k < run.size(); ++k) {
        keys[k] = key(run[k]);
        are_equal &= keys[k] == keys[0];
      }
      if (are_equal && !is_stable_) return Outcome::EqualElements;
      if (are_equal) continue;
      if (const Outcome outcome = find(run_order, KeysInRun{keys.data()});
          outcome != Outcome::Sorted)
        return outcome;
      for (std::size_t k = 0; k < run.size(); ++k) keys[k] = run[run_order[k]];
      std::copy(keys.begin(), keys.end(), run.begin());
    }
    return Outcome::Sorted;
  }
  struct KeysInRun {
    const std::uint64_t* keys;
    std::uint64_t operator()(std::size_t k) const { return keys[k]; }
  };

  SortElements sort_;
  bool is_stable_;
};

// Finds the order of a row's elements.
template <class T>
class RowOrder {
 public:
  RowOrder(std::span<const T> row, std::int64_t* to, const SortLoops& loops)
      : row_(row), to_(to), loops_(loops), keys_(loops.words, loops.is_stable) {}

  // EqualElements, if the loop has to be asked for their order.
  Outcome run() const {
    if (loops_.is_stable && has_few_runs(row_)) return Outcome::EqualElements;
    const std::int64_t count = bucket_count(std::ssize(row_) / bucket_elements);
    const std::vector<std::uint64_t> sample = sample_of(row_, sample_size(count), loops_.words);
    if (sample.empty()) return Outcome::Failed;
    if (!loops_.is_stable && has_equal_neighbours(sample)) return Outcome::EqualElements;
    return count == 1 ? order_whole() : order_buckets(sample, count);
  }

 private:
  std::size_t sample_size(std::int64_t buckets) const {
    return std::clamp<std::size_t>(row_.size() / 16, 8,
                                   static_cast<std::size_t>(buckets) * 4 * sampled_per_bucket);
  }
  // The places, as words.
  std::span<std::uint64_t> words(std::int64_t begin, std::int64_t end) const {
    return {reinterpret_cast<std::uint64_t*>(to_) + begin,
            reinterpret_cast<std::uint64_t*>(to_) + end};
  }
  Outcome order_whole() const {
    return keys_.find(words(0, std::ssize(row_)), [&](std::size_t k) { return key_of(row_[k]); });
  }
  Outcome order_buckets(std::span<const std::uint64_t> sample, std::int64_t count) const {
    using Key = KeyOf<T>;
    Buckets<T> buckets(row_, sample, count);
    buckets.find();
    const auto n = std::ssize(row_);
    const Room room(n * static_cast<std::int64_t>(sizeof(Key) + sizeof(std::uint32_t)));
    Key* const keys = room.at<Key>(0);
    auto* const places = room.at<std::uint32_t>(n * static_cast<std::int64_t>(sizeof(Key)));
    buckets.move([&](std::int64_t k, std::int64_t place) {
      keys[place] = key_of(row_[static_cast<std::size_t>(k)]);
      places[place] = static_cast<std::uint32_t>(k);
    });
    std::atomic<Outcome> result = Outcome::Sorted;
    buckets.for_each([&](std::int64_t k) {
      const std::int64_t begin = buckets.begin_of(k);
      const std::span<std::uint64_t> order = words(begin, buckets.begin_of(k + 1));
      const Outcome outcome = keys_.find(
          order, [&](std::size_t j) { return keys[begin + static_cast<std::int64_t>(j)]; });
      if (outcome != Outcome::Sorted) {
        result = outcome;
        return false;
      }
      for (std::uint64_t& place : order) place = places[begin + static_cast<std::int64_t>(place)];
      return true;
    });
    return result;
  }

  std::span<const T> row_;
  std::int64_t* to_;
  const SortLoops& loops_;
  KeyOrder keys_;
};

// Two sorted stretches of numbers, and where they are merged to.
template <class T>
struct Merge {
  std::span<const T> first, second;
  T* to;

  std::int64_t unguarded() const {
    return static_cast<std::int64_t>(std::min(first.size(), second.size()));
  }
  void step(const T*& x, const T*& y) {
    // As bits: of floats compilers make a branch, which would be foreseen wrong every other time.
    using Bits = KeyOf<T>;
    const std::uint64_t is_second = *y < *x;
    const Bits bits = std::bit_cast<Bits>(*x), other = std::bit_cast<Bits>(*y);
    *to++ = std::bit_cast<T>(is_second ? other : bits);
    y += is_second;
    x += 1 - is_second;
  }
  // The first so many steps' results come from so many elements of the first one.
  std::size_t taken(std::size_t steps) const {
    std::size_t low = steps > second.size() ? steps - second.size() : 0,
                high = std::min(steps, first.size());
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (second[steps - middle - 1] < first[middle])
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }
  // The steps [begin, end) of it.
  Merge part(std::size_t begin, std::size_t end) const {
    const std::size_t x = taken(begin), x_end = taken(end);
    return {first.subspan(x, x_end - x), second.subspan(begin - x, (end - x_end) - (begin - x)),
            to + begin};
  }
  // So many steps of both, in turn: what one waits for, the other doesn't.
  static void step_both(Merge& a, Merge& b, std::int64_t steps) {
    const T *x = a.first.data(), *y = a.second.data(), *z = b.first.data(), *w = b.second.data();
    for (std::int64_t k = 0; k < steps; ++k) {
      a.step(x, y);
      b.step(z, w);
    }
    a.go_to(x, y);
    b.go_to(z, w);
  }
  static void run_both(Merge a, Merge b) {
    while (const std::int64_t steps = std::min(a.unguarded(), b.unguarded()))
      step_both(a, b, steps);
    a.run();
    b.run();
  }
  void run() {
    while (const std::int64_t steps = unguarded()) {
      const T *x = first.data(), *y = second.data();
      for (std::int64_t k = 0; k < steps; ++k) step(x, y);
      go_to(x, y);
    }
    std::copy(second.begin(), second.end(), std::copy(first.begin(), first.end(), to));
  }
  void go_to(const T* x, const T* y) {
    first = first.subspan(static_cast<std::size_t>(x - first.data()));
    second = second.subspan(static_cast<std::size_t>(y - second.data()));
  }
};

// Sorts a long row: runs of it side by side, which are then merged, two by two.
template <class T>
class RowValues {
 public:
  // `to` may be where the row lies.
  RowValues(std::span<const T> row, T* to, const SortLoops& loops)
      : row_(row),
        to_(to),
        loops_(loops),
        rounds_(std::min(most_rounds, static_cast<int>(std::bit_width(static_cast<unsigned>(
                                          ThreadPool::get().threads() - 1))))) {}

  // EqualElements, if the loop has to sort it: the row is as it was.
  Outcome run() {
    std::optional<Room> room;
    if (rounds_ > 0) room.emplace(static_cast<std::int64_t>(row_.size_bytes()));
    T* from = rounds_ % 2 == 0 ? to_ : room->template at<T>(0);
    T* to = rounds_ == 0 ? nullptr : rounds_ % 2 == 0 ? room->template at<T>(0) : to_;
    if (!bring_to(from)) return Outcome::EqualElements;
    std::atomic<bool> is_well = true;
    numbers_.resize(std::size_t{1} << rounds_);
    for_parts(runs(), run_begin(1) * sort_elements, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k)
        if (!sort_run(from, k)) is_well = false;
    });
    for (int round = 0; round < rounds_ && is_well; ++round) {
      merge_runs(from, to);
      std::swap(from, to);
    }
    return is_well ? Outcome::Sorted : Outcome::Failed;
  }

 private:
  static constexpr int most_rounds = 5;

  std::int64_t runs() const { return std::ssize(numbers_); }
  std::int64_t run_begin(std::int64_t run) const { return std::ssize(row_) * run / runs(); }

  // The row, to be sorted there. False: it has zeros of both signs.
  bool bring_to(T* room) const {
    std::atomic<bool> has_positive = false, has_negative = false;
    for_parts(std::ssize(row_), 1, [&](std::int64_t begin, std::int64_t end) {
      constexpr std::int64_t block = 4096;  // which stays in the nearest cache
      for (; begin < end; begin += block) {
        const auto part = row_.subspan(static_cast<std::size_t>(begin),
                                       static_cast<std::size_t>(std::min(block, end - begin)));
        if constexpr (std::is_floating_point_v<T>) {
          bool positive = false, negative = false;
          for (const T x : part) {
            positive |= std::bit_cast<KeyOf<T>>(x) == 0;
            negative |= std::bit_cast<KeyOf<T>>(x) == std::bit_cast<KeyOf<T>>(T{-0.0});
          }
          if (positive) has_positive = true;
          if (negative) has_negative = true;
        }
        if (room != row_.data()) std::copy(part.begin(), part.end(), room + begin);
      }
    });
    return !(has_positive && has_negative);
  }

  bool sort_run(T* elements, std::int64_t run) {
    T *const begin = elements + run_begin(run), *const end = elements + run_begin(run + 1);
    if (loops_.quick(begin, end - begin, nullptr) < 0) return false;
    const T* const numbers_end = std::partition_point(begin, end, [](T x) { return x == x; });
    numbers_[static_cast<std::size_t>(run)] = numbers_end - begin;
    return true;
  }

  // The numbers of each two runs are merged, and NaNs are put behind them.
  void merge_runs(const T* from, T* to) {
    std::vector<Merge<T>> merges;
    std::vector<std::int64_t> merged;
    for (std::int64_t run = 0; run < runs(); run += 2) {
      const auto numbers_of = [&](std::int64_t k) {
        return std::span(from + run_begin(k),
                         static_cast<std::size_t>(numbers_[static_cast<std::size_t>(k)]));
      };
      const std::span<const T> first = numbers_of(run), second = numbers_of(run + 1);
      T* const begin = to + run_begin(run);
      T* const end = std::copy(first.data() + first.size(), from + run_begin(run + 1),
                               begin + first.size() + second.size());
      std::copy(second.data() + second.size(), from + run_begin(run + 2), end);
      merges.push_back({first, second, begin});
      merged.push_back(std::ssize(first) + std::ssize(second));
    }
    const std::int64_t parts = ThreadPool::get().threads() * 4;  // of each, merged by twos
    const std::int64_t total = std::ssize(merges) * parts / 2;
    for_parts(total, std::ssize(row_) / total * merge_elements,
              [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t k = begin; k < end; ++k) {
                  const Merge<T>& merge = merges[static_cast<std::size_t>(2 * k / parts)];
                  const auto part_of = [&](std::int64_t part) {
                    const auto n = std::ssize(merge.first) + std::ssize(merge.second);
                    return merge.part(static_cast<std::size_t>(n * part / parts),
                                      static_cast<std::size_t>(n * (part + 1) / parts));
                  };
                  Merge<T>::run_both(part_of(2 * k % parts), part_of(2 * k % parts + 1));
                }
              });
    numbers_ = std::move(merged);
  }

  std::span<const T> row_;
  T* to_;
  const SortLoops& loops_;
  int rounds_;                         // of merging
  std::vector<std::int64_t> numbers_;  // of each run: how many are no NaN
};

// work(a row's number), for all rows: long ones after one another, others side by side.
template <class Work>
void for_rows(const Array& rows, Work&& work) {
  const std::int64_t length = rows.shape().back(), count = rows.size() / length;
  const auto work_on = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) work(k);
  };
  if (count == 1 || length >= least_cut)
    work_on(0, count);
  else
    for_parts(count, length * sort_elements, work_on);
}

// A long row of numbers; EqualElements: the loop has to sort it.
Outcome sort_merged(const std::byte* row, std::byte* to, std::int64_t length, DType dtype,
                    const SortLoops& loops) {
  return with_key(
      dtype,
      [&]<class T>(T) {
        const std::span elements(reinterpret_cast<const T*>(row), static_cast<std::size_t>(length));
        if (loops.is_stable && has_few_runs(elements)) return Outcome::EqualElements;
        return RowValues<T>(elements, reinterpret_cast<T*>(to), loops).run();
      },
      [] { return Outcome::EqualElements; });
}

// The places of a row's elements by the loop itself.
bool sort_by_loop(const std::byte* row, std::int64_t length, std::int64_t* to, SortPlaces sort) {
  std::iota(to, to + length, 0);
  return sort(const_cast<std::byte*>(row), to, length, nullptr) >= 0;
}

}  // namespace

bool sort_rows(const Array& rows, std::byte* to, const SortLoops& loops) {
  const Locked lock(Engine::lock());
  const std::int64_t length = rows.shape().back(), bytes = length * size_of(rows.dtype());
  const std::byte* const from = rows.base()->data + rows.offset();
  // One thread gains where NumPy's stable loop is the slower one.
  const bool is_merged =
      length >= least_cut &&
      (loops.is_stable || (length >= least_merged && ThreadPool::get().threads() > 1));
  std::atomic<bool> is_well = true;
  for_rows(rows, [&](std::int64_t k) {
    const std::byte* const row = from + k * bytes;
    std::byte* const result = to + k * bytes;
    const Outcome outcome =
        is_merged ? sort_merged(row, result, length, rows.dtype(), loops) : Outcome::EqualElements;
    if (outcome == Outcome::Failed) is_well = false;
    if (outcome != Outcome::EqualElements) return;
    if (result != row) std::memcpy(result, row, static_cast<std::size_t>(bytes));
    if (loops.values(result, length, nullptr) < 0) is_well = false;
  });
  return is_well;
}

bool is_in_order(const Array& vector) {
  const std::byte* const from = vector.base()->data + vector.offset();
  return with_key(
      vector.dtype(), [&](auto) { return is_in_order(from, vector.size(), vector.dtype(), true); },
      [] { return false; });
}

bool sort_places(const Array& rows, std::int64_t* to, const SortLoops& loops) {
  const Locked lock(Engine::lock());
  Engine& engine = Engine::get();
  const std::int64_t length = rows.shape().back(), bytes = length * size_of(rows.dtype());
  const std::byte* const from = rows.base()->data + rows.offset();
  const bool is_tried = length >= least_by_words && length < most_by_words &&
                        (loops.is_stable || engine.equal_elements.tries(engine.source));
  std::atomic<bool> is_well = true, was_tried = false, was_in_vain = false;
  for_rows(rows, [&](std::int64_t k) {
    const std::byte* const row = from + k * bytes;
    std::int64_t* const places = to + k * length;
    Outcome outcome = Outcome::EqualElements;
    const bool has_keys = with_key(
        rows.dtype(), [](auto) { return true; }, [] { return false; });
    if (has_keys && is_in_order(row, length, rows.dtype(), loops.is_stable)) {
      std::iota(places, places + length, 0);
      return;
    }
    if (has_keys && are_neighbours(Op::Greater, row, length, rows.dtype())) {
      for (std::int64_t place = 0; place < length; ++place) places[place] = length - 1 - place;
      return;
    }
    if (is_tried && !was_in_vain)
      outcome = with_key(
          rows.dtype(),
          [&]<class T>(T) {
            const std::span elements(reinterpret_cast<const T*>(row),
                                     static_cast<std::size_t>(length));
            was_tried = true;
            return RowOrder<T>(elements, places, loops).run();
          },
          [] { return Outcome::EqualElements; });
    if (outcome == Outcome::EqualElements) {
      if (!loops.is_stable) was_in_vain = true;
      if (!sort_by_loop(row, length, places, loops.places)) is_well = false;
    }
    if (outcome == Outcome::Failed) is_well = false;
  });
  if (was_tried && !loops.is_stable) engine.equal_elements.note(engine.source, was_in_vain);
  return is_well;
}

}  // namespace frit
