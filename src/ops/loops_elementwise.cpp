// loops_elementwise.cpp: the interpreter's loops over contiguous elements, made from the formulas.
//
// Compiled by clang twice for each instruction set, FRIT_LEVEL naming it: with FRIT_PART plain and
// costly, for rows without and with the flag Costly. The loop vectoriser does the rest, as every
// formula is straight-line.
#include "ops/loops.h"
#include "ops/rows.h"

namespace frit {
namespace {

// Elements that are looked at, for rare ones or whether all are ordinary, at a time: they stay in
// L1.
constexpr int64 block = 512;

// Iterations are independent even where the output is an input: each loads before it stores.
#define FRIT_VECTORIZE _Pragma("clang loop vectorize(assume_safety)")
// One byte of each wide element: by itself a vector of those makes a short store.
#define FRIT_VECTORIZE_NARROWING _Pragma("clang loop vectorize(assume_safety) vectorize_width(32)")
// On what a loop reads through: clang forgets the promise for accesses that it inlines late, and
// then tests for overlap and runs in-place loops one element at a time.
#define FRIT_ACCESS [[gnu::always_inline]]

// Input k of an op as an array, or as one element for all.
template <class T, bool splat>
struct Operand {
  const T* data;
  T one;
  explicit Operand(const void* p) : data((const T*)p), one(splat ? *(const T*)p : T()) {}
  FRIT_ACCESS T operator[](int64 i) const {
    if constexpr (splat)
      return one;
    else
      return data[i];
  }
};

template <Op op, DType d, unsigned splat>
struct Real {
  static constexpr int inputs = Formula<op>::inputs;
  Operand<Input<op, d, 0>, (splat & 1) != 0> x;
  Operand<Input<op, d, 1>, (splat & 2) != 0 || (inputs < 2)> y;
  Operand<Input<op, d, 2>, (splat & 4) != 0 || (inputs < 3)> z;
  Output<op, d>* out;

  explicit Real(void* const* args)
      : x(args[1]),
        y(args[inputs > 1 ? 2 : 1]),
        z(args[inputs > 2 ? 3 : 1]),
        out((Output<op, d>*)args[0]) {}

