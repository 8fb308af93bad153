// dense.h: functions of dense arrays, done at once; nothing where they are not such.
#pragma once

#include <optional>

#include "frit/array.h"

namespace frit {

// The elements along an axis that int64 indices name; nothing too where one is out of bounds.
std::optional<Array> take_dense(const Array& a, const Array& indices, int axis);

// What take_along_axis gives and put_along_axis does; nothing, or false, where the arrays differ in
// shape along other axes or a place is out of bounds. The value: an element of the array's type, or
// as many as there are places.
std::optional<Array> take_per_line(const Array& a, const Array& places, int axis);
bool put_per_line(const Array& a, const Array& places, int axis, const Argument& value);

// Each element of a vector as often as int64 counts say; nothing too where one is negative.
std::optional<Array> repeat_dense(const Array& a, const Array& counts);

// The elements moved along all axes, by one shift for each; nothing too where they are many.
std::optional<Array> roll_dense(const Array& a, std::span<const std::int64_t> shifts);

// Whether any element is true in both of two bool vectors of one length, which are there.
std::optional<Array> bool_product(const Array& a, const Array& b);

// The sum of conjugate(a) * b of vectors of one length, of which nobody is warned; of any vectors.
Array vdot(const Array& a, const Array& b);

}  // namespace frit
