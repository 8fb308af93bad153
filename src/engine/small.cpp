// small.cpp: pack what is strided or of another type, run one ready-made loop, unpack.
#include "engine/small.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <ranges>
#include <vector>

#include "engine/engine.h"
#include "engine/float_flags.h"
#include "engine/pack.h"
#include "engine/pool.h"

namespace frit {
namespace {

// Dense temporary memory of one call: the stack for what small ops need, else the heap.
class Temporaries {
 public:
  std::byte* take(std::int64_t bytes) {
    const std::int64_t rounded = (bytes + 63) / 64 * 64;
    if (used_ + rounded <= static_cast<std::int64_t>(sizeof stack_)) {
      std::byte* p = stack_ + used_;
      used_ += rounded;
      return p;
    }
    heap_.push_back(std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(rounded)));
    return heap_.back().get();
  }

 private:
  alignas(64) std::byte stack_[64 << 10];
  std::int64_t used_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> heap_;
};

// The bytes of a window, or of one element, as they are.
void copy(std::byte* out, const Layout& out_layout, const SmallInput& in) {
  if (in.data == out) return;
  constexpr std::int64_t none[max_dimensions] = {};
  const auto shape = out_layout.shape();
  const std::span<const std::int64_t> steps =
      in.layout ? in.layout->strides() : std::span(none).first(shape.size());
  if (out_layout.size() > 0)
    copy_elements({out, out_layout.strides()}, {const_cast<std::byte*>(in.data), steps}, shape,
                  out_layout.item_size());
}

// The rows of operands that are dense along the last axis, in C order: no copy is needed then. Axes
// that are one in all operands are walked as one.
class Rows {
 public:
  // args: output, inputs; single inputs have no layout.
  Rows(Op op, const Signature& signature, std::byte* out, const Layout& out_layout,
       std::span<const SmallInput> inputs)
      : loop_(loop(op, signature)), operands_(1 + inputs.size()) {
    pointers_[0] = out;
    const Layout* layouts[1 + max_inputs] = {&out_layout};
    possible_ = out_layout.ndim() > 1 && is_dense(out_layout, signature.out);
    for (std::size_t k = 0; k < inputs.size() && possible_; ++k) {
      pointers_[1 + k] = const_cast<std::byte*>(inputs[k].data);
      layouts[1 + k] = inputs[k].layout;
      const bool is_splat = !inputs[k].layout || inputs[k].layout->strides().back() == 0;
      if (is_splat) splat_ |= 1u << k;
      possible_ = inputs[k].dtype == signature.in[k] &&
                  (is_splat || is_dense(*inputs[k].layout, inputs[k].dtype));
    }
    if (!possible_) return;
    merge(out_layout.shape(), layouts);
    possible_ = axes_[count_ - 1].extent >= least_row;
  }

  bool possible() const { return possible_; }

  void run() {
    std::int64_t shape[max_dimensions];
    for (std::size_t k = 0; k < count_; ++k) shape[k] = axes_[k].extent;
    walk_rows(
        {shape, count_}, [&] { loop_(pointers_, axes_[count_ - 1].extent, splat_); },
        [&](std::size_t axis, std::int64_t steps) {
          for (std::size_t k = 0; k < operands_; ++k)
            pointers_[k] = static_cast<std::byte*>(pointers_[k]) + steps * axes_[axis].strides[k];
        });
  }

 private:
  static constexpr std::int64_t least_row = 8;  // elements; below, a call a row costs more
  struct Axis {
    std::int64_t extent, strides[1 + max_inputs];
  };
  static bool is_dense(const Layout& layout, DType dtype) {
    return layout.strides().back() == size_of(dtype) && layout.item_size() == size_of(dtype);
  }
  void merge(std::span<const std::int64_t> shape, const Layout* const* layouts) {
    for (std::size_t k = 0; k < shape.size(); ++k) {
      Axis axis{shape[k], {}};
      for (std::size_t j = 0; j < operands_; ++j)
        if (layouts[j]) axis.strides[j] = layouts[j]->strides()[k];
      Axis* const outer = count_ > 0 ? &axes_[count_ - 1] : nullptr;
      bool is_one = outer != nullptr;
      for (std::size_t j = 0; j < operands_ && is_one; ++j)
        is_one = outer->strides[j] == axis.extent * axis.strides[j];
      if (is_one)
        axis.extent *= outer->extent;
      else
        ++count_;
      axes_[count_ - 1] = axis;
    }
  }

  Loop loop_;
  std::size_t operands_;
  void* pointers_[1 + max_inputs] = {};
  unsigned splat_ = 0;
  Axis axes_[max_dimensions];
  std::size_t count_ = 0;
  bool possible_ = false;
};

}  // namespace

