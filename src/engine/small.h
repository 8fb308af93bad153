// small.h: single ops by ready-made loops: without plan or kernel, at once or as the trace says.
#pragma once

#include <cstdint>
#include <span>

#include "ir/trace.h"

namespace frit {

// One input of a small op: where its elements lie, over the result's shape.
struct SmallInput {
  const std::byte* data = nullptr;
  const Layout* layout = nullptr;  // broadcast to the result's shape; null: one element
  DType dtype{};
};

// out = op(inputs) element by element; out may be one of the inputs, but not overlap one otherwise
// (the caller buffers). Floating-point errors are noted if somebody wants to hear of them.
void compute_small(Op op, const Signature& signature, std::byte* out, const Layout& out_layout,
                   DType out_dtype, std::span<const SmallInput> inputs);

// Reduces the axes of the mask, in NumPy's order, beginning with `initial`. `in` is there, and not
// empty; `out` is dense, in any order of its axes, and its layout goes over the axes of `in`, with
// strides 0 where reduced. False: there is no ready-made loop for it, and nothing was done.
struct SmallReduction {
  Op op;
  std::uint64_t mask;
  Access in, out;
  const Scalar& initial;
};
bool reduce_small(const SmallReduction& reduction);

// n dense elements from one type to another, as a part of `op`, whose name a warning will use.
// args: output, input.
void convert(Op op, DType from, DType to, void* const* args, std::int64_t n);

}  // namespace frit
