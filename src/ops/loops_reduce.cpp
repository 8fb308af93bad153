// loops_reduce.cpp: reductions, scans, updates and searches, in NumPy's order.
//
// Compiled by clang once for each instruction set, FRIT_LEVEL naming it.
#include "ops/loops.h"
#include "ops/rows.h"

namespace frit {
namespace {

// One element of an array: a number, or the two parts of a complex number.
template <DType d>
struct Number {
  using P = Element<d>;
  P value;
  static Number load(const void* data, int64 i) { return {((const P*)data)[i]}; }
  void store(void* data, int64 i) const { ((P*)data)[i] = value; }
};
template <DType d>
requires(complex_type(d)) struct Number<d> {
  using P = Element<d>;
  P re, im;
  static Number load(const void* data, int64 i) {
    return {((const P*)data)[2 * i], ((const P*)data)[2 * i + 1]};
  }
  void store(void* data, int64 i) const {
    ((P*)data)[2 * i] = re;
    ((P*)data)[2 * i + 1] = im;
  }
};

template <Op op, DType d>
Number<d> combined(Number<d> x, Number<d> y) {
  using P = Element<d>;
  if constexpr (complex_type(d)) {
    if constexpr (has_rare<op, d>)
      if (part_of<op, Part::Rare>(x.re, x.im, y.re, y.im, P(), P())) {
        Parts<P> whole = part_of<op, Part::Whole>(x.re, x.im, y.re, y.im, P(), P());
        return {whole.re, whole.im};
      }
    return {part_of<op, Part::Re>(x.re, x.im, y.re, y.im, P(), P()),
            part_of<op, Part::Im>(x.re, x.im, y.re, y.im, P(), P())};
  } else if constexpr (has_rare<op, d>) {
    if (is_rare<op, d>(x.value, y.value, P()))
      return {whole_value_of<op, d>(x.value, y.value, P())};
    return {value_of<op, d>(x.value, y.value, P())};
  } else {
    return {value_of<op, d>(x.value, y.value, P())};
  }
}

template <Op op, DType d>
constexpr bool reducible = Formula<op>::inputs == 2 &&
                           has_formula<op, d>&& Formula<op>::rule !=
                               TypeRule::Exponent&& output_type(Formula<op>::rule, d) == d;

// float16 is reduced in float and rounded once, by the ops for which NumPy does so (Add too,
// below).
template <Op op, DType d>
constexpr bool wide_half = d == DType::Float16 &&
                           (op == Op::Subtract || op == Op::Multiply || op == Op::TrueDivide);

template <Op op, DType d>
void reduce_half(void* out, const void* in, int64 n) {
  const auto* data = (const half*)in;
  float sum = data[0];
  for (int64 i = 1; i < n; ++i) sum = value_of<op, DType::Float32>(sum, (float)data[i], 0.0f);
  *(half*)out = (half)sum;
}

template <Op op, DType d>
void reduce_in_order(void* out, const void* in, int64 n) {
  Number<d> sum = Number<d>::load(in, 0);
  for (int64 i = 1; i < n; ++i) sum = combined<op, d>(sum, Number<d>::load(in, i));
  sum.store(out, 0);
}

// Integer reductions the compiler vectorises itself.
template <Op op, DType d>
void reduce_integers(void* out, const void* in, int64 n) {
  const auto* data = (const Element<d>*)in;
  Element<d> result = data[0];
  for (int64 i = 1; i < n; ++i) result = value_of<op, d>(result, data[i], Element<d>());
  *(Element<d>*)out = result;
}

// Of bools an or asks for a byte that is not 0, an and for one that is.
template <Op op>
constexpr bool is_or =
    op == Op::LogicalOr || op == Op::BitwiseOr || op == Op::Add || op == Op::Maximum;
template <Op op>
constexpr bool is_and =
    op == Op::LogicalAnd || op == Op::BitwiseAnd || op == Op::Multiply || op == Op::Minimum;
template <Op op>
void reduce_bools(void* out, const void* in, int64 n) {
  constexpr int64 block = 4096;
  const auto* data = (const uint8*)in;
  bool found = false;
  for (int64 begin = 0; begin < n && !found; begin += block) {
    const int64 end = n - begin < block ? n : begin + block;
    uint8 any = 0;
    for (int64 i = begin; i < end; ++i) any |= is_or<op> ? data[i] : (uint8)(data[i] == 0);
    found = any != 0;
  }
  *(uint8*)out = found == is_or<op>;
}

// float16 is added up in float and rounded at the end, and compared in float.
template <DType d>
using Wide = decltype(widened(Element<d>()));
template <DType d, int n>
using Vector = Wide<d> __attribute__((ext_vector_type(n)));

template <DType d, int n>
Vector<d, n> load_vector(const Element<d>* in) {
  Element<d> __attribute__((ext_vector_type(n))) loaded;
  __builtin_memcpy(&loaded, in, sizeof(loaded));
  return __builtin_convertvector(loaded, Vector<d, n>);
}

// What a loop keeps of elements side by side: a quarter of the vector registers. With twice as much
// as that the two things that it keeps, and what it loads, would not all find room in them.
#if defined(__AVX512F__)
constexpr int side_by_side = 256;
#else
constexpr int side_by_side = 128;
#endif

// A bit for each element of a comparison's result.
template <int n>
using Bits = __type_pack_element<(n >= 16) + (n >= 32) + (n >= 64), uint8, uint16, uint32, uint64>;
template <int n, class Comparison>
Bits<n> bits_of_each(Comparison comparison) {
  using Truth = bool __attribute__((ext_vector_type(n)));
  return __builtin_bit_cast(Bits<n>, __builtin_convertvector(comparison, Truth));
}

// The extremes of what may be vectors.
template <Op op, DType d, class V>
V extremes_of(V x, V y) {
  if constexpr (float_type(d))
    return Formula<op>::real(x, y, x);
  else
    return Formula<op>::signed_integer(x, y, x);
}
// The extreme of a vector's elements.
template <Op op, DType d, int n>
Wide<d> extreme_of(Vector<d, n> v) {
  if constexpr (n == 2)
    return extremes_of<op, d, Wide<d>>(v.x, v.y);
  else
    return extreme_of<op, d, n / 2>(extremes_of<op, d, Vector<d, n / 2>>(v.lo, v.hi));
}

// Of numbers alone an extreme takes one instruction. That a NaN stays takes two more: so where
// there is much to do it is only looked, at two vectors at once, whether there is one.
template <DType d>
constexpr bool may_be_numbers = d == DType::Float32 || d == DType::Float64;
template <Op op, class V>
V extremes_of_numbers(V x, V y) {
  if constexpr (op == Op::Maximum || op == Op::Fmax)
    return x > y ? x : y;
  else
    return x < y ? x : y;
}
template <class V>
struct NanSeen {
  V seen = 0;  // NaN where there was one
  void look(V x, V y) { seen = ((x != x) | (y != y)) ? (V)__builtin_nan("") : seen; }
};

// Running extremes of every so many-th element; nothing where one is NaN.
template <Op op, DType d, int lanes>
bool reduce_numbers(void* out, const Element<d>* data, int64 n) {
  using V = Vector<d, lanes>;
  V extremes = load_vector<d, lanes>(data);
  NanSeen<V> nan;
  int64 i = lanes;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const V x = load_vector<d, lanes>(data + i), y = load_vector<d, lanes>(data + i + lanes);
    nan.look(x, y);
    extremes = extremes_of_numbers<op>(extremes_of_numbers<op>(extremes, x), y);
  }
  const V first = load_vector<d, lanes>(data), last = load_vector<d, lanes>(data + n - lanes);
  nan.look(first, last);
  if (i + lanes <= n) {
    const V x = load_vector<d, lanes>(data + i);
    nan.look(x, x);
    extremes = extremes_of_numbers<op>(extremes, x);
  }
  if (bits_of_each<lanes>(nan.seen != nan.seen) != 0) return false;
  extremes = extremes_of_numbers<op>(extremes, last);
  *(Element<d>*)out = (Element<d>)extreme_of<op, d, lanes>(extremes);
  return true;
}

// Running extremes of every so many-th element. It does no harm to take an element twice.
template <Op op, DType d, int lanes>
void reduce_side_by_side(void* out, const void* in, int64 n) {
  const auto* data = (const Element<d>*)in;
  if constexpr (may_be_numbers<d>)
    if (n >= 4 * lanes && reduce_numbers<op, d, lanes>(out, data, n)) return;
  Vector<d, lanes> extremes = load_vector<d, lanes>(data);
  for (int64 i = lanes; i + lanes <= n; i += lanes)
    extremes = extremes_of<op, d>(extremes, load_vector<d, lanes>(data + i));
  extremes = extremes_of<op, d>(extremes, load_vector<d, lanes>(data + n - lanes));
  *(Element<d>*)out = (Element<d>)extreme_of<op, d, lanes>(extremes);
}

template <Op op, DType d>
void reduce_floats_any_order(void* out, const void* in, int64 n) {
  constexpr int few = 8, many = side_by_side / (int)sizeof(Wide<d>);
  if (n < few) return reduce_in_order<op, d>(out, in, n);
  if (n < 2 * many) return reduce_side_by_side<op, d, few>(out, in, n);
  reduce_side_by_side<op, d, many>(out, in, n);
}

// ---- NumPy's pairwise sum -----------------------------------------------------------------------
// Over the parts of complex numbers it is the same tree: the accumulators take real and imaginary
// parts in turn.

constexpr int64 leaf = 128;

// (a + b) + (c + d), with no flags but those of these sums: a compiler left alone adds up whatever
// fills its registers.
template <class F>
F sum_of_pairs(F a, F b, F c, F d) {
#pragma clang fp exceptions(maytrap)
  return (a + b) + (c + d);
}

template <DType d>
void sum_leaf(Wide<d>* out, const Element<d>* in, int64 n) {
  constexpr int parts = complex_type(d) ? 2 : 1;
  if (n < 8) {
    // -0.0 is the neutral element: a sum of negative zeros is one.
    for (int part = 0; part < parts; ++part) out[part] = (Wide<d>)-0.0;
    for (int64 i = 0; i < n; ++i) out[i % parts] += widened(in[i]);
    return;
  }
  Vector<d, 8> r = load_vector<d, 8>(in);
  int64 i = 8;
  for (; i < n - n % 8; i += 8) r += load_vector<d, 8>(in + i);
  if constexpr (parts == 1) {
    const Vector<d, 4> s = r.even + r.odd;
    out[0] = sum_of_pairs(s[0], s[1], s[2], s[3]);
  } else {
    for (int part = 0; part < parts; ++part)
      out[part] = sum_of_pairs(r[part], r[part + 2], r[part + 4], r[part + 6]);
  }
  for (; i < n; ++i) out[i % parts] += widened(in[i]);
}

// Two leaves of at least eight numbers at once: the additions of one wait for one another. Each is
// added up as above.
template <DType d>
void sum_leaves(Wide<d>* left_out, int64 left_n, Wide<d>* right_out, int64 right_n,
                const Element<d>* left) {
  const Element<d>* const right = left + left_n;
  Vector<d, 8> l = load_vector<d, 8>(left), r = load_vector<d, 8>(right);
  int64 i = 8, j;
  for (; i < left_n; i += 8) {
    l += load_vector<d, 8>(left + i);
    r += load_vector<d, 8>(right + i);
  }
  for (j = i; j < right_n - right_n % 8; j += 8) r += load_vector<d, 8>(right + j);
  const Vector<d, 4> a = l.even + l.odd, b = r.even + r.odd;
  *left_out = sum_of_pairs(a[0], a[1], a[2], a[3]);
  *right_out = sum_of_pairs(b[0], b[1], b[2], b[3]);
  for (; j < right_n; ++j) *right_out += widened(right[j]);
}

template <DType d>
void sum_tree(Wide<d>* out, const Element<d>* in, int64 n) {
  if (n <= leaf) return sum_leaf<d>(out, in, n);
  int64 half_n = n / 2;
  half_n -= half_n % 8;
  Wide<d> left[2], right[2];
  if constexpr (!complex_type(d))
    if (n - half_n <= leaf) {
      sum_leaves<d>(left, half_n, right, n - half_n, in);
      out[0] = left[0] + right[0];
      return;
    }
  sum_tree<d>(left, in, half_n);
  sum_tree<d>(right, in + half_n, n - half_n);
  for (int part = 0; part < (complex_type(d) ? 2 : 1); ++part) out[part] = left[part] + right[part];
}

template <DType d>
void reduce_pairwise(void* out, const void* in, int64 n) {
  constexpr int parts = complex_type(d) ? 2 : 1;
  Wide<d> sum[2];
  sum_tree<d>(sum, (const Element<d>*)in, parts * n);
  for (int part = 0; part < parts; ++part) ((Element<d>*)out)[part] = (Element<d>)sum[part];
}

// ---- scans and the tables -----------------------------------------------------------------------

template <Op op, DType d>
void scan(void* out, const void* in, void* carry, int64 n) {
  Number<d> sum = Number<d>::load(carry, 0);
  for (int64 i = 0; i < n; ++i) {
    sum = combined<op, d>(sum, Number<d>::load(in, i));
    sum.store(out, i);
  }
  sum.store(carry, 0);
}

// Most complex elements leave a running extreme as it is: one comparison tells.
template <Op op, DType d>
requires(complex_type(d) &&
         (op == Op::Maximum || op == Op::Minimum)) void scan(void* out, const void* in, void* carry,
                                                             int64 n) {
  Number<d> extreme = Number<d>::load(carry, 0);
  for (int64 i = 0; i < n; ++i) {
    const Number<d> x = Number<d>::load(in, i);
    const bool is_behind = op == Op::Maximum ? x.re < extreme.re : x.re > extreme.re;
    if (!is_behind || x.im != x.im) extreme = combined<op, d>(extreme, x);
    extreme.store(out, i);
  }
  extreme.store(carry, 0);
}

template <Op op, DType d>
void update(void* elements, int64 extent, int64 stride, const int64* indices, const void* values,
            int64 step, int64 n) {
  for (int64 k = 0; k < n; ++k) {
    const int64 i = indices[k];
    void* element = (char*)elements + (i + (i >> 63 & extent)) * stride;
    combined<op, d>(Number<d>::load(element, 0), Number<d>::load(values, k * step))
        .store(element, 0);
  }
}

// The first of the blocks with an element beyond all before it, or with a NaN; then the element.
template <Op op, DType d, int lanes>
int64 extreme_place(const Element<d>* data, int64 n) {
  constexpr int64 large = (lanes >= 16 ? 64 : 4) * lanes, small = 4 * lanes;
  Wide<d> extreme = extreme_of<op, d, lanes>(load_vector<d, lanes>(data));
  int64 at = 0;
  const auto look_at = [&](int64 first, int64 length) {
    const auto vector_at = [=](int64 k) { return load_vector<d, lanes>(data + first + k); };
    Vector<d, lanes> found = vector_at(0), best = extreme;
    for (int64 k = lanes; k < length; k += lanes) found = extremes_of<op, d>(found, vector_at(k));
    if (bits_of_each<lanes>(op == Op::Maximum ? !(found <= best) : !(found >= best)) == 0) return;
    extreme = extreme_of<op, d, lanes>(found);
    at = first;
  };
  // The same, of an even number of vectors.
  const auto look_at_block = [&](int64 first, int64 length) {
    if constexpr (may_be_numbers<d>) {
      const auto vector_at = [=](int64 k) { return load_vector<d, lanes>(data + first + k); };
      Vector<d, lanes> found = vector_at(0), best = extreme;
      NanSeen<Vector<d, lanes>> nan;
      for (int64 k = 0; k < length; k += 2 * lanes) {
        const auto x = vector_at(k), y = vector_at(k + lanes);
        nan.look(x, y);
        found = extremes_of_numbers<op>(extremes_of_numbers<op>(found, x), y);
      }
      const auto beyond = op == Op::Maximum ? found > best : found < best;
      if (bits_of_each<lanes>(beyond | (nan.seen != nan.seen)) == 0) return;
    }
    look_at(first, length);
  };
  int64 k = lanes;
  for (; k + large <= n && extreme == extreme; k += large) look_at_block(k, large);
  for (; k + small <= n && extreme == extreme; k += small) look_at_block(k, small);
  for (; k + lanes <= n && extreme == extreme; k += lanes) look_at(k, lanes);
  if (extreme == extreme) look_at(n - lanes, lanes);
  for (;; at += lanes) {
    Vector<d, lanes> x = load_vector<d, lanes>(data + at), best = extreme;
    const auto bits =
        extreme == extreme ? bits_of_each<lanes>(x == best) : bits_of_each<lanes>(x != x);
    if (bits != 0) return at + __builtin_ctzll(bits);
  }
}
template <Op op, DType d>
int64 find_extreme(const void* in, int64 n) {
  constexpr int fit = side_by_side / (int)sizeof(Wide<d>), few = 8, many = fit < 64 ? fit : 64;
  const auto* data = (const Element<d>*)in;
  if (n >= 2 * many) return extreme_place<op, d, many>(data, n);
  if (n >= few) return extreme_place<op, d, few>(data, n);
  int64 at = 0;
  for (int64 k = 1; k < n && data[at] == data[at]; ++k)
    if (op == Op::Maximum ? !(data[k] <= data[at]) : !(data[k] >= data[at])) at = k;
  return at;
}
// Of complex elements, of which the first with a NaN is it. Most are behind in their real parts.
template <Op op, DType d>
requires(complex_type(d)) int64 find_extreme(const void* in, int64 n) {
  constexpr int lanes = 8, least = 4 * lanes;
  Number<d> extreme = Number<d>::load(in, 0);
  const auto is_nan = [](Number<d> x) { return x.re != x.re || x.im != x.im; };
  const auto is_beyond = [](auto x, auto y) { return op == Op::Maximum ? x > y : x < y; };
  int64 at = 0;
  for (int64 k = 1; k < n && !is_nan(extreme);) {
    int64 last = n;
    if (n >= least && k + lanes <= n) {
      const auto x = load_vector<d, 2 * lanes>((const Element<d>*)in + 2 * k);
      const Vector<d, lanes> re = x.even, im = x.odd, best = extreme.re;
      last = k + lanes;
      if (bits_of_each<lanes>(is_beyond(best, re) & (im == im)) == 0xff) k = last;
    }
    for (; k < last && !is_nan(extreme); ++k) {
      const Number<d> x = Number<d>::load(in, k);
      if (is_beyond(x.re, extreme.re) || is_nan(x) ||
          (x.re == extreme.re && is_beyond(x.im, extreme.im)))
        extreme = x, at = k;
    }
  }
  return at;
}
template <Op op, DType d>
void reduce_to_extreme(void* out, const void* in, int64 n) {
  Number<d>::load(in, find_extreme<op, d>(in, n)).store(out, 0);
}
// Of bool elements the first true or false one decides.
template <Op op>
int64 find_bool(const void* in, int64 n) {
  constexpr int lanes = 64, few = 8;
  const auto* data = (const uint8*)in;
  int64 k = 0;
  for (; k + lanes <= n; k += lanes) {
    uint8 __attribute__((ext_vector_type(lanes))) x;
    __builtin_memcpy(&x, data + k, sizeof(x));
    uint64 bits = bits_of_each<lanes>(op == Op::Maximum ? x != 0 : x == 0);
    if (bits != 0) return k + __builtin_ctzll(bits);
  }
  for (; k + few <= n; k += few) {
    uint8 __attribute__((ext_vector_type(few))) x;
    __builtin_memcpy(&x, data + k, sizeof(x));
    unsigned bits = bits_of_each<few>(op == Op::Maximum ? x != 0 : x == 0);
    if (bits != 0) return k + __builtin_ctz(bits);
  }
  for (; k < n; ++k)
    if ((data[k] != 0) == (op == Op::Maximum)) return k;
  return 0;
}

template <DType d>
Extremes range_of(const void* in, int64 n) {
  const auto* data = (const Element<d>*)in;
  Element<d> least = data[0], greatest = data[0];
  for (int64 i = 1; i < n; ++i) {
    least = data[i] < least ? data[i] : least;
    greatest = data[i] > greatest ? data[i] : greatest;
  }
  return {(int64)least, (int64)greatest};
}

// The extremes of some columns so far, and their rows, which are counted in numbers as wide as the
// elements, where those are wide.
template <Op op, DType d>
struct ColumnExtremes {
  using T = Element<d>;
  using Place = __type_pack_element<sizeof(T) == 8, int32, int64>;
  static constexpr int64 block = 256;
  static constexpr int lanes = 16;
  T extremes[block];
  Place best[block];

