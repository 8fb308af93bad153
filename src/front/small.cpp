// small.cpp: pack what is strided or of another type, run one ready-made loop, unpack.
#include "front/small.h"

#include <algorithm>
#include <cstring>

#include "engine/pool.h"

namespace frit {
namespace {

// Dense temporary memory of one call: the stack for a few KB, else the heap.
class Temporaries {
 public:
  std::byte* take(std::int64_t bytes) {
    const std::int64_t rounded = (bytes + 63) / 64 * 64;
    if (used_ + rounded <= static_cast<std::int64_t>(sizeof stack_)) {
      std::byte* p = stack_ + used_;
      used_ += rounded;
      return p;
    }
    heap_.push_back(std::make_unique<std::byte[]>(static_cast<std::size_t>(rounded)));
    return heap_.back().get();
  }

 private:
  alignas(64) std::byte stack_[8192];
  std::int64_t used_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> heap_;
};

// args: output, input. As a part of `op`, whose name a warning will use.
void convert(Op op, DType from, DType to, void* const* args, std::int64_t n) {
  Engine& engine = Engine::get();
  if (engine.settings.float_checks == 0 || !conversion_may_warn(from, to))
    return cast_loop(from, to)(args, n, 0);
  clear_float_flags();
  cast_loop(from, to)(args, n, 0);
  if (float_flags() & 0x0Du) engine.note_conversion(op, from, to, args[1], args[0], n);
}

}  // namespace

void compute_small(Op op, const Signature& signature, std::byte* out, const Layout& out_layout,
                   DType out_dtype, std::span<const SmallInput> inputs) {
  Temporaries temporaries;
  Engine& engine = Engine::get();
  const bool want_flags = engine.settings.float_checks != 0 && may_warn(op, signature.in[0]);
  const std::int64_t n = out_layout.size();
  void* args[1 + max_inputs];
  unsigned splat = 0;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const SmallInput& in = inputs[k];
    const bool single = !in.layout;
    const std::byte* data = in.data;
    std::int64_t count = single ? 1 : n;
    if (!single && !in.layout->c_contiguous()) {
      std::byte* dense = temporaries.take(n * size_of(in.dtype));
      pack(dense, data, *in.layout);
      data = dense;
    }
    if (in.dtype != signature.in[k]) {
      std::byte* converted = temporaries.take(count * size_of(signature.in[k]));
      void* cast_args[2] = {converted, const_cast<std::byte*>(data)};
      convert(Op::Copy, in.dtype, signature.in[k], cast_args, count);
      data = converted;
    }
    if (single) splat |= 1u << k;
    args[1 + k] = const_cast<std::byte*>(data);
  }
  // In place, warnings would miss the inputs where the flags alone don't tell.
  const bool needs_inputs = want_flags && (has(op, Costly) || is_complex(signature.in[0]));
  const bool overwrites = needs_inputs && std::any_of(args + 1, args + 1 + inputs.size(),
                                                      [&](void* a) { return a == out; });
  const bool direct = out_layout.c_contiguous() && out_dtype == signature.out && !overwrites;
  std::byte* result = direct ? out : temporaries.take(n * size_of(signature.out));
  args[0] = result;
  if (want_flags) clear_float_flags();
  // The choice of formula goes by the type that the op works in: the last input's (Select has a
  // bool first).
  loop(op, signature.in[op == Op::Select ? 1 : 0])(args, n, splat);
  if (want_flags)
    if (const unsigned flags = float_flags(); flags & 0x0Du)
      engine.note_small(op, signature, args, n, splat, flags);
  if (direct) return;
  if (out_dtype != signature.out) {
    std::byte* converted =
        out_layout.c_contiguous() ? out : temporaries.take(n * size_of(out_dtype));
    void* cast_args[2] = {converted, result};
    convert(op, signature.out, out_dtype, cast_args, n);
    result = converted;
  }
  if (result != out) unpack(out, out_layout, result);
}

}  // namespace frit
