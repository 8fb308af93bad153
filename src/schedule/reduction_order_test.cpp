// reduction_order_test.cpp: what NumPy 2.4's iterator does with reductions of some layouts.
#include "schedule/reduction_order.h"

#include <gtest/gtest.h>

namespace frit {
namespace {

using Sizes = std::vector<std::int64_t>;
using Axes = std::vector<int>;

ReductionShape shape_of(const Sizes& extents, const Sizes& strides, std::uint64_t reduced,
                        bool converts = false) {
  const LayoutRef layout = LayoutRef::adopt(make_layout(extents, strides, 8));
  return shape_of_reduction(*layout, reduced, converts);
}

TEST(ReductionOrder, dense_elements_are_one_tree) {
  const ReductionShape shape = shape_of({300, 200}, {1600, 8}, 0b11);
  EXPECT_EQ(shape.kind, GroupKind::Fold);
  EXPECT_EQ(shape.tree, (Axes{0, 1}));
  EXPECT_FALSE(shape.buffered);
}

TEST(ReductionOrder, a_window_of_short_rows_is_buffered_in_whole_rows) {
  const ReductionShape shape = shape_of({300, 199}, {1600, 8}, 0b11);
  EXPECT_TRUE(shape.buffered);
  EXPECT_EQ(shape.tree, (Axes{0, 1}));
  EXPECT_EQ(shape.chunk, 8192 / 199 * 199);
  EXPECT_EQ(shape.chunked, (Axes{0}));
}

TEST(ReductionOrder, a_window_that_fits_the_buffer_is_one_tree) {
  const ReductionShape shape = shape_of({30, 199}, {1600, 8}, 0b11);
  EXPECT_TRUE(shape.buffered);
  EXPECT_EQ(shape.chunk, 0);
}

TEST(ReductionOrder, rows_longer_than_half_the_buffer_are_trees_where_they_lie) {
  for (const auto& [row, buffered] : {std::pair{4096, true}, {4097, false}}) {
    const ReductionShape shape = shape_of({7, row}, {80'000, 8}, 0b11);
    EXPECT_EQ(shape.buffered, buffered) << row;
    EXPECT_EQ(shape.tree, buffered ? (Axes{0, 1}) : (Axes{1})) << row;
  }
}

TEST(ReductionOrder, converted_elements_are_buffered_a_buffer_at_a_time) {
  EXPECT_EQ(shape_of({20'000}, {8}, 1, true).chunk, 8192);
  EXPECT_EQ(shape_of({8192}, {8}, 1, true).chunk, 0);
  EXPECT_FALSE(shape_of({20'000}, {8}, 1, false).buffered);
}

TEST(ReductionOrder, a_kept_outer_axis_leaves_the_rows_apart) {
  const ReductionShape shape = shape_of({10, 6, 5}, {480, 56, 8}, 0b110);
  EXPECT_EQ(shape.kind, GroupKind::Rows);
  EXPECT_TRUE(shape.buffered);
  EXPECT_EQ(shape.tree, (Axes{1, 2}));
  EXPECT_EQ(shape_of({10, 6, 5}, {480, 56, 8}, 0b011).kind, GroupKind::Columns);
}

}  // namespace
}  // namespace frit
