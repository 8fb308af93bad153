// apply.cpp: elementwise ops, now (small) or later (recorded).
#include <algorithm>
#include <array>
#include <cstring>

#include "engine/float_flags.h"
#include "engine/pack.h"
#include "engine/pool.h"
#include "engine/small.h"
#include "front/common.h"
#include "front/resolution.h"
#include "ir/hash.h"
#include "ir/neutral.h"
#include "schedule/dependence.h"

namespace frit {
namespace {

constexpr int kinds = dtype_count + 3;  // 14 types, then 3 weak kinds

int kind_of(const Argument& a) {
  if (a.array) return static_cast<int>(a.array->dtype());
  if (a.weak != Weak::No) return dtype_count + static_cast<int>(a.weak) - 1;
  return static_cast<int>(a.scalar.dtype);
}

// Calls body(k) for k from 0 to n - 1, written out: a loop over one or two operands takes longer
// than what is done with them.
template <std::size_t n, class Body>
inline void each(Body&& body) {
  [&]<std::size_t... k>(std::index_sequence<k...>) {
    (body(std::integral_constant<std::size_t, k>()), ...);
  }
  (std::make_index_sequence<n>());
}
// The same of a condition that all of them fulfil.
template <std::size_t n, class Condition>
inline bool all_of(Condition&& condition) {
  return [&]<std::size_t... k>(std::index_sequence<k...>) {
    return (condition(std::integral_constant<std::size_t, k>()) && ...);
  }
  (std::make_index_sequence<n>());
}

// The last answers of resolve_anew are kept, each at a place of its own: until the next question.
inline Resolution& kept_resolution(std::uint32_t key) {
  static std::array<Resolution, 512> known;
  return known[key * 0x9E3779B1u >> 23];
}

template <std::size_t n>
[[gnu::always_inline]] inline const Resolution& resolution_of(
    Op op, std::span<const Argument, n> arguments) {
  static_assert(op_count < 1 << 8 && kinds < 1 << 5 && max_inputs == 3);  // all fit the key
  std::uint32_t key = static_cast<std::uint32_t>(n) << 8 | static_cast<std::uint32_t>(op);
  each<n>([&](auto k) { key = key << 5 | static_cast<std::uint32_t>(kind_of(arguments[k])); });
  Resolution& entry = kept_resolution(key);
  if (entry.key != key) {
    entry = resolve_anew(op, arguments);
    entry.key = key;
  }
  return entry;
}

LayoutRef broadcast_result(std::span<const Argument> arguments, int item_size) {
  std::vector<std::span<const std::int64_t>> shapes;
  std::vector<const Layout*> layouts;
  for (const Argument& a : arguments)
    if (a.array) {
      shapes.push_back(a.array->shape());
      layouts.push_back(a.array->layout());
    }
  return result_layout(broadcast_shapes(shapes), layouts, item_size);
}

// What broadcast_result gave for these layouts before.
struct KnownResult {
  LayoutRef operands[max_inputs];  // null: a number
  int item_size = 0;
  LayoutRef result;
};

// The layout of a fresh result of an op on these arguments.
LayoutRef layout_of_result(std::span<const Argument> arguments, int item_size) {
  const Layout* layouts[max_inputs] = {};
  const Layout* first = nullptr;
  bool uniform = true;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    if (!arguments[k].array) continue;
    layouts[k] = arguments[k].array->layout();
    if (!first) first = layouts[k];
    uniform &= layouts[k] == first;
  }
  if (!first) return LayoutRef::adopt(make_contiguous({}, item_size));
  if (uniform && first->c_contiguous()) {
    if (first->item_size() == item_size) return LayoutRef(first->contiguous());
    return LayoutRef::adopt(make_contiguous(first->shape(), item_size));
  }
  std::uint64_t hash = static_cast<std::uint64_t>(item_size);
  for (const Layout* layout : layouts) hash = mixed(hash, reinterpret_cast<std::uintptr_t>(layout));
  KnownResult& entry = kept_entry<KnownResult>(hash);
  const bool is_known = entry.item_size == item_size &&
                        std::ranges::equal(entry.operands, layouts, {}, &LayoutRef::get);
  if (!is_known) {
    entry.item_size = 0;  // not known until all of it is
    entry.result = broadcast_result(arguments, item_size);
    for (std::size_t k = 0; k < max_inputs; ++k) entry.operands[k] = LayoutRef(layouts[k]);
    entry.item_size = item_size;
  }
  return entry.result;
}

bool same_elements(const Access& a, const Access& b) { return relate(a, b) == Relation::Same; }

// Do the rows along the last axis lie in a row in memory, or are one element each?
bool has_dense_rows(const Array& a) {
  return a.size() == 1 || a.shape().back() == 1 || a.strides().back() == 0 ||
         a.strides().back() == size_of(a.dtype());
}

// No operand has to be packed, converted or saved for it first.
bool needs_no_memory(Op op, const Signature& signature, const Array& out,
                     std::span<const Argument> arguments) {
  constexpr std::int64_t least_row = 8;
  bool in_c_order = out.c_contiguous(), in_f_order = out.f_contiguous();
  bool in_rows = out.ndim() > 1 && out.shape().back() >= least_row && has_dense_rows(out) &&
                 !has(op, Costly) && !is_complex(signature.in[0]);
  bool fits = out.dtype() == signature.out;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    if (!arguments[k].array) continue;
    const Array& a = *arguments[k].array;
    fits &= a.dtype() == signature.in[k] &&
            (!a.same_base(out) || (a.layout() == out.layout() && a.offset() == out.offset()));
    if (a.size() == 1) continue;
    const bool is_alike = std::ranges::equal(a.shape(), out.shape());
    in_c_order &= is_alike && a.c_contiguous();
    in_f_order &= is_alike && a.f_contiguous();
    in_rows &= has_dense_rows(a);
  }
  return fits && (op == Op::Copy || in_c_order || in_f_order || in_rows);
}

