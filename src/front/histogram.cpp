// histogram.cpp: bins are guessed by a line through their edges, where these lie along one, and put
// right by a look at the two edges; else they are searched for.
#include "front/histogram.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "front/common.h"
#include "front/parts.h"
#include "front/search.h"
#include "ops/loops.h"

namespace frit {
namespace {

// f(a number of the type).
template <class F>
decltype(auto) with_float(DType dtype, F&& f) {
  if (dtype == DType::Float32) return f(float{});
  check(dtype == DType::Float64, "edges are float64 or float32");
  return f(double{});
}

template <class T>
constexpr DType dtype_of = std::is_same_v<T, float> ? DType::Float32 : DType::Float64;

const std::byte* first_byte(const Array& dense) { return dense.base()->data + dense.offset(); }

template <class T>
T* made(const Array& fresh) {
  Engine::get().allocate(fresh.base());
  return reinterpret_cast<T*>(fresh.base()->data);
}

constexpr std::int64_t block = 1024;  // elements whose bins are found together

// The elements of a dense array as numbers of one type, a block at a time.
template <class T>
class Numbers {
 public:
  explicit Numbers(const Array& dense)
      : data_(first_byte(dense)),
        item_(size_of(dense.dtype())),
        cast_(dense.dtype() == dtype_of<T> ? nullptr : cast_loop(dense.dtype(), dtype_of<T>)) {}

  // `room`: for a block.
  const T* at(std::int64_t begin, std::int64_t count, T* room) const {
    const std::byte* const from = data_ + begin * item_;
    if (!cast_) return reinterpret_cast<const T*>(from);
    void* const pair[] = {room, const_cast<std::byte*>(from)};
    cast_(pair, count, 0);
    return room;
  }

 private:
  const std::byte* data_;
  std::int64_t item_;
  Loop cast_;
};

template <class T>
class Bins {
 public:
  explicit Bins(const Array& edges)
      : edges_(reinterpret_cast<const T*>(first_byte(edges))),
        count_(static_cast<std::int32_t>(edges.size() - 1)),
        line_(line_through(edges_, count_)) {}

  std::int32_t count() const { return count_; }

  // The bin of each number; count(): of none.
  void find(const T* numbers, std::int64_t n, std::int32_t* bins) const {
    static const BinLoop guess = bin_loop(dtype_of<T>);
    if (!line_)
      search(numbers, n, bins);
    else if (guess(numbers, n, *line_, bins))
      settle(numbers, n, bins);
  }

 private:
  static std::optional<BinLine> line_through(const T* edges, std::int32_t count) {
    constexpr double most_doubt = 0.125;
    const T first = edges[0], scale = static_cast<T>(count) / (edges[count] - first);
    if (!std::isfinite(scale) || scale == 0) return std::nullopt;  // 0: an edge is infinite
    // What grows with x is between two edges where it is so at these.
    T doubt = 0;
    for (std::int32_t k = 0; k <= count; ++k)
      doubt = std::max(doubt, std::abs((edges[k] - first) * scale - static_cast<T>(k)));
    if (!(doubt <= most_doubt)) return std::nullopt;
    return BinLine{
        .first = first, .last = edges[count], .scale = scale, .doubt = doubt, .count = count};
  }

  // Those that the line leaves in doubt.
  void settle(const T* numbers, std::int64_t n, std::int32_t* bins) const {
    const T* const edges = edges_;
    const std::int32_t end = count_ - 1;
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int32_t found = bins[k], guess = std::min(found ^ (found >> 31), end);
      const T x = numbers[k];
      const std::int32_t bin = guess - static_cast<std::int32_t>(x < edges[guess]) +
                               static_cast<std::int32_t>(x >= edges[guess + 1]);
      bins[k] = found < 0 ? std::min(bin, end) : found;
    }
  }

