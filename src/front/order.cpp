// order.cpp: places in the order of elements, without sorting them.
//
// An element's place is found from a sample: two of its elements, between which the wanted one lies
// almost certainly, are compared with all elements in one pass; the few between them are looked at
// more closely.
#include "front/order.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "front/common.h"
#include "front/parts.h"
#include "ops/loops.h"
#include "ops/pack_loops.h"

namespace frit {
namespace {

template <class T>
constexpr DType dtype_of = DType::Int32;
template <>
constexpr DType dtype_of<double> = DType::Float64;
template <>
constexpr DType dtype_of<float> = DType::Float32;
template <>
constexpr DType dtype_of<std::int64_t> = DType::Int64;

template <class T>
constexpr T least_of = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                            : std::numeric_limits<T>::min();
template <class T>
constexpr T greatest_of = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                               : std::numeric_limits<T>::max();

template <class T>
bool is_nan(T x) {
  return x != x;
}
// NaN comes behind all numbers.
template <class T>
bool is_before(T x, T y) {
  if constexpr (std::is_floating_point_v<T>)
    return (x < y) | (is_nan(y) & !is_nan(x));
  else
    return x < y;
}

// Zeros of both signs among elements: which of them is at a place nobody can say.
template <class T>
bool has_both_zeros(std::span<const T> elements) {
  if constexpr (std::is_floating_point_v<T>) {
    bool negative = false, positive = false;
    for (const T x : elements) {
      negative |= x == 0 && std::signbit(x);
      positive |= x == 0 && !std::signbit(x);
    }
    return negative && positive;
  } else {
    return false;
  }
}

// The run of sorted elements that equal x.
template <class T>
std::span<const T> equals_of(std::span<const T> sorted, T x) {
  const auto [begin, end] =
      std::equal_range(sorted.begin(), sorted.end(), x, [](T a, T b) { return is_before(a, b); });
  return {begin, end};
}

// Ranks of which each is the one behind the one before: found among the same elements.
struct RankGroup {
  std::size_t begin, end;
};
std::vector<RankGroup> groups_of(std::span<const std::int64_t> ranks) {
  std::vector<RankGroup> groups;
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    if (groups.empty() || ranks[k] > ranks[k - 1] + 1) groups.push_back({k, k});
    groups.back().end = k + 1;
  }
  return groups;
}

// Looks for the elements at some ranks of one row.
template <class T>
class Selection {
 public:
  // Rows of fewer are sorted.
  static constexpr std::int64_t least_sampled = 2048;
  static constexpr std::size_t most_groups = 8;

  // threads: of the pool's, for one row; 1 within a launch.
  Selection(std::span<const T> row, std::span<const std::int64_t> ranks, SortElements sort,
            std::int64_t threads)
      : row_(row), ranks_(ranks), groups_(groups_of(ranks)), sort_(sort), threads_(threads) {}

  // The elements at the ranks; false where nobody can say or sorting failed. `room`: for a row.
  bool run(T* values, bool& has_nan, T* room) {
    const bool is_sampled = std::ssize(row_) >= least_sampled && groups_.size() <= most_groups;
    if (is_sampled && take_sample(room))
      for (const double spread : {3.0, 12.0}) {
        const Outcome outcome = look_between(spread, values, has_nan);
        if (outcome != Outcome::Missed) return outcome == Outcome::Found;
      }
    return sort_all(values, has_nan, room);
  }

 private:
  enum class Outcome : std::uint8_t { Found, Missed, Unknown };

  // Two elements of the row, or bounds of the type, and what lies between them.
  struct Bracket {
    T low, high;
    std::int64_t below = 0, between = 0;
    std::vector<T> elements = {};  // those between
  };
  struct Part {
    std::int64_t begin, end;
    std::unique_ptr<T[]> room;  // a stretch of it for each bracket
    std::vector<PlacesBetween> counts;
    bool is_full = false;
  };

  bool sort_all(T* values, bool& has_nan, T* room) const {
    std::copy(row_.begin(), row_.end(), room);
    if (sort_(room, std::ssize(row_), nullptr) < 0) return false;
    const std::span<const T> sorted(room, row_.size());
    has_nan = is_nan(sorted.back());
    for (std::size_t k = 0; k < ranks_.size(); ++k) {
      values[k] = sorted[static_cast<std::size_t>(ranks_[k])];
      // The loop may have made one zero of another.
      if (values[k] == 0 && has_both_zeros(row_)) return false;
    }
    return true;
  }