// Computes at once if everything is small and there; false if not.
bool try_small(Op op, const Signature& signature, const Array& out,
               std::span<const Argument> arguments, std::span<const Scalar> scalars) {
  Engine& engine = Engine::get();
  const std::int64_t bytes = out.size() * size_of(out.dtype());
  if (!engine.computes_at_once(op, bytes)) return false;
  if (bytes > engine.settings.immediate_bytes && !needs_no_memory(op, signature, out, arguments))
    return false;
  Base* target = out.base();
  if (target->pending != 0) return false;
  for (const Argument& a : arguments)
    if (a.array && a.array->base()->pending_writes != 0) return false;
  engine.allocate(target);
  SmallInput inputs[max_inputs];
  LayoutRef broadcast[max_inputs];
  std::unique_ptr<std::byte[]> copies[max_inputs];
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    if (!arguments[k].array) {
      inputs[k] = {scalars[k].bytes, nullptr, scalars[k].dtype};
      continue;
    }
    const Array& a = *arguments[k].array;
    engine.allocate(a.base());
    const std::byte* data = a.base()->data + a.offset();
    if (a.layout() == out.layout() || a.size() != 1 || out.size() == 1) {
      broadcast[k] = broadcast_layout(*a.layout(), out.shape());
      inputs[k] = {data, broadcast[k].get(), a.dtype()};
    } else {
      inputs[k] = {data, nullptr, a.dtype()};
    }
    if (share_memory(*a.base(), *target) &&
        !(same_elements(access_of(out),
                        {a.base(), broadcast[k].get() ? broadcast[k].get() : a.layout(), a.offset(),
                         a.dtype()}))) {
      // The op must see the elements from before: a dense copy of the input.
      const std::int64_t count = inputs[k].layout ? out.size() : 1;
      copies[k] =
          std::make_unique<std::byte[]>(static_cast<std::size_t>(count * size_of(a.dtype())));
      if (inputs[k].layout) {
        pack(copies[k].get(), data, *inputs[k].layout);
        broadcast[k] = LayoutRef::adopt(make_contiguous(out.shape(), size_of(a.dtype())));
        inputs[k].layout = broadcast[k].get();
      } else {
        std::memcpy(copies[k].get(), data, static_cast<std::size_t>(size_of(a.dtype())));
      }
      inputs[k].data = copies[k].get();
    }
  }
  target->stamp = 0;
  compute_small(op, signature, target->data + out.offset(), *out.layout(), out.dtype(),
                {inputs, arguments.size()});
  ++engine.statistics.immediate;
  return true;
}

