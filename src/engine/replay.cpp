// replay.cpp: the two ways to go through a group again.
#include "engine/replay.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <ranges>
#include <unordered_map>

#include "engine/engine.h"
#include "engine/float_flags.h"
#include "engine/pack.h"
#include "engine/pool.h"
#include "schedule/dependence.h"
#include "schedule/fuse.h"

namespace frit {
namespace {

constexpr std::int64_t chunk_elements = 1 << 12;

// The rows [begin, end) of a window along one axis, dense.
void pack_part(const Access& a, std::int64_t axis, std::int64_t begin, std::int64_t end,
               std::vector<std::byte>& dense) {
  std::vector<std::int64_t> shape(a.layout->shape().begin(), a.layout->shape().end());
  const std::byte* data = a.base->data + a.offset;
  if (!shape.empty()) {
    shape[static_cast<std::size_t>(axis)] = end - begin;
    data += begin * a.layout->strides()[static_cast<std::size_t>(axis)];
  }
  const LayoutRef part =
      LayoutRef::adopt(make_layout(shape, a.layout->strides(), a.layout->item_size()));
  dense.resize(static_cast<std::size_t>(part->size() * part->item_size()));
  pack(dense.data(), data, *part);
}

bool same_access(const Access& a, const Access& b) {
  return a.base == b.base && a.offset == b.offset && a.layout == b.layout && a.dtype == b.dtype;
}

std::vector<std::byte> cast(std::vector<std::byte> data, DType from, DType to, std::int64_t n,
                            unsigned& flags) {
  if (from == to) return data;
  std::vector<std::byte> result(static_cast<std::size_t>(n * size_of(to)));
  void* args[2] = {result.data(), data.data()};
  cast_loop(from, to)(args, n, 0);
  flags |= flags_of_conversion(from, to, data.data(), result.data(), n);
  return result;
}

// n times an element; what is there doubles, as a call for each would take longer than the op.
void fill_with(std::vector<std::byte>& dense, const std::vector<std::byte>& one, std::int64_t n) {
  dense.resize(static_cast<std::size_t>(n) * one.size());
  for (std::size_t done = 0; done < dense.size();) {
    const bool begins = done == 0;
    const std::size_t count = begins ? one.size() : std::min(done, dense.size() - done);
    std::memcpy(dense.data() + done, begins ? one.data() : dense.data(), count);
    done += count;
  }
}

// n elements, from the `begin`th on, of a number or of the index along the only axis, in the type
// that the op works in.
void fill_input(const Node& node, std::size_t input, std::int64_t begin, std::int64_t n,
                std::vector<std::byte>& dense, unsigned& flags) {
  const Access& a = node.in[input];
  const DType type = node.signature.in[input];
  if (a.offset == iota_input) {
    std::vector<std::byte> index(static_cast<std::size_t>(n) * sizeof(std::int64_t));
    auto* const first = reinterpret_cast<std::int64_t*>(index.data());
    std::iota(first, first + n, begin);
    dense = cast(std::move(index), DType::Int64, type, n, flags);
    return;
  }
  const Scalar& value = node.constants[a.offset];
  fill_with(dense,
            cast({value.bytes, value.bytes + size_of(value.dtype)}, value.dtype, type, 1, flags),
            n);
}

// Which flags a node's op may still be found to have raised.
unsigned open_flags(const Node& node, unsigned raised, unsigned found) {
  if (node.kind != NodeKind::Elementwise || !is_candidate(node)) return 0;
  // Of complex numbers even silent ops are judged.
  if (!is_float(node.signature.out)) return possible(node.op, node.signature) & ~found;
  return could_mean(node.op, node.signature, raised) & ~found;
}

bool converts(const Node& node) {
  bool may = conversion_may_warn(node.signature.out, node.out.dtype);
  for (std::size_t k = 0; k < node.inputs; ++k) {
    const Access& a = node.in[k];
    if (!a.base && a.offset == iota_input) continue;
    may |= conversion_may_warn(a.base ? a.dtype : node.constants[a.offset].dtype,
                               node.signature.in[k]);
  }
  return may && node.float_checks != 0;
}

// Runs an elementwise node on dense inputs in the types that its op works in: what it stores, and
// its flags, if any of them is open.
void replay_op(const Node& node, std::span<const std::byte* const> in, std::int64_t n, bool is_open,
               std::vector<std::byte>& out, unsigned& flags) {
  out.resize(static_cast<std::size_t>(n * size_of(node.signature.out)));
  void* args[1 + max_inputs] = {out.data()};
  for (std::size_t j = 0; j < in.size(); ++j) args[1 + j] = const_cast<std::byte*>(in[j]);
  clear_float_flags();
  if (node.op == Op::Copy)
    std::memcpy(out.data(), in[0], out.size());
  else
    loop(node.op, node.signature)(args, n, 0);
  const bool may = is_open && may_warn(node.op, node.signature.in[0]);
  if (const unsigned raised = may ? float_flags() & flags_of_interest : 0)
    flags |= flags_from_values(node.op, node.signature, n, in, out.data(), raised);
  out = cast(std::move(out), node.signature.out, node.out.dtype, n, flags);
}

// Notes which of NaNs and infinities are among the elements.
void note_kinds(DType dtype, const std::byte* elements, std::int64_t n, Found& found) {
  const std::int64_t parts = is_complex(dtype) ? 2 * n : n;
  const unsigned kinds =
      shown(Op::Copy, real_of(dtype), elements, parts, flag_invalid | flag_divide);
  found.meets_nan |= (kinds & flag_invalid) != 0;
  found.meets_infinity |= (kinds & flag_divide) != 0;
}

// Does the launch store anything there? What is dead behind it stays in registers, whatever nodes
// write it.
bool stores_to(const LaunchStep& launch, const std::vector<Base*>& slots, const Base* base) {
  for (std::size_t k = 0; k < launch.operands.size(); ++k) {
    const Binding& bound = launch.operands[k];
    if (launch.kernel->operands[k].written && bound.kind == Binding::Kind::Slot &&
        slots[bound.slot] == base)
      return true;
  }
  return false;
}

// Does one of the nodes write to what the access reads?
bool is_written_by(std::span<const Node* const> nodes, const Access& read) {
  bool is_written = false;
  for (const Node* node : nodes)
    for_each_access(*node, [&](const Access& a, bool is_write) {
      is_written |= is_write && a.base == read.base &&
                    boxes_meet(a.offset, *a.layout, read.offset, *read.layout);
    });
  return is_written;
}

bool same_space(const Node& a, const Node& b) { return std::ranges::equal(domain(a), domain(b)); }

// Replays the elementwise nodes of one iteration space; found[k] collects the flags of nodes[k].
class Replay {
 public:
  Replay(const std::vector<const Node*>& nodes, const std::vector<bool>& intact, unsigned raised,
         bool nans, std::vector<Found>& found)
      : nodes_(nodes),
        intact_(intact),
        raised_(raised),
        nans_(nans),
        found_(found),
        made_(nodes.size()),
        wanted_(nodes.size()) {}

