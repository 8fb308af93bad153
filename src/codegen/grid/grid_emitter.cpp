// grid_emitter.cpp: one thread's code: form of the grid, instructions, memory and control flow.
#include "codegen/grid/grid_emitter.h"

#include <algorithm>
#include <cmath>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "ir/error.h"
#include "ops/status_flags.h"

namespace frit::codegen {

using namespace llvm;

namespace {

constexpr unsigned device_memory = 1;  // NVPTX's address space

bool has_vector_loop(const Block& block) {
  bool found = false;
  for_each_instr(
      block, [&](const Instr& instr) { found |= instr.kind == InstrKind::Loop && instr.vector; });
  return found;
}

bool has_while(const Block& block) {
  bool found = false;
  for_each_instr(block, [&](const Instr& instr) { found |= instr.kind == InstrKind::While; });
  return found;
}

bool has_stores(const Block& block) {
  bool found = false;
  for_each_instr(block, [&](const Instr& instr) { found |= instr.kind == InstrKind::Store; });
  return found;
}

}  // namespace

GridCode emit_grid(const Kernel& kernel, Formulas& formulas, Module& module) {
  return GridEmitter(kernel, formulas, module).run();
}

GridEmitter::GridEmitter(const Kernel& kernel, Formulas& formulas, Module& module)
    : kernel_(kernel),
      formulas_(formulas),
      module_(module),
      context_(module.getContext()),
      builder_(context_),
      values_(kernel.values.size()),
      locals_(kernel.locals.size()) {}

GridCode GridEmitter::run() {
  try {
    choose_form();
    code_.looks_for_stop = kernel_.may_stop && has_while(kernel_.code);
    open_function();
    block(kernel_.code);
    if_then(builder_.CreateICmpNE(builder_.CreateLoad(builder_.getInt32Ty(), state_), int32(0)),
            [&] {
              builder_.CreateAtomicRMW(AtomicRMWInst::Or, state_address_,
                                       builder_.CreateLoad(builder_.getInt32Ty(), state_),
                                       MaybeAlign(4), AtomicOrdering::Monotonic);
            });
    builder_.CreateRetVoid();
  } catch (const Unsupported& unsupported) {
    if (function_) function_->eraseFromParent();
    code_.why_not = unsupported.why;
  }
  return std::move(code_);
}

// Rows: there is one vector loop, and beside it nothing but what all of its threads may compute.
void GridEmitter::choose_form() {
  const Instr& parallel = frit::parallel_loop(kernel_);
  for (const Operand& operand : kernel_.operands) has_scratch_ |= operand.scratch_offset >= 0;
  if (parallel.vector || !has_vector_loop(parallel.body)) {
    code_.form = GridForm::Threads;
    return;
  }
  code_.form = GridForm::Blocks;
  if (has_scratch_) return;
  int loops = 0;
  for (const Instr& instr : parallel.body) {
    if (instr.kind == InstrKind::Loop && instr.vector && instr.reductions.empty())
      ++loops;
    else if (instr.kind == InstrKind::Load)
      code_.read_early.push_back(instr.address.operand);
    else if (!is_pure(instr) && instr.kind != InstrKind::ReadLocal &&
             instr.kind != InstrKind::WriteLocal)
      loops = 2;
  }
  if (loops == 1)
    code_.form = GridForm::Rows;
  else
    code_.read_early.clear();
}

void GridEmitter::open_function() {
  Type* int64_type = builder_.getInt64Ty();
  Type* pointer = PointerType::get(context_, device_memory);
  SmallVector<Type*, 32> types(kernel_.operands.size(), pointer);
  types.append(static_cast<std::size_t>(kernel_.integers), int64_type);
  for (DType dtype : kernel_.scalars)
    types.append(static_cast<std::size_t>(parts_of(dtype)), element_type(dtype));
  types.append({int64_type, pointer, int64_type, pointer});
  if (kernel_.may_stop) types.push_back(pointer);
  constexpr std::size_t most_parameters = 400;  // 4 KiB of them
  if (types.size() > most_parameters) throw Unsupported{"it has too many arguments"};
  function_ = Function::Create(FunctionType::get(builder_.getVoidTy(), types, false),
                               GlobalValue::ExternalLinkage, grid_entry, module_);
  function_->setCallingConv(CallingConv::PTX_Kernel);
  function_->addFnAttr("nvvm.maxntid", std::to_string(most_grid_threads));
  entry_ = BasicBlock::Create(context_, "entry", function_);
  BasicBlock* start = new_block("start");
  builder_.SetInsertPoint(entry_);
  builder_.CreateBr(start);
  builder_.SetInsertPoint(entry_->getTerminator());

  auto* argument = function_->arg_begin();
  for (std::size_t k = 0; k < kernel_.operands.size(); ++k) operands_.push_back(argument++);
  for (std::int32_t k = 0; k < kernel_.integers; ++k) integers_.push_back(argument++);
  for (DType dtype : kernel_.scalars) {
    Number scalar{.parts = parts_of(dtype)};
    for (int k = 0; k < scalar.parts; ++k) scalar.part[k] = argument++;
    scalars_.push_back(scalar);
  }
  extent_ = argument++;
  Value* scratch = argument++;
  Value* scratch_bytes = argument++;
  state_address_ = argument++;
  if (kernel_.may_stop) stop_address_ = argument++;
  thread_ = special(Intrinsic::nvvm_read_ptx_sreg_tid_x);
  threads_ = special(Intrinsic::nvvm_read_ptx_sreg_ntid_x);
  Value* owner = special(Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
  if (code_.form == GridForm::Threads)
    owner = builder_.CreateAdd(builder_.CreateMul(owner, threads_), thread_);
  Value* own = builder_.CreatePtrAdd(scratch, builder_.CreateMul(owner, scratch_bytes));
  for (std::size_t k = 0; k < kernel_.operands.size(); ++k)
    if (const std::int32_t offset = kernel_.operands[k].scratch_offset; offset >= 0)
      operands_[k] = builder_.CreatePtrAdd(own, integers_[static_cast<std::size_t>(offset)]);
  state_ = stack(builder_.getInt32Ty(), "state");
  builder_.CreateStore(int32(0), state_);
  builder_.SetInsertPoint(start);
}

// ---- values -------------------------------------------------------------------------------------

Value* GridEmitter::int64(std::int64_t number) const {
  return ConstantInt::getSigned(Type::getInt64Ty(context_), number);
}
Value* GridEmitter::int32(std::uint32_t number) const {
  return ConstantInt::get(Type::getInt32Ty(context_), number);
}

Value* GridEmitter::truth(const Number& number) {
  return builder_.CreateICmpNE(number.part[0], Constant::getNullValue(number.part[0]->getType()));
}

Value* GridEmitter::stack(Type* type, const char* name) {
  IRBuilder<>::InsertPointGuard guard(builder_);
  builder_.SetInsertPoint(entry_, entry_->getFirstInsertionPt());
  return builder_.CreateAlloca(type, nullptr, name);
}

void GridEmitter::make_memory(Value** memory, DType dtype, const char* name) {
  for (int k = 0; k < parts_of(dtype); ++k) memory[k] = stack(element_type(dtype), name);
}

Number GridEmitter::load_parts(Value* const* memory, DType dtype) {
  Number number{.parts = parts_of(dtype)};
  for (int k = 0; k < number.parts; ++k)
    number.part[k] = builder_.CreateLoad(element_type(dtype), memory[k]);
  return number;
}

void GridEmitter::store_parts(Value* const* memory, const Number& number, DType dtype) {
  for (int k = 0; k < parts_of(dtype); ++k) builder_.CreateStore(number.part[k], memory[k]);
}

BasicBlock* GridEmitter::new_block(const char* name) {
  return BasicBlock::Create(context_, name, function_);
}

Value* GridEmitter::special(unsigned intrinsic) {
  return builder_.CreateZExt(builder_.CreateIntrinsic(static_cast<Intrinsic::ID>(intrinsic),
                                                      ArrayRef<Type*>(), ArrayRef<Value*>()),
                             builder_.getInt64Ty());
}

// ---- control flow -------------------------------------------------------------------------------

void GridEmitter::counted(Value* begin, Value* end, Value* step,
                          const std::function<void(Value*)>& emit_body) {
  BasicBlock* before = builder_.GetInsertBlock();
  BasicBlock* test = new_block("test");
  BasicBlock* inside = new_block("inside");
  BasicBlock* after = new_block("after");
  builder_.CreateBr(test);
  builder_.SetInsertPoint(test);
  PHINode* index = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  index->addIncoming(begin, before);
  builder_.CreateCondBr(builder_.CreateICmpSLT(index, end), inside, after);
  builder_.SetInsertPoint(inside);
  emit_body(index);
  index->addIncoming(builder_.CreateAdd(index, step), builder_.GetInsertBlock());
  builder_.CreateBr(test);
  builder_.SetInsertPoint(after);
}

void GridEmitter::barrier() {
  builder_.CreateIntrinsic(Intrinsic::nvvm_barrier_cta_sync_aligned_all, {}, {int32(0)});
  has_read_ = false;
}

void GridEmitter::block(const Block& instructions) {
  for (const Instr& instr : instructions) instruction(instr);
}

void GridEmitter::instruction(const Instr& instr) {
  switch (instr.kind) {
    case InstrKind::Constant:
      value(instr.result) = constant(instr.constant);
      return;
    case InstrKind::ScalarArg:
      value(instr.result) = scalars_[static_cast<std::size_t>(instr.number)];
      return;
    case InstrKind::IntegerArg:
      value(instr.result).part[0] = integers_[static_cast<std::size_t>(instr.number)];
      return;
    case InstrKind::Apply:
      return apply(instr);
    case InstrKind::Cast:
      value(instr.result) =
          cast(dtype_of(instr.args[0]), dtype_of(instr.result), value(instr.args[0]));
      return;
    case InstrKind::Load:
      return load(instr);
    case InstrKind::Store:
      return store(instr);
    case InstrKind::ReadLocal:
    case InstrKind::WriteLocal: {
      const auto number = static_cast<std::size_t>(instr.number);
      const DType dtype = kernel_.locals[number];
      if (!locals_[number][0]) {
        make_memory(locals_[number].data(), dtype, "local");
        IRBuilder<>::InsertPointGuard guard(builder_);
        builder_.SetInsertPoint(entry_->getTerminator());
        for (int k = 0; k < parts_of(dtype); ++k)
          builder_.CreateStore(Constant::getNullValue(element_type(dtype)),
                               locals_[number][static_cast<std::size_t>(k)]);
      }
      if (instr.kind == InstrKind::ReadLocal)
        value(instr.result) = load_parts(locals_[number].data(), dtype);
      else
        store_parts(locals_[number].data(), value(instr.args[0]), dtype);
      return;
    }
    case InstrKind::Loop:
      return loop(instr);
    case InstrKind::If:
      return branch_if(instr);
    case InstrKind::While:
      return while_loop(instr);
  }
}

void GridEmitter::branch_if(const Instr& instr) {
  const bool had_read = has_read_;
  const auto part = [&](const Block& instructions) {
    has_read_ = had_read;
    block(instructions);
  };
  const std::function<void()> otherwise = [&] { part(instr.other); };
  if_then(
      truth(value(instr.args[0])), [&] { part(instr.body); },
      instr.other.empty() ? nullptr : otherwise);
  has_read_ = true;
}

void GridEmitter::while_loop(const Instr& instr) {
  BasicBlock* test = new_block("while");
  BasicBlock* inside = new_block("inside");
  BasicBlock* after = new_block("after");
  builder_.CreateBr(test);
  builder_.SetInsertPoint(test);
  has_read_ = true;
  stop_if_asked();
  block(instr.other);
  const auto number = static_cast<std::size_t>(instr.number);
  check(locals_[number][0] != nullptr, "the condition of a While is written before it is asked");
  Value* goes_on = truth(load_parts(locals_[number].data(), kernel_.locals[number]));
  if (stopped_)
    goes_on = builder_.CreateAnd(
        goes_on, builder_.CreateNot(builder_.CreateLoad(builder_.getInt1Ty(), stopped_)));
  builder_.CreateCondBr(goes_on, inside, after);
  builder_.SetInsertPoint(inside);
  block(instr.body);
  builder_.CreateBr(test);
  builder_.SetInsertPoint(after);
  has_read_ = true;
}

// Loops whose rounds are counted end by themselves. To look takes as long as many rounds. Where
// there are barriers, a thread must not leave others at one: it ends its whiles alone, and only
// those that it is in by itself.
void GridEmitter::stop_if_asked() {
  if (!stop_address_) return;
  const bool may_leave = code_.form != GridForm::Blocks;
  if (!may_leave && !in_vector_) throw Unsupported{"it may have to be stopped"};
  constexpr std::uint32_t rounds_between_looks = 1024;
  Type* type = builder_.getInt32Ty();
  const auto variable = [&](Type* of, const char* name) {
    Value* memory = stack(of, name);
    IRBuilder<>::InsertPointGuard guard(builder_);
    builder_.SetInsertPoint(entry_->getTerminator());
    builder_.CreateStore(Constant::getNullValue(of), memory);
    return memory;
  };
  if (!rounds_) rounds_ = variable(type, "rounds");
  if (!may_leave && !stopped_) stopped_ = variable(builder_.getInt1Ty(), "stopped");
  Value* rounds = builder_.CreateAdd(builder_.CreateLoad(type, rounds_), int32(1));
  builder_.CreateStore(rounds, rounds_);
  Value* is_time =
      builder_.CreateICmpEQ(builder_.CreateAnd(rounds, int32(rounds_between_looks - 1)), int32(0));
  if_then(is_time, [&] {
    Value* asked = builder_.CreateICmpNE(
        builder_.CreateLoad(type, stop_address_, /*isVolatile=*/true), int32(0));
    if (!may_leave) {
      builder_.CreateStore(asked, stopped_);
      return;
    }
    BasicBlock* stopped = new_block("stopped");
    BasicBlock* next = new_block("next");
    builder_.CreateCondBr(asked, stopped, next);
    builder_.SetInsertPoint(stopped);
    builder_.CreateRetVoid();
    builder_.SetInsertPoint(next);
  });
}

void GridEmitter::loop(const Instr& instr) {
  if (instr.parallel) return parallel_loop();
  Value *begin = value(instr.args[0]).part[0], *end = value(instr.args[1]).part[0];
  std::vector<GridSum> sums = open_sums(instr);
  sums_.push_back(&sums);
  const auto all = [&] {
    if (instr.vector && code_.form != GridForm::Threads)
      vector_loop(instr, begin, end);
    else
      serial_loop(instr, begin, end);
    for (GridSum& sum : sums) close_sum(sum);
  };
  if (instr.reductions.empty())
    all();
  else
    if_then(builder_.CreateICmpSLT(begin, end), all);
  sums_.pop_back();
}

// A grid need not be as large as the kernel: threads and blocks go on by as many as there are.
void GridEmitter::parallel_loop() {
  const Instr& instr = frit::parallel_loop(kernel_);
  std::vector<GridSum> none;
  sums_.push_back(&none);
  Value* first = special(Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
  Value* step = special(Intrinsic::nvvm_read_ptx_sreg_nctaid_x);
  if (code_.form == GridForm::Threads) {
    first = builder_.CreateAdd(builder_.CreateMul(first, threads_), thread_);
    step = builder_.CreateMul(step, threads_);
  } else if (code_.form == GridForm::Rows) {
    Value* rows = special(Intrinsic::nvvm_read_ptx_sreg_ntid_y);
    first = builder_.CreateAdd(builder_.CreateMul(first, rows),
                               special(Intrinsic::nvvm_read_ptx_sreg_tid_y));
    step = builder_.CreateMul(step, rows);
  }
  counted(first, extent_, step, [&](Value* index) {
    has_read_ = has_scratch_;
    body(instr, index);
  });
  sums_.pop_back();
}

void GridEmitter::body(const Instr& instr, Value* index) {
  Number number;
  number.part[0] = index;
  value(instr.result) = number;
  block(instr.body);
}

void GridEmitter::serial_loop(const Instr& instr, Value* begin, Value* end) {
  std::vector<GridSum>& sums = *sums_.back();
  has_read_ = true;
  if (!sums.empty() && sums.front().is_tree)
    serial_tree(instr, sums, begin, end);
  else
    counted_until_ended(instr, begin, end, [&](Value* index) {
      body(instr, index);
      for (GridSum& sum : sums) take(sum, value(sum.reduction->value));
    });
  has_read_ = true;
}

// Where there are barriers, threads leave a loop together.
void GridEmitter::counted_until_ended(const Instr& instr, Value* begin, Value* end,
                                      const std::function<void(Value*)>& emit_body) {
  const bool may_leave = code_.form != GridForm::Blocks || in_vector_;
  const Instr* ending = may_leave ? ending_if(instr) : nullptr;
  if (!ending) return counted(begin, end, int64(1), emit_body);
  BasicBlock* ended = new_block("ended");
  counted(begin, end, int64(1), [&](Value* index) {
    emit_body(index);
    BasicBlock* next = new_block("next");
    builder_.CreateCondBr(truth(value(ending->args[0])), next, ended);
    builder_.SetInsertPoint(next);
  });
  builder_.CreateBr(ended);
  builder_.SetInsertPoint(ended);
}

void GridEmitter::vector_loop(const Instr& instr, Value* begin, Value* end) {
  std::vector<GridSum>& sums = *sums_.back();
  const bool in_blocks = code_.form == GridForm::Blocks;
  const bool stores = has_stores(instr.body);
  if (in_blocks && stores && has_read_) barrier();
  in_vector_ = true;
  if (!sums.empty() && sums.front().is_tree) {
    shared_tree(instr, sums, begin, end);
  } else {
    Value *first = thread_, *step = threads_;
    if (!in_blocks) {
      Value* column = special(Intrinsic::nvvm_read_ptx_sreg_ctaid_y);
      first = builder_.CreateAdd(builder_.CreateMul(column, threads_), thread_);
      step = builder_.CreateMul(special(Intrinsic::nvvm_read_ptx_sreg_nctaid_y), threads_);
    }
    counted(builder_.CreateAdd(begin, first), end, step, [&](Value* index) {
      body(instr, index);
      for (GridSum& sum : sums) take(sum, value(sum.reduction->value));
    });
    for (GridSum& sum : sums) fold_shared(sum, builder_.CreateSub(end, begin));
  }
  in_vector_ = false;
  has_read_ = true;
  if (in_blocks && stores) barrier();
}

// ---- memory -------------------------------------------------------------------------------------

Value* GridEmitter::address(const Address& address) {
  const auto operand = static_cast<std::size_t>(address.operand);
  Value* pointer = operands_[operand];
  for (const Term& term : address.terms) {
    Value* stride;
    if (term.stride == unit_stride) {
      stride = int64(size_of(kernel_.operands[operand].dtype));
    } else {
      stride = integers_[static_cast<std::size_t>(term.stride)];
      const std::pair pair{address.operand, term.stride};
      if (!is_contained(code_.strides, pair)) code_.strides.push_back(pair);
    }
    pointer = builder_.CreatePtrAdd(pointer, builder_.CreateMul(value(term.index).part[0], stride));
  }
  return pointer;
}

Number GridEmitter::load_at(DType dtype, Value* pointer) {
  Number number{.parts = parts_of(dtype)};
  Type* type = element_type(dtype);
  const Align alignment(static_cast<unsigned>(size_of(real_of(dtype))));
  for (unsigned k = 0; k < static_cast<unsigned>(number.parts); ++k)
    number.part[k] =
        builder_.CreateAlignedLoad(type, builder_.CreateConstGEP1_64(type, pointer, k), alignment);
  return number;
}

void GridEmitter::store_at(DType dtype, const Number& number, Value* pointer) {
  Type* type = element_type(dtype);
  const Align alignment(static_cast<unsigned>(size_of(real_of(dtype))));
  for (unsigned k = 0; k < static_cast<unsigned>(number.parts); ++k)
    builder_.CreateAlignedStore(number.part[k], builder_.CreateConstGEP1_64(type, pointer, k),
                                alignment);
}

void GridEmitter::load(const Instr& instr) {
  value(instr.result) = load_at(dtype_of(instr.result), address(instr.address));
  if (!in_vector_) has_read_ = true;
}

// What all threads of a block would store, one of them does, when the others have read what was
// there before; and they go on when it is there.
void GridEmitter::store(const Instr& instr) {
  const DType dtype = kernel_.operands[static_cast<std::size_t>(instr.address.operand)].dtype;
  const auto write = [&] { store_at(dtype, value(instr.args[0]), address(instr.address)); };
  if (code_.form != GridForm::Blocks || in_vector_) return write();
  if (has_read_) barrier();
  if_then(builder_.CreateICmpEQ(thread_, int64(0)), write);
  barrier();
}

// ---- arithmetic ---------------------------------------------------------------------------------

Number GridEmitter::constant(const Scalar& literal) const {
  Number number{.parts = parts_of(literal.dtype)};
  for (int k = 0; k < number.parts; ++k) number.part[k] = literal_part(literal, k, context_);
  return number;
}

void GridEmitter::apply(const Instr& instr) {
  if (instr.math != MathLibrary::Frit)
    throw Unsupported{"it calls another library's " + std::string(info(instr.op).name)};
  const DType in = dtype_of(instr.args[info(instr.op).rule == TypeRule::Select ? 1 : 0]);
  SmallVector<Number, 3> operands;
  for (int k = 0; k < info(instr.op).inputs; ++k) operands.push_back(value(instr.args[k]));
  value(instr.result) = apply(instr.op, in, dtype_of(instr.result), operands);
}

Number GridEmitter::apply(Op op, DType in, DType out, ArrayRef<Number> operands) {
  const std::string symbol = formula_symbol(op, in);
  Number made{.parts = parts_of(out)};
  const char* const pair[] = {"_re", "_im"};
  for (int k = 0; k < made.parts; ++k) {
    Function* formula = formulas_.find(made.parts == 2 ? symbol + pair[k] : symbol);
    if (!formula)
      throw Unsupported{std::string(info(op).name) + " of " + std::string(info(in).name) +
                        " has no formula"};
    made.part[k] = call_formula(*formula, operands);
  }
  if (Function* rare = formulas_.find(rare_symbol(op, in))) {
    Value* is_rare = call_formula(*rare, operands);
    if (const auto* always = dyn_cast<ConstantInt>(is_rare); always && !always->isZero())
      throw Unsupported{std::string(info(op).name) + " of " + std::string(info(in).name) +
                        " has no formula"};
    code_.may_be_rare = true;
    raise_if(builder_.CreateICmpNE(is_rare, Constant::getNullValue(is_rare->getType())), grid_rare);
  }
  note_errors(op, in, out, operands, made);
  return made;
}

Value* GridEmitter::call_formula(Function& formula, ArrayRef<Number> operands) {
  SmallVector<FormulaArgument, 6> arguments;
  for (const Number& operand : operands)
    for (int k = 0; k < operand.parts; ++k) arguments.push_back({operand.part[k], nullptr});
  return formulas_.widen(formula, arguments, 1, builder_);
}

// ---- floating-point errors ----------------------------------------------------------------------
// A GPU has no status flags: that an error may have occurred is seen from the numbers, and the
// engine then looks closer, as it does where a CPU has raised a flag.

void GridEmitter::raise_if(Value* condition, std::uint32_t flags) {
  Value* state = builder_.CreateLoad(builder_.getInt32Ty(), state_);
  builder_.CreateStore(
      builder_.CreateOr(state, builder_.CreateSelect(condition, int32(flags), int32(0))), state_);
}

// NaN from numbers that are none is invalid; an infinity from finite ones is too large, or a
// division by zero.
void GridEmitter::note_errors(Op op, DType in, DType out, ArrayRef<Number> operands,
                              const Number& made) {
  if (!may_warn(op, in)) return;
  if (is_integer(in)) {
    if (Function* overflows = formulas_.find(overflow_symbol(op, in))) {
      Value* flag = call_formula(*overflows, operands);
      raise_if(builder_.CreateICmpNE(flag, Constant::getNullValue(flag->getType())), flag_overflow);
    }
    if (!divides(op)) return;
    Value* divisor = operands.back().part[0];
    raise_if(builder_.CreateICmpEQ(divisor, Constant::getNullValue(divisor->getType())),
             flag_divide);
    return;
  }
  if (!is_inexact(out)) return;
  if (op == Op::Logaddexp || op == Op::Logaddexp2) {
    // Of two equal infinities their difference is taken.
    Value *x = operands[0].part[0], *y = operands[1].part[0];
    Value* size = builder_.CreateUnaryIntrinsic(Intrinsic::fabs, x);
    raise_if(
        builder_.CreateAnd(builder_.CreateFCmpOEQ(size, ConstantFP::getInfinity(size->getType())),
                           builder_.CreateFCmpOEQ(x, y)),
        flag_invalid);
  }
  const auto is_nan = [&](Value* x) { return builder_.CreateFCmpUNO(x, x); };
  const auto is_finite = [&](Value* x) {
    Value* size = builder_.CreateUnaryIntrinsic(Intrinsic::fabs, x);
    return builder_.CreateFCmpOLT(size, ConstantFP::getInfinity(x->getType()));
  };
  Value *finite = builder_.getTrue(), *number = builder_.getTrue();  // of all operands
  for (const Number& operand : operands)
    for (int k = 0; k < operand.parts; ++k) {
      if (!operand.part[k]->getType()->isFloatingPointTy()) continue;
      finite = builder_.CreateAnd(finite, is_finite(operand.part[k]));
      number = builder_.CreateAnd(number, builder_.CreateNot(is_nan(operand.part[k])));
    }
  for (int k = 0; k < made.parts; ++k) {
    raise_if(builder_.CreateAnd(is_nan(made.part[k]), number), flag_invalid);
    Value* large =
        builder_.CreateNot(builder_.CreateOr(is_finite(made.part[k]), is_nan(made.part[k])));
    // A part of a complex quotient may be either.
    Value *made_large = builder_.CreateAnd(large, finite), *pole = has_pole(op, operands);
    Value* is_pole_alone = made.parts == 1 ? pole : builder_.getFalse();
    raise_if(builder_.CreateAnd(made_large, builder_.CreateNot(is_pole_alone)), flag_overflow);
    raise_if(builder_.CreateAnd(made_large, pole), flag_divide);
  }
}

// Is it where the op's value is infinite?
Value* GridEmitter::has_pole(Op op, ArrayRef<Number> operands) {
  if (op == Op::Log || op == Op::Log2 || op == Op::Log10 || op == Op::Log1p || op == Op::Arctanh)
    return builder_.getTrue();
  const bool is_power = op == Op::Power || op == Op::FloatPower;
  if (!is_power && !divides(op)) return builder_.getFalse();
  const Number& base = is_power ? operands.front() : operands.back();
  Value* is_zero = builder_.getTrue();
  for (int k = 0; k < base.parts; ++k)
    is_zero = builder_.CreateAnd(
        is_zero,
        builder_.CreateFCmpOEQ(base.part[k], Constant::getNullValue(base.part[k]->getType())));
  return is_zero;
}

// As astype: complex to real drops the imaginary part, complex to bool asks whether any part is not
// zero.
Number GridEmitter::cast(DType from, DType to, const Number& operand) {
  if (from == to) return operand;
  const DType real_from = real_of(from), real_to = real_of(to);
  const auto convert = [&](Value* part) -> Value* {
    if (real_from == real_to) return part;
    Function* formula = formulas_.find(cast_symbol(real_from, real_to));
    check(formula != nullptr, "a conversion has a formula");
    Number argument;
    argument.part[0] = part;
    Value* converted = call_formula(*formula, argument);
    note_conversion(real_from, real_to, part, converted);
    return converted;
  };
  Number made{.parts = parts_of(to)};
  for (int k = 0; k < made.parts; ++k)
    made.part[k] =
        k < operand.parts ? convert(operand.part[k]) : Constant::getNullValue(element_type(to));
  if (to == DType::Bool && operand.parts == 2)
    made.part[0] = builder_.CreateOr(made.part[0], convert(operand.part[1]));
  return made;
}

void GridEmitter::note_conversion(DType from, DType to, Value* number, Value* converted) {
  if (!conversion_may_warn(from, to)) return;
  Value* size = builder_.CreateUnaryIntrinsic(Intrinsic::fabs, number);
  Value* infinity = ConstantFP::getInfinity(number->getType());
  if (is_float(to)) {
    Value* made = builder_.CreateUnaryIntrinsic(Intrinsic::fabs, converted);
    raise_if(
        builder_.CreateAnd(builder_.CreateFCmpOLT(size, infinity),
                           builder_.CreateFCmpOEQ(made, ConstantFP::getInfinity(made->getType()))),
        flag_overflow);
    return;
  }
  // All that could be out of range for an integer of half the range, so that nothing is missed.
  const int bits = 8 * size_of(to) - 1;
  const bool is_half = number->getType()->isHalfTy();
  constexpr int most_bits_of_half = 15;
  const double limit = std::ldexp(1.0, is_half ? std::min(bits, most_bits_of_half) : bits);
  raise_if(builder_.CreateFCmpUGE(size, ConstantFP::get(number->getType(), limit)), flag_invalid);
}

}  // namespace frit::codegen
