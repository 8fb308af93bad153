// warnings.cpp: from raised status flags to the op and the source line that a warning names.
//
// A flag says only that some op of a launch did something. Which one, and whether it counts, is
// found by replaying the group op by op, in chunks, and looking at the values: NaN out of no NaN is
// invalid, infinity out of finite numbers is a division by zero or an overflow. Conversions count
// too: of values that no integer holds, or no smaller float. A replay needs the launch's inputs:
// where the launch has overwritten them, the flags are put down to the last op that may raise them.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <ranges>
#include <unordered_map>

#include "engine/engine.h"
#include "engine/pack.h"
#include "engine/pool.h"

namespace frit {
namespace {

constexpr std::int64_t chunk_elements = 1 << 12;
constexpr std::int64_t converted_apart = 8192;  // NumPy's buffer size, in elements

std::uint8_t bit(FloatError error) { return static_cast<std::uint8_t>(error); }

bool is_candidate(const Node& node) {
  if (node.site || node.float_checks == 0) return false;
  if (may_warn(node.op, node.signature.in[0]) ||
      conversion_may_warn(node.signature.out, node.out.dtype))
    return true;
  for (int k = 0; k < node.inputs; ++k)
    if (node.in[k].base && conversion_may_warn(node.in[k].dtype, node.signature.in[k])) return true;
  return false;
}

// Which elements are NaN, and which are infinite.
struct Kinds {
  std::vector<std::uint8_t> nan, infinite, zero;
};

void apply_predicate(Op op, DType dtype, const std::byte* data, std::int64_t n,
                     std::vector<std::uint8_t>& result) {
  result.assign(static_cast<std::size_t>(n), 0);
  const Loop test = loop(op, dtype);
  if (!test || !is_inexact(dtype)) return;
  void* args[2] = {result.data(), const_cast<std::byte*>(data)};
  test(args, n, 0);
}

Kinds kinds_of(DType dtype, const std::byte* data, std::int64_t n) {
  Kinds k;
  apply_predicate(Op::Isnan, dtype, data, n, k.nan);
  apply_predicate(Op::Isinf, dtype, data, n, k.infinite);
  k.zero.assign(static_cast<std::size_t>(n), 0);
  void* args[2] = {k.zero.data(), const_cast<std::byte*>(data)};
  cast_loop(dtype, DType::Bool)(args, n, 0);
  for (std::uint8_t& z : k.zero) z = z ? 0 : 1;
  return k;
}

bool divides(Op op) {
  return op == Op::TrueDivide || op == Op::FloorDivide || op == Op::Remainder || op == Op::Fmod ||
         op == Op::Reciprocal || op == Op::Power || op == Op::FloatPower;
}

// An exact infinity: a zero divisor, a zero to a negative power, log(0), atanh(1).
bool is_pole(Op op, const std::vector<Kinds>& inputs, std::size_t e) {
  if (op == Op::Power || op == Op::FloatPower || op == Op::Reciprocal)
    return inputs[0].zero[e] != 0;
  if (divides(op)) return inputs[1].zero[e] != 0;
  return op == Op::Log || op == Op::Log2 || op == Op::Log10 || op == Op::Log1p || op == Op::Arctanh;
}

// NaN out of no NaN, without a word from NumPy: the sign of a complex infinity, the spacing of an
// infinity.
bool quiet_on(Op op, DType dtype, bool infinite_in) {
  return infinite_in && (op == Op::Sign || (op == Op::Spacing && dtype != DType::Float16));
}

template <class F>
bool orders_a_nan(std::int64_t n, const F* x, const F* y) {
  for (std::int64_t k = 0; k < 2 * n; k += 2) {
    if (std::isnan(x[k]) || std::isnan(y[k])) return true;
    if (x[k] == y[k] && (std::isnan(x[k + 1]) || std::isnan(y[k + 1]))) return true;
  }
  return false;
}

// Of complex numbers NumPy compares the imaginary parts where the real ones are equal; a NaN that
// is compared is invalid.
bool orders_a_nan(DType dtype, std::int64_t n, const std::vector<std::vector<std::byte>>& in) {
  const void *x = in[0].data(), *y = in[1].data();
  if (dtype == DType::Complex64)
    return orders_a_nan(n, static_cast<const float*>(x), static_cast<const float*>(y));
  return orders_a_nan(n, static_cast<const double*>(x), static_cast<const double*>(y));
}

// As below, for real floats throughout: blocks without a NaN or infinity in the result are passed
// over.
template <class F>
unsigned flags_from_floats(Op op, std::int64_t n, const F* x, const F* y, const F* out) {
  constexpr F infinity = std::numeric_limits<F>::infinity();
  constexpr std::int64_t block = 256;
  const bool by_first = op == Op::Power || op == Op::FloatPower || op == Op::Reciprocal;
  const F* divisor = by_first ? x : divides(op) ? y : nullptr;
  const bool pole_without_divisor = is_pole(op, {Kinds{{}, {}, {0}}, Kinds{{}, {}, {0}}}, 0);
  const unsigned overflow = flag_overflow | (op == Op::FloorDivide ? flag_invalid : 0);
  unsigned flags = 0;
  for (std::int64_t begin = 0; begin < n; begin += block) {
    const std::int64_t end = std::min(n, begin + block);
    int special = 0;
    for (std::int64_t e = begin; e < end; ++e) special |= !(std::abs(out[e]) < infinity);
    if (!special) continue;
    for (std::int64_t e = begin; e < end; ++e) {
      if (std::isnan(x[e]) || std::isnan(y[e])) continue;
      if (std::isnan(out[e])) {
        flags |= flag_invalid;
      } else if (std::isinf(out[e]) && !std::isinf(x[e]) && !std::isinf(y[e])) {
        const bool pole = divisor ? divisor[e] == 0 : pole_without_divisor;
        flags |= pole ? flag_divide : overflow;
      }
    }
  }
  return flags;
}

// Sums and products of complex numbers are computed in NumPy's steps: their flags are NumPy's, even
// where a part is a NaN and the values don't tell.
bool flags_tell(Op op, const Signature& signature) {
  return is_complex(signature.out) && (op == Op::Add || op == Op::Subtract || op == Op::Multiply ||
                                       op == Op::Square || op == Op::MultiplyUnfused);
}

// What an op's values say, as status flags; `raised`: those that its loop has left.
unsigned flags_from_values(Op op, const Signature& signature, std::int64_t n,
                           const std::vector<std::vector<std::byte>>& in,
                           const std::vector<std::byte>& out, unsigned raised) {
  const DType dtype = signature.out;
  const bool alike =
      in.size() <= 2 && std::ranges::all_of(std::views::iota(0u, in.size()),
                                            [&](auto k) { return signature.in[k] == dtype; });
  if (alike && op != Op::Nextafter && op != Op::Sign && op != Op::Spacing) {
    const auto check = [&]<class F>(F) {
      const auto at = [](const std::vector<std::byte>& v) {
        return reinterpret_cast<const F*>(v.data());
      };
      return flags_from_floats(op, n, at(in.front()), at(in.back()), at(out));
    };
    if (dtype == DType::Float64) return check(double{});
    if (dtype == DType::Float32) return check(float{});
  }
  const Kinds result = kinds_of(signature.out, out.data(), n);
  std::vector<Kinds> inputs;
  for (std::size_t k = 0; k < in.size(); ++k)
    inputs.push_back(kinds_of(signature.in[k], in[k].data(), n));
  const Kinds& last = inputs.back();
  const bool integer = !is_inexact(signature.out);
  // An infinity that is rounded down, or becomes an integer, is invalid besides.
  const bool floors = op == Op::FloorDivide, inverts = op == Op::Reciprocal;
  unsigned flags = 0;
  if (flags_tell(op, signature)) return raised;
  if (is_bool(signature.out)) return orders_a_nan(signature.in[0], n, in) ? flag_invalid : 0;
  for (std::size_t e = 0; e < static_cast<std::size_t>(n); ++e) {
    bool nan_in = false, infinite_in = false;
    for (const Kinds& k : inputs) {
      nan_in |= k.nan[e] != 0;
      infinite_in |= k.infinite[e] != 0;
      if (op == Op::Nextafter) break;  // the other input is only a direction
    }
    if (integer) {
      if (divides(op) && last.zero[e]) flags |= flag_divide | (inverts ? flag_invalid : 0);
      continue;
    }
    // The method compares the sizes of the divisor's parts.
    const bool compares = is_complex(signature.out) && divides(op) && last.nan[e];
    if (compares) flags |= flag_invalid;
    if (result.nan[e] && !nan_in && !quiet_on(op, signature.out, infinite_in))
      flags |= flag_invalid;
    if (result.infinite[e] && !nan_in && !infinite_in) {
      const bool pole = is_pole(op, inputs, e);
      flags |= pole ? flag_divide : flag_overflow | (floors ? flag_invalid : 0);
    }
  }
  return flags;
}

// What n conversions say. Integers of less than 64 bits are made by way of int32 or int64 (see
// to_integer_as_x86).
unsigned flags_of_conversion(DType from, DType to, const void* in, const void* out,
                             std::int64_t n) {
  if (!conversion_may_warn(from, to)) return 0;
  const auto count = static_cast<std::size_t>(n);
  if (is_integer(to)) {
    std::vector<double> values(count);
    void* args[2] = {values.data(), const_cast<void*>(in)};
    cast_loop(from, DType::Float64)(args, n, 0);
    const bool half = size_of(to) < 4 || to == DType::Int32;
    const double low = half ? -0x1p31 - 1 : -0x1p63 - 2048, high = half                  ? 0x1p31
                                                                   : to == DType::UInt64 ? 0x1p64
                                                                                         : 0x1p63;
    for (double x : values)
      if (!(x > low && x < high)) return flag_invalid;
    return 0;
  }
  const int out_parts = is_complex(to) ? 2 : 1, in_parts = is_complex(from) ? 2 : 1;
  std::vector<std::uint8_t> before(count * static_cast<std::size_t>(in_parts), 0),
      after(count * static_cast<std::size_t>(out_parts));
  const auto find_infinities = [](DType dtype, const void* data, std::vector<std::uint8_t>& found) {
    void* args[2] = {found.data(), const_cast<void*>(data)};
    loop(Op::Isinf, real_of(dtype))(args, static_cast<std::int64_t>(found.size()), 0);
  };
  if (is_inexact(from)) find_infinities(from, in, before);
  find_infinities(to, out, after);
  for (std::size_t e = 0; e < count; ++e)
    for (int part = 0; part < std::min(in_parts, out_parts); ++part)
      if (after[e * static_cast<std::size_t>(out_parts) + static_cast<std::size_t>(part)] &&
          !before[e * static_cast<std::size_t>(in_parts) + static_cast<std::size_t>(part)])
        return flag_overflow;
  return 0;
}

// What raised flags mean: a float's remainder by zero raises divide-by-zero on the way to a NaN, an
// integer's 0 / 0 is computed as a NaN.
unsigned meant(Op op, const Signature& signature, unsigned flags) {
  const unsigned division = flags & (flag_invalid | flag_divide);
  if (divides(op) && !is_inexact(signature.out)) return division ? flag_divide : 0;
  if (op == Op::Remainder || op == Op::Fmod) return division ? flag_invalid : 0;
  return flags;
}

// The flags that a node may have raised; takes them out of `flags`.
unsigned claimed(const Node& node, unsigned& flags) {
  unsigned mine = 0;
  if (may_warn(node.op, node.signature.in[0])) {
    mine = meant(node.op, node.signature, flags);
    flags = 0;
    return mine;
  }
  const auto claim = [&](DType from, DType to) {
    if (conversion_may_warn(from, to)) mine |= is_integer(to) ? flag_invalid : flag_overflow;
  };
  claim(node.signature.out, node.out.dtype);
  for (int k = 0; k < node.inputs; ++k)
    if (node.in[k].base) claim(node.in[k].dtype, node.signature.in[k]);
  mine &= flags;
  flags &= ~mine;
  return mine;
}

// The rows [begin, end) of a window along one axis, dense.
void pack_part(const Access& a, std::int64_t axis, std::int64_t begin, std::int64_t end,
               std::vector<std::byte>& dense) {
  std::vector<std::int64_t> shape(a.layout->shape().begin(), a.layout->shape().end());
  const std::byte* data = a.base->data + a.offset;
  if (!shape.empty()) {
    shape[static_cast<std::size_t>(axis)] = end - begin;
    data += begin * a.layout->strides()[static_cast<std::size_t>(axis)];
  }
  const LayoutRef part =
      LayoutRef::adopt(make_layout(shape, a.layout->strides(), a.layout->item_size()));
  dense.resize(static_cast<std::size_t>(part->size() * part->item_size()));
  pack(dense.data(), data, *part);
}

bool same_access(const Access& a, const Access& b) {
  return a.base == b.base && a.offset == b.offset && a.layout == b.layout && a.dtype == b.dtype;
}

// Are the group's inputs still what they were?
bool inputs_intact(const std::vector<const Node*>& nodes, const LaunchStep& launch,
                   const std::vector<Base*>& slots) {
  for (std::size_t k = 0; k < nodes.size(); ++k)
    for (int j = 0; j < nodes[k]->inputs; ++j) {
      const Access& in = nodes[k]->in[j];
      if (!in.base) continue;
      const bool made_here =
          std::any_of(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(k),
                      [&](const Node* n) { return same_access(n->out, in); });
      if (made_here) continue;
      const bool shadowed = std::any_of(launch.shadows.begin(), launch.shadows.end(),
                                        [&](const auto& s) { return slots[s.slot] == in.base; });
      bool overwritten = false;
      for (const Node* n : nodes)
        for_each_access(*n,
                        [&](const Access& a, bool w) { overwritten |= w && a.base == in.base; });
      if ((overwritten && !shadowed) || !in.base->data) return false;
    }
  return true;
}

// What a node has raised, and what the conversion of its inputs has.
struct Found {
  unsigned op = 0, inputs = 0;
};

std::vector<std::byte> cast(std::vector<std::byte> data, DType from, DType to, std::int64_t n,
                            unsigned& flags) {
  if (from == to) return data;
  std::vector<std::byte> result(static_cast<std::size_t>(n * size_of(to)));
  void* args[2] = {result.data(), data.data()};
  cast_loop(from, to)(args, n, 0);
  flags |= flags_of_conversion(from, to, data.data(), result.data(), n);
  return result;
}

// Replays the elementwise nodes of one iteration space; found[k] collects the flags of nodes[k].
class Replay {
 public:
  Replay(const std::vector<const Node*>& nodes, std::vector<Found>& found)
      : nodes_(nodes), found_(found) {}