  void run() {
    std::span<const std::int64_t> space;
    for (const Node* n : nodes_)
      if (domain(*n).size() >= space.size()) space = domain(*n);
    std::size_t axis = 0;
    std::int64_t total = 1;
    for (std::size_t k = 0; k < space.size(); ++k) {
      total *= space[k];
      if (space[k] > space[axis]) axis = k;
    }
    const std::int64_t extent = space.empty() ? 1 : space[axis];
    const std::int64_t rows =
        std::max<std::int64_t>(1, chunk_elements / std::max<std::int64_t>(1, total / extent));
    for (std::int64_t begin = 0; begin < extent && find_wanted(); begin += rows)
      chunk(space, static_cast<std::int64_t>(axis), begin, std::min(extent, begin + rows));
  }

 private:
  // What can still tell something, and what that reads. False: nothing can.
  bool find_wanted() {
    for (std::size_t k = 0; k < nodes_.size(); ++k)
      wanted_[k] = converts(*nodes_[k]) || seeks_kinds(k) ||
                   open_flags(*nodes_[k], raised_, found_[k].op) != 0;
    for (std::size_t k = nodes_.size(); k-- > 0;)
      for (std::size_t j = 0; wanted_[k] && j < nodes_[k]->inputs; ++j)
        for (std::size_t maker = 0; maker < k; ++maker)
          if (nodes_[k]->in[j].base && same_access(nodes_[maker]->out, nodes_[k]->in[j]))
            wanted_[maker] = true;
    return std::ranges::find(wanted_, true) != wanted_.end();
  }

