// search.cpp: binary searches in a sorted vector, several at a time: what one waits for, memory and
// the outcome of a comparison, the others don't.
#include "front/search.h"

#include <algorithm>
#include <cmath>

#include "front/common.h"
#include "front/parts.h"

namespace frit {
namespace {

constexpr std::int64_t together = 8;  // searches

template <class T>
constexpr DType dtype_of = DType::Float64;
template <>
constexpr DType dtype_of<float> = DType::Float32;
template <>
constexpr DType dtype_of<std::int64_t> = DType::Int64;
template <>
constexpr DType dtype_of<std::int32_t> = DType::Int32;

template <bool is_right, class T>
bool is_before(T element, T value) {
  return is_right ? element <= value : element < value;
}

template <class T>
bool is_nan(T x) {
  return x != x;
}

// The elements of a vector in increasing order, NaNs behind all others.
template <class T>
struct Sorted {
  const T* first = nullptr;
  std::int64_t size = 0;
  std::int64_t numbers = 0;  // without NaNs

  static std::optional<Sorted> of(const T* first, std::int64_t size) {
    std::int64_t numbers = size;
    while (numbers > 0 && is_nan(first[numbers - 1])) --numbers;
    bool in_order = true;
    for (std::int64_t k = 1; k < numbers; ++k) in_order &= first[k - 1] <= first[k];
    if (numbers == 1) in_order = !is_nan(first[0]);
    if (!in_order) return std::nullopt;
    return Sorted{first, size, numbers};
  }
};

// How many of the numbers from `begin` to `end` and of those in front are before each value, where
// all in front are and none behind is.
template <bool is_right, class T, std::int64_t count>
void search(const Sorted<T>& sorted, const T* values, std::int64_t* places, std::int64_t begin,
            std::int64_t end) {
  std::int64_t low[count];
  std::fill_n(low, count, begin);
  for (std::int64_t length = end - begin; length > 1;) {
    const std::int64_t half = length / 2;
    for (std::int64_t k = 0; k < count; ++k)
      low[k] += is_before<is_right>(sorted.first[low[k] + half - 1], values[k]) ? half : 0;
    length -= half;
  }
  for (std::int64_t k = 0; k < count; ++k)
    places[k] = low[k] + (end > begin && is_before<is_right>(sorted.first[low[k]], values[k]));
}
template <bool is_right, class T, std::int64_t count>
void search(const Sorted<T>& sorted, const T* values, std::int64_t* places) {
  search<is_right, T, count>(sorted, values, places, 0, sorted.numbers);
}

// Values often come in order: those that are searched together then lie near the ones before, or
// where these lie.
template <bool is_right, class T>
class NearSearch {
 public:
  explicit NearSearch(const Sorted<T>& sorted) : sorted_(sorted) {}

  // Of `together` values.
  void search(const T* values, std::int64_t* places) {
    if (are_between(place_, place_, values)) return (void)std::fill_n(places, together, place_);
    const bool goes_up = values[0] <= values[together - 1];
    const std::int64_t begin = std::max<std::int64_t>(goes_up ? place_ - 1 : place_ - window, 0);
    const std::int64_t end = std::min(begin + window, sorted_.numbers);
    if (are_between(begin, end, values))
      frit::search<is_right, T, together>(sorted_, values, places, begin, end);
    else
      frit::search<is_right, T, together>(sorted_, values, places);
    place_ = places[together - 1];
  }

 private:
  static constexpr std::int64_t window = 32;

  // Not asked of each value's order among the others: one may be NaN.
  bool are_between(std::int64_t begin, std::int64_t end, const T* values) const {
    bool are = true;
    if (begin > 0)
      for (std::int64_t k = 0; k < together; ++k)
        are &= is_before<is_right>(sorted_.first[begin - 1], values[k]);
    if (end < sorted_.numbers)
      for (std::int64_t k = 0; k < together; ++k)
        are &= !is_before<is_right>(sorted_.first[end], values[k]);
    return are;
  }

