// lower_updates.cpp: points that update shared elements (histograms): in parts, at the same time.
//
// Each part has arrays of its own, which start from what changes nothing; a second launch puts them
// together, part after part. How many parts there are follows from the kernel and its sizes, never
// from threads, tier or fusion: it decides how floats are rounded.
#include <algorithm>
#include <memory>

#include "ir/error.h"
#include "ir/neutral.h"
#include "schedule/lower_body.h"

namespace frit {
namespace {

constexpr std::int64_t most_parts = 64;
// An element of a part's own array is filled and added once: it must be worth that.
constexpr std::int64_t points_an_element = 16;
constexpr double worth_parts = 100e3;  // nanoseconds of all points in order

struct OwnArray {
  std::uint32_t slot;   // that is updated
  std::int64_t offset;  // of its first byte in the slot
  std::int64_t elements;
  DType dtype;
  Op op;
  std::uint32_t temporary;  // the parts' own, one behind another
  std::int64_t bytes() const { return elements * size_of(dtype); }
};

// The first launch: each part fills its own arrays, and runs its points in order.
class PartsBody final : public Body {
 public:
  PartsBody(const Lowering& lowering, std::int64_t parts) : Body(lowering), parts_(parts) {}

  std::vector<OwnArray> lower() {
    const Member& m = group_.members[0];
    const CallSite& site = *node_of(m).site;
    for (const RoutineUse::Update& update : site.routine->updates) add_array(site, update);
    std::vector<Axis> axes;
    for (int k = 0; k < static_cast<int>(group_.extents.size()); ++k)
      if (extent_of(k) > 1) axes.push_back({.members = {k}, .extent = extent_of(k)});
    part_ = writer_.open_parallel(false);
    step_.extent = parts_;
    step_.pace = Pace::OneByOne;
    for (const OwnArray& a : arrays_) strides_.push_back(add_integer(a.bytes()));
    fill();
    open_share(axes[0]);
    for (std::size_t k = 1; k < axes.size(); ++k) open(axes[k], false);
    run_loop_members(0);
    flush(full_);
    for (std::size_t k = 0; k < axes.size(); ++k) close();
    close_flat();
    finish_launch();
    return arrays_;
  }

 private:
  void add_array(const CallSite& site, const RoutineUse::Update& update) {
    const RoutineUse& use = *site.routine;
    const auto find = [&](const auto& touched, const auto& accesses) -> const Access* {
      for (std::size_t k = 0; k < touched.size(); ++k) {
        const auto number = static_cast<std::size_t>(touched[k].access);
        if (use.accesses[number].instr->address.operand == update.parameter) return &accesses[k];
      }
      return nullptr;
    };
    const Access* access = find(use.outputs, site.outputs);
    check(access != nullptr, "what is updated is written");
    const RoutineParameter& parameter = use.parameters[static_cast<std::size_t>(update.parameter)];
    OwnArray a{.slot = access->base->slot,
               .offset = parameter.offset + byte_range(*parameter.layout).low,
               .elements = parameter.layout->size(),
               .dtype = access->dtype,
               .op = update.op,
               .temporary = 0};
    a.temporary = new_temporary(parts_ * a.bytes());
    arrays_.push_back(a);
  }

  void fill() {
    for (std::size_t k = 0; k < arrays_.size(); ++k) {
      const OwnArray& a = arrays_[k];
      const std::int32_t operand =
          add_operand(a.dtype, MemoryAccess::Write,
                      {.kind = Binding::Kind::Slot, .slot = a.temporary, .offset = 0});
      const std::optional<Scalar> neutral = neutral_of(a.op, a.dtype);
      check(neutral.has_value(), "an update has a neutral value");
      const ValueId value = writer_.constant(*neutral);
      const ValueId element =
          writer_.open_loop(writer_.constant_int(0), integer_value(a.elements), true);
      writer_.store({.operand = operand, .terms = {{part_, strides_[k]}, {element, unit_stride}}},
                    value);
      writer_.close_loop();
    }
  }

  // The part's own indices of the outermost axis.
  void open_share(Axis& axis) {
    const ValueId length = integer_value((axis.extent + parts_ - 1) / parts_);
    const ValueId begin = writer_.apply(Op::Multiply, DType::Int64, part_, length);
    const ValueId behind = writer_.apply(Op::Add, DType::Int64, begin, length);
    const ValueId end =
        writer_.apply(Op::Minimum, DType::Int64, behind, integer_value(axis.extent));
    axis.index = writer_.open_loop(begin, end, false);
    nest_.push_back(&axis);
  }

