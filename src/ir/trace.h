// trace.h: what was asked for and not yet computed: Nodes that read and write windows of Bases.
//
// Nodes are in program order, and that order is the meaning: a read sees the writes before it, a
// write comes after the reads before it. Nothing else orders two nodes. A Base is memory, or the
// promise of it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "frit/array.h"
#include "ir/layout.h"
#include "ir/routine_use.h"

namespace frit {

// What few bases have.
struct BaseExtra {
  // Of promised memory whose size changes from round to round: what plans take for it. 0: bytes.
  std::int64_t most_bytes = 0;
  void* owner = nullptr;  // released when the base dies
  void (*release)(void*) = nullptr;
};

// Counted by hand, under the engine's lock: it lives while it has handles or pending accesses. One
// line of the cache: each recorded op makes one.
class alignas(64) Base {
 public:
  std::byte* data = nullptr;  // null: promised, not allocated
  std::int64_t bytes = 0;
  std::int32_t handles = 0;  // Arrays: somebody can see it
  std::int32_t exports = 0;  // somebody outside holds its address
  std::int32_t pending = 0;  // accesses by pending nodes
  std::int32_t pending_writes = 0;
  bool foreign = false;  // memory of somebody else's
  bool writable = true;
  // Not stored by the run that goes on, though others can see it; by one before; stored, though
  // nobody else can see it, since steps that wait read it (postpone.cpp).
  bool is_postponed : 1 = false, was_postponed : 1 = false, is_kept : 1 = false;
  bool is_on_device : 1 = false;  // a device has a copy (engine/residence.h)
  std::uint32_t slot = 0;         // its number in the trace that is evaluated,
  std::uint64_t segment = 0;      // if that is the trace with this number
  // What the memory holds behind all that is recorded: equal stamps, the same bytes. 0: it has not
  // been stamped since it was last written. Who writes without a node sets it to 0 behind that.
  std::uint64_t stamp = 0;
  std::unique_ptr<BaseExtra> extra;

  // By pending nodes: a device's copy counts as one access.
  bool is_touched() const { return pending != (is_on_device ? 1 : 0); }

  BaseExtra& need_extra() {
    if (!extra) extra = std::make_unique<BaseExtra>();
    return *extra;
  }
};
static_assert(sizeof(Base) == 64);

// A window as a node sees it. Without base: the node's scalar number `offset`, or, where `offset`
// is iota_input, the index along the node's only axis.
struct Access {
  Base* base;
  const Layout* layout;  // of the node's domain: as many axes as the node's iteration space
  std::int64_t offset;
  DType dtype;
  bool operator==(const Access&) const = default;
};
inline constexpr std::int64_t iota_input = -1;

enum class NodeKind : std::uint8_t {
  // out[i] = op(in[0][i], ..): inputs are cast to signature.in, the result from signature.out.
  Elementwise,
  // out[i] = reduction of in[0] over the axes in `reduced`, combined with `initial`; there out's
  // strides are 0.
  Reduce,
  Call,     // an opaque step
  Routine,  // a user's own kernel
};

inline constexpr int max_inputs = 3;
inline constexpr int max_constants = 2;

// The operands of a Call or Routine, which may be more than a Node holds.
struct CallSite {
  std::shared_ptr<const Call> call;
  std::vector<Access> outputs, inputs;
  // Routine: inputs[k] and outputs[k] are what routine->inputs[k] and routine->outputs[k] touch: a
  // window over the domain, or all of a parameter.
  std::shared_ptr<const RoutineUse> routine;
  std::vector<Scalar> scalars;  // the routine's
};

// Of a step whose errors another one tells: it explains flags, but nobody hears of it.
inline constexpr std::uint8_t silent_checks = 1 << 7;

struct Node {
  Node() {}  // the inputs that it does not have are left as they are

  NodeKind kind = NodeKind::Elementwise;
  Op op{};
  std::uint8_t inputs = 0;
  std::uint8_t float_checks = 0;  // FloatErrors that somebody wants to hear of; or silent_checks
  Signature signature{};
  std::uint64_t reduced = 0;  // Reduce: bit k: axis k of the domain
  Access out{};               // Routine: only its layout counts: the domain
  Access in[max_inputs];
  Scalar constants[max_constants];  // Reduce: constants[0] is the initial value
  SourcePosition source;
  std::unique_ptr<CallSite> site;  // Call, Routine
};

// The iteration space: a Reduce runs over its input's shape.
inline std::span<const std::int64_t> domain(const Node& node) {
  return node.kind == NodeKind::Reduce ? node.in[0].layout->shape() : node.out.layout->shape();
}

template <class Visit>  // visit(access, is_write), reads first
void for_each_access(const Node& node, Visit&& visit) {
  if (node.site) {
    for (const Access& a : node.site->inputs) visit(a, false);
    for (const Access& a : node.site->outputs) visit(a, true);
    return;
  }
  for (int k = 0; k < node.inputs; ++k)
    if (node.in[k].base) visit(node.in[k], false);
  visit(node.out, true);
}

}  // namespace frit