  void formula(int64 begin, int64 end) const {
    if constexpr (!doubles_are_near && splat == 2 && has_by_one<op, d>)
      if (end - begin >= many_by_one) return formula_by_one(begin, end);
    if constexpr (d == DType::Float16) return half_elements<value_of<op, d>>(begin, end);
    if constexpr (may_overflow<op, d>) return flagged_formula(begin, end);
    if constexpr (sizeof(*out) == 1 && sizeof(Input<op, d, inputs - 1>) >= 4) {
      int64 many = begin + (end - begin) / 32 * 32;
      FRIT_VECTORIZE_NARROWING
      for (int64 i = begin; i < many; ++i) out[i] = value_of<op, d>(x[i], y[i], z[i]);
      begin = many;
    }
    FRIT_VECTORIZE
    for (int64 i = begin; i < end; ++i) out[i] = value_of<op, d>(x[i], y[i], z[i]);
  }
  // What is worked out in front takes as long as some elements.
  static constexpr int64 many_by_one = 32;
  void formula_by_one(int64 begin, int64 end) const {
    if constexpr (may_overflow<op, d>)
      if (overflows<op, d>(smallest<Element<d>>, y.one, 0)) return flagged_formula(begin, end);
    FRIT_VECTORIZE
    for (int64 i = begin; i < end; ++i) out[i] = by_one_formula_of<op, d>(x[i], y.one);
  }
  // One flag for all elements: in each of them it takes longer than the division by a reciprocal.
  void flagged_formula(int64 begin, int64 end) const {
    Output<op, d> any = 0;  // no wider than the elements: that would take more vectors
    FRIT_VECTORIZE
    for (int64 i = begin; i < end; ++i) {
      any |= overflows<op, d>(x[i], y[i], z[i]);
      out[i] = quiet_value_of<op, d>(x[i], y[i], z[i]);
    }
    if (any != 0) raise_overflow();
  }
  // By full vectors only: a conversion of one float16 works on a whole register, and raises flags
  // for what happens to stand beside it.
  static constexpr int64 width = d == DType::Float16 ? 16 : 1;
  template <auto element>
  void half_elements(int64 begin, int64 end) const {
    int64 i = begin;
    for (; i + width <= end; i += width) {
      FRIT_VECTORIZE
      for (int64 k = 0; k < width; ++k) out[i + k] = element(x[i + k], y[i + k], z[i + k]);
    }
    if (i == end) return;
    Input<op, d, 0> xs[width];
    Input<op, d, 1> ys[width];
    Input<op, d, 2> zs[width];
    Output<op, d> outs[width];
    for (int64 k = 0; k < width; ++k) {
      int64 from = i + k < end ? i + k : i;
      xs[k] = x[from];
      ys[k] = y[from];
      zs[k] = z[from];
    }
    FRIT_VECTORIZE
    for (int64 k = 0; k < width; ++k) outs[k] = element(xs[k], ys[k], zs[k]);
    for (int64 k = 0; i + k < end; ++k) out[i + k] = outs[k];
  }
  bool any_rare(int64 begin, int64 end) const {
    unsigned any = 0;
    FRIT_VECTORIZE
    for (int64 i = begin; i < end; ++i) any |= is_rare<op, d>(x[i], y[i], z[i]);
    return any != 0;
  }
  bool all_ordinary(int64 begin, int64 end) const {
    bool all = true;
    FRIT_VECTORIZE
    for (int64 i = begin; i < end; ++i) all = all & is_ordinary<op, d>(x[i], y[i], z[i]);
    return all;
  }
  void ordinary_formula(int64 begin, int64 end) const {
    if constexpr (d == DType::Float16) return half_elements<ordinary_value_of<op, d>>(begin, end);
    FRIT_VECTORIZE
    for (int64 i = begin; i < end; ++i) out[i] = ordinary_value_of<op, d>(x[i], y[i], z[i]);
  }
  [[gnu::noinline]] void whole(int64 begin, int64 end) const {
    for (int64 i = begin; i < end; ++i)
      out[i] = is_rare<op, d>(x[i], y[i], z[i]) ? whole_value_of<op, d>(x[i], y[i], z[i])
                                                : value_of<op, d>(x[i], y[i], z[i]);
  }
};

// An input or output of interleaved complex numbers; Select's first input is bool.
template <class T, bool splat, bool complex>
struct Pairs {
  static constexpr bool is_one = splat;
  const T* data;
  T one_re, one_im;
  explicit Pairs(const void* p)
      : data((const T*)p),
        one_re(splat ? data[0] : T()),
        one_im(splat && complex ? data[1] : T()) {}
  FRIT_ACCESS T re(int64 i) const {
    if constexpr (splat)
      return one_re;
    else
      return data[complex ? 2 * i : i];
  }
  FRIT_ACCESS T im(int64 i) const {
    if constexpr (splat || !complex)
      return one_im;
    else
      return data[2 * i + 1];
  }
};

template <Op op, DType d, unsigned splat>
struct Complex {
  static constexpr int inputs = Formula<op>::inputs;
  using P = Element<d>;
  static constexpr bool bool_first = Formula<op>::rule == TypeRule::Select;
  static constexpr bool rare = has_part<op, Part::Rare, P, P, P, P, P, P>;
  Pairs<Input<op, d, 0>, (splat & 1) != 0, !bool_first> x;
  Pairs<P, (splat & 2) != 0, true> y;
  Pairs<P, (splat & 4) != 0, true> z;
  Output<op, d>* out;

  explicit Complex(void* const* args)
      : x(args[1]),
        y(args[inputs > 1 ? 2 : 1]),
        z(args[inputs > 2 ? 3 : 1]),
        out((Output<op, d>*)args[0]) {}