  void run() {
    std::span<const std::int64_t> space;
    for (const Node* n : nodes_)
      if (domain(*n).size() >= space.size()) space = domain(*n);
    std::size_t axis = 0;
    std::int64_t total = 1;
    for (std::size_t k = 0; k < space.size(); ++k) {
      total *= space[k];
      if (space[k] > space[axis]) axis = k;
    }
    const std::int64_t extent = space.empty() ? 1 : space[axis];
    const std::int64_t rows =
        std::max<std::int64_t>(1, chunk_elements / std::max<std::int64_t>(1, total / extent));
    for (std::int64_t begin = 0; begin < extent; begin += rows)
      chunk(space, static_cast<std::int64_t>(axis), begin, std::min(extent, begin + rows));
  }

 private:
  void chunk(std::span<const std::int64_t> space, std::int64_t axis, std::int64_t begin,
             std::int64_t end) {
    std::vector<std::pair<const Access*, std::vector<std::byte>>> made;
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      const Node& node = *nodes_[k];
      node_ = k;
      const auto mine = domain(node);
      if (node.kind == NodeKind::Reduce && is_candidate(node) &&
          std::equal(mine.begin(), mine.end(), space.begin(), space.end())) {
        // Only its conversions: what else was raised is found by elimination.
        std::vector<std::byte> in;
        input(node, 0, axis, begin, end, points(space, axis, begin, end), made, in);
        continue;
      }
      if (node.kind != NodeKind::Elementwise ||
          !std::equal(mine.begin(), mine.end(), space.begin(), space.end()))
        continue;
      const std::int64_t n = points(space, axis, begin, end);
      std::vector<std::vector<std::byte>> in(node.inputs);
      bool known = true;
      for (std::size_t j = 0; j < node.inputs && known; ++j)
        known = input(node, j, axis, begin, end, n, made, in[j]);
      if (!known) continue;
      std::vector<std::byte> out(static_cast<std::size_t>(n * size_of(node.signature.out)));
      void* args[1 + max_inputs] = {out.data()};
      for (std::size_t j = 0; j < in.size(); ++j) args[1 + j] = in[j].data();
      clear_float_flags();
      if (node.op == Op::Copy)
        out = in[0];
      else
        loop(node.op, node.signature.in[node.op == Op::Select ? 1 : 0])(args, n, 0);
      if (may_warn(node.op, node.signature.in[0]))
        found_[k].op |= flags_from_values(node.op, node.signature, n, in, out, float_flags());
      made.emplace_back(&node.out,
                        cast(std::move(out), node.signature.out, node.out.dtype, n, found_[k].op));
    }
  }

