// float_flags.h: which floating-point errors the values of an op or a conversion show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ir/trace.h"

namespace frit {

inline constexpr std::int64_t converted_apart = 8192;  // NumPy's buffer size, in elements

// Does NumPy convert an operand that is broadcast to this layout in a step of its own? One element
// and few ones along one axis; others it converts inside the op's loop.
bool is_converted_apart(const Layout& layout);

// What an op's values say, as status flags (pool.h); `raised`: those that its loop has left. Dense
// operands.
unsigned flags_from_values(Op op, const Signature& signature, std::int64_t n,
                           std::span<const std::byte* const> in, const std::byte* out,
                           unsigned raised);

// What n conversions say.
unsigned flags_of_conversion(DType from, DType to, const void* in, const void* out, std::int64_t n);

// What raised flags mean where the values are gone: a float's remainder by zero raises
// divide-by-zero on the way to a NaN, an integer's 0 / 0 is computed as a NaN, log(0) overflows.
unsigned meant(Op op, const Signature& signature, unsigned flags);

// What NumPy may say of an op, whatever its formula raises on the way.
unsigned possible(Op op, const Signature& signature);

// Those that it may say where these were raised.
unsigned could_mean(Op op, const Signature& signature, unsigned raised);

// Does the op, on this type, raise flags that NumPy doesn't know of? The machine's own operations
// don't.
bool raises_flags_of_its_own(Op op, DType dtype);

// Machines may take a NaN here for invalid, where NumPy doesn't.
bool orders_floats(Op op, DType dtype);

// The other way round: what a node's op may have raised where its values say this.
unsigned explained(const Node& node, unsigned found);

// Those of the flags that an op's results show; but divisions of complex numbers, for one, overflow
// on the way to finite quotients.
unsigned shown(Op op, DType dtype, const std::byte* results, std::int64_t n, unsigned flags);
unsigned shown(Op op, const Access& out, unsigned flags);

// Those of the flags that elements of this kind can stand for: to convert a single float16 number,
// compilers convert all that its register holds, so that only values tell.
unsigned credible(const Access& out, unsigned flags);

// What a call that has just run has raised.
unsigned flags_of_call(const Call& call, const Access& out, std::span<std::byte* const> pointers);

// Could somebody hear of an error of this node, in its op or its conversions?
bool is_candidate(const Node& node);

// The flags that a node may have raised; takes them out of `flags`.
unsigned claimed(const Node& node, unsigned& flags);

}  // namespace frit