// The op of all elements, those that a mask leaves out too, where that raises nothing and is
// computed at once; no array elsewhere.
Array apply_unmasked(Op op, std::span<const Argument> arguments, const Signature& signature) {
  Engine& engine = Engine::get();
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const Array* a = arguments[k].array;
    const DType dtype = a ? a->dtype() : arguments[k].scalar.dtype;
    if (a && !is_small_and_ready(*a, 1)) return {};
    if (dtype != signature.in[k] && conversion_may_warn(dtype, signature.in[k])) return {};
  }
  const bool may_raise = engine.settings.float_checks != 0 && may_warn(op, signature.in[0]);
  const OtherSources silent(engine);
  engine.settings.float_checks = 0;
  if (may_raise) clear_float_flags();
  Array result = apply(op, arguments, {.signature = signature, .casting = Casting::Unsafe});
  const bool is_done = engine.is_ready(result.base()) && result.base()->data;
  return is_done && !(may_raise && float_flags() & flags_of_interest) ? std::move(result) : Array();
}

// Masked: where the mask is false the op sees a harmless number, and the target keeps its elements.
Array apply_where(Op op, std::span<const Argument> arguments, const ApplyOptions& options,
                  const Signature& signature) {
  const Array& mask = *options.where;
  check_where(mask);
  std::vector<std::span<const std::int64_t>> shapes{mask.shape()};
  std::vector<const Layout*> layouts{mask.layout()};
  for (const Argument& a : arguments)
    if (a.array) {
      shapes.push_back(a.array->shape());
      layouts.push_back(a.array->layout());
    }
  Array target;
  if (options.out) {
    target = *options.out;
  } else {
    target = fresh(result_layout(broadcast_shapes(shapes), layouts, size_of(signature.out)),
                   signature.out);
  }
  // The conversion to the target's type may warn: of no element that the mask leaves out, and as a
  // part of the op.
  const bool narrows = conversion_may_warn(signature.out, target.dtype());
  Array result = narrows ? Array() : apply_unmasked(op, arguments, signature);
  if (!result) {
    const double harmless = harmless_input(op, signature.in[op == Op::Select ? 1 : 0]);
    std::vector<Array> held;
    std::vector<Argument> masked;
    held.reserve(arguments.size());
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      const Scalar other = scalar_of(signature.in[k], harmless);
      held.push_back(
          apply(Op::Select, {mask, arguments[k], Argument(other)},
                {.signature = select_signature(signature.in[k]), .casting = Casting::Unsafe}));
      masked.emplace_back(held.back());
    }
    ApplyOptions rest{.signature = signature, .casting = Casting::Unsafe};
    if (narrows) {
      result = fresh(result_layout(broadcast_shapes(shapes), layouts, size_of(target.dtype())),
                     target.dtype());
      rest.out = &result;
    }
    result = apply(op, masked, rest);
  }
  apply(
      Op::Select, {mask, result, target},
      {.out = &target, .signature = select_signature(target.dtype()), .casting = Casting::Unsafe});
  return target;
}

}  // namespace

Array dense(const Array& a, DType dtype) {
  Array result = a.dtype() != dtype ? astype(a, dtype, 'C') : a.c_contiguous() ? a : copy(a, 'C');
  eval(result);
  return result;
}

void check_writable(const Array& a) {
  if (!a.writable()) throw ValueError("output array is read-only");
}

