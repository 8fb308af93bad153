// emit.cpp: Kernel -> LLVM IR: the function around it and its straight-line instructions.
#include "codegen/emit.h"

#include <algorithm>
#include <bit>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/MDBuilder.h>

#include "codegen/emitter.h"
#include "ir/error.h"

namespace frit::codegen {

using namespace llvm;

EmittedKernel emit(const Kernel& kernel, const EmitOptions& options, Formulas& formulas,
                   Module& module) {
  return Emitter(kernel, options, formulas, module).run();
}

namespace {

// By local: only what is 0 or 1 is written to it.
std::vector<bool> truths_of(const Kernel& kernel) {
  std::vector<const Instr*> definitions(kernel.values.size());
  std::vector<bool> truths;
  for (const DType dtype : kernel.locals) truths.push_back(dtype == DType::Bool);
  for_each_instr(kernel.code, [&](const Instr& instr) {
    if (instr.result != no_value) definitions[static_cast<std::size_t>(instr.result)] = &instr;
    for (const Reduction& reduction : instr.reductions)
      truths[static_cast<std::size_t>(reduction.local)] = false;
  });
  const auto is_truth = [&](ValueId value) {
    const Instr& made = *definitions[static_cast<std::size_t>(value)];
    if (made.kind == InstrKind::ReadLocal)
      return bool{truths[static_cast<std::size_t>(made.number)]};
    if (made.kind != InstrKind::Apply)
      return made.kind == InstrKind::Constant || made.kind == InstrKind::ScalarArg;
    const TypeRule rule = info(made.op).rule;
    return rule == TypeRule::Compare || rule == TypeRule::Predicate || rule == TypeRule::Logical;
  };
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for_each_instr(kernel.code, [&](const Instr& instr) {
      if (instr.kind != InstrKind::WriteLocal) return;
      const auto local = static_cast<std::size_t>(instr.number);
      if (!truths[local] || is_truth(instr.args[0])) return;
      truths[local] = false;
      has_changed = true;
    });
  }
  return truths;
}

}  // namespace

Emitter::Emitter(const Kernel& kernel, const EmitOptions& options, Formulas& formulas,
                 Module& module)
    : kernel_(kernel),
      variance_(variance_of(kernel)),
      truths_(truths_of(kernel)),
      machine_(options.machine),
      effort_(options.effort),
      formulas_(formulas),
      module_(module),
      context_(module.getContext()),
      builder_(context_),
      int64_(Type::getInt64Ty(context_)),
      bool_(Type::getInt1Ty(context_)),
      pointer_(PointerType::get(context_, 0)),
      values_(kernel.values.size()),
      integers_(static_cast<std::size_t>(kernel.integers)) {}

EmittedKernel Emitter::run() {
  auto* type =
      FunctionType::get(Type::getVoidTy(context_),
                        {pointer_, pointer_, pointer_, int64_, int64_, pointer_, pointer_}, false);
  function_ = Function::Create(type, GlobalValue::ExternalLinkage, entry_name, module_);
  function_->setDoesNotThrow();
  function_->addFnAttr("no-builtins");
  function_->addFnAttr("no-jump-tables", "true");
  entry_ = new_block("entry");
  builder_.SetInsertPoint(entry_);
  BasicBlock* start = new_block("start");
  builder_.CreateBr(start);
  builder_.SetInsertPoint(entry_->getTerminator());
  for (std::size_t k = 0; k < kernel_.operands.size(); ++k) {
    const std::int32_t offset = kernel_.operands[k].scratch_offset;
    operand_pointers_.push_back(
        offset >= 0 ? builder_.CreatePtrAdd(function_->getArg(5), integer(offset))
                    : builder_.CreateLoad(
                          pointer_, builder_.CreateConstGEP1_64(pointer_, function_->getArg(0),
                                                                static_cast<unsigned>(k))));
  }
  if (kernel_.may_stop)
    stop_ = builder_.CreateLoad(
        pointer_, builder_.CreateConstGEP1_64(pointer_, function_->getArg(6), outside_stop));
  builder_.SetInsertPoint(start);
  block(kernel_.code);
  if (streamed_ && machine_.is_x86)
    builder_.CreateIntrinsic(Intrinsic::x86_sse_sfence, ArrayRef<Value*>());
  builder_.CreateRetVoid();
  const unsigned bytes =
      only_moves_.value_or(false) ? machine_.vector_bytes / 2 : machine_.vector_bytes;
  const std::string width = std::to_string(bytes * 8);
  function_->addFnAttr("prefer-vector-width", width);
  function_->addFnAttr("min-legal-vector-width", width);
  return {std::move(call_outs_), is_improvable_, is_branchy_};
}