  bool seeks_kinds(std::size_t k) const {
    const Node& node = *nodes_[k];
    return nans_ && intact_[k] && !found_[k].meets_infinity && node.kind == NodeKind::Reduce &&
           is_candidate(node) && is_inexact(node.signature.in[0]);
  }

  void chunk(std::span<const std::int64_t> space, std::int64_t axis, std::int64_t begin,
             std::int64_t end) {
    const std::int64_t n = points(space, axis, begin, end);
    for (Made& made : made_) made.is_there = false;
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      if (!intact_[k] || !wanted_[k]) continue;
      const Node& node = *nodes_[k];
      node_ = k;
      const auto mine = domain(node);
      if (!std::equal(mine.begin(), mine.end(), space.begin(), space.end())) continue;
      if (node.kind == NodeKind::Reduce && is_candidate(node)) {
        // Only its conversions: what else was raised is found by elimination.
        const std::byte* in = input(node, 0, axis, begin, end, n);
        if (in && seeks_kinds(k)) note_kinds(node.signature.in[0], in, n, found_[k]);
        continue;
      }
      if (node.kind != NodeKind::Elementwise) continue;
      const std::byte* in[max_inputs];
      bool known = true;
      for (std::size_t j = 0; j < node.inputs && known; ++j)
        known = (in[j] = input(node, j, axis, begin, end, n)) != nullptr;
      if (!known) continue;
      const bool is_open = open_flags(node, raised_, found_[k].op) != 0;
      replay_op(node, {in, node.inputs}, n, is_open, made_[k].data, found_[k].op);
      made_[k].is_there = true;
    }
  }

  static std::int64_t points(std::span<const std::int64_t> space, std::int64_t axis,
                             std::int64_t begin, std::int64_t end) {
    std::int64_t n = 1;
    for (std::size_t j = 0; j < space.size(); ++j)
      n *= static_cast<std::int64_t>(j) == axis ? end - begin : space[j];
    return n;
  }

  // The dense elements of an input; null: they are not known.
  const std::byte* input(const Node& node, std::size_t j, std::int64_t axis, std::int64_t begin,
                         std::int64_t end, std::int64_t n) {
    const Access& a = node.in[j];
    const DType type = node.signature.in[j];
    unsigned& flags = found_[node_].inputs;
    std::vector<std::byte>& dense = inputs_[j];
    if (!a.base) {
      fill_input(node, j, begin, n, dense, flags);
      return dense.data();
    }
    for (std::size_t k = node_; k-- > 0;)
      if (made_[k].is_there && same_access(nodes_[k]->out, a)) {
        if (a.dtype == type) return made_[k].data.data();
        dense = cast(made_[k].data, a.dtype, type, n, flags);
        return dense.data();
      }
    if (!a.base->data) return nullptr;
    if (a.dtype == type && axis == 0 && a.layout->c_contiguous() && !a.layout->shape().empty())
      return a.base->data + a.offset + begin * a.layout->strides()[0];
    pack_part(a, axis, begin, end, dense);
    dense = cast(std::move(dense), a.dtype, type, n, flags);
    return dense.data();
  }

  // What a node has given for this chunk. The memory serves all chunks.
  struct Made {
    std::vector<std::byte> data;
    bool is_there = false;
  };

  const std::vector<const Node*>& nodes_;
  const std::vector<bool>& intact_;
  const unsigned raised_;  // by all of them
  const bool nans_;
  std::vector<Found>& found_;
  std::vector<Made> made_;
  std::vector<bool> wanted_;
  std::vector<std::byte> inputs_[max_inputs];
  std::size_t node_ = 0;  // the one being replayed
};

// Replays a group one node after the other, as NumPy would run it, in memory of its own: what a
// reduction gives others is known only then.
class WholeReplay {
 public:
  WholeReplay(const std::vector<const Node*>& nodes, const LaunchStep& launch,
              const std::vector<Base*>& slots, std::vector<Found>& found)
      : nodes_(nodes), launch_(launch), slots_(slots), found_(found) {
    for (const auto& shadow : launch.shadows) shadowed_.push_back(slots[shadow.slot]);
  }