  static std::int64_t points(std::span<const std::int64_t> space, std::int64_t axis,
                             std::int64_t begin, std::int64_t end) {
    std::int64_t n = 1;
    for (std::size_t j = 0; j < space.size(); ++j)
      n *= static_cast<std::int64_t>(j) == axis ? end - begin : space[j];
    return n;
  }

  bool input(const Node& node, std::size_t j, std::int64_t axis, std::int64_t begin,
             std::int64_t end, std::int64_t n,
             const std::vector<std::pair<const Access*, std::vector<std::byte>>>& made,
             std::vector<std::byte>& dense) {
    const Access& a = node.in[j];
    const DType type = node.signature.in[j];
    if (!a.base) {
      if (a.offset == iota_input) return false;
      const Scalar& value = node.constants[a.offset];
      const std::vector<std::byte> one(value.bytes, value.bytes + size_of(value.dtype));
      const std::vector<std::byte> element = cast(one, value.dtype, type, 1, found_[node_].inputs);
      for (std::int64_t e = 0; e < n; ++e)
        dense.insert(dense.end(), element.begin(), element.end());
      return true;
    }
    for (std::size_t k = made.size(); k-- > 0;)
      if (same_access(*made[k].first, a)) {
        dense = cast(made[k].second, a.dtype, type, n, found_[node_].inputs);
        return true;
      }
    if (!a.base->data) return false;
    pack_part(a, axis, begin, end, dense);
    dense = cast(std::move(dense), a.dtype, type, n, found_[node_].inputs);
    return true;
  }