  const Sorted<T>& sorted_;
  std::int64_t place_ = 0;  // of the value before
};

// So few are compared with all, by loops with vectors.
constexpr std::int64_t few = 16;

template <bool is_right, class T>
void count_before(const Sorted<T>& sorted, const T* values, std::int64_t count,
                  std::int64_t* places) {
  constexpr std::int64_t block = 1024;
  static const Loop compare = loop(is_right ? Op::LessEqual : Op::Less, dtype_of<T>),
                    add = loop(Op::Add, DType::UInt8);
  std::uint8_t counts[block], are_before[block];
  for (std::int64_t begin = 0; begin < count; begin += block) {
    const std::int64_t n = std::min(block, count - begin);
    std::fill_n(counts, n, std::uint8_t{0});
    for (std::int64_t j = 0; j < sorted.numbers; ++j) {
      void* const pair[] = {are_before, const_cast<T*>(sorted.first + j),
                            const_cast<T*>(values + begin)};
      compare(pair, n, 1);
      void* const sum[] = {counts, counts, are_before};
      add(sum, n, 0);
    }
    std::copy_n(counts, n, places + begin);
  }
}

template <bool is_right, class T>
void search_all(const Sorted<T>& sorted, const T* values, std::int64_t count,
                std::int64_t* places) {
  if (sorted.numbers <= few) return count_before<is_right>(sorted, values, count, places);
  std::int64_t k = 0;
  NearSearch<is_right, T> near(sorted);
  for (; k + together <= count; k += together) near.search(values + k, places + k);
  for (; k < count; ++k) search<is_right, T, 1>(sorted, values + k, places + k);
}

// A search costs about as much as so many elements of plain work.
constexpr std::int64_t search_elements = 8;

template <bool is_right, class T>
void find_places(const Sorted<T>& sorted, const T* values, std::int64_t count,
                 std::int64_t* places) {
  for_parts(count, search_elements, [&](std::int64_t begin, std::int64_t end) {
    search_all<is_right>(sorted, values + begin, end - begin, places + begin);
    if constexpr (std::is_floating_point_v<T>)
      for (std::int64_t k = begin; k < end; ++k)
        if (is_nan(values[k])) places[k] = is_right ? sorted.size : sorted.numbers;
  });
}

// To look whether it is sorted must not take longer than the searches.
bool is_much_longer(const Array& sorted, const Array& values) {
  return sorted.size() / 4 > values.size();
}

template <class T>
const T* elements(const Array& dense) {
  return reinterpret_cast<const T*>(dense.base()->data + dense.offset());
}

template <class T>
std::optional<Array> places_of(const Array& sorted, const Array& values, bool is_right) {
  const auto order = Sorted<T>::of(elements<T>(sorted), sorted.size());
  if (!order) return std::nullopt;
  const Array result = empty(values.shape(), DType::Int64);
  Engine::get().allocate(result.base());
  auto* const places = reinterpret_cast<std::int64_t*>(result.base()->data);
  if (is_right)
    find_places<true>(*order, elements<T>(values), values.size(), places);
  else
    find_places<false>(*order, elements<T>(values), values.size(), places);
  return result;
}

}  // namespace

template <class T>
void count_up_to(const T* sorted, std::int64_t size, const T* values, std::int64_t count,
                 std::int64_t* places) {
  search_all<true>(Sorted<T>{sorted, size, size}, values, count, places);
  for (std::int64_t k = 0; k < count; ++k)
    if (is_nan(values[k])) places[k] = size;
}
template void count_up_to(const double*, std::int64_t, const double*, std::int64_t, std::int64_t*);
template void count_up_to(const float*, std::int64_t, const float*, std::int64_t, std::int64_t*);

std::optional<Array> places_in(const Array& sorted, const Array& values, bool is_right) {
  if (sorted.ndim() != 1 || values.ndim() == 0 || is_much_longer(sorted, values))
    return std::nullopt;
  const DType dtype = promote(sorted.dtype(), values.dtype());
  if (dtype != DType::Float64 && dtype != DType::Float32 && dtype != DType::Int64 &&
      dtype != DType::Int32)
    return std::nullopt;
  Locked lock(Engine::lock());
  const Array in = dense(sorted, dtype), of = dense(values, dtype);
  switch (dtype) {
    case DType::Float64:
      return places_of<double>(in, of, is_right);
    case DType::Float32:
      return places_of<float>(in, of, is_right);
    case DType::Int64:
      return places_of<std::int64_t>(in, of, is_right);
    default:
      return places_of<std::int32_t>(in, of, is_right);
  }
}

namespace {

// The table of a piecewise linear function.
struct Table {
  Sorted<double> x;
  const double* y;
  double left, right;

  std::int64_t last() const { return x.size - 1; }