  template <Part part>
  FRIT_ACCESS auto get(int64 i) const {
    P y_re = inputs > 1 ? y.re(i) : P(), y_im = inputs > 1 ? y.im(i) : P();
    P z_re = inputs > 2 ? z.re(i) : P(), z_im = inputs > 2 ? z.im(i) : P();
    return part_of<op, part>(x.re(i), x.im(i), y_re, y_im, z_re, z_im);
  }
#if defined(__FMA__)
  // Products of numbers as they lie in memory, by the formula's operations: to part the real parts
  // from the imaginary ones and to bring them together again takes longer than the products. Gives
  // the first number that is left.
  int64 products(int64 begin, int64 end) const {
    constexpr int lanes = 64 / (int)sizeof(P);
    using Numbers = P __attribute__((ext_vector_type(lanes)));
    const auto load = [](Numbers& parts, const auto& from, int64 i) {
      if (from.is_one)
        parts.even = from.one_re, parts.odd = from.one_im;
      else
        __builtin_memcpy(&parts, from.data + 2 * i, sizeof parts);
    };
    int64 i = begin;
    for (; i + lanes / 2 <= end; i += lanes / 2) {
      Numbers a, b, re, im, turned;
      load(a, x, i);
      if constexpr (inputs > 1)
        load(b, y, i);
      else
        b = a;
      re.even = re.odd = a.even;
      im.even = im.odd = a.odd;
      turned.even = b.odd;
      turned.odd = b.even;
      im *= turned;
      im.even = -im.even;
      re = __builtin_elementwise_fma(re, b, im);
      __builtin_memcpy(out + 2 * i, &re, sizeof re);
    }
    return i;
  }
#else
  int64 products(int64 begin, int64) const { return begin; }
#endif
  void formula(int64 begin, int64 end) const {
    if constexpr (op == Op::Multiply || op == Op::Square) begin = products(begin, end);
    FRIT_VECTORIZE
    for (int64 i = begin; i < end; ++i) {
      if constexpr (complex_output<op, d>) {
        P re = get<Part::Re>(i), im = get<Part::Im>(i);
        out[2 * i] = re;
        out[2 * i + 1] = im;
      } else {
        out[i] = (Output<op, d>)get<Part::Real>(i);
      }
    }
  }
  bool any_rare(int64 begin, int64 end) const {
    unsigned any = 0;
    FRIT_VECTORIZE
    for (int64 i = begin; i < end; ++i) any |= get<Part::Rare>(i);
    return any != 0;
  }
  [[gnu::noinline]] void whole(int64 begin, int64 end) const {
    for (int64 i = begin; i < end; ++i) {
      if (get<Part::Rare>(i)) {
        Parts<P> element = get<Part::Whole>(i);
        out[2 * i] = element.re;
        out[2 * i + 1] = element.im;
      } else {
        formula(i, i + 1);
      }
    }
  }
};

template <Op op, DType d, unsigned splat>
constexpr bool rare_exists = [] {
  if constexpr (complex_type(d))
    return Complex<op, d, splat>::rare;
  else
    return has_rare<op, d>;
}();

template <Op op, DType d, unsigned splat>
void run(void* const* args, int64 n) {
  using Elements = __remove_pointer(decltype([] {
    if constexpr (complex_type(d))
      return (Complex<op, d, splat>*)nullptr;
    else
      return (Real<op, d, splat>*)nullptr;
  }()));
  const Elements elements(args);
  if constexpr (rare_exists<op, d, splat>) {
    for (int64 begin = 0; begin < n; begin += block) {
      int64 end = n - begin < block ? n : begin + block;
      if (elements.any_rare(begin, end))
        elements.whole(begin, end);
      else
        elements.formula(begin, end);
    }
  } else if constexpr (has_ordinary<op, d>) {
    for (int64 begin = 0; begin < n; begin += block) {
      int64 end = n - begin < block ? n : begin + block,
            whole = end - (end - begin) % Elements::width;
      bool ordinary = elements.all_ordinary(begin, whole);
      if (ordinary) elements.ordinary_formula(begin, whole);
      elements.formula(ordinary ? whole : begin, end);
    }
  } else {
    elements.formula(0, n);
  }
}

template <class T>
void fill(T* out, int64 n, T value) {
  for (int64 i = 0; i < n; ++i) out[i] = value;
}

// All inputs are single elements, hence so is the result.
template <Op op, DType d>
void run_once(void* const* args, int64 n) {
  if (n <= 0) return;
  run<op, d, 0>(args, 1);
  if constexpr (complex_output<op, d>) {
    struct Pair {
      Element<d> re, im;
    };
    fill((Pair*)args[0], n, *(const Pair*)args[0]);
  } else {
    auto* out = (Output<op, d>*)args[0];
    fill(out, n, *out);
  }
}

// Where the inputs may change places, bit for bit: not in complex products, nor in a maximum of 0.0
// and -0.0.
template <Op op, DType d>
constexpr bool inputs_swap = (Formula<op>::flags & Commutative) != 0 &&
                             ((!float_type(d) && !complex_type(d)) ||
                              Formula<op>::rule != TypeRule::Same ||
                              (float_type(d) && (op == Op::Add || op == Op::Multiply)));

template <Op op, DType d>
void elementwise_loop(void* const* args, int64 n, unsigned splat) {
  constexpr int inputs = Formula<op>::inputs;
  if (splat == 0) return run<op, d, 0>(args, n);
  if (splat == (1u << inputs) - 1) return run_once<op, d>(args, n);
  if constexpr (inputs == 2) {
    if constexpr (inputs_swap<op, d>) {
      if (splat == 1) {
        void* const swapped[3] = {args[0], args[2], args[1]};
        return run<op, d, 2>(swapped, n);
      }
      return run<op, d, 2>(args, n);
    } else {
      return splat == 1 ? run<op, d, 1>(args, n) : run<op, d, 2>(args, n);
    }
  }
  if constexpr (inputs == 3) {
    switch (splat) {
      case 1:
        return run<op, d, 1>(args, n);
      case 2:
        return run<op, d, 2>(args, n);
      case 3:
        return run<op, d, 3>(args, n);
      case 4:
        return run<op, d, 4>(args, n);
      case 5:
        return run<op, d, 5>(args, n);
      case 6:
        return run<op, d, 6>(args, n);
    }
  }
}

// ---- chains -------------------------------------------------------------------------------------

// What rows are added up with: ops of one plain formula.
template <Op op, DType d>
constexpr bool is_chained = [] {
  using F = Formula<op>;
  constexpr bool of_same = F::rule == TypeRule::Same || d == DType::Bool;
  if constexpr (F::inputs != 2 || !of_same || complex_type(d) || d == DType::Float16)
    return false;
  else
    return (F::flags & (Commutative | Reorderable)) != 0 && (F::flags & Costly) == 0 &&
           has_formula<op, d> && !has_rare<op, d> && !may_overflow<op, d>;
}();

template <Op op, DType d>
void chain(void* out, const void* first, const void* const* rows, int64 n) {
  using T = Element<d>;
  auto* to = (T*)out;
  const T *w = (const T*)first, *x0 = (const T*)rows[0], *x1 = (const T*)rows[1],
          *x2 = (const T*)rows[2], *x3 = (const T*)rows[3];
  const auto next = [](T w, T x) { return value_of<op, d>(w, x, x); };
  FRIT_VECTORIZE
  for (int64 i = 0; i < n; ++i) to[i] = next(next(next(next(w[i], x0[i]), x1[i]), x2[i]), x3[i]);
}

// The same of rows that lie `stride` bytes apart, four after four; a few sums stay in registers.
template <Op op, DType d, bool row_first>
struct RowSums {
  using T = Element<d>;
  T* sums;
  const char* rows;
  int64 stride;

