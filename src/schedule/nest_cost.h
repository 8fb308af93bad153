// nest_cost.h: what a nest is guessed to cost, in nanoseconds of one core.
//
// The second half of the cost model of loops: one launch or several, and by launch_.cost one core
// or all of them (engine/launch.cpp). Whether a nest runs compiled at all is decided before it is
// translated, in python/frit/loops/run/work.py. Guesses only decide how a nest runs, never what it
// gives. `python bench/loops.py --oracle` holds the choices against the best ones.
#pragma once

namespace frit::nest_cost {

// A memory access, a plain op and a function: one by one, and in lanes.
struct Rates {
  double access, op, function;
};
inline constexpr Rates in_order = {0.35, 0.35, 6}, in_lanes = {0.1, 0.04, 1.5};

inline constexpr double small_nest = 4e3;  // below it, all is one launch
// What is worth handing to a thread that is awake (what memory it touches moves to its caches), and
// the work that a launch of its own must have: that of two.
inline constexpr double part_awake = 2e3, launch_pays = 2 * part_awake;
inline constexpr double waves_pay = 100e3;  // work of a wavefront in tiles, a launch a diagonal
// What an element of a wavefront takes in lanes, which lie along the diagonal: each access is to
// lines of its own. And what an op adds to a chain, where each element waits for the one before.
inline constexpr double wave_element = 0.3, wave_access = 0.08, wave_branch = 0.3;
inline constexpr double chained_integer = 0.4, chained_extreme = 0.7, chained_float = 0.7;
// A run that takes longer may be stopped, in a thread of its own, which costs some 50 us. (What is
// stored and loaded from afar takes up to four times the guess.) How often a While goes round,
// nobody knows: with those, it is the plan's cost, in order, and so many times its rounds.
inline constexpr double stoppable_run = 25e6, stoppable_whiles = 50e6, rounds_of_while = 64;
inline constexpr double rounds_of_long_while = 1e6;  // of one that a program spends its time in
inline constexpr double host_step = 20;              // of a program
inline constexpr double line_of_another = 100;       // to read a line that another core wrote
// A run as long as that is cut into launches, if they are as long as this.
inline constexpr double long_run = 5e6, long_launch = 50e3;
inline constexpr double least_product = 30e3;  // multiplications that a call of BLAS is worth

}  // namespace frit::nest_cost