  // `k`: the last point at or before it; -1: none.
  double value(double at, std::int64_t k) const {
    if (std::isnan(at)) return at;
    if (k < 0) return left;
    if (k == last()) return at > x.first[k] ? right : y[k];
    if (x.first[k] == at) return y[k];  // else it may be infinity times 0
    const double slope = (y[k + 1] - y[k]) / (x.first[k + 1] - x.first[k]);
    double result = slope * (at - x.first[k]) + y[k];
    if (std::isnan(result)) {  // from the other end
      result = slope * (at - x.first[k + 1]) + y[k + 1];
      if (std::isnan(result) && y[k] == y[k + 1]) result = y[k];
    }
    return result;
  }

  bool holds(std::int64_t k, double at) const {
    return k >= 0 && k < last() && x.first[k] <= at && at < x.first[k + 1];
  }
};

// Values often come in order: the place of one is that of the one before, or the next. While that
// fails, the searches of a block run together.
class Interpolation {
 public:
  explicit Interpolation(const Table& table) : table_(table) {}

  void run(const double* x, std::int64_t count, double* results) {
    std::int64_t places[block];
    for (std::int64_t begin = 0; begin < count; begin += block) {
      const std::int64_t n = std::min(block, count - begin);
      if (blocks_to_search_ > 0 || table_.x.size <= few) {
        --blocks_to_search_;
        search_all<true>(table_.x, x + begin, n, places);
        for (std::int64_t k = 0; k < n; ++k) --places[k];
      } else {
        find_near(x + begin, n, places);
      }
      for (std::int64_t k = 0; k < n; ++k)
        results[begin + k] = table_.value(x[begin + k], places[k]);
    }
  }

 private:
  static constexpr std::int64_t block = 64, many_misses = 16, blocks_until_next_try = 15;

  void find_near(const double* x, std::int64_t n, std::int64_t* places) {
    std::int64_t misses = 0, place = place_, step = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t before = place;
      if (!table_.holds(place, x[k])) {
        if (table_.holds(place + 1, x[k])) {
          ++place;
        } else if (!find_ahead(x[k], step, place) && !find_around(x[k], place)) {
          ++misses;
          search<true, double, 1>(table_.x, x + k, &place);
          --place;
        }
      }
      step = place - before;
      places[k] = place;
    }
    place_ = place;
    if (misses > many_misses) blocks_to_search_ = blocks_until_next_try;
  }

  // Values that change little, though by more than a step of the table.
  bool find_around(double value, std::int64_t& place) const {
    constexpr std::int64_t near = 8;
    const double* const points = table_.x.first;
    const std::int64_t low = std::max<std::int64_t>(place - near, 0);
    const std::int64_t high = std::min(place + near, table_.last());
    if (!(low < high && points[low] <= value && value < points[high])) return false;
    search<true, double, 1>(table_.x, &value, &place, low, high);
    --place;
    return true;
  }
  // Values that go on as they did.
  bool find_ahead(double value, std::int64_t step, std::int64_t& place) const {
    for (const std::int64_t shift : {0, -1, 1})
      if (table_.holds(place + step + shift, value)) {
        place += step + shift;
        return true;
      }
    return false;
  }

  const Table& table_;
  std::int64_t place_ = 0, blocks_to_search_ = 0;
};

}  // namespace

std::optional<Array> interpolated(const Array& x, const Array& xp, const Array& fp,
                                  std::optional<double> left, std::optional<double> right) {
  const auto is_real = [](const Array& a) { return !is_complex(a.dtype()); };
  if (!is_real(x) || !is_real(xp) || !is_real(fp) || x.ndim() == 0 || xp.ndim() != 1 ||
      fp.ndim() != 1 || xp.size() != fp.size() || xp.size() < 2 || is_much_longer(xp, x))
    return std::nullopt;
  Locked lock(Engine::lock());
  const Array at = dense(x, DType::Float64), points = dense(xp, DType::Float64),
              y = dense(fp, DType::Float64);
  const auto sorted = Sorted<double>::of(elements<double>(points), points.size());
  if (!sorted || sorted->numbers < sorted->size) return std::nullopt;
  const auto* const ordinates = elements<double>(y);
  const Table table{*sorted, ordinates, left.value_or(ordinates[0]),
                    right.value_or(ordinates[y.size() - 1])};
  const Array result = empty(x.shape(), DType::Float64);
  Engine::get().allocate(result.base());
  auto* const results = reinterpret_cast<double*>(result.base()->data);
  for_parts(x.size(), search_elements, [&](std::int64_t begin, std::int64_t end) {
    Interpolation(table).run(elements<double>(at) + begin, end - begin, results + begin);
  });
  return result;
}

}  // namespace frit