  FRIT_ACCESS static T next(T w, T x) { return value_of<op, d>(w, x, x); }
  FRIT_ACCESS const T* row(int64 k) const { return (const T*)(rows + k * stride); }
  FRIT_ACCESS static T after_four(T w, T x0, T x1, T x2, T x3) {
    return next(next(next(row_first ? next(x0, w) : next(w, x0), x1), x2), x3);
  }
  template <int n>
  void few(int64 fours) const {
    T s[n];
    for (int j = 0; j < n; ++j) s[j] = sums[j];
    for (int64 k = 0; k < 4 * fours; k += 4)
      for (int j = 0; j < n; ++j)
        s[j] = after_four(s[j], row(k)[j], row(k + 1)[j], row(k + 2)[j], row(k + 3)[j]);
    for (int j = 0; j < n; ++j) sums[j] = s[j];
  }
  void many(int64 fours, int64 n) const {
    for (int64 k = 0; k < 4 * fours; k += 4) {
      T* w = sums;
      const T *x0 = row(k), *x1 = row(k + 1), *x2 = row(k + 2), *x3 = row(k + 3);
      FRIT_VECTORIZE
      for (int64 j = 0; j < n; ++j) w[j] = after_four(w[j], x0[j], x1[j], x2[j], x3[j]);
    }
  }
  void add(int64 fours, int64 n) const {
    switch (n) {
      case 1:
        return few<1>(fours);
      case 2:
        return few<2>(fours);
      case 3:
        return few<3>(fours);
      case 4:
        return few<4>(fours);
    }
    many(fours, n);
  }
};
template <Op op, DType d>
void add_rows(void* sums, const void* rows, int64 stride, int64 fours, int64 n, ChainStart start) {
  auto* to = (Element<d>*)sums;
  if (start == ChainStart::Row)
    RowSums<op, d, true>{to, (const char*)rows, stride}.add(fours, n);
  else
    RowSums<op, d, false>{to, (const char*)rows, stride}.add(fours, n);
}

// ---- casts --------------------------------------------------------------------------------------

template <DType from, DType to, bool splat>
void cast(void* const* args, int64 n) {
  const auto* in = (const Element<from>*)args[1];
  auto* out = (Element<to>*)args[0];
  if constexpr (complex_type(from) && complex_type(to) && !splat) {
    void* const parts[2] = {args[0], args[1]};
    return cast<part_type(from), part_type(to), false>(parts, 2 * n);
  }
  constexpr int64 in_step = splat ? 0 : complex_type(from) ? 2 : 1;
  int64 begin = 0;
  if constexpr (!complex_type(from) && sizeof(*out) == 1 && sizeof(*in) >= 4) {
    begin = n / 32 * 32;
    FRIT_VECTORIZE_NARROWING
    for (int64 i = 0; i < begin; ++i) out[i] = converted<to, part_type(from)>(in[in_step * i]);
  }
  FRIT_VECTORIZE
  for (int64 i = begin; i < n; ++i) {
    Element<from> re = in[in_step * i];
    if constexpr (complex_type(to)) {
      Element<from> im = complex_type(from) ? in[in_step * i + 1] : Element<from>();
      out[2 * i] = converted<part_type(to), part_type(from)>(re);
      out[2 * i + 1] = converted<part_type(to), part_type(from)>(im);
    } else if constexpr (complex_type(from) && to == DType::Bool) {
      out[i] = (re != 0) | (in[in_step * i + 1] != 0);
    } else {
      out[i] = converted<to, part_type(from)>(re);
    }
  }
}
template <DType from, DType to>
void cast_loop_of(void* const* args, int64 n, unsigned splat) {
  if (splat != 0)
    cast<from, to, true>(args, n);
  else
    cast<from, to, false>(args, n);
}

// ---- the tables ---------------------------------------------------------------------------------

enum class RowPart { plain, costly };

template <Op op, DType d>
void fill_entry(LoopTable& table) {
  constexpr bool costly_row = (Formula<op>::flags & Costly) != 0;
  if constexpr (has_formula<op, d> && costly_row == (RowPart::FRIT_PART == RowPart::costly))
    table.elementwise[(int)op][(int)d] = elementwise_loop<op, d>;
  if constexpr (RowPart::FRIT_PART == RowPart::plain && is_chained<op, d>)
    table.chains[(int)op][(int)d] = {chain<op, d>, add_rows<op, d>};
}
template <Op op>
void fill_row(LoopTable& table) {
#define FRIT_DTYPE(Name, ...) fill_entry<op, DType::Name>(table);
#include "ops/dtype.def"
#undef FRIT_DTYPE
}
template <DType from>
void fill_casts(LoopTable& table) {
#define FRIT_DTYPE(Name, ...) \
  table.casts[(int)from][(int)DType::Name] = cast_loop_of<from, DType::Name>;
#include "ops/dtype.def"
#undef FRIT_DTYPE
}

#define FRIT_JOIN(a, b) a##b
#define FRIT_AT_LEVEL(name, level) FRIT_JOIN(name, level)

}  // namespace

void FRIT_AT_LEVEL(FRIT_AT_LEVEL(fill_, FRIT_PART),
                   FRIT_AT_LEVEL(_, FRIT_LEVEL))(LoopTable& table) {
#define FRIT_OP(Name, ...) fill_row<Op::Name>(table);
#include "ops/op.def"
#undef FRIT_OP
  if constexpr (RowPart::FRIT_PART == RowPart::plain) {
#define FRIT_DTYPE(Name, ...) fill_casts<DType::Name>(table);
#include "ops/dtype.def"
#undef FRIT_DTYPE
  }
}

}  // namespace frit
