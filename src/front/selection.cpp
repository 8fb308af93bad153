// selection.cpp: records x[mask]; finds out how values were made from selections, and does it again
// on whole arrays.
#include "front/selection.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace frit {
namespace {

constexpr std::size_t most_nodes_back = 256;  // that an assignment looks back at

// What it takes, in ns an element (measured with float64 on one core): an operation, packing or
// unpacking (for each element of the mask, and for each that is true), and passing over a whole
// array.
constexpr double operation_cost = 0.06, costly_operation_cost = 1.0;
constexpr double mask_cost = 0.3, move_cost = 0.1, pass_cost = 0.2;

Array whole_array(const Layout& mask, DType dtype) {
  return fresh(LayoutRef::adopt(make_contiguous(mask.shape(), size_of(dtype))), dtype);
}

// All elements of a packed array.
bool is_packed(const Access& a, std::int64_t count) {
  return a.offset == 0 && a.layout->ndim() == 1 && a.layout->size() == count &&
         a.layout->c_contiguous() && a.base->bytes == count * size_of(a.dtype);
}

// How a packed array was made, looked up in the trace, and done again on whole arrays.
class Unpacker {
 public:
  Unpacker(const Array& mask, std::int64_t count)
      : engine_(Engine::get()),
        mask_(MaskVersion::of(mask)),
        layout_(*mask.layout()),
        count_(count) {}

  // The trace's nodes, last first: who made what is wanted, and from what.
  bool find(const Access& values) {
    if (!want(values)) return false;
    const std::span<const Node> nodes = engine_.pending_nodes();
    const std::size_t stop = nodes.size() - std::min(nodes.size(), most_nodes_back);
    for (std::size_t k = nodes.size(); k-- > stop && !wanted_.empty();)
      if (!visit(nodes, k)) return false;
    return wanted_.empty();
  }

  // Is it less work on the whole arrays?
  bool pays() const {
    double operations = 0, arrays = 1;
    for (const Step& step : steps_)
      step.whole ? arrays += 1
                 : operations += has(step.node.op, Costly) ? costly_operation_cost : operation_cost;
    const auto n = static_cast<double>(layout_.size()), packed = static_cast<double>(count_);
    return n * (operations + arrays * pass_cost) <=
           packed * operations + arrays * (n * mask_cost + packed * move_cost);
  }

  Array record(const Base* values) {
    OtherSources sources(engine_);
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      if (!step->whole) step->whole = record(*step, sources);
      set_whole(step->out, step->whole);
    }
    return whole_of(values);
  }

 private:
  struct Step {
    std::size_t number = 0;  // in the trace
    const Base* out = nullptr;
    Array whole;  // a selection's; made when the step is recorded
    Node node;    // its operation; whose layouts are no longer looked at
    Array one_element[max_inputs];
  };

  // False where it can't be what it has to be.
  bool want(const Access& a) {
    for (const auto& [base, dtype] : wanted_)
      if (base == a.base) return dtype == a.dtype;
    wanted_.emplace_back(a.base, a.dtype);
    return true;
  }

  bool visit(std::span<const Node> nodes, std::size_t k) {
    const Node& node = nodes[k];
    auto found = wanted_.end();
    for_each_access(node, [&](const Access& a, bool is_write) {
      if (!is_write) return;
      if (found == wanted_.end())
        found = std::ranges::find(wanted_, a.base, &std::pair<const Base*, DType>::first);
      written_.push_back(a.base);
    });
    if (found == wanted_.end()) return true;
    const auto [base, dtype] = *found;
    wanted_.erase(found);
    Step step;
    step.number = k;
    step.out = base;
    if (node.kind == NodeKind::Call) {
      step.whole = selection(nodes, k);
      if (!step.whole || step.whole.dtype() != dtype) return false;
    } else {
      if (node.kind != NodeKind::Elementwise || !is_packed(node.out, count_) ||
          node.out.dtype != dtype || !look_at_inputs(node, step))
        return false;
      copy_operation(node, step.node);
    }
    steps_.push_back(std::move(step));
    return true;
  }

  // The whole array that is recorded behind the call, where that is a selection by this mask.
  Array selection(std::span<const Node> nodes, std::size_t k) const {
    const CallSite& site = *nodes[k].site;
    const auto* call = dynamic_cast<const Compress*>(site.call.get());
    if (!call || call->mask() != mask_ || k + 1 == nodes.size()) return {};
    const Node& next = nodes[k + 1];
    if (next.kind != NodeKind::Elementwise || next.op != Op::Select ||
        next.in[0] != site.inputs[1] || next.in[1] != site.inputs[0] || next.in[2].base ||
        next.out.dtype != site.inputs[0].dtype)
      return {};
    return hold(next.out.base, next.out.layout, next.out.offset, next.out.dtype);
  }

