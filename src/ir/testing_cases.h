// testing_cases.h: launches that every backend must run with the same bits: a way to hold one, to
// compare two backends, and random ones from a seed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "ir/testing.h"

namespace frit::testing {

struct Buffer {
  DType dtype{};
  std::vector<std::byte> bytes;
};

// A kernel with all that a launch of it needs.
struct Case {
  Kernel kernel;
  std::vector<Buffer> buffers;
  struct Place {
    int buffer = -1;  // -1: scratch
    std::int64_t offset = 0;
  };
  std::vector<Place> places;  // of the operands
  std::vector<std::int64_t> integers;
  std::vector<Scalar> scalars;
  std::int64_t begin = 0, end = 0;
  std::size_t scratch_bytes = 0;
  bool flags_agree = false;  // its ops raise the same flags one by one and many at a time
};

// Not FE_INVALID: comparisons of NaNs raise it or not, by how the compiler words them.
inline constexpr int watched_flags = FE_DIVBYZERO | FE_OVERFLOW;

struct Outcome {
  std::vector<Buffer> buffers;
  int flags = 0;
};

// Runs the case on its own copy of the buffers, cut into `parts` launches of the parallel loop.
inline Outcome run(const Case& launch, Backend& backend, int parts = 1) {
  const auto executable = backend.compile(launch.kernel);
  Outcome outcome{launch.buffers, 0};
  std::vector<void*> pointers;
  for (const Case::Place& place : launch.places)
    pointers.push_back(place.buffer < 0
                           ? nullptr
                           : outcome.buffers[static_cast<std::size_t>(place.buffer)].bytes.data() +
                                 place.offset);
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> scratch(launch.scratch_bytes / sizeof(Line) + 1);
  std::feclearexcept(FE_ALL_EXCEPT);
  const std::int64_t n = launch.end - launch.begin;
  for (int k = 0; k < parts; ++k)
    executable->run({pointers.data(), launch.integers.data(), launch.scalars.data()},
                    launch.begin + n * k / parts, launch.begin + n * (k + 1) / parts,
                    reinterpret_cast<std::byte*>(scratch.data()));
  outcome.flags = std::fetestexcept(watched_flags);
  return outcome;
}

namespace detail {
template <class T>
bool same_float(const std::byte* x, const std::byte* y) {
  T a, b;
  std::memcpy(&a, x, sizeof a);
  std::memcpy(&b, y, sizeof b);
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
}
inline bool same_half(const std::byte* x, const std::byte* y) {
  std::uint16_t a, b;
  std::memcpy(&a, x, sizeof a);
  std::memcpy(&b, y, sizeof b);
  return a == b || ((a & 0x7fff) > 0x7c00 && (b & 0x7fff) > 0x7c00);
}
}  // namespace detail

// Bit for bit, but every NaN equals every other.
inline bool same_element(DType dtype, const std::byte* x, const std::byte* y) {
  switch (dtype) {
    case DType::Float16:
      return detail::same_half(x, y);
    case DType::Float32:
      return detail::same_float<float>(x, y);
    case DType::Float64:
      return detail::same_float<double>(x, y);
    case DType::Complex64:
      return detail::same_float<float>(x, y) && detail::same_float<float>(x + 4, y + 4);
    case DType::Complex128:
      return detail::same_float<double>(x, y) && detail::same_float<double>(x + 8, y + 8);
    default:
      return std::memcmp(x, y, static_cast<std::size_t>(size_of(dtype))) == 0;
  }
}

inline void expect_same_buffers(const std::vector<Buffer>& expected, const std::vector<Buffer>& got,
                                const std::string& what) {
  ASSERT_EQ(expected.size(), got.size());
  for (std::size_t b = 0; b < expected.size(); ++b) {
    const auto size = static_cast<std::size_t>(size_of(expected[b].dtype));
    for (std::size_t k = 0; k + size <= expected[b].bytes.size(); k += size)
      if (!same_element(expected[b].dtype, expected[b].bytes.data() + k, got[b].bytes.data() + k)) {
        Scalar x{.dtype = expected[b].dtype}, y = x;
        std::memcpy(x.bytes, expected[b].bytes.data() + k, size);
        std::memcpy(y.bytes, got[b].bytes.data() + k, size);
        FAIL() << what << ": buffer " << b << " (" << info(x.dtype).name << ") differs at element "
               << k / size << ": expected bits " << std::hex << x.as<std::uint64_t>() << ", got "
               << y.as<std::uint64_t>();
      }
  }
}

// What `tested` leaves in memory equals what `oracle` does, and it raises no IEEE flag that the
// oracle does not: not for lanes that a branch leaves out.
inline void expect_same(const Case& launch, Backend& oracle, Backend& tested,
                        const std::string& name) {
  const std::string what = name + "\n" + print(launch.kernel);
  const Outcome expected = run(launch, oracle);
  const Outcome got = run(launch, tested);
  expect_same_buffers(expected.buffers, got.buffers, what);
  if (launch.flags_agree) {
    EXPECT_EQ(got.flags & ~expected.flags, 0) << what << "raises flags of its own";
  }
  expect_same_buffers(expected.buffers, run(launch, tested, 3).buffers, what + "in three parts");
}

// ---- random launches ----------------------------------------------------------------------------

// Writes a random Kernel that keeps the rules of kernel.h, with data for it. The iteration space is
// one vector loop, or rows of vector loops. Operands are either an iteration's own (each iteration
// touches its own elements only, through one or two operands on the same memory) or tables, read at
// any index.
class RandomCase {
 public:
  explicit RandomCase(std::uint64_t seed) : random_(seed) {}

