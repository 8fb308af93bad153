// own_memory.h: memory that each point of a user's kernel has for itself, and nobody else sees.
// In: groups. Out: which slots are so; each running part needs one point's share of them.
#pragma once

#include <span>
#include <vector>

#include "schedule/fuse.h"
#include "schedule/lower.h"

namespace frit {

// Such is the scratch memory of a team, and what its threads keep from barrier to barrier: as
// large as the league, of which only the teams that run need theirs. Notes it in `uses`. What
// filled it with one number leaves its group, and is done by each point; such groups may be empty
// then.
void find_own_memory(const Segment& segment, std::vector<Group>& groups, std::span<SlotUse> uses);

}  // namespace frit