void record_elementwise(Op op, const Signature& signature, const Access& out,
                        std::span<const Access> inputs, std::span<const Scalar> constants) {
  bool overlaps = false;
  for (const Access& in : inputs)
    if (in.base && (in.base == out.base ? relate(in, out) == Relation::Overlap
                                        : share_memory(*in.base, *out.base)))
      overlaps = true;
  Engine& engine = Engine::get();
  check(constants.size() <= static_cast<std::size_t>(max_constants), "a node has few constants");
  Array buffer;
  if (overlaps)
    buffer = fresh(LayoutRef::adopt(make_contiguous(out.layout->shape(), size_of(signature.out))),
                   signature.out);
  Node& node = engine.open_node();
  node.op = op;
  node.inputs = static_cast<std::uint8_t>(inputs.size());
  node.signature = signature;
  node.float_checks = engine.settings.float_checks;
  std::copy(inputs.begin(), inputs.end(), node.in);
  std::copy(constants.begin(), constants.end(), node.constants);
  node.out = overlaps ? access_of(buffer) : out;
  engine.commit();
  if (!overlaps) return;
  Node& copy = engine.open_node();
  copy.op = Op::Copy;
  copy.inputs = 1;
  copy.signature = {{signature.out, signature.out, signature.out}, signature.out};
  copy.in[0] = access_of(buffer);
  copy.out = out;
  engine.commit();
}