// ---- how many lanes -----------------------------------------------------------------------------

namespace {

// An index plus, minus or times something that is the same in all lanes: lanes stay evenly spaced.
bool keeps_affine(Op op) { return op == Op::Add || op == Op::Subtract || op == Op::Multiply; }

constexpr unsigned light_body =
    32;  // formula instructions that leave registers for two vectors a value
// With no more, memory that is far away decides: a line of each array by turns came sooner than two
// (12 % for y += a * x with AVX-512 on a Xeon).
constexpr unsigned lightest_body = 8, line_bytes = 64;
// With next to nothing to compute, half registers came from the second cache sooner than whole
// ones: by up to 7 %, and by 24 to 39 % where arrays begin at different places of a line.
constexpr unsigned slightest_body = 4;
// An If with no more runs under its mask alone: cheaper than a branch on data, which is foreseen
// wrongly now and then, and then waits for all that its condition is computed from.
constexpr unsigned flat_body = 64;
// To load lanes one by one takes as long as to compute so many values for all of them. A loop that
// does less is faster without lanes, which also wait for the one with the most rounds.
constexpr unsigned costs_a_gather = 4;

// What to ask whether a load is of a whole vector takes, with all that hangs on it.
constexpr unsigned costs_a_load = 16;
constexpr unsigned most_loads_of_chain = 11;  // in several registers each they would fill them all

// Walks a vector loop for what decides the number of lanes, and which Ifs have no branch.
class LaneSurvey {
 public:
  LaneSurvey(const Kernel& kernel, const Variance& variance, Formulas& formulas, const Instr& loop,
             const Machine& machine)
      : kernel_(kernel),
        variance_(variance),
        formulas_(formulas),
        loop_(loop),
        machine_(machine),
        address_(kernel.values.size()) {
    address_[static_cast<std::size_t>(loop.result)] = true;
    for (const Reduction& reduction : loop.reductions)
      tree = std::max(tree, tree_class(reduction.op, type(reduction.value)));
    walk(loop.body);
  }
  int widest = 1;         // bytes of the widest part of a varying value
  unsigned cost = 0;      // instructions of the formulas
  unsigned loads = 0;     // of more than one element
  bool fetches = false;   // ahead, by instructions
  bool waits = false;     // for the divider
  int tree = 0;           // the class of the loop's tree
  bool straight = true;   // no control flow inside, and no lane's address is computed from data
  bool branches = false;  // control flow that is more than a mask, except Whiles that compute
  std::vector<const Instr*> flat;  // the Ifs that are no more
  // Do its lanes little but load from places of their own, in loops of their own lengths?
  bool is_scattered() const { return scatters_ && !computes_ && cost <= flat_body; }

