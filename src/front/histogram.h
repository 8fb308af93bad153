// histogram.h: in which of the bins that edges make numbers lie.
//
// Bin k holds what is at least edges[k] and below edges[k + 1], the last one its right edge as
// well. Edges are dense vectors, there already, of two elements or more, float64 or float32, in
// increasing order; neighbours may be equal.
#pragma once

#include <optional>

#include "frit/array.h"

namespace frit {

// The edges of `count` bins of one width, as NumPy's linspace makes them in this type; none where
// they would not increase.
std::optional<Array> uniform_edges(double first, double last, std::int64_t count, DType dtype);

// The edges as elements of this type; none where they are not in order, or would not stay so apart.
std::optional<Array> edges_of(const Array& vector, DType dtype);

// How many elements lie in each bin, int64. Evaluates `a`, whose numbers are looked at in the type
// of the edges.
Array count_in_bins(const Array& a, const Array& edges);

// The sums of their weights, in the weights' type: those of each 65,536 elements by themselves, in
// float64, as NumPy's histogram adds. The weights: as many, float64, float32 or int64.
Array add_in_bins(const Array& a, const Array& edges, const Array& weights);

// How many pairs lie in each bin of a grid, and the sums of their float64 weights, if given:
// float64, with a border of what lies outside, whose values mean nothing.
Array count_in_grid(const Array& x, const Array& y, const Array& x_edges, const Array& y_edges,
                    const Array* weights);

}  // namespace frit