  // One of each stretch of the row, at a place that no pattern in it follows.
  bool take_sample(T* room) {
    const auto n = std::ssize(row_);
    const std::int64_t size = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(2 * std::sqrt(static_cast<double>(n))), 256, 8192);
    std::uint64_t state = 0x9e3779b97f4a7c15u;
    for (std::int64_t k = 0; k < size; ++k) {
      const std::int64_t begin = n * k / size, end = n * (k + 1) / size;
      state = state * 6364136223846793005u + 1442695040888963407u;
      const auto shift =
          static_cast<std::int64_t>((state >> 33) % static_cast<std::uint64_t>(end - begin));
      room[k] = row_[static_cast<std::size_t>(begin + shift)];
    }
    sample_.assign(room, room + size);
    return sort_(sample_.data(), size, nullptr) >= 0;
  }

  // Around where the sample has the ranks of a group: so many standard deviations to both sides.
  Bracket bracket_around(const RankGroup& group, double spread) const {
    const auto size = static_cast<double>(sample_.size()), n = static_cast<double>(row_.size());
    const double from = static_cast<double>(ranks_[group.begin]) / n,
                 to = static_cast<double>(ranks_[group.end - 1] + 1) / n;
    const auto margin = [&](double share) {
      return spread * std::sqrt(size * share * (1 - share)) + 2;
    };
    const double low = std::floor(from * size - margin(from)),
                 high = std::ceil(to * size + margin(to));
    Bracket bracket{least_of<T>, greatest_of<T>};
    if (low >= 0) bracket.low = sample_[static_cast<std::size_t>(low)];
    if (high < size) bracket.high = sample_[static_cast<std::size_t>(high)];
    if (is_nan(bracket.low)) bracket.low = greatest_of<T>;
    if (is_nan(bracket.high)) bracket.high = greatest_of<T>;
    return bracket;
  }

  Outcome look_between(double spread, T* values, bool& has_nan) {
    std::vector<Bracket> brackets;
    for (const RankGroup& group : groups_) brackets.push_back(bracket_around(group, spread));
    const std::optional<std::int64_t> numbers = look_at_all(brackets);
    if (!numbers) return Outcome::Missed;
    has_nan = *numbers < std::ssize(row_);
    for (std::size_t k = 0; k < groups_.size(); ++k) {
      const Outcome outcome = pick(groups_[k], brackets[k], *numbers, values);
      if (outcome != Outcome::Found) return outcome;
    }
    return Outcome::Found;
  }

  // How many of the row are numbers; none where too many lie in a bracket.
  std::optional<std::int64_t> look_at_all(std::vector<Bracket>& brackets) const {
    constexpr std::int64_t part_elements = 1 << 16;
    const auto n = std::ssize(row_);
    const std::int64_t count =
        threads_ == 1 ? 1 : std::clamp<std::int64_t>(n / part_elements, 1, threads_ * 4);
    std::vector<Part> parts(static_cast<std::size_t>(count));
    for (std::int64_t k = 0; k < count; ++k) {
      Part& part = parts[static_cast<std::size_t>(k)];
      part.begin = n * k / count;
      part.end = n * (k + 1) / count;
      part.room.reset(new T[room_of(part) * brackets.size()]);
      part.counts.resize(brackets.size());
    }
    const auto look = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k)
        look_at(parts[static_cast<std::size_t>(k)], brackets);
    };
    if (count == 1)
      look(0, 1);
    else
      for_parts(count, n / count * std::ssize(brackets), look);
    std::int64_t unordered = 0;
    for (const Part& part : parts) {
      if (part.is_full) return std::nullopt;
      unordered += part.counts[0].unordered;
      for (std::size_t k = 0; k < brackets.size(); ++k) {
        brackets[k].below += part.counts[k].below;
        brackets[k].between += part.counts[k].between;
        const T* const first = part.room.get() + k * room_of(part);
        if (brackets[k].low < brackets[k].high)
          brackets[k].elements.insert(brackets[k].elements.end(), first,
                                      first + part.counts[k].between);
      }
    }
    return n - unordered;
  }

  static constexpr std::int64_t block = 2048;

  static std::size_t room_of(const Part& part) {
    return static_cast<std::size_t>((part.end - part.begin) / 4 + 2 * block);
  }

  void look_at(Part& part, const std::vector<Bracket>& brackets) const {
    static const BetweenLoop find = between_loop(dtype_of<T>);
    static const PackLoops::Pack pack = pack_loops(sizeof(T)).pack;
    std::uint8_t within[block];
    for (std::int64_t begin = part.begin; begin < part.end; begin += block) {
      const std::int64_t n = std::min(block, part.end - begin);
      const T* const from = row_.data() + begin;
      for (std::size_t k = 0; k < brackets.size(); ++k) {
        const Bracket& bracket = brackets[k];
        PlacesBetween& counts = part.counts[k];
        const PlacesBetween found = find(from, n, &bracket.low, &bracket.high, within);
        const auto used = static_cast<std::size_t>(counts.between);
        counts.below += found.below;
        counts.between += found.between;
        counts.unordered += found.unordered;
        if (!(bracket.low < bracket.high) || found.between == 0) continue;
        if (used + block > room_of(part)) {
          part.is_full = true;
          return;
        }
        T* to = part.room.get() + k * room_of(part) + used;
        if (pack) {
          pack(to, from, within, n);
        } else {
          for (std::int64_t j = 0; j < n; ++j) {
            *to = from[j];
            to += within[j];
          }
        }
      }
    }
  }

  Outcome pick(const RankGroup& group, Bracket& bracket, std::int64_t numbers, T* values) const {
    const auto& elements = bracket.elements;
    auto done = bracket.elements.begin();
    for (std::size_t k = group.begin; k < group.end; ++k) {
      if constexpr (std::is_floating_point_v<T>) {
        if (ranks_[k] >= numbers) {
          values[k] = std::numeric_limits<T>::quiet_NaN();
          continue;
        }
      }
      const std::int64_t place = ranks_[k] - bracket.below;
      if (place < 0 || place >= bracket.between) return Outcome::Missed;
      if (!(bracket.low < bracket.high)) {  // all between are equal
        values[k] = bracket.low;
        if (values[k] == 0 && std::is_floating_point_v<T>) return Outcome::Unknown;
        continue;
      }
      const auto at = bracket.elements.begin() + place;
      std::nth_element(done, at, bracket.elements.end());
      done = at;
      values[k] = *at;
      if (values[k] == 0 && has_both_zeros(std::span<const T>(elements))) return Outcome::Unknown;
    }
    return Outcome::Found;
  }

  std::span<const T> row_;
  std::span<const std::int64_t> ranks_;
  const std::vector<RankGroup> groups_;
  SortElements sort_;
  std::int64_t threads_;
  std::vector<T> sample_;
};

}  // namespace