  bool look_at_inputs(const Node& node, Step& step) {
    for (std::size_t j = 0; j < node.inputs; ++j) {
      const Access& in = node.in[j];
      if (!in.base) {
        if (in.offset == iota_input) return false;
      } else if (is_packed(in, count_)) {
        if (!want(in)) return false;
      } else if (is_one_element(*in.layout) &&
                 std::ranges::find(written_, in.base) == written_.end()) {
        const std::vector<std::int64_t> strides(layout_.shape().size(), 0);
        const LayoutRef layout =
            LayoutRef::adopt(make_layout(layout_.shape(), strides, size_of(in.dtype)));
        step.one_element[j] = hold(in.base, layout.get(), in.offset, in.dtype);
      } else {
        return false;
      }
    }
    return true;
  }

  static void copy_operation(const Node& from, Node& to) {
    to.op = from.op;
    to.inputs = from.inputs;
    to.float_checks = from.float_checks;
    to.signature = from.signature;
    to.out = from.out;
    to.source = from.source;
    std::copy(from.in, from.in + from.inputs, to.in);
    std::copy(std::begin(from.constants), std::end(from.constants), to.constants);
  }

  Array hold(Base* base, const Layout* layout, std::int64_t offset, DType dtype) const {
    engine_.retain_handle(base);
    layout->retain();
    return {base, layout, offset, dtype};
  }

  Array record(const Step& step, OtherSources& sources) {
    const Node& node = step.node;
    Access in[max_inputs];
    for (std::size_t j = 0; j < node.inputs; ++j) {
      if (!node.in[j].base)
        in[j] = node.in[j];
      else
        in[j] = access_of(step.one_element[j] ? step.one_element[j] : whole_of(node.in[j].base));
    }
    Array out = whole_array(layout_, node.out.dtype);
    sources.set(node);
    const std::size_t pending = engine_.pending_nodes().size();
    record_elementwise(node.op, node.signature, access_of(out), {in, node.inputs}, node.constants);
    is_one_trace_ &= engine_.pending_nodes().size() == pending + 1;  // nothing was evaluated
    if (is_one_trace_) engine_.note_twins(step.number, pending);
    return out;
  }

  void set_whole(const Base* packed, const Array& whole) {
    for (auto& [base, array] : wholes_)
      if (base == packed) {
        array = whole;
        return;
      }
    wholes_.emplace_back(packed, whole);
  }

  const Array& whole_of(const Base* packed) const {
    return std::ranges::find(wholes_, packed, &std::pair<const Base*, Array>::first)->second;
  }

  Engine& engine_;
  MaskVersion mask_;
  const Layout& layout_;
  std::int64_t count_;
  std::vector<std::pair<const Base*, DType>> wanted_;
  std::vector<const Base*> written_;  // by the nodes that were visited
  std::vector<Step> steps_;           // last first
  bool is_one_trace_ = true;
  std::vector<std::pair<const Base*, Array>> wholes_;
};

}  // namespace

MaskVersion MaskVersion::of(const Array& mask) {
  return {Engine::get().stamp(mask.base()), mask.offset(), mask.layout()};
}

Array record_selection(std::shared_ptr<const Compress> call, const Array& a, const Array& mask,
                       const std::byte* first) {
  Engine& engine = Engine::get();
  const std::int64_t shape[1] = {call->count()};
  const Array packed = empty(shape, a.dtype());
  // As long as the mask for the plan, which must not depend on how many of it are true.
  const Array most = whole_array(*mask.layout(), a.dtype());
  packed.base()->need_extra().most_bytes = most.base()->bytes;
  auto site = std::make_unique<CallSite>();
  site->call = std::move(call);
  site->outputs = {{packed.base(), most.layout(), 0, a.dtype()}};
  site->inputs = {access_of(a), access_of(mask)};
  Node& node = engine.open_node();
  node.kind = NodeKind::Call;
  node.site = std::move(site);
  engine.commit();
  engine.note_selection();
  Scalar other;
  other.dtype = a.dtype();
  std::memcpy(other.bytes, first, static_cast<std::size_t>(size_of(a.dtype())));
  const Access inputs[3] = {access_of(mask), access_of(a), {nullptr, nullptr, 0, a.dtype()}};
  record_elementwise(Op::Select, select_signature(a.dtype()), access_of(most), inputs, {&other, 1});
  return packed;
}

bool assign_selection(const Array& a, const Array& mask, const Array& values) {
  const Access made = access_of(values);
  if (values.base()->pending_writes == 0 || !is_packed(made, values.size()) ||
      values.base() == a.base() || mask.base() == a.base() || mask.base()->pending_writes > 0 ||
      Engine::get().stamp(mask.base()) == 0)
    return false;
  Unpacker unpacker(mask, values.size());
  if (!unpacker.find(made) || !unpacker.pays()) return false;
  assign(a, unpacker.record(values.base()), &mask);
  return true;
}

}  // namespace frit