  void search(const T* numbers, std::int64_t n, std::int32_t* bins) const {
    std::int64_t places[block];
    count_up_to(edges_, std::int64_t{count_} + 1, numbers, n, places);
    for (std::int64_t k = 0; k < n; ++k) {
      const bool is_inside = numbers[k] >= edges_[0] && numbers[k] <= edges_[count_];
      bins[k] = is_inside ? std::min(static_cast<std::int32_t>(places[k]), count_) - 1 : count_;
    }
  }

  const T* edges_;
  std::int32_t count_;
  std::optional<BinLine> line_;
};

// work(begin, n) for the blocks of a range.
template <class Work>
void for_blocks(std::int64_t begin, std::int64_t end, Work&& work) {
  for (; begin < end; begin += block) work(begin, std::min(block, end - begin));
}

// The tables of the threads; one element costs about as much as so many of plain work.
constexpr std::int64_t bin_elements = 4;

// Counts of places in a table: each part of the elements has a table of its own. tally(begin, end,
// table) counts a part.
template <class Tally>
void count_in_parts(std::int64_t n, std::int64_t length, std::int64_t* counts, Tally&& tally) {
  constexpr std::int64_t least_part = 1 << 14;
  const std::int64_t parts = std::clamp<std::int64_t>(
      n / std::max(least_part, 4 * length), 1, ThreadPool::get().threads() * std::int64_t{4});
  std::fill_n(counts, length, 0);
  if (parts == 1) return tally(0, n, counts);
  std::vector<std::int64_t> tables(static_cast<std::size_t>(parts * length));
  for_parts(parts, n * bin_elements / parts, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k)
      tally(n * k / parts, n * (k + 1) / parts, tables.data() + k * length);
  });
  for (std::int64_t k = 0; k < parts; ++k)
    for (std::int64_t bin = 0; bin < length; ++bin)
      counts[bin] += tables[static_cast<std::size_t>(k * length + bin)];
}

// Adds one at each place. Neighbours are often in one bin: the second would wait for the first, if
// they were counted in one table.
class Tally {
 public:
  Tally(std::int64_t* counts, std::int64_t length) : counts_(counts), length_(length) {
    if (length <= most_shared) std::fill_n(tables_, tables * length, 0u);
  }
  ~Tally() {
    if (length_ > most_shared) return;
    for (std::int64_t k = 0; k < tables * length_; ++k) counts_[k % length_] += tables_[k];
  }
  Tally(const Tally&) = delete;
  Tally& operator=(const Tally&) = delete;

  void add(const std::int32_t* bins, std::int64_t n) {
    std::int64_t k = 0;
    if (length_ <= most_shared) {
      std::uint32_t *const one = tables_, *const two = one + length_, *const three = two + length_,
                           *const four = three + length_;
      for (; k + tables <= n; k += tables) {
        const std::int32_t a = bins[k], b = bins[k + 1], c = bins[k + 2], d = bins[k + 3];
        ++one[a];
        ++two[b];
        ++three[c];
        ++four[d];
      }
    }
    for (; k < n; ++k) ++counts_[bins[k]];
  }

 private:
  static constexpr std::int64_t tables = 4, most_shared = 512;
  std::int64_t* counts_;
  std::int64_t length_;
  std::uint32_t tables_[tables * most_shared];  // a part has less than 2^32 elements
};

template <class T>
void fill_edges(T* edges, T first, T last, std::int64_t count) {
  const T step = (last - first) / static_cast<T>(count);
  for (std::int64_t k = 0; k < count; ++k) edges[k] = static_cast<T>(k) * step + first;
  edges[count] = last;
}

template <class T>
bool are_in_order(const T* edges, std::int64_t size) {
  bool in_order = true;
  for (std::int64_t k = 1; k < size; ++k) in_order &= edges[k - 1] <= edges[k];
  return in_order;
}

}  // namespace