  const std::vector<const Node*>& nodes_;
  std::vector<Found>& found_;
  std::size_t node_ = 0;  // the one being replayed
};

// Replays a group one node after the other, as NumPy would run it, in memory of its own: what a
// reduction gives others is known only then.
class WholeReplay {
 public:
  WholeReplay(const std::vector<const Node*>& nodes, const LaunchStep& launch,
              const std::vector<Base*>& slots, std::vector<Found>& found)
      : nodes_(nodes), found_(found) {
    for (const auto& shadow : launch.shadows) shadowed_.push_back(slots[shadow.slot]);
  }

  // Is it wanted, and of a size that may be held?
  static bool fits(const std::vector<const Node*>& nodes) {
    constexpr std::int64_t most_elements = 1 << 24;
    bool reduces = false, wanted = false;
    for (const Node* node : nodes) {
      const Layout* space = node->kind == NodeKind::Reduce ? node->in[0].layout : node->out.layout;
      if (space->size() > most_elements) return false;
      wanted |= reduces && node->kind == NodeKind::Elementwise;
      reduces |= node->kind == NodeKind::Reduce;
    }
    return wanted;
  }

  // False: not all of the inputs are still what they were.
  bool run() {
    for (node_ = 0; node_ < nodes_.size(); ++node_) {
      const Node& node = *nodes_[node_];
      const bool done = node.kind == NodeKind::Elementwise ? elementwise(node)
                        : node.kind == NodeKind::Reduce    ? reduce(node)
                                                           : false;
      if (!done) return false;
    }
    return true;
  }

