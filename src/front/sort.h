// sort.h: rows sorted, and the places of their elements in that order, by all threads.
#pragma once

#include "front/order.h"

namespace frit {

// Puts places of elements (of n in all) into the order of these.
using SortPlaces = int (*)(void* elements, std::intptr_t* places, std::intptr_t n, void* unused);

// The loops by which the elements of a type are sorted; below 0: they failed. May run in any
// thread.
struct SortLoops {
  SortElements values = nullptr;
  SortElements quick = nullptr;  // of the same type, in any order of those that are equal
  SortPlaces places = nullptr;
  SortElements words = nullptr;  // of uint64, in any order of those that are equal
  bool is_stable = false;        // equal elements stay in their order
};

// Sorts the rows (along the last axis) of a dense array that is there into `to`, which may be where
// they lie. What is given are the loop's own results, NaNs' bits excepted. False: a loop failed.
bool sort_rows(const Array& rows, std::byte* to, const SortLoops& loops);

// Whether each element of a dense vector that is there is no greater than the next one; never told
// of types whose order is not looked at here.
bool is_in_order(const Array& vector);

// The places of the elements of each row of a dense array that is there, as the loop gives them,
// into `to`. False: a loop failed.
bool sort_places(const Array& rows, std::int64_t* to, const SortLoops& loops);

}  // namespace frit