  // Is it wanted, and of a size that may be held?
  static bool fits(const std::vector<const Node*>& nodes) {
    bool reduces = false, wanted = false;  // also where some of the nodes leave a border out
    for (const Node* node : nodes) {
      const Layout* space = node->kind == NodeKind::Reduce ? node->in[0].layout : node->out.layout;
      if (space->size() > most_replayed) return false;
      wanted |= (reduces || !same_space(*node, *nodes[0])) && node->kind == NodeKind::Elementwise;
      reduces |= node->kind == NodeKind::Reduce;
    }
    return wanted;
  }

  // False: not all of the inputs are still what they were.
  bool run() {
    for (node_ = 0; node_ < nodes_.size(); ++node_) {
      const Node& node = *nodes_[node_];
      const bool done = node.kind == NodeKind::Elementwise ? elementwise(node)
                        : node.kind == NodeKind::Reduce    ? reduce(node)
                                                           : false;
      if (!done) return false;
    }
    return true;
  }

 private:
  using Bytes = std::vector<std::byte>;

  bool elementwise(const Node& node) {
    const std::int64_t n = node.out.layout->size();
    Bytes in[max_inputs], result;
    const std::byte* data[max_inputs];
    for (std::size_t j = 0; j < node.inputs; ++j) {
      if (!read(node, j, n, in[j])) return false;
      data[j] = in[j].data();
    }
    replay_op(node, {data, node.inputs}, n, true, result, found_[node_].op);
    unpack(memory_of(node.out), *node.out.layout, result.data());
    return true;
  }

  // Row by row along the last axis, in an order of its own: only the flags are wanted, and values
  // that are infinite or not a number where NumPy's are.
  bool reduce(const Node& node) {
    const Layout& space = *node.in[0].layout;
    const DType type = node.signature.out;
    Bytes in;
    if (type != node.signature.in[0] || !reduce_loop(node.op, type) ||
        !read(node, 0, space.size(), in))
      return false;
    // Halves are added up in single precision, and rounded once.
    const bool is_rounded = type != node.out.dtype;
    if (is_rounded && node.out.offset != 0) return false;
    std::byte* const result = memory_of(node.out);
    const auto item = static_cast<std::int64_t>(size_of(type));
    const auto stored = static_cast<std::int64_t>(size_of(node.out.dtype));
    const std::int64_t count = node.out.base->bytes / stored;
    Bytes wide(static_cast<std::size_t>(is_rounded ? count * item : 0));
    const auto at = [&](std::int64_t offset) {
      return is_rounded ? wide.data() + offset / stored * item : result + offset;
    };
    const auto shape = space.shape(), strides = node.out.layout->strides();
    const std::int64_t extent = shape.empty() ? 1 : shape.back();
    const std::int64_t step = strides.empty() ? 0 : strides.back();
    const auto each_row = [&](const auto& visit) {
      for (std::int64_t row = 0; row < space.size() / std::max<std::int64_t>(extent, 1); ++row) {
        std::int64_t offset = 0, rest = row;
        for (std::size_t axis = shape.size(); axis-- > 1;) {
          offset += rest % shape[axis - 1] * strides[axis - 1];
          rest /= shape[axis - 1];
        }
        visit(offset, in.data() + row * extent * item);
      }
    };
    each_row([&](std::int64_t to, const std::byte*) {
      for (std::int64_t k = 0; k < (step == 0 ? 1 : extent); ++k)
        std::memcpy(at(to + k * step), node.constants[0].bytes, static_cast<std::size_t>(item));
    });
    clear_float_flags();
    each_row([&](std::int64_t to, const std::byte* from) {
      if (step == 0) {
        Scalar sum;
        reduce_loop(node.op, type)(sum.bytes, from, extent);
        combine(node.op, type, at(to), sum.bytes);
      } else {
        for (std::int64_t k = 0; k < extent; ++k)
          combine(node.op, type, at(to + k * step), from + k * item);
      }
    });
    unsigned& flags = found_[node_].op;
    if (may_warn(node.op, type)) flags |= float_flags() & flags_of_interest;
    if (is_rounded) {
      void* args[2] = {result, wide.data()};
      cast_loop(type, node.out.dtype)(args, count, 0);
      flags |= flags_of_conversion(type, node.out.dtype, wide.data(), result, count);
    }
    return true;
  }