 private:
  using Bytes = std::vector<std::byte>;

  bool elementwise(const Node& node) {
    const std::int64_t n = node.out.layout->size();
    std::vector<Bytes> in(node.inputs);
    void* args[1 + max_inputs];
    for (std::size_t j = 0; j < in.size(); ++j) {
      if (!read(node, j, n, in[j])) return false;
      args[1 + j] = in[j].data();
    }
    Bytes out(static_cast<std::size_t>(n * size_of(node.signature.out)));
    args[0] = out.data();
    clear_float_flags();
    if (node.op == Op::Copy)
      out = in[0];
    else
      loop(node.op, node.signature.in[node.op == Op::Select ? 1 : 0])(args, n, 0);
    if (may_warn(node.op, node.signature.in[0]))
      found_[node_].op |= flags_from_values(node.op, node.signature, n, in, out, float_flags());
    const Bytes result =
        cast(std::move(out), node.signature.out, node.out.dtype, n, found_[node_].op);
    unpack(memory_of(node.out), *node.out.layout, result.data());
    return true;
  }

  // Row by row along the last axis, in an order of its own: only the flags are wanted, and values
  // that are infinite or not a number where NumPy's are.
  bool reduce(const Node& node) {
    const Layout& space = *node.in[0].layout;
    const DType type = node.signature.out;
    Bytes in;
    if (type != node.out.dtype || type != node.signature.in[0] || !reduce_loop(node.op, type) ||
        !read(node, 0, space.size(), in))
      return false;
    std::byte* out = memory_of(node.out);
    const auto shape = space.shape(), strides = node.out.layout->strides();
    const std::int64_t extent = shape.empty() ? 1 : shape.back();
    const std::int64_t step = strides.empty() ? 0 : strides.back();
    const auto item = static_cast<std::int64_t>(size_of(type));
    const auto each_row = [&](const auto& visit) {
      for (std::int64_t row = 0; row < space.size() / std::max<std::int64_t>(extent, 1); ++row) {
        std::int64_t offset = 0, rest = row;
        for (std::size_t axis = shape.size(); axis-- > 1;) {
          offset += rest % shape[axis - 1] * strides[axis - 1];
          rest /= shape[axis - 1];
        }
        visit(out + offset, in.data() + row * extent * item);
      }
    };
    each_row([&](std::byte* to, const std::byte*) {
      for (std::int64_t k = 0; k < (step == 0 ? 1 : extent); ++k)
        std::memcpy(to + k * step, node.constants[0].bytes, static_cast<std::size_t>(item));
    });
    clear_float_flags();
    each_row([&](std::byte* to, const std::byte* from) {
      if (step == 0) {
        Scalar sum;
        reduce_loop(node.op, type)(sum.bytes, from, extent);
        combine(node.op, type, to, sum.bytes);
      } else {
        for (std::int64_t k = 0; k < extent; ++k)
          combine(node.op, type, to + k * step, from + k * item);
      }
    });
    if (may_warn(node.op, type)) found_[node_].op |= float_flags() & flags_of_interest;
    return true;
  }