  const OwnArray* own_array(std::uint32_t slot) const {
    for (const OwnArray& a : arrays_)
      if (a.slot == slot) return &a;
    return nullptr;
  }
  Binding place_of(std::uint32_t slot, std::int64_t offset) const override {
    const OwnArray* a = own_array(slot);
    if (!a) return Body::place_of(slot, offset);
    return {.kind = Binding::Kind::Slot, .slot = a->temporary, .offset = offset - a->offset};
  }
  std::vector<Term> terms_of(std::uint32_t slot) const override {
    const OwnArray* a = own_array(slot);
    if (!a) return {};
    return {{part_, strides_[static_cast<std::size_t>(a - arrays_.data())]}};
  }

  const std::int64_t parts_;
  std::vector<OwnArray> arrays_;
  std::vector<std::int32_t> strides_;  // from part to part: integer arguments
  ValueId part_ = no_value;
};

// The second: array = op(array, part's), part after part.
class CombiningBody final : public Body {
 public:
  CombiningBody(const Lowering& lowering, std::int64_t parts) : Body(lowering), parts_(parts) {}

  void lower(const OwnArray& a) {
    const ValueId element = writer_.open_parallel(true);
    step_.extent = a.elements;
    step_.granule = 512;
    const auto operand = [&](MemoryAccess access, std::uint32_t slot, std::int64_t offset) {
      return add_operand(a.dtype, access,
                         {.kind = Binding::Kind::Slot, .slot = slot, .offset = offset});
    };
    const Address whole{.operand = operand(MemoryAccess::Write, a.slot, a.offset),
                        .terms = {{element, unit_stride}}};
    const std::int32_t sum = writer_.local(a.dtype);
    writer_.write_local(sum, writer_.load_here(whole));
    const std::int32_t stride = add_integer(a.bytes());
    const ValueId part = writer_.open_loop(writer_.constant_int(0), integer_value(parts_), false);
    const ValueId own = writer_.load_here({.operand = operand(MemoryAccess::Read, a.temporary, 0),
                                           .terms = {{part, stride}, {element, unit_stride}}});
    writer_.write_local(sum, combined(a, writer_.read_local(sum), own));
    writer_.close_loop();
    writer_.store(whole, writer_.read_local(sum));
    close_flat();
    finish_launch_of(a.elements, (parts_ + 2) * a.bytes(), 0.1 * static_cast<double>(parts_));
  }

 private:
  ValueId combined(const OwnArray& a, ValueId sum, ValueId own) {
    if (!is_float(a.dtype) || (a.op != Op::Minimum && a.op != Op::Maximum))
      return writer_.apply(a.op, a.dtype, sum, own);
    const ValueId less = a.op == Op::Minimum ? writer_.apply(Op::Less, DType::Bool, own, sum)
                                             : writer_.apply(Op::Less, DType::Bool, sum, own);
    return writer_.apply(Op::Select, a.dtype, less, own, sum);
  }

  const std::int64_t parts_;
};

std::int64_t parts_for(const RoutineUse& use) {
  if (use.updates.empty()) return 1;
  std::int64_t elements = 0, outer = 1;
  for (const RoutineUse::Update& update : use.updates)
    elements += use.parameters[static_cast<std::size_t>(update.parameter)].layout->size();
  for (std::int64_t extent : use.domain->shape())
    if (outer == 1) outer = extent;
  // An update waits for the one before it: about a nanosecond.
  const double work = static_cast<double>(use.domain->size()) * std::max(1.0, use.cost);
  if (work < worth_parts) return 1;
  const double worth = work / static_cast<double>(points_an_element * elements);
  return std::min({most_parts, outer, static_cast<std::int64_t>(std::min(worth, 1e6))});
}

}  // namespace

bool lower_updates(const Lowering& lowering) {
  const Node& node = lowering.segment.nodes[lowering.group.members[0].node];
  const std::int64_t parts = parts_for(*node.site->routine);
  if (parts < 2) return false;
  for (const OwnArray& array : PartsBody(lowering, parts).lower())
    CombiningBody(lowering, parts).lower(array);
  return true;
}

}  // namespace frit