  static void combine(Op op, DType type, std::byte* to, const std::byte* value) {
    void* args[3] = {to, to, const_cast<std::byte*>(value)};
    loop(op, type)(args, 1, 0);
  }

  // Where the node writes: the base's bytes as they are now, in memory of our own.
  std::byte* memory_of(const Access& a) {
    auto [entry, is_new] = written_.try_emplace(a.base);
    if (is_new) {
      entry->second.resize(static_cast<std::size_t>(a.base->bytes));
      if (a.base->data) std::memcpy(entry->second.data(), a.base->data, entry->second.size());
    }
    return entry->second.data() + a.offset;
  }

  bool read(const Node& node, std::size_t j, std::int64_t n, Bytes& dense) {
    const Access& a = node.in[j];
    unsigned& flags = found_[node_].inputs;
    if (!a.base) {
      fill_input(node, j, 0, n, dense, flags);
      return true;
    }
    const auto made = written_.find(a.base);
    const std::byte* data = made == written_.end() ? a.base->data : made->second.data();
    if (!data || (made == written_.end() && is_overwritten(a))) return false;
    dense.resize(static_cast<std::size_t>(n * size_of(a.dtype)));
    pack(dense.data(), data + a.offset, *a.layout);
    dense = cast(std::move(dense), a.dtype, node.signature.in[j], n, flags);
    return true;
  }

  bool is_overwritten(const Access& a) const {
    return std::ranges::find(shadowed_, a.base) == shadowed_.end() &&
           stores_to(launch_, slots_, a.base) && is_written_by(nodes_, a);
  }

  const std::vector<const Node*>& nodes_;
  const LaunchStep& launch_;
  const std::vector<Base*>& slots_;
  std::vector<Found>& found_;
  std::vector<const Base*> shadowed_;  // their old memory is still there
  std::unordered_map<const Base*, Bytes> written_;
  std::size_t node_ = 0;  // the one being replayed
};

}  // namespace

std::vector<bool> intact_nodes(const std::vector<const Node*>& nodes, const LaunchStep& launch,
                               const std::vector<Base*>& slots) {
  const auto is_shadowed = [&](const Base* base) {
    return std::ranges::any_of(launch.shadows,
                               [&](const auto& s) { return slots[s.slot] == base; });
  };
  const auto is_kept = [&](const Access& a) {
    return a.base->data &&
           (is_shadowed(a.base) || !stores_to(launch, slots, a.base) || !is_written_by(nodes, a));
  };
  // Has the launch stored what the k-th node made, and nothing over it?
  const auto is_left = [&](std::size_t k) {
    const Access& out = nodes[k]->out;
    return out.base->data && !is_shadowed(out.base) && stores_to(launch, slots, out.base) &&
           !is_written_by(std::span(nodes).subspan(k + 1), out);
  };
  std::vector<bool> intact;
  for (const Node* node : nodes) {
    bool is_intact = true;
    for (int j = 0; j < node->inputs; ++j) {
      const Access& in = node->in[j];
      if (!in.base) continue;
      std::size_t maker = intact.size();  // one behind the last node that wrote it
      while (maker > 0 && !same_access(nodes[maker - 1]->out, in)) --maker;
      is_intact &= maker > 0 ? intact[maker - 1] || is_left(maker - 1) : is_kept(in);
    }
    intact.push_back(is_intact);
  }
  return intact;
}

void replay_in_chunks(const std::vector<const Node*>& nodes, const std::vector<bool>& intact,
                      unsigned raised, bool nans, std::vector<Found>& found) {
  Replay(nodes, intact, raised, nans, found).run();
}

bool replay_whole(const std::vector<const Node*>& nodes, const LaunchStep& launch,
                  const std::vector<Base*>& slots, std::vector<Found>& found) {
  if (!WholeReplay::fits(nodes)) return false;
  if (WholeReplay(nodes, launch, slots, found).run()) return true;
  found.assign(nodes.size(), {});
  return false;
}

}  // namespace frit
