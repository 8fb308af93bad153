// branches.cpp: If and While that differ between lanes: the lanes that go on are packed.
#include <algorithm>
#include <cstring>
#include <optional>

#include "backend/interp/machine.h"

namespace frit::interp {

namespace {

inline std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

}  // namespace

// While it lives, steps run for packed lanes only.
struct Machine::Packing {
  Packing(Machine& machine, const Region& region, const Lane* lanes, std::int64_t count)
      : machine(machine),
        packed(machine.program_.packed.data() + region.first_packed),
        packed_count(region.packed_count),
        places(machine.lanes_in(region.places)),
        outer_places(machine.places_),
        outer_lanes(machine.lanes_),
        mark(machine.arena_.mark()) {
    machine.save_all(region);
    outside = reinterpret_cast<std::byte**>(
        machine.arena_.take(static_cast<std::size_t>(packed_count) * sizeof(std::byte*)));
    for (std::int32_t k = 0; k < packed_count; ++k) {
      std::byte*& place = machine.reg(packed[k].outside);
      outside[k] = place;
      place = machine.reg(packed[k].block);
      interp::pack(place, outside[k], lanes, count, packed[k].size);
    }
    for (std::int64_t k = 0; k < count; ++k)
      places[k] = outer_places ? outer_places[lanes[k]] : lanes[k];
    machine.places_ = places;
    machine.lanes_ = count;
  }
  Packing(const Packing&) = delete;
  Packing& operator=(const Packing&) = delete;
  ~Packing() {
    for (std::int32_t k = 0; k < packed_count; ++k) machine.reg(packed[k].outside) = outside[k];
    machine.places_ = outer_places;
    machine.lanes_ = outer_lanes;
    machine.arena_.release(mark);
  }

  // Writes locals back: of packed lane l to lane homes[l] outside, for the listed l or for all.
  void write_back(const Lane* homes, const Lane* listed, std::int64_t count) const {
    for (std::int32_t k = 0; k < packed_count; ++k)
      if (packed[k].written)
        unpack(outside[k], homes, machine.reg(packed[k].outside), listed, count, packed[k].size);
  }
  // Keeps the listed lanes only, in another order: the last ones take the places of those that
  // leave.
  void keep(const Lane* listed, const Lane* leaving, std::int64_t count, Lane* homes) const {
    const Lane* const movers = std::lower_bound(listed, listed + count, count);
    const std::int64_t moved = listed + count - movers;
    const auto keep_in = [&](std::byte* block, int size) {
      move_lanes(block, leaving, movers, moved, size);
    };
    for (std::int32_t k = 0; k < packed_count; ++k)
      keep_in(machine.reg(packed[k].outside), packed[k].size);
    keep_in(reinterpret_cast<std::byte*>(places), sizeof(Lane));
    keep_in(reinterpret_cast<std::byte*>(homes), sizeof(Lane));
    machine.lanes_ = count;
  }

  Machine& machine;
  const Packed* packed;
  std::int32_t packed_count;
  Lane* places;
  const Lane* outer_places;
  std::int64_t outer_lanes;
  Arena::Mark mark;
  std::byte** outside;
};

void Machine::run_packed(const Region& region, const Lane* lanes, std::int64_t count,
                         std::int32_t first, std::int32_t end) {
  if (count == 0 || first == end) return;
  const Packing packing(*this, region, lanes, count);
  execute(first, end);
  packing.write_back(lanes, nullptr, count);
}

void Machine::if_lanes(const Step& step, std::int32_t first) {
  const LaneBranch& branch = program_.branches[at(step.detail)];
  const std::uint8_t* const condition = conditions(step.in[0]);
  const std::int64_t count = count_true(condition, lanes_);
  if (count == lanes_) return execute(first, step.middle);
  if (count == 0) {
    is_ended_ = step.ends_loop;
    return execute(step.middle, step.end);
  }
  Lane* const chosen = lanes_in(branch.chosen);
  Lane* const rest = lanes_in(branch.rest);
  split(condition, lanes_, chosen, rest);
  run_packed(program_.regions[at(branch.region)], chosen, count, first, step.middle);
  run_packed(program_.regions[at(branch.other)], rest, lanes_ - count, step.middle, step.end);
}

// Lanes leave one by one; others take their places. While all stay nothing is copied.
void Machine::while_lanes(const Step& step, std::int32_t first) {
  const LaneBranch& branch = program_.branches[at(step.detail)];
  Lane* const chosen = lanes_in(branch.chosen);
  Lane* const rest = lanes_in(branch.rest);
  Lane* const homes = lanes_in(branch.homes);
  std::optional<Packing> packing;
  for (;;) {
    look_for_stop();
    execute(first, step.middle);
    const std::uint8_t* const condition = conditions(step.in[0]);
    const std::int64_t count = count_true(condition, lanes_);
    if (count < lanes_) {
      split(condition, lanes_, chosen, rest);
      if (packing) packing->write_back(homes, rest, lanes_ - count);
      if (count == 0) return;
      if (packing) {
        packing->keep(chosen, rest, count, homes);
      } else {
        std::memcpy(homes, chosen, static_cast<std::size_t>(count) * sizeof(Lane));
        packing.emplace(*this, program_.regions[at(branch.region)], chosen, count);
      }
    }
    execute(step.middle, step.end);
  }
}

}  // namespace frit::interp
