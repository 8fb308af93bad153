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

}  // namespace frit
