// common.h: what the functions of array.h share: an Array's parts, shapes, making nodes.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "frit/array.h"
#include "ir/trace.h"

namespace frit {

using Locked = std::scoped_lock<EngineLock>;

// Has each some of one memory? Two bases do where a library was given ours and hands on a view of
// it that doesn't say so, or owners share theirs.
inline bool share_memory(const Base& a, const Base& b) {
  if (&a == &b) return true;
  if ((!a.foreign && !b.foreign) || !a.data || !b.data) return false;
  return a.data < b.data + b.bytes && b.data < a.data + a.bytes;
}

inline Access access_of(const Array& a) { return {a.base(), a.layout(), a.offset(), a.dtype()}; }

// A fresh, promised array; takes over the layout's reference.
Array fresh(LayoutRef layout, DType dtype);

// The window of `a` broadcast to `shape` (ValueError where it does not fit); no new Array.
LayoutRef broadcast_layout(const Layout& layout, std::span<const std::int64_t> shape);

// The axes of `a` behind the first `indexed` ones.
LayoutRef layout_behind(const Array& a, std::size_t indexed);

// NumPy's broadcast shape; throws ValueError with NumPy's words.
std::vector<std::int64_t> broadcast_shapes(std::span<const std::span<const std::int64_t>> shapes);

// Does an array of this shape fit `shape` as it is?
bool broadcasts_to(std::span<const std::int64_t> from, std::span<const std::int64_t> shape);

// The layout of a fresh elementwise result: NumPy's order='K' over these operands (all broadcast to
// `shape`).
LayoutRef result_layout(std::span<const std::int64_t> shape,
                        std::span<const Layout* const> operands, int item_size);

// Refuses a handle that holds no array. (ValueError)
[[noreturn]] void refuse_empty_handle();
inline void check_array(const Array& a) {
  if (!a) [[unlikely]]
    refuse_empty_handle();
}

// A window of `shape` and `strides`, each of whose axes steps over all of the axes behind it: in
// `bytes` of memory, and no element twice. False where that is not plain to see.
bool is_plain_window(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides,
                     std::int64_t offset, int item, std::int64_t bytes);

// Refuses an axis that is not there; those from the end are not counted here. (ValueError)
void check_axis(int axis, int ndim);
// An axis that may be counted from the end, as one from the first. (ValueError)
int axis_of(int axis, int ndim);

// Refuses to write to memory that is not ours to write. (ValueError)
void check_writable(const Array& a);

// Refuses a mask for where= that is no array of bool. (TypeError)
void check_where(const Array& mask);

// A number in the type that an op works in; warns where that type is too small for it.
Scalar converted(const Argument& a, DType dtype);

// Of Op::Select between values of one type.
inline Signature select_signature(DType dtype) { return {{DType::Bool, dtype, dtype}, dtype}; }

// The elements in C order, computed: the array's own if they are there. dtype: their type.
Array dense(const Array& a, DType dtype);
inline Array dense(const Array& a) { return dense(a, a.dtype()); }

// What work() records is evaluated together.
template <class Work>
auto as_one_launch(Work&& work) {
  Engine& engine = Engine::get();
  engine.begin_launch();
  std::invoke_result_t<Work> results;
  try {
    results = work();
  } catch (...) {
    engine.end_launch();
    throw;
  }
  engine.end_launch();
  return results;
}

// Records out = op(inputs), all of out's shape; buffers through a fresh array where out overlaps an
// input at other elements.
void record_elementwise(Op op, const Signature& signature, const Access& out,
                        std::span<const Access> inputs, std::span<const Scalar> constants);

}  // namespace frit
