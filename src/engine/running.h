// running.h: a plan while it runs.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/engine.h"
#include "engine/memory.h"
#include "engine/residence.h"

namespace frit {

// The memory of one run of a plan.
struct Engine::Running {
  CachedPlan& cached;
  std::vector<Node>& nodes;
  std::vector<Base*> slots;
  std::vector<std::byte*> temporaries;
  // Where there is a device: its copies of the temporaries; and the slots, the arrays' first, that
  // have memory nobody has written yet.
  std::vector<Residence::Copy> copies = {};
  std::vector<bool> undefined = {};

  std::byte* pointer(std::uint32_t slot) const {
    return slot < slots.size() ? slots[slot]->data : temporaries[slot - slots.size()];
  }
  void* table(const Binding& b) const {
    return const_cast<std::byte*>(
        reinterpret_cast<const std::byte*>(cached.plan->tables[b.slot].data()) + b.offset);
  }
  // The memory of one of the plan's own slots goes, for another, or for none.
  void set_temporary(std::uint32_t slot, std::byte* data) {
    const std::size_t t = slot - slots.size();
    if (temporaries[t]) memory::deallocate(temporaries[t], cached.plan->temporaries[t]);
    temporaries[t] = data;
  }
  const Scalar& scalar(const ScalarBinding& b) const {
    const Node& node = nodes[b.node];
    return node.kind == NodeKind::Routine ? node.site->scalars[b.constant]
                                          : node.constants[b.constant];
  }
  std::vector<Scalar> scalars(const LaunchStep& launch) const {
    std::vector<Scalar> all;
    all.reserve(launch.scalars.size());
    for (const ScalarBinding& b : launch.scalars) all.push_back(scalar(b));
    return all;
  }
};

}  // namespace frit
