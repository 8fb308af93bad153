// nest_product.cpp: the patterns of a matrix product: with a local for the sum, or without.
#include "schedule/nest_product.h"

#include <algorithm>

namespace frit {
namespace {

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

class ProductFinder {
 public:
  ProductFinder(const JudgedNest& judged, std::int32_t loop) : nest_(*judged.nest), loop_(loop) {}

  std::optional<NestProduct> run() {
    if (!find_loops() || !find_sum()) return std::nullopt;
    return match_axes() ? std::optional(found_) : std::nullopt;
  }

 private:
  const Instr& definition(ValueId id) const { return *nest_.definitions[at(id)]; }

  // Three loops, each in the one before, whose bounds don't change.
  bool find_loops() {
    for (std::size_t k = at(loop_); k < nest_.loops.size(); ++k) {
      const NestLoop& l = nest_.loops[k];
      const bool inside = k == at(loop_) || (!loops_.empty() && l.parent >= loop_);
      if (!inside) break;
      if (l.is_while() || (k != at(loop_) && l.parent != loops_.back())) return false;
      for (int bound = 0; bound < 2; ++bound)
        if (nest_.is_inside(l.instr->args[bound], loop_)) return false;
      loops_.push_back(static_cast<std::int32_t>(k));
    }
    return loops_.size() == 3;
  }

  static std::vector<const Instr*> statements(const Block& block) {
    std::vector<const Instr*> list;
    for (const Instr& instr : block)
      if (instr.result == no_value || instr.kind == InstrKind::Loop) list.push_back(&instr);
    return list;
  }
  const Instr& loop_instr(std::size_t k) const { return *nest_.loop(loops_[k]).instr; }

  bool find_sum() {
    if (statements(loop_instr(0).body).size() != 1) return false;
    const auto middle = statements(loop_instr(1).body), inner = statements(loop_instr(2).body);
    if (inner.size() != 1) return false;
    if (middle.size() == 1) return is_store_of_sum(*inner[0]);
    return is_sum_in_local(middle, *inner[0]);
  }

  // c[..] = c[..] + a[..] * b[..]
  bool is_store_of_sum(const Instr& store) {
    if (store.kind != InstrKind::Store) return false;
    const std::int32_t update = nest_.accesses[at(store.number)].update;
    if (update < 0 || nest_.updates[at(update)].op != Op::Add) return false;
    found_.c = store.number;
    found_.accumulates = true;
    return is_product(nest_.updates[at(update)].operand);
  }

  // local = 0 or c[..]; for ..: local = local + a[..] * b[..]; c[..] = local
  bool is_sum_in_local(const std::vector<const Instr*>& middle, const Instr& add) {
    if (add.kind != InstrKind::WriteLocal) return false;
    const std::int32_t local = add.number;
    const bool kept = std::any_of(nest_.local_origins.begin(), nest_.local_origins.end(),
                                  [&](const NestOrigin& o) { return o.number == local; });
    const std::size_t extra = kept ? 1 : 0;
    if (middle.size() != 3 + extra || middle[1 + extra]->kind != InstrKind::Loop) return false;
    const Instr& sum = definition(add.args[0]);
    if (sum.kind != InstrKind::Apply || sum.op != Op::Add) return false;
    const bool first = is_read(sum.args[0], local);
    if (!first && !is_read(sum.args[1], local)) return false;
    if (!is_product(sum.args[first ? 1 : 0])) return false;
    const Instr& start = *middle[0];
    if (start.kind != InstrKind::WriteLocal || start.number != local || !is_zero(start.args[0]))
      return false;
    const Instr* store = middle.back();
    if (kept) {
      if (!is_copy_of_element(*middle[1], local) || store->kind != InstrKind::If) return false;
      const auto inside = statements(store->body);
      if (inside.size() != 1) return false;
      store = inside[0];
    }
    if (store->kind != InstrKind::Store || !is_read(store->args[0], local)) return false;
    found_.c = store->number;
    found_.accumulates = kept;
    return true;
  }

  bool is_copy_of_element(const Instr& branch, std::int32_t local) const {
    const auto inside = statements(branch.body);
    return branch.kind == InstrKind::If && inside.size() == 1 &&
           inside[0]->kind == InstrKind::WriteLocal && inside[0]->number == local &&
           definition(inside[0]->args[0]).kind == InstrKind::Load;
  }
  bool is_read(ValueId id, std::int32_t local) const {
    return definition(id).kind == InstrKind::ReadLocal && definition(id).number == local;
  }
  bool is_zero(ValueId id) const {
    const Instr& instr = definition(id);
    if (instr.kind != InstrKind::Constant) return false;
    const Scalar zero{.dtype = instr.constant.dtype};
    return instr.constant == zero;
  }
  bool is_product(ValueId id) {
    const Instr& product = definition(id);
    if (product.kind != InstrKind::Apply || product.op != Op::Multiply) return false;
    const Instr &a = definition(product.args[0]), &b = definition(product.args[1]);
    if (a.kind != InstrKind::Load || b.kind != InstrKind::Load) return false;
    found_.a = a.number;
    found_.b = b.number;
    return true;
  }

  // ---- axes -------------------------------------------------------------------------------------

  // The two loops that the access's axes follow, or -1.
  std::pair<std::int32_t, std::int32_t> loops_of(std::int32_t access) const {
    const NestAccess& a = nest_.accesses[at(access)];
    std::int32_t found[2] = {-1, -1};
    if (a.indices.size() != 2) return {-1, -1};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const auto& terms = a.indices[axis].terms;
      if (terms.size() != 1 || terms[0].second != 1) return {-1, -1};
      for (std::int32_t l : loops_)
        if (nest_.loop(l).index() == terms[0].first) found[axis] = l;
    }
    return {found[0], found[1]};
  }

  bool match_axes() {
    const NestAccess& c = nest_.accesses[at(found_.c)];
    for (std::int32_t factor : {found_.a, found_.b}) {
      const NestAccess& x = nest_.accesses[at(factor)];
      if (nest_.written[at(x.array)] || type_of(x) != type_of(c)) return false;
      if (is_mixed(x.array)) return false;
    }
    if (is_mixed(c.array)) return false;
    if (type_of(c) != DType::Float32 && type_of(c) != DType::Float64) return false;
    const auto [rows, columns] = loops_of(found_.c);
    if (rows < 0 || columns < 0 || rows == columns) return false;
    for (std::int32_t l : loops_)
      if (l != rows && l != columns) found_.inner = l;
    found_.rows = rows;
    found_.columns = columns;
    if (!follows(found_.a, rows)) std::swap(found_.a, found_.b);
    return follows(found_.a, rows) && follows(found_.b, columns);
  }
  bool follows(std::int32_t access, std::int32_t loop) const {
    const auto [x, y] = loops_of(access);
    return (x == loop && y == found_.inner) || (y == loop && x == found_.inner);
  }
  DType type_of(const NestAccess& a) const {
    return nest_.routine.body.operands[at(a.instr->address.operand)].dtype;
  }
  bool is_mixed(std::int32_t array) const {
    return std::any_of(nest_.facts.mixed.begin(), nest_.facts.mixed.end(), [&](const auto& m) {
      return nest_.array_of(m.first) == array || nest_.array_of(m.second) == array;
    });
  }

  const Nest& nest_;
  const std::int32_t loop_;
  std::vector<std::int32_t> loops_;
  NestProduct found_;
};

}  // namespace

std::optional<NestProduct> find_product(const JudgedNest& judged, std::int32_t loop) {
  return ProductFinder(judged, loop).run();
}

}  // namespace frit