namespace {

enum class Else : std::uint8_t { Record, Nothing };

// The operands of an op with nothing in the way: dense arrays of one layout and the op's own type,
// and numbers. The engine is locked.
template <std::size_t n>
struct Plain {
  const Layout* layout = nullptr;  // null: something is out of the ordinary
  const Scalar* numbers[n];        // null: an array
};

// An array's only element, as a number for arrays of this layout: where it is known by now. What
// is_iterated_alone is none.
bool is_known_number(const Array& a, const Layout& layout) {
  return a.size() == 1 && a.ndim() <= layout.ndim() && Engine::get().is_ready(a.base()) &&
         (layout.size() > 1 || !is_complex(a.dtype()));
}

// A number of another type, or one that lies in an array; null where it isn't known.
[[gnu::noinline]] const Scalar* number_in(Scalar& room, const Argument& a, DType type,
                                          const Layout& layout) {
  if (!a.array) {
    if (a.scalar.dtype == DType::Int64 && type == DType::Float64)  // x * 3, the common case
      room = Scalar::of(type, static_cast<double>(a.scalar.as<std::int64_t>()));
    else
      room = converted(a, type);
    return &room;
  }
  if (!is_known_number(*a.array, layout)) return nullptr;
  room = Scalar{.dtype = type};
  std::memcpy(room.bytes, a.array->base()->data + a.array->offset(),
              static_cast<std::size_t>(size_of(type)));
  return &room;
}

template <std::size_t n>
inline Plain<n> read_plain(std::span<const Argument, n> arguments, const Signature& signature) {
  Plain<n> plain;
  const Layout* layout = nullptr;
  const bool are_arrays = all_of<n>([&](auto k) {
    if (!arguments[k].array) return true;
    const Layout* const own = arguments[k].array->layout();
    if (own && (!layout || layout->size() == 1)) layout = own;
    return own != nullptr;  // an empty handle
  });
  if (!are_arrays || !layout || !layout->c_contiguous() || layout->size() == 0) return plain;
  static Scalar rooms[max_constants];
  std::size_t numbers = 0;
  const bool is_plain = all_of<n>([&](auto k) {
    const Argument& a = arguments[k];
    const DType type = signature.in[k];
    plain.numbers[k] = nullptr;
    if (a.array && a.array->dtype() != type) return false;
    if (a.array && a.array->layout() == layout) return true;
    if (numbers == max_constants) return false;
    const bool is_given = !a.array && a.scalar.dtype == type;
    plain.numbers[k] = is_given ? &a.scalar : number_in(rooms[numbers], a, type, *layout);
    ++numbers;
    return plain.numbers[k] != nullptr;
  });
  if (is_plain) plain.layout = layout->contiguous();
  return plain;
}

[[gnu::always_inline]] inline Array fresh_plain(const Layout& layout, DType dtype) {
  Base* base = Engine::get().new_base(layout, dtype);
  layout.retain();
  return {base, &layout, 0, dtype};
}

// May a plain op write straight to `out`?
template <std::size_t n>
[[gnu::noinline]] bool is_plain_target(const Array& out, std::span<const Argument, n> arguments,
                                       const Plain<n>& plain, Op op, const Signature& signature) {
  if (!out || out.layout() != plain.layout || out.dtype() != signature.out || !out.writable() ||
      is_complex(signature.out))
    return false;
  return all_of<n>([&](auto k) {
    if (plain.numbers[k]) return true;
    if (!arguments[k].array->same_base(out))
      return !share_memory(*arguments[k].array->base(), *out.base());
    // In place, warnings would miss the inputs where the flags alone don't tell.
    const bool needs_inputs = Engine::get().settings.float_checks != 0 && has(op, Costly);
    return !needs_inputs && arguments[k].array->offset() == out.offset();
  });
}

template <std::size_t n>
[[gnu::noinline]] void compute_plain(Op op, const Resolution& resolution,
                                     std::span<const Argument, n> arguments, const Plain<n>& plain,
                                     const Array& out) {
  Engine& engine = Engine::get();
  Base* const base = out.base();
  void* args[1 + n];
  unsigned splat = 0;
  each<n>([&](auto k) {
    if (const Scalar* number = plain.numbers[k]) {
      args[1 + k] = const_cast<std::byte*>(number->bytes);
      splat |= 1u << k;
    } else {
      const Array& a = *arguments[k].array;
      args[1 + k] = a.base()->data + a.offset();
    }
  });
  engine.allocate(base);
  base->stamp = 0;
  args[0] = base->data + out.offset();
  const bool want_flags = engine.settings.float_checks != 0 && resolution.warns;
  if (want_flags) clear_float_flags();
  resolution.loop(args, plain.layout->size(), splat);
  ++engine.statistics.immediate;
  if (want_flags)
    if (const unsigned flags = float_flags() & flags_of_interest)
      engine.note_small(op, resolution.signature, args, plain.layout->size(), splat, flags);
}

// Memory of somebody else's can't wait: for so many bytes a loop takes less time than a launch.
constexpr std::int64_t most_foreign_bytes = 512 << 10;

// Is it computed at once?
template <std::size_t n>
inline bool runs_at_once(Engine& engine, Op op, std::span<const Argument, n> arguments,
                         const Plain<n>& plain, const Base& out, std::int64_t bytes) {
  if (out.pending != 0) {
    engine.foresight.note_step(engine.source, op);
    return false;
  }
  bool is_foreign = out.foreign, are_ready = true;
  each<n>([&](auto k) {
    if (plain.numbers[k]) return;
    const Base& base = *arguments[k].array->base();
    is_foreign |= base.foreign;
    are_ready &= engine.is_ready(&base);
  });
  const bool is_small = engine.computes_at_once(op, bytes);
  return are_ready && (is_small || (is_foreign && bytes <= most_foreign_bytes));
}

template <std::size_t n>
inline void record_plain(Engine& engine, Op op, const Signature& signature,
                         std::span<const Argument, n> arguments, const Plain<n>& plain,
                         const Array& out) {
  Node& node = engine.open_node();
  node.op = op;
  node.inputs = n;
  node.signature = signature;
  node.float_checks = engine.settings.float_checks;
  std::size_t constant = 0;
  each<n>([&](auto k) {
    if (const Scalar* number = plain.numbers[k]) {
      node.constants[constant] = *number;
      node.in[k] = {nullptr, nullptr, static_cast<std::int64_t>(constant++), signature.in[k]};
    } else {
      const Array& a = *arguments[k].array;
      node.in[k] = {a.base(), plain.layout, a.offset(), signature.in[k]};
    }
  });
  node.out = {out.base(), plain.layout, out.offset(), signature.out};
  engine.commit_plain<n>(node);
}

// Results of another size than the operands', as those of comparisons: where they are computed at
// once whatever follows, else nothing.
template <std::size_t n>
[[gnu::noinline]] Array apply_resized(Engine& engine, Op op, std::span<const Argument, n> arguments,
                                      const Resolution& resolution, const Plain<n>& plain,
                                      Else otherwise) {
  const DType type = resolution.signature.out;
  const std::int64_t bytes = plain.layout->size() * size_of(type);
  const std::int64_t most = otherwise == Else::Record ? Foresight::least_bytes : most_foreign_bytes;
  if (plain.layout->size() * std::max(plain.layout->item_size(), size_of(type)) > most) return {};
  Array out = fresh(LayoutRef::adopt(make_contiguous(plain.layout->shape(), size_of(type))), type);
  if (!runs_at_once(engine, op, arguments, plain, *out.base(), bytes)) return {};
  compute_plain(op, resolution, arguments, plain, out);
  return out;
}

// The common case. Small: computed; large: recorded. Nothing, where anything is out of the
// ordinary.
template <std::size_t n>
inline Array apply_plain(Op op, std::span<const Argument, n> arguments,
                         const Resolution& resolution, const Array* target = nullptr,
                         Else otherwise = Else::Record) {
  Engine& engine = Engine::get();
  const Plain<n> plain = read_plain(arguments, resolution.signature);
  if (!plain.layout ||
      (target && !is_plain_target(*target, arguments, plain, op, resolution.signature)))
    return {};
  if (plain.layout->item_size() != size_of(resolution.signature.out)) [[unlikely]]
    return apply_resized(engine, op, arguments, resolution, plain, otherwise);
  Array out = target ? *target : fresh_plain(*plain.layout, resolution.signature.out);
  const std::int64_t bytes = plain.layout->size() * plain.layout->item_size();
  if (runs_at_once(engine, op, arguments, plain, *out.base(), bytes))
    compute_plain(op, resolution, arguments, plain, out);
  else if (otherwise == Else::Nothing)
    return {};
  else
    record_plain(engine, op, resolution.signature, arguments, plain, out);
  return out;
}

// Compares int64 with uint64 exactly: both as uint64, and apart from that the negative ones, below
// all unsigned numbers.
Array apply_mixed(Op op, std::span<const Argument> arguments, const Signature& signature,
                  const ApplyOptions& options) {
  const std::size_t which = is_signed(signature.in[0]) ? 0 : 1;
  const Argument& given = arguments[which];
  const Array integers =
      given.array ? *given.array : full({}, converted(given, signature.in[which]));
  const Array negative = apply(Op::Less, {integers, Argument(0)});
  const Array wide = astype(integers, DType::UInt64);
  const Array compared =
      which == 0 ? apply(op, {wide, arguments[1]}) : apply(op, {arguments[0], wide});
  std::int64_t sample[2] = {which == 0 ? -1 : 0, which == 0 ? 0 : -1};
  std::uint8_t where_negative = 0;
  void* args[3] = {&where_negative, &sample[0], &sample[1]};
  loop(op, DType::Int64)(args, 1, 0);
  ApplyOptions plain = options;
  plain.signature = Signature{{DType::Bool, DType::Bool, DType::Bool}, DType::Bool};
  Array made;
  if (!options.out) {  // laid out as the operands are, not as what was made of one of them
    made = fresh(layout_of_result(arguments, size_of(DType::Bool)), DType::Bool);
    plain.out = &made;
  }
  return apply(where_negative ? Op::LogicalOr : Op::Greater, {compared, negative}, plain);
}

// One element that NumPy's iterator goes to: it is used for arrays of several ranks, for those of
// two axes and more that have to be converted, and below a mask. Its strides are 0 then, and such
// complex products aren't fused.
bool is_iterated_alone(std::span<const Argument> arguments, const Signature& signature,
                       const ApplyOptions& options) {
  int rank = options.out ? options.out->ndim() : 0;
  bool differs = options.where || (options.out && options.out->dtype() != signature.out);
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const Array* a = arguments[k].array;
    if (!a || a->ndim() == 0) continue;
    if (a->size() != 1) return false;
    if (rank == 0) rank = a->ndim();
    differs |= a->ndim() != rank || (a->ndim() > 1 && a->dtype() != signature.in[k]);
  }
  return differs && (!options.out || options.out->size() == 1);
}

