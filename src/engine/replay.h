// replay.h: a group of nodes once more, op by op, to find out which of them raised a flag.
#pragma once

#include <vector>

#include "ir/trace.h"
#include "schedule/schedule.h"

namespace frit {

// What a node has raised, and what the conversion of its inputs has.
struct Found {
  unsigned op = 0, inputs = 0;
  bool meets_nan = false, meets_infinity = false;  // a reduction, in what it reads
};

// Which nodes can run again: their inputs, and those of the nodes that made these, are still what
// they were.
std::vector<bool> intact_nodes(const std::vector<const Node*>& nodes, const LaunchStep& launch,
                               const std::vector<Base*>& slots);

// The intact elementwise nodes of the largest iteration space, in chunks; found[k] collects the
// flags of nodes[k]. Those that can explain nothing more of the flags that all of them have raised
// are left out. `nans`: whether reductions meet any is asked too.
void replay_in_chunks(const std::vector<const Node*>& nodes, const std::vector<bool>& intact,
                      unsigned raised, bool nans, std::vector<Found>& found);

// All nodes, one after the other as NumPy would run them, in memory of their own: what a reduction
// gives others is known only then. False, with nothing found: nothing follows a reduction, the
// group is too large for it, or an input is gone.
bool replay_whole(const std::vector<const Node*>& nodes, const LaunchStep& launch,
                  const std::vector<Base*>& slots, std::vector<Found>& found);

}  // namespace frit