  Case make() {
    case_.flags_agree = chance(25);
    rows_ = chance(50) ? 1 : pick(1, 5);
    columns_ = chance(60) ? pick(0, 20) : chance(80) ? pick(1, 300) : pick(1, 5000);
    depth_ = pick(1, 4);
    has_rows_ = chance(60);
    if (has_rows_ && chance(30)) rows_ = pick(0, 40);
    iterations_ = std::max<std::int64_t>(1, columns_ * (has_rows_ ? rows_ : 1));
    zero_ = make_.constant(std::int64_t{0});
    column_count_ = integer(columns_);
    set_up();
    if (has_rows_)
      make_.parallel([&](ValueId row) { write_rows(row); });
    else
      make_.parallel_vector([&](ValueId lane) {
        lane_ = lane;
        in_vector([&] { statements(pick(2, 10), 3); });
      });
    case_.kernel = make_.kernel();
    case_.kernel.may_stop = chance(30);
    case_.kernel.from_own_cache = chance(30);
    choose_libraries(case_.kernel.code, variance_of(case_.kernel));
    case_.end = has_rows_ ? rows_ : columns_;
    case_.scratch_bytes = scratch_bytes_;
    return std::move(case_);
  }

 private:
  // Of functions of what is one number for all lanes.
  void choose_libraries(Block& block, const Variance& variance) {
    for (Instr& instr : block) {
      choose_libraries(instr.body, variance);
      choose_libraries(instr.other, variance);
      const bool is_one = instr.kind == InstrKind::Apply &&
                          !variance.values[static_cast<std::size_t>(instr.result)];
      if (is_one && chance(50)) instr.math = MathLibrary::C;
    }
  }