// NumPy's loops fuse complex products, but not into the memory of an only factor, nor where they
// overwrite what they have read before.
bool is_unfused_in_place(std::span<const Argument> arguments, const ApplyOptions& options) {
  const Array* out = options.out;
  if (!out || (out->size() != 1 && out->ndim() != 1)) return false;
  return std::any_of(arguments.begin(), arguments.end(), [&](const Argument& a) {
    if (!a.array || !a.array->same_base(*out)) return false;
    const std::int64_t ahead = a.array->offset() - out->offset();
    if (out->size() == 1) return ahead == 0;
    const std::int64_t stride = out->strides()[0];
    return a.array->ndim() == 1 && a.array->strides()[0] == stride &&
           (stride > 0 ? ahead > 0 : ahead < 0) && may_share_memory(*a.array, *out);
  });
}

Array apply_unfused(Op op, std::span<const Argument> arguments, const Signature& signature,
                    const ApplyOptions& options) {
  const Argument both[2] = {arguments[0], arguments[op == Op::Square ? 0 : 1]};
  const DType type = signature.out;
  ApplyOptions unfused = options;
  unfused.signature = Signature{{type, type, type}, type};
  SourcePosition& source = Engine::get().source;
  const SourcePosition at = source;
  if (!source.ufunc) source.ufunc = info(op).numpy_name.data();
  Array result = apply(Op::MultiplyUnfused, both, unfused);
  source = at;
  return result;
}

