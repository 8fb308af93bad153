// lower_boxes.cpp: lowers a Map whose members run in boxes of its space: a launch for each part of
// it in which the same members run at all points.
#include <algorithm>
#include <functional>

#include "schedule/lower_body.h"

namespace frit {
namespace {

// Points of the group's space; along the axes behind those that are cut, all of them.
struct Part {
  std::vector<std::int64_t> begin, end;
  std::vector<const Member*> members;

  std::int64_t points() const {
    std::int64_t n = 1;
    for (std::size_t k = 0; k < begin.size(); ++k) n *= end[k] - begin[k];
    return n;
  }
};

void cut(const Part& part, std::size_t axis, std::vector<Part>& parts) {
  std::vector<std::int64_t> bounds{part.begin[axis], part.end[axis]};
  for (const Member* m : part.members)
    if (!m->box.is_all()) {
      bounds.push_back(m->box.begin[axis]);
      bounds.push_back(m->box.end[axis]);
    }
  std::ranges::sort(bounds);
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  for (std::size_t k = 0; k + 1 < bounds.size(); ++k) {
    Part piece{.begin = part.begin, .end = part.end, .members = {}};
    piece.begin[axis] = bounds[k];
    piece.end[axis] = bounds[k + 1];
    for (const Member* m : part.members)
      if (m->box.is_all() || (m->box.begin[axis] <= bounds[k] && bounds[k + 1] <= m->box.end[axis]))
        piece.members.push_back(m);
    if (!piece.members.empty()) parts.push_back(std::move(piece));
  }
}

}  // namespace

void lower_boxes(const Lowering& lowering) {
  const Group& group = lowering.group;
  std::vector<Part> parts{{.begin = std::vector<std::int64_t>(group.extents.size()),
                           .end = group.extents,
                           .members = {}}};
  for (const Member& m : group.members) parts[0].members.push_back(&m);
  for (std::size_t axis = 0; axis < group.extents.size(); ++axis) {
    std::vector<Part> pieces;
    for (const Part& part : parts) cut(part, axis, pieces);
    parts = std::move(pieces);
  }
  std::ranges::sort(parts, std::greater{}, &Part::points);
  for (const Part& part : parts) {
    Group piece;
    for (std::size_t k = 0; k < part.begin.size(); ++k)
      piece.extents.push_back(part.end[k] - part.begin[k]);
    Arena arena;
    for (const Member* m : part.members) {
      piece.members.push_back(*m);
      piece.members.back().box = {};
      move_windows(piece.members.back(), part.begin, arena);
    }
    lower_map({lowering.segment, piece, lowering.uses, lowering.plan});
  }
}

}  // namespace frit