std::optional<Array> uniform_edges(double first, double last, std::int64_t count, DType dtype) {
  return with_float(dtype, [&]<class T>(T) -> std::optional<Array> {
    const T from = static_cast<T>(first), to = static_cast<T>(last);
    if (!(to > from) || !std::isfinite(to - from) || (to - from) / static_cast<T>(count) == 0)
      return std::nullopt;
    Locked lock(Engine::lock());
    const std::int64_t size = count + 1;
    const Array edges = empty({&size, 1}, dtype);
    T* const elements = made<T>(edges);
    fill_edges(elements, from, to, count);
    return are_in_order(elements, size) ? std::optional(edges) : std::nullopt;
  });
}

std::optional<Array> edges_of(const Array& vector, DType dtype) {
  if (vector.ndim() != 1 || vector.size() < 2) return std::nullopt;
  Locked lock(Engine::lock());
  const Array edges = dense(vector.dtype() == dtype ? vector : astype(vector, dtype));
  return with_float(dtype, [&]<class T>(T) -> std::optional<Array> {
    const T* const elements = reinterpret_cast<const T*>(first_byte(edges));
    const std::int64_t size = edges.size();
    // Integers of more digits might fall together.
    const T most = std::ldexp(T{1}, std::numeric_limits<T>::digits);
    const bool may_round = vector.dtype() != dtype &&
                           !(std::abs(elements[0]) < most && std::abs(elements[size - 1]) < most);
    return !may_round && are_in_order(elements, size) && elements[0] < elements[size - 1]
               ? std::optional(edges)
               : std::nullopt;
  });
}

Array count_in_bins(const Array& a, const Array& edges) {
  Locked lock(Engine::lock());
  const Array of = dense(a);
  const std::int64_t count = edges.size() - 1, length = count + 1;  // with what lies outside
  const Array result = empty({&count, 1}, DType::Int64);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(length));
  with_float(edges.dtype(), [&]<class T>(T) {
    const Bins<T> bins(edges);
    const Numbers<T> numbers(of);
    count_in_parts(a.size(), length, counts.data(),
                   [&](std::int64_t begin, std::int64_t end, std::int64_t* table) {
                     T room[block];
                     std::int32_t places[block];
                     Tally tally(table, length);
                     for_blocks(begin, end, [&](std::int64_t at, std::int64_t n) {
                       bins.find(numbers.at(at, n, room), n, places);
                       tally.add(places, n);
                     });
                   });
  });
  std::copy_n(counts.data(), count, made<std::int64_t>(result));
  return result;
}

namespace {

constexpr std::int64_t numpys_block = 65536;  // elements whose weights it adds by themselves

// sums += those of one block of NumPy's, in the weights' type.
template <class T, class W>
class BlockSums {
 public:
  BlockSums(const Array& a, const Array& edges, const Array& weights)
      : bins_(edges), numbers_(a), weights_(weights), size_(a.size()) {}

  void run(W* sums) const {
    const std::int64_t length = bins_.count() + 1, blocks = (size_ - 1) / numpys_block + 1;
    const std::int64_t together =
        std::min<std::int64_t>(blocks, ThreadPool::get().threads() * std::int64_t{4});
    std::fill_n(sums, bins_.count(), W{0});
    std::vector<double> tables(static_cast<std::size_t>(together * length));
    for (std::int64_t done = 0; done < blocks; done += together) {
      const std::int64_t now = std::min(together, blocks - done);
      for_parts(now, numpys_block * bin_elements, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k)
          add(done + k, tables.data() + k * length, length);
      });
      for (std::int64_t k = 0; k < now; ++k)
        for (std::int64_t bin = 0; bin < bins_.count(); ++bin)
          sums[bin] += static_cast<W>(tables[static_cast<std::size_t>(k * length + bin)]);
    }
  }

 private:
  void add(std::int64_t which, double* table, std::int64_t length) const {
    std::fill_n(table, length, 0.0);
    const std::int64_t begin = which * numpys_block, end = std::min(begin + numpys_block, size_);
    T room[block];
    double weight_room[block];
    std::int32_t places[block];
    for_blocks(begin, end, [&](std::int64_t at, std::int64_t n) {
      bins_.find(numbers_.at(at, n, room), n, places);
      const double* const weights = weights_.at(at, n, weight_room);
      for (std::int64_t k = 0; k < n; ++k) table[places[k]] += weights[k];
    });
  }

  const Bins<T> bins_;
  const Numbers<T> numbers_;
  const Numbers<double> weights_;
  const std::int64_t size_;
};

}  // namespace