// Before anything is computed: an error leaves no warnings behind.
void check_target(const Array& out, std::span<const Argument> arguments, const Array* mask) {
  const auto shape = out.shape();
  const auto fits = [&](const Array* a) {
    return !a || a->layout() == out.layout() || broadcasts_to(a->shape(), shape);
  };
  if (!fits(mask) ||
      !std::ranges::all_of(arguments, [&](const Argument& a) { return fits(a.array); })) {
    std::vector<std::span<const std::int64_t>> shapes;
    for (const Argument& a : arguments)
      shapes.push_back(a.array ? a.array->shape() : std::span<const std::int64_t>());
    shapes.push_back(shape);
    if (mask) shapes.push_back(mask->shape());
    throw ValueError(text("non-broadcastable output operand with shape ", shape_words(shape),
                          " doesn't match the broadcast shape ",
                          shape_words(broadcast_shapes(shapes))));  // or they don't fit at all
  }
  if (overlaps_itself(*out.layout())) throw ValueError("output array has overlapping elements");
}

// What apply_plain leaves.
[[gnu::noinline]] Array apply_general(Op op, std::span<const Argument> arguments,
                                      const Resolution resolution, const ApplyOptions& options) {
  const Signature& signature = resolution.signature;
  if (resolution.is_mixed) return apply_mixed(op, arguments, signature, options);
  if ((op == Op::Multiply || op == Op::Square) && is_complex(signature.out) &&
      (is_unfused_in_place(arguments, options) ||
       (op == Op::Multiply && is_iterated_alone(arguments, signature, options))))
    return apply_unfused(op, arguments, signature, options);
  for (const Argument& a : arguments)
    if (a.array) check_array(*a.array);
  if (options.out) check_array(*options.out);
  if (options.where) check_array(*options.where);
  if (options.out) {
    check_writable(*options.out);
    if (!can_cast(signature.out, options.out->dtype(), options.casting))
      throw TypeError(text("Cannot cast ufunc '", info(op).numpy_name, "' output from dtype('",
                           info(signature.out).name, "') to dtype('",
                           info(options.out->dtype()).name, "') with casting rule 'same_kind'"));
  }
  if (options.out) check_target(*options.out, arguments, options.where);
  if (options.where) return apply_where(op, arguments, options, signature);
  LayoutRef fresh_layout;
  if (!options.out) fresh_layout = layout_of_result(arguments, size_of(signature.out));
  Scalar scalars[max_inputs];
  for (std::size_t k = 0; k < arguments.size(); ++k)
    if (!arguments[k].array) scalars[k] = converted(arguments[k], signature.in[k]);
  Array out = options.out ? *options.out : fresh(std::move(fresh_layout), signature.out);
  if (out.size() == 0) return out;
  if (try_small(op, signature, out, arguments, {scalars, arguments.size()})) return out;
  Access inputs[max_inputs];
  LayoutRef layouts[max_inputs];
  Scalar constants[max_inputs];
  std::size_t constant = 0;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    if (arguments[k].array) {
      const Array& a = *arguments[k].array;
      layouts[k] = broadcast_layout(*a.layout(), out.shape());
      inputs[k] = {a.base(), layouts[k].get(), a.offset(), a.dtype()};
    } else {
      inputs[k] = {nullptr, nullptr, static_cast<std::int64_t>(constant), scalars[k].dtype};
      constants[constant++] = scalars[k];
    }
  }
  if (constant >
      static_cast<std::size_t>(max_constants)) {  // three numbers: one element is all of them
    Scalar single;
    single.dtype = signature.out;
    void* args[1 + max_inputs] = {single.bytes, constants[0].bytes, constants[1].bytes,
                                  constants[2].bytes};
    loop(op, signature)(args, 1, 0);
    assign(out, Argument(single));
    return out;
  }
  record_elementwise(op, signature, access_of(out), {inputs, arguments.size()},
                     {constants, constant});
  return out;
}