  // ---- chance ----
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  template <class T>
  const T& one_of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(list.size()) - 1))];
  }

  // ---- data ----
  Scalar random_element(DType dtype) {
    const bool special = chance(4), small = chance(70);
    const double x = special ? one_of(specials())
                     : small ? static_cast<double>(pick(-8, 8)) / 4
                             : std::normal_distribution<double>(0, 100)(random_);
    const double y = static_cast<double>(pick(-8, 8)) / 2;
    switch (dtype) {
      case DType::Bool:
        return Scalar::of(dtype, static_cast<std::uint8_t>(pick(0, 1)));
      case DType::Float16:
        return Scalar::of(dtype, static_cast<std::uint16_t>(pick(0, 0xffff)));
      case DType::Float32:
        return Scalar::of(dtype, static_cast<float>(x));
      case DType::Float64:
        return Scalar::of(dtype, x);
      case DType::Complex64:
        return Scalar::of(dtype, std::complex<float>(static_cast<float>(x), static_cast<float>(y)));
      case DType::Complex128:
        return Scalar::of(dtype, std::complex<double>(x, y));
      default: {
        const std::int64_t value = small ? pick(-4, 9) : pick(INT64_MIN, INT64_MAX);
        Scalar scalar{.dtype = dtype};
        std::memcpy(scalar.bytes, &value, static_cast<std::size_t>(size_of(dtype)));
        return scalar;
      }
    }
  }
  static const std::vector<double>& specials() {
    static const std::vector<double> list = {0.0, -0.0,  INFINITY, -INFINITY,
                                             NAN, 1e300, -1e-300,  5e-324};
    return list;
  }
  int add_buffer(DType dtype, std::int64_t elements) {
    Buffer buffer{dtype, {}};
    for (std::int64_t k = 0; k < elements; ++k) {
      const Scalar element = random_element(dtype);
      buffer.bytes.insert(buffer.bytes.end(), element.bytes, element.bytes + size_of(dtype));
    }
    case_.buffers.push_back(std::move(buffer));
    return static_cast<int>(case_.buffers.size()) - 1;
  }
  int integer_number(std::int64_t value) {
    case_.integers.push_back(value);
    return make_.integer();
  }
  ValueId integer(std::int64_t value) { return make_.integer_arg(integer_number(value)); }

  // ---- operands ----
  struct Own {
    int operand;
    std::int32_t row_stride, lane_stride, depth_stride;
  };
  struct Table {
    int operand;
    std::int64_t length;
    std::int32_t stride;
    bool has_lanes;  // a column for each lane
  };
  DType random_dtype() {
    static const std::vector<DType> all = [] {
      std::vector<DType> list;
      for (int k = 0; k < dtype_count; ++k)
        if (frit::loop(Op::Add, static_cast<DType>(k)) || static_cast<DType>(k) == DType::Bool)
          list.push_back(static_cast<DType>(k));
      return list;
    }();
    if (case_.flags_agree)
      return chance(70) ? DType::Float64 : chance(50) ? DType::Float32 : DType::Int64;
    return chance(50) ? favourite_ : one_of(all);
  }
  void set_up() {
    favourite_ = random_dtype();
    for (std::int64_t k = pick(1, 4); k > 0; --k) add_own();
    for (std::int64_t k = pick(0, 2); k > 0; --k) {
      const std::int64_t length = pick(1, 20), width = chance(50) ? 1 : columns_;
      const DType dtype = random_dtype();
      tables_.push_back(
          {make_.operand(dtype), length, integer_number(width * size_of(dtype)), width > 1});
      case_.places.push_back({add_buffer(dtype, length * width), 0});
    }
    if (has_rows_ && chance(50)) {
      const DType dtype = random_dtype();
      const int offset = integer_number(static_cast<std::int64_t>(scratch_bytes_));
      scratch_.push_back({make_.scratch(dtype, offset), -1, unit_stride, -1});
      case_.places.push_back({});
      scratch_bytes_ +=
          (static_cast<std::size_t>(columns_ * size_of(dtype)) + 63) & ~std::size_t{63};
    }
    for (std::int64_t k = pick(0, 2); k > 0; --k) {
      const DType dtype = random_dtype();
      case_.scalars.push_back(random_element(dtype));
      values_.push_back(make_.scalar_arg(make_.scalar(dtype)));
    }
    const DType dtype = random_dtype();
    values_.push_back(constant(dtype));
    for (DType local : {random_dtype(), favourite_}) lane_locals_.push_back(make_.local(local));
  }
  ValueId constant(DType dtype) {
    const Scalar element = random_element(dtype);
    switch (size_of(dtype)) {
      case 1:
        return make_.constant(dtype, element.as<std::uint8_t>());
      case 2:
        return make_.constant(dtype, element.as<std::uint16_t>());
      case 4:
        return make_.constant(dtype, element.as<std::uint32_t>());
      case 8:
        return make_.constant(dtype, element.as<std::uint64_t>());
      default:
        return make_.constant(dtype, element.as<std::complex<double>>());
    }
  }
  // A window of rows x columns x depth, in some order of axes, perhaps with gaps, perhaps reversed.
  void add_own() {
    const DType dtype = random_dtype();
    const std::int64_t size = size_of(dtype), gap = chance(25) ? 2 : 1;
    const bool lanes_inside = chance(70);
    const std::int64_t lane = lanes_inside ? size * gap : size * depth_;
    const std::int64_t depth = lanes_inside ? size * gap * columns_ : size;
    const std::int64_t row = size * gap * columns_ * depth_;
    const std::int64_t elements = gap * columns_ * depth_ * (has_rows_ ? rows_ : 1);
    const bool reversed = chance(15) && columns_ > 0;
    const int buffer = add_buffer(dtype, elements);
    const std::int64_t offset = reversed ? (columns_ - 1) * lane : 0;
    const bool unit = lanes_inside && gap == 1 && !reversed && chance(90);
    Own own{0, integer_number(row), unit ? unit_stride : integer_number(reversed ? -lane : lane),
            integer_number(depth)};
    for (int twins = chance(30) ? 2 : 1; twins > 0; --twins) {  // two operands, one memory
      own.operand = make_.written(dtype);
      case_.places.push_back({buffer, offset});
      own_.push_back(own);
    }
  }
  std::vector<Term> own_address(const Own& own) {
    std::vector<Term> terms;
    if (has_rows_ && own.row_stride >= 0) terms.push_back({row_, own.row_stride});
    terms.push_back({lane_, own.lane_stride});
    if (!depths_.empty() && own.depth_stride >= 0 && chance(70))
      terms.push_back({depths_.back(), own.depth_stride});
    return terms;
  }

  // ---- values ----
  ValueId value_of(DType dtype) {
    std::vector<ValueId> fitting;
    for (ValueId id : values_)
      if (make_.type(id) == dtype) fitting.push_back(id);
    if (!fitting.empty() && chance(90)) return chance(50) ? fitting.back() : one_of(fitting);
    if (!values_.empty() && chance(60)) {
      const ValueId from = one_of(values_);
      if (make_.type(from) == dtype || cast_loop(make_.type(from), dtype)) {
        const ValueId cast = make_.cast(dtype, from);
        values_.push_back(cast);
        return cast;
      }
    }
    return constant(dtype);
  }
  void random_apply() {
    const DType in = make_.type(chance(60) ? values_.back() : one_of(values_));
    for (int attempt = 0; attempt < 200; ++attempt) {
      const Op op = static_cast<Op>(pick(0, op_count - 1));
      if (!frit::loop(op, in)) continue;
      if (case_.flags_agree && !is_plain(op)) continue;
      if (has(op, Costly) && chance(70)) continue;
      OperandType operands[3] = {{in}, {in}, {in}};
      if (info(op).rule == TypeRule::Select) operands[0].dtype = DType::Bool;
      if (info(op).rule == TypeRule::Exponent) operands[1].dtype = DType::Int32;
      const auto inputs = static_cast<std::size_t>(info(op).inputs);
      const auto signature = resolve(op, {operands, inputs});
      if (!signature || signature->in[inputs - 1] != operands[inputs - 1].dtype) continue;
      ValueId args[3] = {no_value, no_value, no_value};
      for (std::size_t k = 0; k < inputs; ++k) args[k] = value_of(signature->in[k]);
      values_.push_back(make_.apply(op, args[0], args[1], args[2]));
      return;
    }
  }

  // One instruction an element, without a rare case.
  static bool is_plain(Op op) {
    static const std::vector<Op> plain = {Op::Add,      Op::Subtract, Op::Multiply, Op::TrueDivide,
                                          Op::Sqrt,     Op::Less,     Op::Equal,    Op::LogicalAnd,
                                          Op::Negative, Op::Select};
    return std::find(plain.begin(), plain.end(), op) != plain.end();
  }

  // ---- statements ----
  template <class Write>
  void scope(Write&& write) {
    const std::size_t mark = values_.size();
    write();
    values_.resize(mark);
  }
  template <class Write>
  void in_vector(Write&& write) {
    scope([&] {
      for (int local : lane_locals_) write_lane(local);
      values_.push_back(lane_);
      write();
      for (std::int64_t k = pick(1, 2); k > 0; --k) store();
    });
  }
  DType local_type(int local) const {
    return make_.unverified().locals[static_cast<std::size_t>(local)];
  }

  void write_rows(ValueId row) {
    row_ = row;
    scope([&] {
      if (!scratch_.empty()) fill_scratch();
      for (std::int64_t loops = pick(1, 3); loops > 0; --loops) {
        std::vector<Reduction> reductions = start_reductions(3);
        make_.vector_loop(chance(80) ? zero_ : integer(pick(0, 3)), column_count_,
                          [&](ValueId lane) {
                            lane_ = lane;
                            scope([&] {
                              for (int local : lane_locals_) write_lane(local);
                              values_.push_back(lane_);
                              statements(pick(1, 6), 3);
                              if (reductions.empty() || chance(50)) store();
                              finish_reductions(reductions);
                            });
                            return reductions;
                          });
        read_reduced(reductions);
        if (chance(50)) random_apply();
      }
    });
  }
  void fill_scratch() {
    make_.vector_loop(zero_, column_count_, [&](ValueId lane) {
      lane_ = lane;
      scope([&] {
        for (const Own& own : scratch_)
          make_.store(own.operand, own_address(own), value_of(operand_type(own)));
      });
    });
    own_.insert(own_.end(), scratch_.begin(), scratch_.end());
    scratch_.clear();
  }
  // Locals with their starts; the values come from the loop's body.
  std::vector<Reduction> start_reductions(std::int64_t most) {
    static const std::vector<Op> ops = {Op::Add,     Op::Add,     Op::Multiply,
                                        Op::Maximum, Op::Minimum, Op::Subtract};
    std::vector<Reduction> reductions;
    int tree = 0;
    for (std::int64_t k = pick(0, most); k > 0; --k) {
      const Op op = one_of(ops);
      const DType dtype = random_dtype();
      const int own_tree = tree_class(op, dtype);
      if (!frit::loop(op, dtype) || !reduce_loop(op, dtype) || !scan_loop(op, dtype)) continue;
      if (own_tree != 0 && tree != 0 && own_tree != tree) continue;
      if (own_tree != 0) tree = own_tree;
      const int local = make_.local(dtype);
      make_.write(local, value_of(dtype));
      reductions.push_back({op, no_value, local});
    }
    return reductions;
  }
  void finish_reductions(std::vector<Reduction>& reductions) {
    for (Reduction& reduction : reductions) {
      const DType dtype = local_type(reduction.local);
      const ValueId any = one_of(values_);
      reduction.value = make_.type(any) == dtype ? any : value_of(dtype);
    }
  }
  void read_reduced(const std::vector<Reduction>& reductions) {
    for (const Reduction& reduction : reductions) values_.push_back(make_.read(reduction.local));
  }

  void statements(std::int64_t count, int nesting) {
    for (; count > 0; --count) statement(nesting);
  }
  void statement(int nesting) {
    const std::int64_t kind = pick(1, 100);
    if (kind <= 35) return random_apply();
    if (kind <= 45) return load();
    if (kind <= 57) return store();
    if (kind <= 65) return write_lane(one_of(lane_locals_));
    if (kind <= 72) return values_.push_back(make_.read(one_of(lane_locals_)));
    if (kind <= 76) return gather();
    if (nesting == 0) return random_apply();
    if (kind <= 85) return branch(nesting - 1);
    if (kind <= 93) return serial(nesting - 1);
    return repeat(nesting - 1);
  }
  void write_lane(int local) { make_.write(local, value_of(local_type(local))); }
  void load() {
    const Own& own = one_of(own_);
    values_.push_back(make_.load(own.operand, own_address(own)));
  }
  void store() {
    const Own& own = one_of(own_);
    make_.store(own.operand, own_address(own), value_of(operand_type(own)));
  }
  DType operand_type(const Own& own) const {
    return make_.unverified().operands[static_cast<std::size_t>(own.operand)].dtype;
  }
  std::vector<Term> table_address(const Table& table, ValueId index) const {
    std::vector<Term> terms = {{index, table.stride}};
    if (table.has_lanes) terms.push_back({lane_, unit_stride});
    return terms;
  }
  // Reads a table at an index that may lie anywhere, where it lies inside.
  void gather() {
    if (tables_.empty()) return load();
    const Table table = one_of(tables_);
    const ValueId index = value_of(DType::Int64);
    const ValueId length = make_.constant(table.length);
    if (chance(50)) {  // uniform, or by lane modulo
      const ValueId low = make_.apply(Op::Maximum, index, zero_);
      const ValueId last = make_.constant(table.length - 1);
      values_.push_back(
          make_.load(table.operand, table_address(table, make_.apply(Op::Minimum, low, last))));
      return;
    }
    const ValueId inside =
        make_.apply(Op::LogicalAnd, make_.apply(Op::Greater, length, index),
                    make_.apply(Op::Less, make_.constant(std::int64_t{-1}), index));
    make_.if_then(inside, [&] {
      scope([&] {
        values_.push_back(make_.load(table.operand, table_address(table, index)));
        statements(2, 0);
      });
    });
  }
  ValueId random_condition() {
    if (chance(30)) return value_of(DType::Bool);
    const ValueId bits =
        make_.apply(Op::BitwiseAnd, lane_, make_.constant(std::int64_t{1} << pick(0, 3)));
    return make_.apply(Op::Greater, chance(80) ? bits : value_of(DType::Int64), zero_);
  }
  void branch(int nesting) {
    const ValueId condition = random_condition();
    const auto side = [&](std::int64_t fewest) {
      return [this, fewest, nesting] {
        scope([&] {
          statements(pick(fewest, 4), nesting);
          if (chance(30)) write_lane(one_of(lane_locals_));
          if (chance(30)) store();
        });
      };
    };
    make_.if_else(condition, side(1), side(0));
    if (chance(50)) values_.push_back(make_.read(one_of(lane_locals_)));
  }
  void serial(int nesting) {
    const bool deep = depths_.empty();
    const std::int64_t most = std::max<std::int64_t>(3, 20000 / iterations_);
    const std::int64_t extent = deep ? depth_ : std::min(most, pick(0, chance(20) ? 300 : 5));
    const ValueId end = make_.constant(extent);
    iterations_ *= std::max<std::int64_t>(extent, 1);
    std::vector<Reduction> reductions = start_reductions(2);
    make_.serial_loop(zero_, end, [&](ValueId k) {
      if (deep) depths_.push_back(k);
      scope([&] {
        values_.push_back(k);
        statements(pick(1, 4), nesting);
        finish_reductions(reductions);
      });
      if (deep) depths_.pop_back();
      return reductions;
    });
    iterations_ /= std::max<std::int64_t>(extent, 1);
    read_reduced(reductions);
  }
  // Runs a few times, by lane.
  void repeat(int nesting) {
    iterations_ *= 6;
    const int go = make_.local(DType::Bool), left = make_.local(DType::Int64);
    const ValueId six = make_.constant(std::int64_t{6}), one = make_.constant(std::int64_t{1});
    const ValueId turns = make_.apply(Op::BitwiseAnd, chance(70) ? lane_ : value_of(DType::Int64),
                                      make_.constant(pick(0, 7)));
    make_.write(left, make_.apply(Op::Minimum, turns, six));
    make_.while_do(
        go, [&] { make_.write(go, make_.apply(Op::Greater, make_.read(left), zero_)); },
        [&] {
          make_.write(left, make_.apply(Op::Subtract, make_.read(left), one));
          scope([&] {
            statements(pick(1, 4), nesting);
            if (chance(60)) write_lane(one_of(lane_locals_));
          });
        });
    iterations_ /= 6;
    values_.push_back(make_.read(chance(30) ? left : one_of(lane_locals_)));
  }

  std::mt19937_64 random_;
  KernelMaker make_;
  Case case_;
  DType favourite_ = DType::Float64;
  std::int64_t rows_ = 1, columns_ = 1, depth_ = 1;
  std::int64_t iterations_ = 1;  // of the innermost loop, in all
  bool has_rows_ = false;
  std::size_t scratch_bytes_ = 0;
  ValueId zero_ = no_value, column_count_ = no_value, row_ = no_value, lane_ = no_value;
  std::vector<ValueId> values_, depths_;
  std::vector<Own> own_, scratch_;
  std::vector<Table> tables_;
  std::vector<int> lane_locals_;
};

}  // namespace frit::testing
