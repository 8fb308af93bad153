// grid_reduce.cpp: reductions in the order that kernel.h prescribes, by one thread or by a block.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "codegen/grid/grid_emitter.h"
#include "codegen/pairwise.h"
#include "ir/error.h"

namespace frit::codegen {

using namespace llvm;

namespace {

constexpr unsigned warp = 32;

}  // namespace

// ---- opening and closing ------------------------------------------------------------------------

std::vector<GridSum> GridEmitter::open_sums(const Instr& instr) {
  std::vector<GridSum> sums;
  const bool is_shared = instr.vector && code_.form != GridForm::Threads;
  for (const Reduction& reduction : instr.reductions) {
    GridSum sum;
    sum.reduction = &reduction;
    sum.dtype = dtype_of(reduction.value);
    sum.is_tree = tree_class(reduction.op, sum.dtype) != 0;
    sum.sum_dtype = sum.is_tree && sum.dtype == DType::Float16 ? DType::Float32 : sum.dtype;
    if (is_shared && !sum.is_tree && !reduces_in_any_order(reduction.op, sum.dtype))
      throw Unsupported{"its reductions by " + std::string(info(reduction.op).name) + " of " +
                        std::string(info(sum.dtype).name) + " go one by one"};
    if (!sums.empty() && sums.front().is_tree != sum.is_tree)
      throw Unsupported{"sums and other reductions share a loop"};
    code_.adds_in_trees |= is_shared && sum.is_tree;
    make_memory(sum.total, sum.sum_dtype, "total");
    if (!sum.is_tree) {
      sum.started = stack(builder_.getInt1Ty(), "started");
      builder_.CreateStore(builder_.getFalse(), sum.started);
      for (int k = 0; k < parts_of(sum.dtype); ++k)
        builder_.CreateStore(Constant::getNullValue(element_type(sum.dtype)), sum.total[k]);
    }
    sums.push_back(sum);
  }
  return sums;
}

// One value more, where any order gives the same bits or this is the order.
void GridEmitter::take(GridSum& sum, const Number& added) {
  const Number before = load_parts(sum.total, sum.dtype);
  if_then(
      builder_.CreateLoad(builder_.getInt1Ty(), sum.started),
      [&] {
        store_parts(sum.total, apply(sum.reduction->op, sum.dtype, sum.dtype, {before, added}),
                    sum.dtype);
      },
      [&] { store_parts(sum.total, added, sum.dtype); });
  builder_.CreateStore(builder_.getTrue(), sum.started);
}

// The local = op(the local, the result).
void GridEmitter::close_sum(GridSum& sum) {
  Number result = load_parts(sum.total, sum.sum_dtype);
  if (sum.sum_dtype != sum.dtype) result = cast(sum.sum_dtype, sum.dtype, result);
  const auto number = static_cast<std::size_t>(sum.reduction->local);
  check(locals_[number][0] != nullptr, "a reduction's local is written before its loop");
  const Number before = load_parts(locals_[number].data(), sum.dtype);
  store_parts(locals_[number].data(),
              apply(sum.reduction->op, sum.dtype, sum.dtype, {before, result}), sum.dtype);
}

// ---- of a block's threads -----------------------------------------------------------------------

// One place of eight bytes in the block's memory.
Value* GridEmitter::shared_at(Value* place) {
  constexpr unsigned shared_memory = 3;
  if (!shared_) {
    auto* type = ArrayType::get(builder_.getInt64Ty(), most_grid_threads);
    shared_ = new GlobalVariable(module_, type, /*isConstant=*/false, GlobalValue::InternalLinkage,
                                 PoisonValue::get(type), "shared", nullptr,
                                 GlobalValue::NotThreadLocal, shared_memory);
  }
  return builder_.CreateGEP(builder_.getInt64Ty(), shared_, place);
}

// In any order: halves of the threads onto the others, as far as they have a value. `count`
// iterations of the loop were shared among them.
void GridEmitter::fold_shared(GridSum& sum, Value* count) {
  check(parts_of(sum.dtype) == 1, "reductions in any order are of real numbers");
  Type* type = element_type(sum.dtype);
  Value* active = builder_.CreateBinaryIntrinsic(Intrinsic::smin, count, threads_);
  const auto place = [&](Value* thread) { return shared_at(thread); };
  barrier();
  builder_.CreateStore(builder_.CreateLoad(type, sum.total[0]), place(thread_));
  BasicBlock* before = builder_.GetInsertBlock();
  BasicBlock *test = new_block("fold"), *inside = new_block("half"), *after = new_block("folded");
  Value* first = builder_.CreateLShr(threads_, 1);
  builder_.CreateBr(test);
  builder_.SetInsertPoint(test);
  PHINode* half = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  half->addIncoming(first, before);
  barrier();
  builder_.CreateCondBr(builder_.CreateICmpSGT(half, int64(0)), inside, after);
  builder_.SetInsertPoint(inside);
  Value* other = builder_.CreateAdd(thread_, half);
  if_then(builder_.CreateAnd(builder_.CreateICmpSLT(thread_, half),
                             builder_.CreateICmpSLT(other, active)),
          [&] {
            Number x, y;
            x.part[0] = builder_.CreateLoad(type, place(thread_));
            y.part[0] = builder_.CreateLoad(type, place(other));
            builder_.CreateStore(apply(sum.reduction->op, sum.dtype, sum.dtype, {x, y}).part[0],
                                 place(thread_));
          });
  half->addIncoming(builder_.CreateLShr(half, 1), builder_.GetInsertBlock());
  builder_.CreateBr(test);
  builder_.SetInsertPoint(after);
  builder_.CreateStore(builder_.CreateLoad(type, place(int64(0))), sum.total[0]);
  barrier();
}

// From another thread of the same group: at an exclusive-or distance, or with this number of the
// warp.
Value* GridEmitter::shuffle(Value* number, Value* lane, bool by_distance) {
  Type* type = number->getType();
  const unsigned bits = type->getScalarSizeInBits();
  Value* word = builder_.CreateBitCast(number, builder_.getIntNTy(bits));
  const unsigned count = accumulators_of_tree(sums_.back()->front().dtype);
  Value* in_warp =
      builder_.CreateTrunc(builder_.CreateAnd(thread_, int64(warp - 1)), builder_.getInt32Ty());
  Value* first = builder_.CreateAnd(in_warp, int32(~(count - 1)));
  Value* members = builder_.CreateShl(int32((1u << count) - 1), first);
  const auto move = [&](Value* half) {
    return by_distance ? builder_.CreateIntrinsic(Intrinsic::nvvm_shfl_sync_bfly_i32, {},
                                                  {members, half, lane, int32(warp - 1)})
                       : builder_.CreateIntrinsic(
                             Intrinsic::nvvm_shfl_sync_idx_i32, {},
                             {members, half, builder_.CreateAdd(first, lane), int32(warp - 1)});
  };
  if (bits <= 32) {
    Value* moved = move(builder_.CreateZExt(word, builder_.getInt32Ty()));
    return builder_.CreateBitCast(builder_.CreateTrunc(moved, word->getType()), type);
  }
  Value* low = move(builder_.CreateTrunc(word, builder_.getInt32Ty()));
  Value* high = move(builder_.CreateTrunc(builder_.CreateLShr(word, 32), builder_.getInt32Ty()));
  Value* whole =
      builder_.CreateOr(builder_.CreateZExt(low, word->getType()),
                        builder_.CreateShl(builder_.CreateZExt(high, word->getType()), 32));
  return builder_.CreateBitCast(whole, type);
}

Number GridEmitter::add(DType dtype, const Number& x, const Number& y) {
  return apply(Op::Add, dtype, dtype, {x, y});
}

// A group of as many threads as a leaf has accumulators takes a part of the tree: the block's
// groups begin at the root and go left or right by the bits of their numbers. What is behind a leaf
// that is met on the way has one owner.
void GridEmitter::shared_tree(const Instr& instr, std::vector<GridSum>& sums, Value* begin,
                              Value* end) {
  const unsigned count = accumulators_of_tree(sums.front().dtype);
  const int places = static_cast<int>(most_grid_threads / count);  // for one part of one sum
  Type* int64_type = builder_.getInt64Ty();
  Value* group = builder_.CreateUDiv(thread_, int64(count));
  Value* groups = builder_.CreateUDiv(threads_, int64(count));
  Value *from = stack(int64_type, "from"), *to = stack(int64_type, "to"),
        *splits = stack(int64_type, "splits"), *is_owner = stack(builder_.getInt1Ty(), "owner");
  builder_.CreateStore(begin, from);
  builder_.CreateStore(end, to);
  builder_.CreateStore(int64(0), splits);
  builder_.CreateStore(builder_.getTrue(), is_owner);
  const auto read = [&](Value* memory) { return builder_.CreateLoad(int64_type, memory); };
  // `width`: how many groups share the node.
  const auto halvings = [&](bool upwards, const std::function<void(Value*)>& emit_code) {
    BasicBlock* before = builder_.GetInsertBlock();
    BasicBlock *test = new_block("level"), *inside = new_block("node"), *after = new_block("end");
    Value* two = int64(2);
    builder_.CreateBr(test);
    builder_.SetInsertPoint(test);
    PHINode* width = builder_.CreatePHI(int64_type, 2);
    width->addIncoming(upwards ? two : groups, before);
    builder_.CreateCondBr(
        upwards ? builder_.CreateICmpSLE(width, groups) : builder_.CreateICmpSGE(width, two),
        inside, after);
    builder_.SetInsertPoint(inside);
    emit_code(width);
    width->addIncoming(upwards ? builder_.CreateShl(width, 1) : builder_.CreateLShr(width, 1),
                       builder_.GetInsertBlock());
    builder_.CreateBr(test);
    builder_.SetInsertPoint(after);
  };
  halvings(false, [&](Value* width) {
    Value* length = builder_.CreateSub(read(to), read(from));
    Value* half = builder_.CreateLShr(width, 1);
    Value* is_right = builder_.CreateICmpNE(builder_.CreateAnd(group, half), int64(0));
    if_then(
        builder_.CreateICmpSGT(length, int64(count * rounds_in_tree_leaf)),
        [&] {
          Value* middle = builder_.CreateAdd(
              read(from), builder_.CreateAnd(builder_.CreateLShr(length, 1),
                                             int64(-static_cast<std::int64_t>(count))));
          builder_.CreateStore(builder_.CreateOr(read(splits), width), splits);
          builder_.CreateStore(builder_.CreateSelect(is_right, middle, read(from)), from);
          builder_.CreateStore(builder_.CreateSelect(is_right, read(to), middle), to);
        },
        [&] {
          Value* owns = builder_.CreateLoad(builder_.getInt1Ty(), is_owner);
          builder_.CreateStore(builder_.CreateAnd(owns, builder_.CreateNot(is_right)), is_owner);
        });
  });
  for (GridSum& sum : sums) {
    make_memory(sum.slots, sum.sum_dtype, "accumulator");
    for (int k = 0; k < parts_of(sum.dtype); ++k)  // of who owns nothing: not looked at
      builder_.CreateStore(Constant::getNullValue(element_type(sum.sum_dtype)), sum.total[k]);
  }
  if_then(builder_.CreateLoad(builder_.getInt1Ty(), is_owner), [&] {
    tree(sums, read(from), read(to), [&](Value* a, Value* b) { group_leaf(instr, sums, a, b); });
  });
  // One sum after another in the same memory.
  Value* is_first = builder_.CreateICmpEQ(builder_.CreateURem(thread_, int64(count)), int64(0));
  for (GridSum& sum : sums) {
    Type* type = element_type(sum.sum_dtype);
    const auto place = [&](Value* of_group, int part) {
      return shared_at(builder_.CreateAdd(of_group, int64(part * places)));
    };
    const auto load = [&](Value* of_group) {
      Number number{.parts = parts_of(sum.dtype)};
      for (int k = 0; k < number.parts; ++k)
        number.part[k] = builder_.CreateLoad(type, place(of_group, k));
      return number;
    };
    const auto save = [&](const Number& number, Value* of_group) {
      for (int k = 0; k < number.parts; ++k)
        builder_.CreateStore(number.part[k], place(of_group, k));
    };
    barrier();
    if_then(is_first, [&] { save(load_parts(sum.total, sum.sum_dtype), group); });
    barrier();
    halvings(true, [&](Value* width) {
      Value* half = builder_.CreateLShr(width, 1);
      Value* is_left = builder_.CreateICmpEQ(
          builder_.CreateAnd(group, builder_.CreateSub(width, int64(1))), int64(0));
      Value* was_split = builder_.CreateICmpNE(builder_.CreateAnd(read(splits), width), int64(0));
      if_then(builder_.CreateAnd(builder_.CreateAnd(is_first, is_left), was_split), [&] {
        save(add(sum.sum_dtype, load(group), load(builder_.CreateAdd(group, half))), group);
      });
      barrier();
    });
    store_parts(sum.total, load(int64(0)), sum.sum_dtype);
    barrier();
  }
}

// Each thread of the group adds up every eighth value; what is behind the last whole round is then
// added to their sum, one after another.
void GridEmitter::group_leaf(const Instr& instr, std::vector<GridSum>& sums, Value* begin,
                             Value* end) {
  const unsigned count = accumulators_of_tree(sums.front().dtype);
  Value* lane = builder_.CreateURem(thread_, int64(count));
  Value* length = builder_.CreateSub(end, begin);
  Value* whole = builder_.CreateAnd(length, int64(-static_cast<std::int64_t>(count)));
  std::vector<std::array<Value*, 2>> rests(sums.size());
  const auto minus_zero = [&](DType dtype) {
    Number zero{.parts = parts_of(dtype)};
    for (int k = 0; k < zero.parts; ++k)
      zero.part[k] = ConstantFP::getNegativeZero(element_type(dtype));
    return zero;
  };
  for (std::size_t k = 0; k < sums.size(); ++k) {
    make_memory(rests[k].data(), sums[k].sum_dtype, "rest");
    store_parts(rests[k].data(), minus_zero(sums[k].sum_dtype), sums[k].sum_dtype);
    store_parts(sums[k].slots, minus_zero(sums[k].sum_dtype), sums[k].sum_dtype);
  }
  counted(builder_.CreateAdd(begin, lane), end, int64(count), [&](Value* index) {
    body(instr, index);
    Value* is_whole =
        builder_.CreateICmpSLT(builder_.CreateSub(builder_.CreateSub(index, begin), lane), whole);
    for (std::size_t k = 0; k < sums.size(); ++k) {
      GridSum& sum = sums[k];
      const Number added = cast(sum.dtype, sum.sum_dtype, value(sum.reduction->value));
      if_then(
          is_whole,
          [&] {
            store_parts(sum.slots, add(sum.sum_dtype, load_parts(sum.slots, sum.sum_dtype), added),
                        sum.sum_dtype);
          },
          [&] { store_parts(rests[k].data(), added, sum.sum_dtype); });
    }
  });
  Value* behind = builder_.CreateSub(length, whole);
  for (std::size_t k = 0; k < sums.size(); ++k) {
    GridSum& sum = sums[k];
    const auto moved = [&](const Number& number, Value* from, bool by_distance) {
      Number result{.parts = number.parts};
      for (int part = 0; part < number.parts; ++part)
        result.part[part] = shuffle(number.part[part], from, by_distance);
      return result;
    };
    Number all = load_parts(sum.slots, sum.sum_dtype);
    for (unsigned distance = 1; distance < count; distance *= 2)
      all = add(sum.sum_dtype, all, moved(all, int32(distance), true));
    store_parts(sum.total, all, sum.sum_dtype);
    const Number rest = load_parts(rests[k].data(), sum.sum_dtype);
    if_then(builder_.CreateICmpSGT(behind, int64(0)), [&] {
      for (unsigned from = 0; from + 1 < count; ++from) {
        const Number added = moved(rest, int32(from), false);
        if_then(builder_.CreateICmpSLT(int64(from), behind), [&] {
          store_parts(sum.total, add(sum.sum_dtype, load_parts(sum.total, sum.sum_dtype), added),
                      sum.sum_dtype);
        });
      }
    });
  }
}

// ---- of one thread ------------------------------------------------------------------------------

void GridEmitter::serial_tree(const Instr& instr, std::vector<GridSum>& sums, Value* begin,
                              Value* end) {
  const unsigned count = accumulators_of_tree(sums.front().dtype);
  for (GridSum& sum : sums)
    for (int k = 0; k < parts_of(sum.dtype); ++k)
      sum.slots[k] = stack(ArrayType::get(element_type(sum.sum_dtype), count), "slots");
  tree(sums, begin, end, [&](Value* a, Value* b) { serial_leaf(instr, sums, a, b); });
}

// The accumulators take turns; what is behind the last whole round is added to their sum.
void GridEmitter::serial_leaf(const Instr& instr, std::vector<GridSum>& sums, Value* begin,
                              Value* end) {
  const unsigned count = accumulators_of_tree(sums.front().dtype);
  Value* whole =
      builder_.CreateAnd(builder_.CreateSub(end, begin), int64(-static_cast<std::int64_t>(count)));
  const auto slot_of = [&](GridSum& sum, Value* number) {
    std::array<Value*, 2> slot{};
    for (int k = 0; k < parts_of(sum.dtype); ++k)
      slot[static_cast<std::size_t>(k)] =
          builder_.CreateGEP(element_type(sum.sum_dtype), sum.slots[k], number);
    return slot;
  };
  for (GridSum& sum : sums)
    for (unsigned slot = 0; slot < count; ++slot)
      for (int k = 0; k < parts_of(sum.dtype); ++k)
        builder_.CreateStore(ConstantFP::getNegativeZero(element_type(sum.sum_dtype)),
                             slot_of(sum, int64(slot))[static_cast<std::size_t>(k)]);
  const auto combine = [&] {
    for (GridSum& sum : sums) {
      SmallVector<Number, 8> r;
      for (unsigned slot = 0; slot < count; ++slot)
        r.push_back(load_parts(slot_of(sum, int64(slot)).data(), sum.sum_dtype));
      for (unsigned width = count / 2; width > 0; width /= 2)
        for (unsigned k = 0; k < width; ++k) r[k] = add(sum.sum_dtype, r[2 * k], r[2 * k + 1]);
      store_parts(sum.total, r[0], sum.sum_dtype);
    }
  };
  const auto rounds = [&](Value* from, Value* to, bool is_whole) {
    counted(from, to, int64(1), [&](Value* index) {
      body(instr, index);
      Value* turn = builder_.CreateAnd(builder_.CreateSub(index, begin), int64(count - 1));
      for (GridSum& sum : sums) {
        const Number added = cast(sum.dtype, sum.sum_dtype, value(sum.reduction->value));
        std::array<Value*, 2> memory{sum.total[0], sum.total[1]};
        if (is_whole) memory = slot_of(sum, turn);
        store_parts(memory.data(),
                    add(sum.sum_dtype, load_parts(memory.data(), sum.sum_dtype), added),
                    sum.sum_dtype);
      }
    });
  };
  Value* middle = builder_.CreateAdd(begin, whole);
  rounds(begin, middle, true);
  combine();
  rounds(middle, end, false);
}

void GridEmitter::tree(std::vector<GridSum>& sums, Value* begin, Value* end,
                       const std::function<void(Value*, Value*)>& leaf) {
  const unsigned count = accumulators_of_tree(sums.front().dtype);
  Type* int64_type = builder_.getInt64Ty();
  Value* to_do = stack(ArrayType::get(int64_type, deepest_tree), "to_do");
  for (GridSum& sum : sums)
    for (int k = 0; k < parts_of(sum.dtype); ++k)
      sum.left[k] = stack(ArrayType::get(element_type(sum.sum_dtype), deepest_tree), "left");
  const auto left_at = [&](GridSum& sum, Value* depth) {
    std::array<Value*, 2> memory{};
    for (int k = 0; k < parts_of(sum.dtype); ++k)
      memory[static_cast<std::size_t>(k)] =
          builder_.CreateGEP(element_type(sum.sum_dtype), sum.left[k], depth);
    return memory;
  };
  emit_pairwise(
      builder_, count, to_do, begin, end,
      {.leaf = leaf,
       .keep =
           [&](Value* depth) {
             for (GridSum& sum : sums)
               store_parts(left_at(sum, depth).data(), load_parts(sum.total, sum.sum_dtype),
                           sum.sum_dtype);
           },
       .join =
           [&](Value* depth) {
             for (GridSum& sum : sums)
               store_parts(sum.total,
                           add(sum.sum_dtype, load_parts(left_at(sum, depth).data(), sum.sum_dtype),
                               load_parts(sum.total, sum.sum_dtype)),
                           sum.sum_dtype);
           }});
}

}  // namespace frit::codegen
