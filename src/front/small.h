// small.h: ops on a few KB whose inputs are ready are done at once, without trace or kernel.
#pragma once

#include "engine/pack.h"
#include "front/common.h"

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

// Reduces the axes of the mask at once, where the elements are there and few. False: it can't.
// `strides`: out's, over the axes of `a`; 0 where reduced.
bool reduce_small(Op op, const Array& a, std::uint64_t mask, const Array& out,
                  std::span<const std::int64_t> strides, const Scalar& initial);

// n dense elements from one type to another, as a part of `op`, whose name a warning will use.
// args: output, input.
void convert(Op op, DType from, DType to, void* const* args, std::int64_t n);

}  // namespace frit