std::optional<Ranked> ranked(const Array& rows, std::span<const std::int64_t> ranks,
                             SortElements sort) {
  Locked lock(Engine::lock());
  const std::int64_t count = rows.shape()[0], length = rows.shape()[1];
  const std::int64_t shape[] = {count, std::ssize(ranks)};
  Ranked result;
  result.values = empty(shape, rows.dtype());
  Engine::get().allocate(result.values.base());
  result.rows_with_nan = std::make_unique<bool[]>(static_cast<std::size_t>(count));
  std::atomic<bool> is_known = true;
  with_ordered_element(rows.dtype(), [&]<class T>(T) {
    const T* const from = reinterpret_cast<const T*>(rows.base()->data + rows.offset());
    T* const to = reinterpret_cast<T*>(result.values.base()->data);
    // Long rows are looked at by all threads, one after another; else each by one.
    constexpr std::int64_t long_row = 1 << 18;
    const std::int64_t threads = ThreadPool::get().threads();
    const std::int64_t parts =
        count < 2 * threads && length >= long_row
            ? 1
            : std::clamp<std::int64_t>(count * length >> 14, 1, std::min(count, threads * 4));
    const auto width = static_cast<std::size_t>(length);
    const std::unique_ptr<T[]> room(new T[static_cast<std::size_t>(parts) * width]);
    const auto select = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t part = begin; part < end; ++part)
        for (std::int64_t k = count * part / parts; k < count * (part + 1) / parts; ++k) {
          Selection<T> selection({from + k * length, width}, ranks, sort, parts == 1 ? threads : 1);
          if (!selection.run(to + k * std::ssize(ranks),
                             result.rows_with_nan[static_cast<std::size_t>(k)],
                             room.get() + static_cast<std::size_t>(part) * width))
            is_known = false;
        }
    };
    constexpr std::int64_t row_elements = 4;  // of plain work, one of a row
    if (parts == 1)
      select(0, 1);
    else
      for_parts(parts, count * length / parts * row_elements, select);
  });
  for (std::int64_t k = 0; k < count; ++k)
    result.has_nan |= result.rows_with_nan[static_cast<std::size_t>(k)];
  return is_known ? std::optional(std::move(result)) : std::nullopt;
}

bool has_both_zeros(const Array& sorted) {
  return with_ordered_element(sorted.dtype(), [&]<class T>(T) {
    const std::span<const T> elements(
        reinterpret_cast<const T*>(sorted.base()->data + sorted.offset()),
        static_cast<std::size_t>(sorted.size()));
    return has_both_zeros(equals_of(elements, T{0}));
  });
}

}  // namespace frit