  // What comes behind a NaN is no better; what is no number is better than any.
  template <class V>
  static auto is_better(V x, V extreme) {
    return (extreme == extreme) & ~(op == Op::Maximum ? x <= extreme : x >= extreme);
  }
  // Of two rows of some length few elements are better: most groups are only looked at. (A choice
  // that the compiler makes of single elements stores under a mask, which takes AMD's processors
  // as long as the rest.)
  template <int n>
  void look_at(const T* row, int64 k, int64 j) {
    using Places = Place __attribute__((ext_vector_type(n)));
    const Vector<d, n> x = load(load_vector<d, n>(row + j)),
                       extreme = load_vector<d, n>(extremes + j);
    const auto better = is_better(x, extreme);
    if (__builtin_reduce_or(better) == 0) return;
    const Vector<d, n> extreme_now = better ? x : extreme;
    __builtin_memcpy(extremes + j, &extreme_now, sizeof extreme_now);
    Places places;
    __builtin_memcpy(&places, best + j, sizeof places);
    places = __builtin_convertvector(better, Places) ? (Places)(Place)k : places;
    __builtin_memcpy(best + j, &places, sizeof places);
  }
  // Elements may be looked at twice: so the last group is a whole one, too.
  void look_at_row(const T* row, int64 k, int64 width) {
    if (width < lanes) {
      for (int64 j = 0; j < width; ++j) look_at<1>(row, k, j);
      return;
    }
    int64 j = 0;
    for (; j + lanes <= width; j += lanes) look_at<lanes>(row, k, j);
    if (j < width) look_at<lanes>(row, k, width - lanes);
  }
  void begin(const T* row, int64 width) {
    for (int64 j = 0; j < width; ++j) {
      extremes[j] = load(row[j]);
      best[j] = 0;
    }
  }

