// nest_whole.cpp: a store counts whose indices are those of all loops around it, one each.
#include "schedule/nest_whole.h"

#include <algorithm>

namespace frit {
namespace {

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

class WholeStores {
 public:
  explicit WholeStores(const Nest& nest) : nest_(nest) {}
  std::vector<WholeStore> of(const PlanNode& node) {
    visit(node);
    return std::move(found_);
  }

 private:
  void visit(const PlanNode& node) {
    const InstrKind kind = node.instr ? node.instr->kind : InstrKind::Loop;
    if (kind == InstrKind::Store) return note(*node.instr);
    // What stands under a condition, and a part of a loop, are not all of it.
    if (kind != InstrKind::Loop || !node.parts.empty() || node.skew > 0) return;
    const bool is_new = node.loop >= 0 && std::ranges::find(around_, node.loop) == around_.end();
    if (is_new) around_.push_back(node.loop);
    for (const PlanNode& n : node.body) visit(n);
    if (is_new) around_.pop_back();
  }

  void note(const Instr& store) {
    WholeStore made{.parameter = store.address.operand, .axes = {}};
    std::vector<std::int32_t> left = around_;
    for (const Term& term : store.address.terms) {
      const Affine& index = nest_.forms[at(term.index)];
      if (index.terms.size() != 1 || index.terms[0].second != 1) return;
      const auto loop = std::ranges::find_if(
          left, [&](std::int32_t l) { return nest_.loop(l).index() == index.terms[0].first; });
      if (loop == left.end()) return;
      made.axes.emplace_back(*loop, index.constant);
      left.erase(loop);
    }
    if (left.empty()) found_.push_back(std::move(made));  // else a loop without rounds stores none
  }

  const Nest& nest_;
  std::vector<std::int32_t> around_;
  std::vector<WholeStore> found_;
};

}  // namespace

std::vector<WholeStore> whole_stores(const Nest& nest, const PlanNode& node) {
  return WholeStores(nest).of(node);
}

bool covers(const WholeStore& store, const Nest& nest, std::span<const std::int64_t> integers,
            std::span<const std::int64_t> shape) {
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const auto& [number, shift] = store.axes[axis];
    const NestLoop& loop = nest.loop(number);
    const Affine& begin = nest.forms[at(loop.instr->args[0])];
    const Affine& end = nest.forms[at(loop.instr->args[1])];
    if (loop.is_while() || !nest.is_fixed(begin) || !nest.is_fixed(end)) return false;
    if (nest.value_of(begin, integers) + shift != 0 ||
        nest.value_of(end, integers) + shift != shape[axis])
      return false;
  }
  return true;
}

}  // namespace frit