  static void combine(Op op, DType type, std::byte* to, const std::byte* value) {
    void* args[3] = {to, to, const_cast<std::byte*>(value)};
    loop(op, type)(args, 1, 0);
  }

  // Where the node writes: the base's bytes as they are now, in memory of our own.
  std::byte* memory_of(const Access& a) {
    auto [entry, is_new] = written_.try_emplace(a.base);
    if (is_new) {
      entry->second.resize(static_cast<std::size_t>(a.base->bytes));
      if (a.base->data) std::memcpy(entry->second.data(), a.base->data, entry->second.size());
    }
    return entry->second.data() + a.offset;
  }

  bool read(const Node& node, std::size_t j, std::int64_t n, Bytes& dense) {
    const Access& a = node.in[j];
    unsigned& flags = found_[node_].inputs;
    if (!a.base) {
      if (a.offset == iota_input) return false;
      const Scalar& value = node.constants[a.offset];
      const Bytes one = cast(Bytes(value.bytes, value.bytes + size_of(value.dtype)), value.dtype,
                             node.signature.in[j], 1, flags);
      for (std::int64_t e = 0; e < n; ++e) dense.insert(dense.end(), one.begin(), one.end());
      return true;
    }
    const auto made = written_.find(a.base);
    const std::byte* data = made == written_.end() ? a.base->data : made->second.data();
    if (!data || (made == written_.end() && is_overwritten(a.base))) return false;
    dense.resize(static_cast<std::size_t>(n * size_of(a.dtype)));
    pack(dense.data(), data + a.offset, *a.layout);
    dense = cast(std::move(dense), a.dtype, node.signature.in[j], n, flags);
    return true;
  }

  bool is_overwritten(const Base* base) const {
    return std::ranges::any_of(nodes_, [&](const Node* n) { return n->out.base == base; }) &&
           std::ranges::find(shadowed_, base) == shadowed_.end();
  }