void convert(Op op, DType from, DType to, void* const* args, std::int64_t n) {
  Engine& engine = Engine::get();
  if (engine.settings.float_checks == 0 || !conversion_may_warn(from, to))
    return cast_loop(from, to)(args, n, 0);
  clear_float_flags();
  cast_loop(from, to)(args, n, 0);
  if (float_flags() & flags_of_interest) engine.note_conversion(op, from, to, args[1], args[0], n);
}

void compute_small(Op op, const Signature& signature, std::byte* out, const Layout& out_layout,
                   DType out_dtype, std::span<const SmallInput> inputs) {
  Temporaries temporaries;
  Engine& engine = Engine::get();
  const bool want_flags = engine.settings.float_checks != 0 && may_warn(op, signature.in[0]);
  // In place, warnings would miss the inputs where the flags alone don't tell.
  const bool needs_inputs = want_flags && (has(op, Costly) || is_complex(signature.in[0]));
  const std::int64_t n = out_layout.size();
  void* args[1 + max_inputs];
  unsigned splat = 0;
  if (op == Op::Copy && signature.in[0] == inputs[0].dtype && signature.out == out_dtype)
    return copy(out, out_layout, inputs[0]);
  // In one order, be it Fortran's: as good as one axis.
  const auto dense_in = [&](bool (Layout::*contiguous)() const) {
    return (out_layout.*contiguous)() && std::ranges::all_of(inputs, [&](const SmallInput& in) {
             return !in.layout || (in.layout->*contiguous)();
           });
  };
  const bool all_dense = dense_in(&Layout::c_contiguous) || dense_in(&Layout::f_contiguous);
  if (!all_dense && !needs_inputs && out_dtype == signature.out) {
    Rows rows(op, signature, out, out_layout, inputs);
    if (rows.possible()) {
      if (want_flags) clear_float_flags();
      rows.run();
      const unsigned flags = want_flags ? float_flags() & flags_of_interest : 0;
      if (flags == 0) return;
      const auto dense = [&](const std::byte* data, const Layout& layout) {
        std::byte* copy = temporaries.take(n * layout.item_size());
        pack(copy, data, layout);
        return copy;
      };
      args[0] = dense(out, out_layout);
      for (std::size_t k = 0; k < inputs.size(); ++k) {
        const SmallInput& in = inputs[k];
        if (!in.layout) splat |= 1u << k;
        args[1 + k] = !in.layout       ? const_cast<std::byte*>(in.data)
                      : in.data == out ? args[0]  // in place: overwritten
                                       : dense(in.data, *in.layout);
      }
      return engine.note_small(op, signature, args, n, splat, flags);
    }
  }
  const bool converts_inside =
      std::ranges::any_of(std::views::iota(0u, inputs.size()), [&](auto k) {
        const SmallInput& in = inputs[k];
        return in.layout && in.dtype != signature.in[k] && !is_converted_apart(*in.layout);
      });
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const SmallInput& in = inputs[k];
    const bool single = !in.layout;
    const std::byte* data = in.data;
    std::int64_t count = single ? 1 : n;
    if (!single && !all_dense && !in.layout->c_contiguous()) {
      std::byte* dense = temporaries.take(n * size_of(in.dtype));
      pack(dense, data, *in.layout);
      data = dense;
    }
    if (in.dtype != signature.in[k]) {
      std::byte* converted = temporaries.take(count * size_of(signature.in[k]));
      void* cast_args[2] = {converted, const_cast<std::byte*>(data)};
      convert(converts_inside ? op : Op::Copy, in.dtype, signature.in[k], cast_args, count);
      data = converted;
    }
    if (single) splat |= 1u << k;
    args[1 + k] = const_cast<std::byte*>(data);
  }
  const bool overwrites = needs_inputs && std::any_of(args + 1, args + 1 + inputs.size(),
                                                      [&](void* a) { return a == out; });
  const bool out_dense = all_dense || out_layout.c_contiguous();
  const bool direct = out_dense && out_dtype == signature.out && !overwrites;
  std::byte* result = direct ? out : temporaries.take(n * size_of(signature.out));
  args[0] = result;
  if (want_flags) clear_float_flags();
  loop(op, signature)(args, n, splat);
  if (want_flags)
    if (const unsigned flags = float_flags() & flags_of_interest)
      engine.note_small(op, signature, args, n, splat, flags);
  if (direct) return;
  if (out_dtype != signature.out) {
    std::byte* converted = out_dense ? out : temporaries.take(n * size_of(out_dtype));
    void* cast_args[2] = {converted, result};
    convert(op, signature.out, out_dtype, cast_args, n);
    result = converted;
  }
  if (result == out) return;
  if (out_dense)
    std::memcpy(out, result, static_cast<std::size_t>(n * size_of(out_dtype)));
  else
    unpack(out, out_layout, result);
}

}  // namespace frit