 private:
  void walk(const Block& block) {
    for (const Instr& instr : block) {
      if (instr.kind == InstrKind::Loop || instr.kind == InstrKind::If ||
          instr.kind == InstrKind::While)
        straight = false;
      branches |= instr.kind == InstrKind::Loop;
      bool is_gather = false;
      for (const Term& term : instr.address.terms)
        is_gather |= varies(term.index) && !address_[static_cast<std::size_t>(term.index)];
      if (is_gather) straight = false;
      if (is_gather && instr.kind == InstrKind::Load) ++gathers_;
      if (instr.result != no_value) weigh(instr);
      const unsigned before = cost, gathers_before = gathers_;
      walk(instr.body);
      walk(instr.other);
      if (instr.kind == InstrKind::While) {
        const unsigned gathers = gathers_ - gathers_before;
        const bool scatters = gathers > 0 && cost - before <= costs_a_gather * gathers;
        (scatters ? scatters_ : computes_) = true;
        branches |= scatters;
      }
      if (instr.kind != InstrKind::If) continue;
      const bool is_flat = varies(instr.args[0]) && cost - before <= flat_body &&
                           needs_no_branch(instr.body) && needs_no_branch(instr.other);
      if (is_flat)
        flat.push_back(&instr);
      else
        branches = true;
    }
  }
  // May all of it run where no lane is active? What is in memory must then be touched under the
  // mask.
  bool needs_no_branch(const Block& block) {
    return all_of(block, [&](const Instr& instr) {
      switch (instr.kind) {
        case InstrKind::Constant:
        case InstrKind::ScalarArg:
        case InstrKind::IntegerArg:
        case InstrKind::ReadLocal:
        case InstrKind::WriteLocal:
          return true;
        case InstrKind::Cast:
          return !is_complex(type(instr.result)) && !is_complex(type(instr.args[0]));
        case InstrKind::Apply: {
          const DType in = type(instr.args[info(instr.op).rule == TypeRule::Select ? 1 : 0]);
          const std::string symbol = formula_symbol(instr.op, in);
          return formulas_.find(symbol) && !formulas_.find(symbol + "_rare");
        }
        case InstrKind::Load:
        case InstrKind::Store: {
          // Without registers for masks (AVX2) a masked store is slow, also one of no lane.
          if (instr.kind == InstrKind::Store && !machine_.has_many_registers) return false;
          const Operand& operand =
              kernel_.operands[static_cast<std::size_t>(instr.address.operand)];
          return machine_.can_mask(operand.dtype) && is_own_lane(instr.address);
        }
        case InstrKind::If:
          return is_contained(flat, &instr);
        case InstrKind::Loop:
        case InstrKind::While:
          return false;
      }
      return false;
    });
  }
  bool is_own_lane(const Address& address) const {
    bool moves = false;
    for (const Term& term : address.terms) {
      const bool own = term.index == loop_.result && term.stride == unit_stride;
      if (!own && varies(term.index)) return false;
      moves |= own;
    }
    return moves;
  }
  void weigh(const Instr& instr) {
    if (!varies(instr.result)) return;
    if (is_address_arithmetic(instr)) {
      address_[static_cast<std::size_t>(instr.result)] = true;
      return;
    }
    widest = std::max(widest, size_of(real_of(type(instr.result))));
    if (instr.kind == InstrKind::Apply) {
      const DType in = type(instr.args[info(instr.op).rule == TypeRule::Select ? 1 : 0]);
      const std::string symbol = formula_symbol(instr.op, in);
      cost += length(symbol) + length(symbol + "_re") + length(symbol + "_im");
      waits |= divides(instr.op) || instr.op == Op::Sqrt;
    } else if (instr.kind == InstrKind::Cast) {  // loads are no part of a chain, locals registers
      cost += 2;
    } else if (instr.kind == InstrKind::Load) {
      ++loads;
      fetches |= instr.streaming;
    }
  }
  unsigned length(const std::string& symbol) {
    const Function* formula = formulas_.find(symbol);
    return formula ? length_of(*formula) : 0;
  }
  // Index arithmetic stays in scalar registers, so it doesn't count.
  bool is_address_arithmetic(const Instr& instr) const {
    if (instr.kind != InstrKind::Apply || type(instr.result) != DType::Int64 ||
        !keeps_affine(instr.op))
      return false;
    const bool both = varies(instr.args[0]) && varies(instr.args[1]);
    if (instr.op == Op::Multiply && both) return false;
    return none_of(instr.args, [&](ValueId arg) {
      return varies(arg) && !address_[static_cast<std::size_t>(arg)];
    });
  }
  bool varies(ValueId id) const {
    return id != no_value && variance_.values[static_cast<std::size_t>(id)];
  }
  DType type(ValueId id) const { return kernel_.values[static_cast<std::size_t>(id)]; }