 private:
  // Any byte of a bool but 0 is true.
  template <class V>
  static V load(V x) {
    if constexpr (d == DType::Bool)
      return x != 0 ? (V)(T)1 : (V)(T)0;
    else
      return x;
  }
};
template <Op op, DType d>
void find_extremes_of_columns(const void* in, int64 n, int64 stride, int64 count, int64* places) {
  using T = Element<d>;
  ColumnExtremes<op, d> columns;
  for (int64 first = 0; first < count; first += columns.block) {
    const int64 width = count - first < columns.block ? count - first : columns.block;
    const auto row_of = [&](int64 k) { return (const T*)((const char*)in + k * stride) + first; };
    columns.begin(row_of(0), width);
    for (int64 k = 1; k < n; ++k) columns.look_at_row(row_of(k), k, width);
    for (int64 j = 0; j < width; ++j) places[first + j] = columns.best[j];
  }
}

int64 count_true(const void* in, int64 n) {
  constexpr int64 lanes = 64;
  using Bytes = uint8 __attribute__((ext_vector_type(lanes)));
  const auto* data = (const uint8*)in;
  int64 count = 0, k = 0;
  while (k + lanes <= n) {
    Bytes sums = 0;  // of up to 255 each
    for (int64 round = 0; round < 255 && k + lanes <= n; ++round, k += lanes) {
      Bytes loaded;
      __builtin_memcpy(&loaded, data + k, sizeof(loaded));
      sums -= __builtin_convertvector(loaded != 0, Bytes);  // true is -1
    }
    for (int64 j = 0; j < lanes; ++j) count += sums[j];
  }
  for (; k < n; ++k) count += data[k] != 0;
  return count;
}

template <Op op, DType d>
void fill_entry(LoopTable& table) {
  if constexpr (reducible<op, d>) {
    ReduceLoop& reduction = table.reductions[(int)op][(int)d];
    if constexpr (op == Op::Add && (float_type(d) || complex_type(d)))
      reduction = reduce_pairwise<d>;
    else if constexpr (d == DType::Bool && (is_or<op> || is_and<op>))
      reduction = reduce_bools<op>;
    else if constexpr (!float_type(d) && !complex_type(d) && !has_rare<op, d>)
      reduction = reduce_integers<op, d>;
    else if constexpr (float_type(d) && (Formula<op>::flags & Reorderable) != 0)
      reduction = reduce_floats_any_order<op, d>;
    else if constexpr (complex_type(d) && (op == Op::Maximum || op == Op::Minimum))
      reduction = reduce_to_extreme<op, d>;
    else if constexpr (wide_half<op, d>)
      reduction = reduce_half<op, d>;
    else
      reduction = reduce_in_order<op, d>;
    table.scans[(int)op][(int)d] = scan<op, d>;
    if constexpr (!complex_type(d)) table.updates[(int)op][(int)d] = update<op, d>;
  }
}
template <Op op, DType d>
constexpr ExtremeLoop extreme_loop_of = find_extreme<op, d>;
template <Op op>
constexpr ExtremeLoop extreme_loop_of<op, DType::Bool> = find_bool<op>;
template <DType d>
void fill_extremes(LoopTable& table) {
  if constexpr (!complex_type(d) && d != DType::Float16) {
    table.greatest_columns[(int)d] = find_extremes_of_columns<Op::Maximum, d>;
    table.least_columns[(int)d] = find_extremes_of_columns<Op::Minimum, d>;
  }
  table.greatest[(int)d] = extreme_loop_of<Op::Maximum, d>;
  table.least[(int)d] = extreme_loop_of<Op::Minimum, d>;
  if constexpr (!float_type(d) && !complex_type(d)) table.ranges[(int)d] = range_of<d>;
}
template <Op op>
void fill_row(LoopTable& table) {
#define FRIT_DTYPE(Name, ...) fill_entry<op, DType::Name>(table);
#include "ops/dtype.def"
#undef FRIT_DTYPE
}

#define FRIT_JOIN(a, b) a##b
#define FRIT_AT_LEVEL(name, level) FRIT_JOIN(name, level)

}  // namespace

void FRIT_AT_LEVEL(fill_reductions_, FRIT_LEVEL)(LoopTable& table) {
#define FRIT_OP(Name, ...) fill_row<Op::Name>(table);
#include "ops/op.def"
#undef FRIT_OP
  table.count_true = count_true;
#define FRIT_DTYPE(Name, ...) fill_extremes<DType::Name>(table);
#include "ops/dtype.def"
#undef FRIT_DTYPE
}

}  // namespace frit
