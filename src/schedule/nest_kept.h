// nest_kept.h: a nest's dependences on the disk: isl's milliseconds are not spent by each process.
#pragma once

#include "ir/disk_store.h"
#include "schedule/nest.h"

namespace frit {

// Fills in the dependences of a nest that was built from the Routine and has none yet: those that
// are kept, or else what find_nest_dependences finds, which is kept if that took long.
void find_or_load_dependences(const Routine& routine, Nest& nest, DiskStore& store);

// The key: all that the answer depends on.
std::string question_of(const Routine& routine, const NestFacts& facts);
// What is kept. false, with nothing changed: these bytes are no dependences of the nest.
std::string dependences_as_bytes(const Nest& nest);
bool read_dependences(std::string_view bytes, Nest& nest);

}  // namespace frit