  const Kernel& kernel_;
  const Variance& variance_;
  Formulas& formulas_;
  const Instr& loop_;
  const Machine& machine_;
  std::vector<bool> address_;
  unsigned gathers_ = 0;
  bool scatters_ = false, computes_ = false;  // Whiles that do
};

// More would only lengthen the rest: of a short body it runs one by one.
constexpr unsigned most_lanes = 32;
// A long body is one chain of operations that wait for one another, longer than what the processor
// looks ahead: several registers a value are as many chains side by side. Spills cost less, even of
// 16 registers. So is what lanes do in a While, whose masks follow one another.
// To compile takes as many times longer.
constexpr unsigned accumulators = 4;   // registers of them
constexpr unsigned chains = 4;         // where all of a launch is one loop
constexpr unsigned chains_in_row = 2;  // where rows may be short: the last iteration is a full one

}  // namespace

// A register full of the widest type, or several. In a short body a tree fixes the number: its
// accumulators are the lanes.
void Emitter::choose_lanes(const Instr& vector_loop) {
  const LaneSurvey survey(kernel_, variance_, formulas_, vector_loop, machine_);
  flat_.insert(survey.flat.begin(), survey.flat.end());
  unsigned lanes = machine_.vector_bytes / static_cast<unsigned>(survey.widest);
  loads_much_ = survey.straight && survey.cost <= costs_a_load * survey.loads;
  const bool is_chain =
      !survey.branches && survey.cost > light_body && survey.loads <= most_loads_of_chain;
  // One body for full and partial vectors asks at each load which of them it is.
  const bool is_long =
      survey.straight && !survey.branches && survey.cost > light_body + 2 * survey.loads;
  // Part of a long row: an accumulator waits for itself, and what is left over hardly counts.
  const bool is_part = !vector_loop.reductions.empty() && !vector_loop.parallel &&
                       !isa<ConstantInt>(value(vector_loop.args[0]).part[0].scalar);
  const bool only_moves = kernel_.from_own_cache && machine_.vector_bytes == line_bytes &&
                          survey.straight && survey.loads > 1 && !survey.waits &&
                          survey.cost <= slightest_body;
  only_moves_ = only_moves_.value_or(true) && only_moves;
  if (survey.cost <= light_body) {
    const bool is_far = survey.fetches && survey.cost <= lightest_body && !only_moves;
    const unsigned vectors = is_far && machine_.vector_bytes == line_bytes ? 1 : 2;
    lanes *= is_part ? accumulators : vectors;
  }
  if (is_chain && survey.tree == 0) {
    if (effort_ == Effort::Quick)
      is_improvable_ = true;
    else
      lanes *= vector_loop.parallel ? chains : chains_in_row;
  }
  // At least 4: shorter vectors are padded with lanes whose garbage could raise floating-point
  // flags.
  lanes = std::clamp(lanes, 4u, is_chain || is_part ? 2 * most_lanes : most_lanes);
  // A long body may have the tree's accumulators several times over.
  if (survey.tree == 1)
    lanes = is_long ? std::max(lanes, 8u) : 8;
  else if (survey.tree != 0)
    lanes = 4;
  once_ = is_long;
  alone_ = survey.is_scattered() && survey.tree == 0 && vector_loop.reductions.empty();
  if (lanes == vector_lanes_) return;
  vector_lanes_ = lanes;
  forget_splats();
}

// Those that follow have another width.
void Emitter::forget_splats() {
  for (Emitted& made : values_)
    for (Emitted::Part& part : made.part)
      if (part.scalar) part.vector = nullptr;
}

// ---- instructions -------------------------------------------------------------------------------

void Emitter::block(const Block& instructions) {
  for (const Instr& instr : instructions) instruction(instr);
}

void Emitter::instruction(const Instr& instr) {
  switch (instr.kind) {
    case InstrKind::Constant:
      return define(instr, constant(instr.constant));
    case InstrKind::ScalarArg:
      return scalar_argument(instr);
    case InstrKind::IntegerArg:
      return integer_argument(instr);
    case InstrKind::Apply:
      return apply(instr);
    case InstrKind::Cast:
      return cast(instr);
    case InstrKind::Load:
      return load(instr);
    case InstrKind::Store:
      return store(instr);
    case InstrKind::ReadLocal:
      return read_local(instr);
    case InstrKind::WriteLocal:
      return write_local(instr.number, value(instr.args[0]));
    case InstrKind::Loop:
      return loop(instr);
    case InstrKind::If:
      return branch_if(instr);
    case InstrKind::While:
      return while_loop(instr);
  }
}

