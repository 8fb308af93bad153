// nest_memory.h: the arrays of a call of a loop nest, and how two of them share memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ops/ops.h"

namespace frit {

class Base;

// An array of a call. All of its elements that the nest touches must be there.
struct NestArgument {
  std::byte* data = nullptr;
  std::span<const std::int64_t> shape, strides;  // bytes
  // Of an array of ours that nobody else sees: a device may have its newest contents, and keep
  // them.
  Base* base = nullptr;
};

struct NestCall {
  std::span<const NestArgument> arrays;  // one a parameter, of its dtype
  std::span<const std::int64_t> integers;
  std::span<const Scalar> scalars;
};

struct ByteSpan {
  const std::byte* low = nullptr;
  const std::byte* high = nullptr;  // behind the last byte
};
ByteSpan bytes_of(const NestArgument& a, DType dtype);
bool overlap(ByteSpan x, ByteSpan y);
// Whether a predicate (isnan, isinf) holds for one of the elements.
bool has_element(Op predicate, const NestArgument& a, DType dtype);

// Does each stride step over all that the smaller ones reach? Then no two elements overlap.
bool is_nested(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides,
               std::int64_t item);

// How two windows share memory.
struct SharedMemory {
  enum class Kind : std::uint8_t { None, Shifted, Mixed } kind{};
  std::vector<std::int64_t> shift;  // Shifted: element e of b is element e + shift of a
};
SharedMemory shared_memory(const NestArgument& a, const NestArgument& b, DType type_a,
                           DType type_b);

}  // namespace frit