template <std::size_t n>
inline Array apply_resolved(Op op, std::span<const Argument, n> arguments,
                            const Resolution& resolution, const ApplyOptions& options) {
  const bool may_be_plain = !options.where && !resolution.is_mixed;
  Array result = may_be_plain ? apply_plain(op, arguments, resolution, options.out) : Array();
  if (!result) [[unlikely]]
    result = apply_general(op, arguments, resolution, options);
  return result;
}

// A comparison with a number that the integers beside it can't be: as int64.
[[gnu::noinline]] Array apply_widened(Op op, std::span<const Argument> pair, std::size_t number,
                                      const ApplyOptions& options) {
  Argument wide[2] = {pair[0], pair[1]};
  wide[number].weak = Weak::No;
  return apply(op, wide, options);
}

// Not inline: `apply`, which only chooses, needs no registers of its own.
template <std::size_t n>
[[gnu::noinline]] Array apply_to(Op op, const Argument* first, const ApplyOptions& options) {
  const std::span<const Argument, n> arguments(first, n);
  Locked lock(Engine::lock());
  if (options.signature) [[unlikely]] {
    check_count(op, n);
    return apply_resolved(op, arguments, resolution_of(op, *options.signature), options);
  }
  const Resolution& resolution = resolution_of(op, arguments);
  if (resolution.may_widen) [[unlikely]] {
    const DType dtype = resolution.signature.in[0];
    for (std::size_t k = 0; k < n; ++k)
      if (is_beyond(arguments[k], dtype)) return apply_widened(op, arguments, k, options);
  }
  return apply_resolved(op, arguments, resolution, options);
}

[[gnu::noinline]] Array apply_none(Op op, std::size_t operands) {
  check_count(op, operands);
  return {};
}

}  // namespace

Array apply(Op op, std::span<const Argument> arguments, const ApplyOptions& options) {
  switch (arguments.size()) {
    case 1:
      return apply_to<1>(op, arguments.data(), options);
    case 2:
      return apply_to<2>(op, arguments.data(), options);
    case 3:
      return apply_to<3>(op, arguments.data(), options);
  }
  return apply_none(op, arguments.size());
}

Array apply(Op op, std::initializer_list<Argument> arguments, const ApplyOptions& options) {
  return apply(op, std::span<const Argument>(arguments.begin(), arguments.size()), options);
}

Array apply_beside(Op op, const Array& x, const void* elements, int place) {
  check_array(x);
  Locked lock(Engine::lock());
  Base memory;  // for this call: what is computed at once keeps no hold on it
  memory.foreign = true;
  memory.data = static_cast<std::byte*>(const_cast<void*>(elements));
  memory.handles = 2;  // one of them is ours, so that nobody frees it
  x.layout()->retain();
  const Array other(&memory, x.layout(), 0, x.dtype());
  const Argument given[2] = {place == 0 ? other : x, place == 0 ? x : other};
  const std::span<const Argument, 2> both(given);
  const Resolution resolution = resolution_of(op, both);
  return resolution.is_mixed ? Array() : apply_plain(op, both, resolution, nullptr, Else::Nothing);
}

}  // namespace frit