Emitted Emitter::constant(const Scalar& literal) const {
  Emitted result{.parts = parts_of(literal.dtype)};
  for (int k = 0; k < result.parts; ++k) result.part[k].scalar = literal_part(literal, k, context_);
  return result;
}

void Emitter::scalar_argument(const Instr& instr) {
  const DType dtype = dtype_of(instr.result);
  Emitted result{.parts = parts_of(dtype)};
  IRBuilder<>::InsertPointGuard guard(builder_);
  builder_.SetInsertPoint(entry_->getTerminator());
  const auto offset = static_cast<std::size_t>(instr.number) * sizeof(Scalar);
  Value* at = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), function_->getArg(2), offset);
  Type* type = element_type(dtype);
  for (int k = 0; k < result.parts; ++k)
    result.part[k].scalar =
        builder_.CreateLoad(type, builder_.CreateConstGEP1_64(type, at, static_cast<unsigned>(k)));
  define(instr, result);
}

void Emitter::integer_argument(const Instr& instr) {
  Emitted result;
  result.part[0].scalar = integer(instr.number);
  define(instr, result);
}

// ---- Apply and Cast -----------------------------------------------------------------------------

void Emitter::apply(const Instr& instr) {
  if (affine_apply(instr)) return;
  SmallVector<Emitted*, 3> operands;
  int highest = 0;
  for (int k = 0; k < info(instr.op).inputs; ++k) {
    operands.push_back(&value(instr.args[k]));
    highest = std::max(highest, operands.back()->level);
  }
  const DType in = dtype_of(instr.args[info(instr.op).rule == TypeRule::Select ? 1 : 0]);
  // As LLVM writes them: it takes the same sum the other way round for another one.
  if ((instr.op == Op::Add || instr.op == Op::Multiply) && is_integer(in) &&
      isa_and_nonnull<Constant>(operands[0]->part[0].scalar))
    std::swap(operands[0], operands[1]);
  const bool uniform = none_of(operands, [](Emitted* operand) { return operand->varies(); });
  // The operands of what this one chooses from were perhaps chosen by the same condition.
  const bool again = instr.op == Op::Select && was_chosen_by(operands[0]->part[0]);
  Emitted result, arms[2];
  const auto apply_here = [&] {
    for (unsigned k = 0; again && k < 2; ++k) {
      arms[k] = fenced(*operands[k + 1]);
      operands[k + 1] = &arms[k];
    }
    result = instr.math == MathLibrary::Frit ? apply(instr.op, in, dtype_of(instr.result), operands)
                                             : call_library(instr, in, operands);
  };
  const bool calls = instr.math != MathLibrary::Frit || may_branch(instr.op, in);
  if (uniform && may_hoist(highest) && !calls) {
    at_preheader(apply_here);
    result.level = level() - 1;
  } else {
    apply_here();
  }
  define(instr, result);
}

// The loop's rounds that are written out are the same instructions with conditions of their own.
bool Emitter::was_chosen_by(const Emitted::Part& condition) {
  bool was = false;
  for (Value* v : {condition.scalar, condition.vector})
    if (v) was |= !conditions_.insert(v).second;
  return was;
}