  const std::vector<const Node*>& nodes_;
  std::vector<Found>& found_;
  std::vector<const Base*> shadowed_;  // their old memory is still there
  std::unordered_map<const Base*, Bytes> written_;
  std::size_t node_ = 0;  // the one being replayed
};

}  // namespace

void Engine::note_float_flags(Op op, SourcePosition position, std::uint8_t checks, unsigned flags,
                              bool reduction) {
  const auto note = [&](unsigned flag, FloatError error) {
    if ((flags & flag) == 0 || (checks & bit(error)) == 0) return;
    for (const FloatWarning& w : float_warnings)
      if (w.error == error && w.source.code == position.code &&
          w.source.instruction == position.instruction && w.source.ufunc == position.ufunc &&
          (w.op == op || position.ufunc))
        return;
    float_warnings.push_back({error, op, position, reduction});
  };
  note(flag_divide, FloatError::DivideByZero);
  note(flag_overflow, FloatError::Overflow);
  note(flag_invalid, FloatError::Invalid);
}

void Engine::note_conversion(Op op, DType from, DType to, const void* in, const void* out,
                             std::int64_t n) {
  note_float_flags(op, source, settings.float_checks, flags_of_conversion(from, to, in, out, n));
}

void Engine::note_small(Op op, const Signature& signature, void* const* args, std::int64_t n,
                        unsigned splat, unsigned flags) {
  const auto bytes_of = [&](int k, DType dtype) {
    const auto* data = static_cast<const std::byte*>(args[k]);
    const auto item = static_cast<std::size_t>(size_of(dtype));
    std::vector<std::byte> result;
    const bool single = k > 0 && (splat >> (k - 1) & 1) != 0;
    for (std::int64_t e = 0; e < n; ++e) {
      const std::byte* element = data + (single ? 0 : static_cast<std::size_t>(e) * item);
      result.insert(result.end(), element, element + item);
    }
    return result;
  };
  std::vector<std::vector<std::byte>> in;
  bool intact = true;
  for (int k = 1; k <= info(op).inputs; ++k) {
    intact &= args[k] != args[0];
    in.push_back(bytes_of(k, signature.in[k - 1]));
  }
  flags = intact ? flags_from_values(op, signature, n, in, bytes_of(0, signature.out), flags)
                 : meant(op, signature, flags);
  note_float_flags(op, source, settings.float_checks, flags);
}

void Engine::diagnose(const Step& step, const CachedPlan& cached, unsigned flags) {
  flags &= flags_of_interest;
  std::vector<const Node*> members;
  std::size_t candidates = 0;
  for (std::uint32_t k : cached.plan->groups[step.group].nodes) {
    members.push_back(&nodes_[k]);
    candidates += is_candidate(nodes_[k]) ? 1 : 0;
  }
  if (candidates == 0) return;
  std::vector<Found> found(members.size());
  const bool known =
      WholeReplay::fits(members) && WholeReplay(members, step.launch, slots_, found).run();
  if (!known) found.assign(members.size(), {});
  if (known) {
    // Each node has said what it raised.
  } else if (inputs_intact(members, step.launch, slots_)) {
    Replay(members, found).run();
    unsigned explained = 0;
    for (const Found& f : found) explained |= f.op | f.inputs;
    // What no elementwise op explains belongs to a reduction.
    for (std::size_t k = members.size(); k-- > 0;)
      if (members[k]->kind == NodeKind::Reduce &&
          may_warn(members[k]->op, members[k]->signature.in[0]) && is_candidate(*members[k])) {
        found[k].op = flags & ~explained;
        break;
      }
  } else {
    for (std::size_t k = members.size(); k-- > 0;)
      if (is_candidate(*members[k])) found[k].op = claimed(*members[k], flags);
  }
  for (std::size_t k = 0; k < members.size(); ++k) {
    const Node& node = *members[k];
    const bool reduction = node.kind == NodeKind::Reduce;
    note_float_flags(node.op, node.source, node.float_checks, found[k].op, reduction);
    // NumPy converts few elements in a step of its own, more of them inside the op's loop.
    const bool inside = reduction || node.out.layout->size() > converted_apart;
    note_float_flags(inside ? node.op : Op::Copy, node.source, node.float_checks, found[k].inputs,
                     reduction);
  }
}

}  // namespace frit
