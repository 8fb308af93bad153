// overwritten.cpp: which arrays a group overwrites that it reads.
#include "engine/overwritten.h"

#include <algorithm>

#include "engine/float_flags.h"
#include "schedule/dependence.h"

namespace frit {

Overwritten overwritten_by(const std::vector<std::uint32_t>& group, const std::vector<Node>& nodes,
                           std::int64_t most_bytes, const std::function<void(Base&)>& fetch) {
  Overwritten overwritten;
  const auto candidates =
      std::ranges::count_if(group, [&](std::uint32_t k) { return is_candidate(nodes[k]); });
  if (candidates == 0) return overwritten;
  if (candidates == 1) most_bytes = Overwritten::most_bytes;  // it is the one
  std::vector<const Access*> read;
  const auto is_read = [&](const Access& a) {
    return std::ranges::any_of(read, [&](const Access* r) {
      return r->base == a.base && boxes_meet(r->offset, *r->layout, a.offset, *a.layout);
    });
  };
  bool is_all = true;
  for (const std::uint32_t k : group) {
    for_each_access(nodes[k], [&](const Access& a, bool is_write) {
      if (!a.base->data) return;
      if (!is_write)
        read.push_back(&a);
      else if (!is_read(a))
        return;
      else if (a.base->bytes <= most_bytes && nodes[k].kind != NodeKind::Reduce) {
        if (fetch) fetch(*a.base);
        overwritten.keep(a.base);
      } else
        is_all = false;
    });
  }
  return is_all ? std::move(overwritten) : Overwritten();
}

}  // namespace frit