bool Emitter::affine_apply(const Instr& instr) {
  if (dtype_of(instr.result) != DType::Int64 || !keeps_affine(instr.op)) return false;
  Emitted &x = value(instr.args[0]), &y = value(instr.args[1]);
  if (!x.is_affine() && !y.is_affine()) return false;
  if ((x.varies() && !x.is_affine()) || (y.varies() && !y.is_affine())) return false;
  if (instr.op == Op::Multiply && x.is_affine() && y.is_affine()) return false;
  const auto base = [](const Emitted& v) { return v.is_affine() ? v.base : v.part[0].scalar; };
  const auto step = [&](const Emitted& v) { return v.is_affine() ? v.step : int64(0); };
  if (lanes_ == 1) return false;
  Value *new_base, *new_step;
  if (instr.op == Op::Multiply) {
    new_base = builder_.CreateMul(base(x), base(y));
    new_step = x.is_affine() ? builder_.CreateMul(x.step, y.part[0].scalar)
                             : builder_.CreateMul(y.step, x.part[0].scalar);
  } else {
    const auto combine = [&](Value* a, Value* b) {
      return instr.op == Op::Add ? builder_.CreateAdd(a, b) : builder_.CreateSub(a, b);
    };
    new_base = combine(base(x), base(y));
    new_step = combine(step(x), step(y));
  }
  define(instr, affine(new_base, new_step));
  return true;
}

void Emitter::cast(const Instr& instr) {
  Emitted& from = value(instr.args[0]);
  Emitted result;
  if (!from.varies() && may_hoist(from.level)) {
    at_preheader([&] { result = cast(dtype_of(instr.args[0]), dtype_of(instr.result), from); });
    result.level = level() - 1;
  } else {
    result = cast(dtype_of(instr.args[0]), dtype_of(instr.result), from);
  }
  define(instr, result);
}

// ---- locals -------------------------------------------------------------------------------------

unsigned Emitter::lanes_of_local(std::int32_t number) const {
  return variance_.locals[static_cast<std::size_t>(number)] ? lanes_ : 1;
}

Value* const* Emitter::local_memory(std::int32_t number) {
  const DType dtype = kernel_.locals[static_cast<std::size_t>(number)];
  const unsigned lanes = lanes_of_local(number);
  auto [entry, is_new] = locals_.try_emplace({number, lanes});
  Value** memory = entry->second.data();
  if (!is_new) return memory;
  Type* const part = lanes_type(is_truth(number) ? bool_ : element_type(dtype), lanes);
  make_memory(memory, parts_of(dtype), part, "local");
  IRBuilder<>::InsertPointGuard guard(builder_);
  builder_.SetInsertPoint(entry_->getTerminator());
  for (int k = 0; k < parts_of(dtype); ++k)
    builder_.CreateStore(Constant::getNullValue(part), memory[k]);
  return memory;
}

// Such a local holds bits: bytes would be packed and unpacked at each round of a While, and of a
// number LLVM would not see which branches it decides.
bool Emitter::is_truth(std::int32_t local) const {
  return truths_[static_cast<std::size_t>(local)];
}

Emitted Emitter::load_local(std::int32_t number) {
  const unsigned lanes = lanes_of_local(number);
  if (!is_truth(number))
    return load_parts(local_memory(number), kernel_.locals[static_cast<std::size_t>(number)],
                      lanes);
  Value* bits = builder_.CreateLoad(lanes_type(bool_, lanes), local_memory(number)[0]);
  Value* bytes = builder_.CreateZExt(bits, lanes_type(element_type(DType::Bool), lanes));
  Emitted result{.level = level()};
  (lanes > 1 ? result.part[0].vector : result.part[0].scalar) = bytes;
  return result;
}

void Emitter::read_local(const Instr& instr) { define(instr, load_local(instr.number)); }

// Lanes that are not active keep what they have.
void Emitter::write_local(std::int32_t number, const Emitted& written) {
  if (is_truth(number)) {
    const bool varies = lanes_of_local(number) > 1;
    Value* memory = local_memory(number)[0];
    Emitted given = written;
    Value* bytes = varies ? vector_of(given, 0) : given.part[0].scalar;
    Value* bits = builder_.CreateICmpNE(bytes, Constant::getNullValue(bytes->getType()));
    if (mask_ && varies)
      bits = builder_.CreateSelect(mask_, bits, builder_.CreateLoad(bits->getType(), memory));
    builder_.CreateStore(bits, memory);
    return;
  }
  Emitted kept = written;
  if (mask_ && lanes_of_local(number) > 1) kept = select(mask_, written, load_local(number));
  store_parts(local_memory(number), kept, kernel_.locals[static_cast<std::size_t>(number)],
              lanes_of_local(number));
}

}  // namespace frit::codegen