Array add_in_bins(const Array& a, const Array& edges, const Array& weights) {
  Locked lock(Engine::lock());
  const Array of = dense(a), with = dense(weights);
  const std::int64_t count = edges.size() - 1;
  const Array result = empty({&count, 1}, weights.dtype());
  with_float(edges.dtype(), [&]<class T>(T) {
    const auto run = [&]<class W>(W*) { BlockSums<T, W>(of, edges, with).run(made<W>(result)); };
    if (weights.dtype() == DType::Float64)
      run(static_cast<double*>(nullptr));
    else if (weights.dtype() == DType::Float32)
      run(static_cast<float*>(nullptr));
    else
      run(static_cast<std::int64_t*>(nullptr));
  });
  return result;
}

namespace {

// Pairs of numbers in a grid.
template <class T>
class Grid {
 public:
  Grid(const Array& x, const Array& y, const Array& x_edges, const Array& y_edges)
      : x_bins_(x_edges), y_bins_(y_edges), x_(x), y_(y), size_(x.size()) {}

  void count(double* table) const {
    const std::int64_t length = cells();
    std::vector<std::int64_t> counts(static_cast<std::size_t>(length));
    count_in_parts(size_, length, counts.data(),
                   [&](std::int64_t begin, std::int64_t end, std::int64_t* into) {
                     visit(begin, end, [&](std::int64_t, std::int64_t n, const std::int32_t* at) {
                       for (std::int64_t k = 0; k < n; ++k) ++into[at[k]];
                     });
                   });
    std::copy_n(counts.data(), length, table);
  }

  // In the order of the elements.
  void add(const double* weights, double* table) const {
    std::fill_n(table, cells(), 0.0);
    visit(0, size_, [&](std::int64_t begin, std::int64_t n, const std::int32_t* at) {
      for (std::int64_t k = 0; k < n; ++k) table[at[k]] += weights[begin + k];
    });
  }

  // Behind a border of one: what lies outside is in its last row or column.
  std::int64_t width() const { return y_bins_.count() + 2; }
  std::int64_t cells() const { return (x_bins_.count() + 2) * width(); }

 private:
  template <class Visit>
  void visit(std::int64_t begin, std::int64_t end, Visit&& visit) const {
    T room[block];
    std::int32_t rows[block], columns[block];
    const auto row_length = static_cast<std::int32_t>(width());
    for_blocks(begin, end, [&](std::int64_t at, std::int64_t n) {
      x_bins_.find(x_.at(at, n, room), n, rows);
      y_bins_.find(y_.at(at, n, room), n, columns);
      for (std::int64_t k = 0; k < n; ++k) rows[k] = (rows[k] + 1) * row_length + columns[k] + 1;
      visit(at, n, rows);
    });
  }

  const Bins<T> x_bins_, y_bins_;
  const Numbers<T> x_, y_;
  const std::int64_t size_;
};

}  // namespace

Array count_in_grid(const Array& x, const Array& y, const Array& x_edges, const Array& y_edges,
                    const Array* weights) {
  check(x_edges.dtype() == y_edges.dtype(), "the edges of a grid have one type");
  Locked lock(Engine::lock());
  const Array across = dense(x), up = dense(y);
  const std::optional<Array> with = weights ? std::optional(dense(*weights)) : std::nullopt;
  const std::int64_t shape[] = {x_edges.size() + 1, y_edges.size() + 1};
  const Array result = empty(shape, DType::Float64);
  double* const table = made<double>(result);
  with_float(x_edges.dtype(), [&]<class T>(T) {
    const Grid<T> grid(across, up, x_edges, y_edges);
    if (with)
      grid.add(reinterpret_cast<const double*>(first_byte(*with)), table);
    else
      grid.count(table);
  });
  return result;
}

}  // namespace frit
