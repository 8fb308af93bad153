// rounds.h: how many rounds of a loop run as one trace.
//
// A round with some ms of work runs when the next one begins (engine.cpp, begins_anew). Where it
// does little with the memory that it passes over (`x = r * x * (1 - x)`), several rounds in one
// kernel pass over it once. So a loop that has run for a while is tried: with two rounds, for
// nothing is gained where a round needs its neighbours' results, or reads other memory each time,
// and the kernel of a trial is interpreted; then with all. And only when that kernel is compiled do
// rounds wait for one another.
// Kernels that need their neighbours' results may still go over the memory together, some rows
// apart (schedule/plan_sweep.h), which pays from a few rounds on.
//
// A function that a round calls for each of its arrays (`laplacian(u)`, `laplacian(v)`) passes for
// several rounds, of different lengths that come again in turn. Those are one round.
#pragma once

#include <algorithm>
#include <iterator>
#include <numeric>
#include <vector>

#include "backend/cpu/cpu.h"
#include "frit/array.h"

namespace frit {

class Rounds {
 public:
  // Where a loop's rounds begin: the line, and the elements of what it makes first.
  struct Begin {
    SourcePosition at;
    std::int64_t elements = 0;
  };
  // A trace that a loop's next round has ended, and what its plan says of it.
  struct Trace {
    std::size_t nodes = 0;
    std::int64_t bytes = 0;  // that it moved
    double memory = 0;       // ns that this takes,
    double work = 0;         // and all else
    // The most bytes that it had at a time for what nobody sees: each round needs so much.
    std::int64_t temporaries = 0;
    bool may_sweep = false;  // Plan::may_sweep
  };
  struct Limits {
    std::size_t nodes;
    std::int64_t held;  // bytes
  };

  // The loop's next round begins, with much to do before it, in so many nodes: is it recorded too?
  // held: the bytes that only the trace keeps alive; they stay below a limit with that round too.
  bool waits(Begin begin, std::size_t nodes, std::int64_t held, std::int64_t most_held) {
    Place& place = place_of(begin);
    const auto rounds = static_cast<std::size_t>(passed_) + 1;
    if (nodes < rounds * place.nodes && held <= most_held) return true;  // still the same one
    if (place.stage == Stage::Chosen && is_ready(place)) {
      place.stage = Stage::Settled;
      place.together = place.most;
      place.awaited.clear();
    }
    if (++passed_ == 1) {
      first_held_ = held;
    } else if (held + (held - first_held_) / (passed_ - 1) > most_held) {
      place.together = place.most = std::min(place.most, passed_);
    }
    return passed_ < place.together;
  }
  void start_trace() { passed_ = 0; }

  // Whether such a trace is the better one: then await() is told what it waits for.
  bool note(Begin begin, const Trace& trace, Limits limits) {
    Place& place = place_of(begin);
    if (place.stage == Stage::Watched && place.finds_parts(trace.nodes)) return false;
    const double bytes = static_cast<double>(trace.bytes) / static_cast<double>(trace.nodes);
    if (place.stage == Stage::Watched) {
      place.seen += trace.memory + trace.work;
      if (place.seen < worth) return false;
      place.nodes = trace.nodes;
      place.most = most_together(trace, limits, 2 * trace.memory / std::max(trace.work, 1.0));
      place.most_swept = most_together(trace, limits, trace.memory > trace.work ? most_rounds : 1);
      place.together = std::min(2, std::max(place.most, place.most_swept));
      place.bytes_a_node = bytes;
      place.stage = place.together > 1 ? Stage::Tried : Stage::Settled;
    } else if (place.stage == Stage::Tried) {
      const bool was_all = place.together == place.most;
      bool gains = bytes < enough_less * place.bytes_a_node;
      if (trace.may_sweep && !was_all) {
        gains = true;
        place.most = std::max(place.most, place.most_swept);
      }
      place.together = gains && !was_all ? place.most : 1;
      place.stage = !gains ? Stage::Settled : was_all ? Stage::Chosen : Stage::Tried;
      return gains && was_all;
    }
    return false;
  }
  void await(Begin begin, std::vector<Compiler::Slot> code) {
    place_of(begin).awaited = std::move(code);
  }

 private:
  static constexpr double worth = 6e7;  // ns of a loop, from which one of its traces may be slow
  static constexpr double enough_less = 0.7;
  static constexpr double most_rounds = 8;
  static constexpr std::size_t most_places = 64, most_lengths = 12;

  // Chosen: more rounds together, when their code is there.
  enum class Stage : std::uint8_t { Watched, Tried, Chosen, Settled };
  struct Place {
    const void* code = nullptr;
    std::int32_t instruction = 0;
    std::int64_t elements = 0;
    Stage stage = Stage::Watched;
    int together = 1, most = 1, most_swept = 1;
    std::size_t nodes = 0;               // of a round; 0: not known
    std::vector<std::size_t> lengths{};  // of what passed for rounds, in nodes; the latest last
    double seen = 0;                     // ns
    double bytes_a_node = 0;
    std::vector<Compiler::Slot> awaited{};

    bool finds_parts(std::size_t length) {
      if (nodes > 0 || lengths.size() == most_lengths) return false;
      lengths.push_back(length);
      const auto last = std::ssize(lengths);
      for (std::ptrdiff_t n = 2; 3 * n <= last; ++n) {
        const auto come_again = [&](std::ptrdiff_t apart) {
          return std::equal(lengths.end() - 2 * n, lengths.end(), lengths.end() - 2 * n - apart);
        };
        // It begins behind the longest part: the others are what a round does first.
        const bool is_end = lengths.back() == *std::max_element(lengths.end() - n, lengths.end());
        if (!is_end || !come_again(n) || come_again(1)) continue;
        nodes = std::accumulate(lengths.end() - n, lengths.end(), std::size_t{0});
        return true;
      }
      return false;
    }
  };

  // by_work: beyond that, what is left of the memory's time is less than half of the work's.
  static int most_together(const Trace& trace, Limits limits, double by_work) {
    const auto by_nodes = static_cast<double>(limits.nodes / trace.nodes);
    const double by_memory =
        static_cast<double>(limits.held) / std::max(static_cast<double>(trace.temporaries), 1.0);
    return std::max(1, static_cast<int>(std::min({by_work, by_nodes, by_memory, most_rounds})));
  }
  static bool is_ready(const Place& place) {
    return std::ranges::all_of(place.awaited, [](const Compiler::Slot& slot) {
      return slot->load(std::memory_order_acquire) != nullptr;
    });
  }
  // The one used last is the first. A loop looks once a round, of some ms.
  Place& place_of(Begin begin) {
    const auto is_it = [&](const Place& place) {
      return place.code == begin.at.code && place.instruction == begin.at.instruction &&
             place.elements == begin.elements;
    };
    auto found = std::ranges::find_if(places_, is_it);
    if (found == places_.end()) {
      if (places_.size() == most_places) places_.pop_back();
      places_.push_back(
          {.code = begin.at.code, .instruction = begin.at.instruction, .elements = begin.elements});
      found = std::prev(places_.end());
    }
    std::rotate(places_.begin(), found, std::next(found));
    return places_.front();
  }

  std::vector<Place> places_;
  int passed_ = 0;  // rounds that began behind this trace's first
  std::int64_t first_held_ = 0;
};

}  // namespace frit
