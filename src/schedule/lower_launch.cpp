// lower_launch.cpp: the end of a lowering: the traffic and cost of the launch, and its shadows.
#include <algorithm>
#include <memory>

#include "ir/error.h"
#include "schedule/caches.h"
#include "schedule/lower_body.h"

namespace frit {
namespace {

// What is updated in place is read again by the next round, so that streaming pays later.
constexpr std::int64_t updates_stream_from = 40 << 20;

// Windows of one array that begin within a line of the cache: what their loads share
// (codegen/emit_neighbours.cpp). Of two there is hardly anything, and their distance would make a
// kernel of its own of `x[k:] - x[:-k]` for each k.
void find_neighbours(std::vector<Operand>& operands, const std::vector<Binding>& bindings) {
  constexpr std::int64_t line = 64;
  constexpr std::ptrdiff_t fewest = 3;
  const auto is_window = [&](std::size_t k) {
    return bindings[k].kind == Binding::Kind::Slot && operands[k].scratch_offset < 0;
  };
  for (std::size_t k = 1; k < operands.size(); ++k)
    for (std::size_t first = 0; first < k && operands[k].beside < 0; ++first) {
      if (!is_window(k) || !is_window(first) || operands[first].beside >= 0) continue;
      if (bindings[k].slot != bindings[first].slot || operands[k].dtype != operands[first].dtype)
        continue;
      const std::int64_t bytes = bindings[k].offset - bindings[first].offset;
      const std::int64_t size = size_of(operands[k].dtype);
      if (bytes <= -line || bytes >= line || bytes % size != 0) continue;
      operands[k].beside = static_cast<std::int32_t>(first);
      operands[k].distance = static_cast<std::int32_t>(bytes / size);
    }
  for (std::size_t first = 0; first < operands.size(); ++first) {
    const auto number = static_cast<std::int32_t>(first);
    if (std::ranges::count(operands, number, &Operand::beside) + 1 >= fewest) continue;
    for (Operand& operand : operands)
      if (operand.beside == number) operand.beside = -1, operand.distance = 0;
  }
}

}  // namespace

// A window is read once, unless it was written before, and written once.
const Body::Traffic& Body::traffic() {
  if (traffic_) return *traffic_;
  std::vector<const Window*> read, written;
  std::vector<std::uint32_t> whole;
  std::int64_t bytes = 0;
  struct Touched {
    std::uint32_t slot;
    bool is_shadow;
    std::int64_t bytes;
  };
  std::vector<Touched> touched;
  const auto touch = [&](const Window& w, bool is_write, std::int64_t size) {
    bytes += size;
    const bool is_shadow = is_write && shadowed(w.slot);
    const auto found = std::ranges::find_if(
        touched, [&](const Touched& t) { return t.slot == w.slot && t.is_shadow == is_shadow; });
    if (found == touched.end())
      touched.push_back({w.slot, is_shadow, size});
    else
      found->bytes += size;
  };
  const auto is_in = [this](const std::vector<const Window*>& list, const Window& w) {
    return std::any_of(list.begin(), list.end(),
                       [&](const Window* s) { return s->slot == w.slot && same(*s, w); });
  };
  const auto add = [&](std::vector<const Window*>& list, const Window& w) {
    const bool is_write = &list == &written;
    if (is_own(w)) return;
    if (w.whole) {
      if (std::find(whole.begin(), whole.end(), w.slot) != whole.end()) return;
      whole.push_back(w.slot);
      touch(w, is_write, w.whole);
      return;
    }
    if (!in_memory(w.slot) || is_in(list, w)) return;
    list.push_back(&w);
    std::int64_t size = size_of(w.dtype);
    for (std::size_t k = 0; k < group_.extents.size(); ++k)
      if (w.strides[k] != 0) size *= group_.extents[k];
    touch(w, is_write, size);
  };
  for (const Member& m : group_.members) {
    for (const Window& w : m.in)
      if (!is_in(written, w)) add(read, w);
    add(written, m.out);
    for (const Window& w : m.outs) add(written, w);
  }
  traffic_ = Traffic{.moved = bytes};
  // Several windows on one base, as a stencil has, touch no more than the base.
  for (const Touched& t : touched)
    traffic_->touched += std::min(t.bytes, segment_.slots[t.slot].bytes);
  return *traffic_;
}

// Of memory that the kernel does not load, and that is too large to be found in the cache
// afterwards.
bool Body::streams(const Window& w) {
  if (!may_stream_ || !is_last_pass_ || is_row_window(w)) return false;
  const bool is_update = shadowed(w.slot);
  if (traffic().touched <= (is_update ? updates_stream_from : streaming_from)) return false;
  return is_update || !segment_.slots[w.slot].has_data ||
         std::find(loaded_.begin(), loaded_.end(), w.slot) == loaded_.end();
}

// From far away, ahead of all other windows on it. Plain: there are none, and the body is short
// enough for the processor to look beyond it.
bool Body::is_fetched_ahead(const Window& w) {
  constexpr std::size_t long_body = 12;  // operations
  if (!may_stream_ || !in_memory(w.slot)) return false;
  bool is_plain = group_.members.size() < long_body;
  for (const Member& m : group_.members)
    for (const Window& other : m.in) {
      if (other.slot != w.slot || other.offset == w.offset) continue;
      if (other.offset > w.offset) return false;
      is_plain = false;
    }
  return frit::is_fetched_ahead(distance_of(traffic().touched), is_plain);
}

void Body::finish_launch() {
  std::int64_t elements = 1;
  for (std::int64_t e : group_.extents) elements *= e;
  finish_launch_of(elements, traffic().moved, cost_);
}

void Body::finish_launch_of(std::int64_t elements, std::int64_t bytes, double cost) {
  Kernel kernel = writer_.finish();
  kernel.from_own_cache =
      !segment_.for_device && is_in_own_cache(traffic().touched) && gains_from_own_cache(kernel);
  find_neighbours(kernel.operands, step_.operands);
  step_.kernel = std::make_shared<const Kernel>(std::move(kernel));
  step_.elements = elements;
  step_.bytes = bytes;
  step_.cost = static_cast<double>(step_.elements) * cost + step_.memory_cost();
  for (std::uint32_t slot : group_.shadowed) step_.shadows.push_back({slot, border_of(slot)});
  Step step;
  step.kind = StepKind::Launch;
  step.launch = std::move(step_);
  plan_.steps.push_back(std::move(step));
}

// What a shadow keeps of the old memory: everything outside the written window.
Surroundings Body::border_of(std::uint32_t slot) const {
  const Window* written = nullptr;
  for (const Member& m : group_.members)
    if (m.out.slot == slot) {
      written = &m.out;
      break;
    } else {
      for (const Window& w : m.outs)
        if (w.slot == slot) written = &w;
    }
  Grid grid;
  check(written && grid_of(*written, group_.extents, segment_.slots[slot].bytes, grid),
        "a shadow has a grid");
  const std::int64_t item = size_of(written->dtype);
  std::vector<std::int64_t> pitch(grid.extents.size() + 1, item);
  for (std::size_t k = grid.extents.size(); k-- > 0;) pitch[k] = pitch[k + 1] * grid.extents[k];
  Surroundings border{.pitch = pitch[1],
                      .rows = grid.extents[0],
                      .begin = grid.starts[0],
                      .end = grid.starts[0] + grid.counts[0],
                      .within = {}};
  // For axis k: the outer axes run over the window, axis k over what the window leaves out, the
  // inner ones over all.
  std::int64_t rows = 1;
  std::vector<std::int64_t> outer_offsets{0};
  for (std::size_t k = 1; k < grid.extents.size(); ++k) {
    const std::int64_t before = grid.starts[k] * pitch[k + 1];
    const std::int64_t behind_start = (grid.starts[k] + grid.counts[k]) * pitch[k + 1];
    const std::int64_t behind = pitch[k] - behind_start;
    for (std::int64_t offset : outer_offsets) {
      if (before > 0)
        border.within.push_back(
            {.offset = offset, .rows = rows, .row_stride = pitch[k], .bytes = before});
      if (behind > 0)
        border.within.push_back({.offset = offset + behind_start,
                                 .rows = rows,
                                 .row_stride = pitch[k],
                                 .bytes = behind});
    }
    // Descend: rows of the next axis are the window's points on this one.
    if (k + 1 < grid.extents.size()) {
      std::vector<std::int64_t> deeper;
      for (std::int64_t offset : outer_offsets)
        for (std::int64_t r = 0; r < rows; ++r) deeper.push_back(offset + r * pitch[k] + before);
      outer_offsets = std::move(deeper);
      rows = grid.counts[k];
    }
  }
  return border;
}

// What each window that is an operand has to do with an iteration of the parallel loop.
void Body::note_reach(const std::vector<Axis>& axes) {
  step_.reach.assign(step_.operands.size(), {});
  for (const Bound& b : bound_) {
    Reach reach{.known = true, .high = size_of(b.window->dtype)};
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const std::int64_t stride = b.window->strides[static_cast<std::size_t>(axes[k].inner())];
      if (k == 0)
        reach.stride = stride;
      else
        (stride < 0 ? reach.low : reach.high) += stride * (axes[k].extent - 1);
    }
    step_.reach[static_cast<std::size_t>(b.operand)] = reach;
  }
}

}  // namespace frit
