// emit_reduce.cpp: reductions in the order that kernel.h prescribes, in vector registers.
#include <complex>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

#include "codegen/emitter.h"
#include "codegen/pairwise.h"
#include "ir/neutral.h"

namespace frit::codegen {

using namespace llvm;

namespace {

// NumPy's pairwise sum has 8 accumulators of real numbers.
unsigned accumulators_of(DType dtype) { return is_complex(dtype) ? 4 : 8; }

Order order_of(const Reduction& reduction, DType dtype) {
  if (tree_class(reduction.op, dtype) != 0) return Order::Tree;
  return reduces_in_any_order(reduction.op, dtype) ? Order::Lanewise : Order::InOrder;
}

// Whether op(neutral, x) is x, tried for some x: gcd(0, x), for one, is the magnitude of x.
bool is_neutral(Op op, DType dtype, const Scalar& neutral) {
  const frit::Loop loop = frit::loop(op, dtype);
  if (!loop) return false;
  for (double sample : {-3.0, 0.0, 1.0, 5.0}) {
    if (sample < 0 && (is_unsigned(dtype) || is_bool(dtype))) continue;
    Scalar x = scalar_of(dtype, sample), result = x;
    void* arguments[] = {result.bytes, const_cast<std::byte*>(neutral.bytes), x.bytes};
    loop(arguments, 1, 0);
    if (std::memcmp(result.bytes, x.bytes, static_cast<std::size_t>(size_of(dtype))) != 0)
      return false;
  }
  return true;
}

}  // namespace

// ---- opening and closing ------------------------------------------------------------------------

Emitter::Accumulators Emitter::open_accumulators(const Instr& instr) {
  Accumulators accumulators;
  for (const Reduction& reduction : instr.reductions)
    accumulators.push_back(open_accumulator(reduction, instr.vector));
  return accumulators;
}

Accumulator Emitter::open_accumulator(const Reduction& reduction, bool vector) {
  Accumulator a;
  a.reduction = &reduction;
  a.dtype = dtype_of(reduction.value);
  a.over_lanes = vector;
  a.order = order_of(reduction, a.dtype);
  a.sum_dtype = a.order == Order::Tree && a.dtype == DType::Float16 ? DType::Float32 : a.dtype;
  a.lanes = is_varying(reduction.value) && !vector ? lanes_ : 1;
  if (a.order == Order::InOrder) {
    if (!vector) a.lanes = std::max(a.lanes, lanes_of_local(reduction.local));
    make_memory(a.narrow, a.dtype, a.lanes, "result");
    store_parts(a.narrow, load_local(reduction.local), a.dtype, a.lanes);
    return a;
  }
  make_memory(a.narrow, a.sum_dtype, a.lanes, "result");
  if (a.order == Order::Tree) {
    if (vector) {
      a.width = accumulators_of(a.dtype);
      make_memory(a.wide, a.sum_dtype, a.width, "accumulators");
    }
    return a;
  }
  const std::optional<Scalar> neutral =
      a.order == Order::Lanewise ? neutral_of(reduction.op, a.dtype) : std::nullopt;
  const bool starts_neutral = neutral && is_neutral(reduction.op, a.dtype, *neutral);
  const auto start = [&](Value* const* memory, Value*& started, unsigned lanes) {
    for (int k = 0; k < parts_of(a.dtype); ++k) {
      Value* first = starts_neutral ? constant(*neutral).part[k].scalar
                                    : Constant::getNullValue(element_type(a.dtype));
      builder_.CreateStore(lanes == 1 ? first : builder_.CreateVectorSplat(lanes, first),
                           memory[k]);
    }
    if (starts_neutral) return;
    started = stack(bool_, "started");
    builder_.CreateStore(builder_.getFalse(), started);
  };
  start(a.narrow, a.narrow_started, a.lanes);
  if (vector && a.order == Order::Lanewise) {
    a.width = vector_lanes_;
    make_memory(a.wide, a.dtype, a.width, "accumulators");
    start(a.wide, a.wide_started, a.width);
  }
  return a;
}

void Emitter::close_accumulator(Accumulator& a) {
  if (a.order == Order::Lanewise && a.width != 0) {
    if (a.wide_started)
      if_then(builder_.CreateLoad(bool_, a.wide_started), [&] { fold_wide(a); });
    else
      fold_wide(a);
  }
  Emitted reduced = load_parts(a.narrow, a.sum_dtype, a.lanes);
  if (a.sum_dtype != a.dtype) reduced = cast(a.sum_dtype, a.dtype, reduced);
  const std::int32_t number = a.reduction->local;
  if (a.order == Order::InOrder) return write_local(number, reduced);
  Emitted before = load_local(number);
  Emitted* operands[] = {&before, &reduced};
  write_local(number, apply(a.reduction->op, a.dtype, a.dtype, operands));
}

// ---- one value more -----------------------------------------------------------------------------

void Emitter::accumulate(Accumulator& a) {
  Emitted added = value(a.reduction->value);
  const bool main_part = a.over_lanes && lanes_ > 1;
  if (main_part && count_) return accumulate_partial(a, added);
  accumulate_full(a, added);
}

// In a partial iteration the values are taken from memory, one by one.
void Emitter::accumulate_partial(Accumulator& a, Emitted added) {
  for (int k = 0; k < added.parts; ++k) {
    vector_of(added, k);
    added.part[k].scalar = nullptr;
  }
  const auto one_by_one = [&] {
    Value* first = int64(0);
    if (a.order == Order::Tree) {
      Emitted terms = a.sum_dtype == a.dtype ? added : cast(a.dtype, a.sum_dtype, added);
      for (unsigned lane = a.width; lane < lanes_; lane += a.width)
        if_then(builder_.CreateICmpSGE(count_, int64(lane)),
                [&] { add_round(a, terms, lane - a.width); });
      store_parts(a.narrow, sum_of_lanes(a), a.sum_dtype, 1);
      first = builder_.CreateAnd(count_, int64(-std::int64_t{a.width}));
    }
    Value* memory = lanes_in_memory(added);
    counted(first, count_, 1, [&](Value* lane) {
      const unsigned lanes = lanes_;
      lanes_ = 1;
      Type* type = element_type(a.dtype);
      Value* at = builder_.CreateGEP(lanes_type(type, 1), memory,
                                     builder_.CreateMul(lane, int64(parts_of(a.dtype))));
      accumulate_full(a, load_single(a.dtype, at));
      lanes_ = lanes;
    });
  };
  if_then_else(
      is_full_, [&] { accumulate_full(a, added); }, one_by_one);
}

void Emitter::accumulate_full(Accumulator& a, Emitted added) {
  const bool main_part = a.over_lanes && lanes_ > 1;
  switch (a.order) {
    case Order::Tree:
      return accumulate_tree(a, added);
    case Order::Lanewise:
      return main_part ? fold(a.wide, a.wide_started, a, added, a.width)
                       : fold(a.narrow, a.narrow_started, a, added, a.lanes);
    case Order::InOrder:
      return accumulate_in_order(a, added);
  }
}

void Emitter::accumulate_in_order(Accumulator& a, Emitted added) {
  if (!a.over_lanes || lanes_ == 1) return fold(a.narrow, a.narrow_started, a, added, a.lanes);
  const unsigned lanes = lanes_;
  for (unsigned lane = 0; lane < lanes; ++lane)
    fold(a.narrow, a.narrow_started, a, extract(added, int64(lane)), 1);
}

// memory = op(memory, added), or `added` where there was nothing yet.
void Emitter::fold(Value* const* memory, Value* started, const Accumulator& a, Emitted added,
                   unsigned lanes) {
  Emitted before = load_parts(memory, a.dtype, lanes);
  Emitted* operands[] = {&before, &added};
  Emitted after = apply(a.reduction->op, a.dtype, a.dtype, operands);
  if (started) {
    after = select(builder_.CreateLoad(bool_, started), after, added);
    builder_.CreateStore(builder_.getTrue(), started);
  }
  store_parts(memory, after, a.dtype, lanes);
}

// Halves down to a vector of four, then one by one: shorter vectors are padded with garbage.
void Emitter::fold_wide(Accumulator& a) {
  const unsigned outer_lanes = lanes_;
  Emitted wide = load_parts(a.wide, a.dtype, a.width);
  for (lanes_ = a.width; lanes_ > 4;) {
    lanes_ /= 2;
    Emitted half[2];
    for (unsigned h = 0; h < 2; ++h) {
      half[h].parts = wide.parts;
      SmallVector<int, 32> picks;
      for (unsigned k = 0; k < lanes_; ++k) picks.push_back(static_cast<int>(h * lanes_ + k));
      for (int part = 0; part < wide.parts; ++part)
        half[h].part[part].vector = builder_.CreateShuffleVector(wide.part[part].vector, picks);
    }
    Emitted* operands[] = {&half[0], &half[1]};
    wide = apply(a.reduction->op, a.dtype, a.dtype, operands);
  }
  const unsigned rest = lanes_;
  lanes_ = outer_lanes;
  for (unsigned lane = 0; lane < rest; ++lane)
    fold(a.narrow, a.narrow_started, a, extract(wide, int64(lane)), 1);
}

// ---- the pairwise tree --------------------------------------------------------------------------

Emitted Emitter::add(DType dtype, Emitted x, Emitted y) {
  Emitted sum{.parts = parts_of(dtype), .level = level()};
  const bool varies = x.varies() || y.varies();
  for (int k = 0; k < sum.parts; ++k) {
    if (varies)
      sum.part[k].vector = builder_.CreateFAdd(vector_of(x, k), vector_of(y, k));
    else
      sum.part[k].scalar = builder_.CreateFAdd(x.part[k].scalar, y.part[k].scalar);
  }
  return sum;
}

void Emitter::accumulate_tree(Accumulator& a, Emitted added) {
  if (a.sum_dtype != a.dtype) added = cast(a.dtype, a.sum_dtype, added);
  if (a.over_lanes && lanes_ > 1) {
    for (unsigned lane = 0; lane < lanes_; lane += a.width) add_round(a, added, lane);
    return;
  }
  Value* memory[2] = {a.narrow[0], a.narrow[1]};
  if (frame().slot) {
    for (int k = 0; k < parts_of(a.dtype); ++k)
      memory[k] = builder_.CreateGEP(lanes_type(element_type(a.sum_dtype), a.lanes), a.slots[k],
                                     frame().slot);
  }
  Emitted before = load_parts(memory, a.sum_dtype, a.lanes);
  store_parts(memory, add(a.sum_dtype, before, added), a.sum_dtype, a.lanes);
}

// Adds the lanes from `first` on to the accumulators, one to each.
void Emitter::add_round(const Accumulator& a, Emitted& terms, unsigned first) {
  Emitted round{.parts = terms.parts, .level = level()};
  SmallVector<int, 8> picks;
  for (unsigned k = 0; k < a.width; ++k) picks.push_back(static_cast<int>(first + k));
  for (int k = 0; k < terms.parts; ++k) {
    Value* vector = vector_of(terms, k);
    round.part[k].vector = lanes_ == a.width ? vector : builder_.CreateShuffleVector(vector, picks);
  }
  Emitted before = load_parts(a.wide, a.sum_dtype, a.width);
  store_parts(a.wide, add(a.sum_dtype, before, round), a.sum_dtype, a.width);
}

namespace {

// Floats start from -0.0, which changes nothing it is added to.
Value* minus_zero(Type* type) { return ConstantFP::getNegativeZero(type); }

}  // namespace

// ((r0+r1)+(r2+r3)) + ((r4+r5)+(r6+r7)); of complex numbers (r0+r1)+(r2+r3). The last two levels in
// scalars, as in fold_wide.
Emitted Emitter::sum_of_lanes(const Accumulator& a) {
  Emitted result{.parts = parts_of(a.dtype), .level = level()};
  for (int k = 0; k < result.parts; ++k) {
    Value* r = builder_.CreateLoad(lanes_type(element_type(a.sum_dtype), a.width), a.wide[k]);
    if (a.width == 8)
      r = builder_.CreateFAdd(builder_.CreateShuffleVector(r, ArrayRef<int>{0, 2, 4, 6}),
                              builder_.CreateShuffleVector(r, ArrayRef<int>{1, 3, 5, 7}));
    Value* s[4];
    for (unsigned lane = 0; lane < 4; ++lane) s[lane] = builder_.CreateExtractElement(r, lane);
    result.part[k].scalar =
        builder_.CreateFAdd(builder_.CreateFAdd(s[0], s[1]), builder_.CreateFAdd(s[2], s[3]));
  }
  return result;
}

void Emitter::open_leaf(Accumulators& accumulators) {
  for (Accumulator& a : accumulators)
    for (int k = 0; a.order == Order::Tree && k < parts_of(a.dtype); ++k)
      builder_.CreateStore(minus_zero(lanes_type(element_type(a.sum_dtype), a.width)), a.wide[k]);
}

void Emitter::combine_leaf(Accumulators& accumulators) {
  for (Accumulator& a : accumulators)
    if (a.order == Order::Tree) store_parts(a.narrow, sum_of_lanes(a), a.sum_dtype, 1);
}

void Emitter::vector_leaf(const Instr& instr, Accumulators& accumulators, Value* begin, Value* end,
                          Value* aligned) {
  open_leaf(accumulators);
  Value* middle = builder_.CreateAdd(begin, whole_vectors(begin, end));
  vector_part(instr, begin, middle, aligned);
  combine_leaf(accumulators);
  single_part(instr, middle, end);
}

Emitted Emitter::sum_of_slots(const Accumulator& a) {
  const unsigned count = accumulators_of(a.dtype);
  SmallVector<Emitted, 8> r;
  for (unsigned slot = 0; slot < count; ++slot)
    r.push_back(load_parts(slot_memory(a, int64(slot)).data(), a.sum_dtype, a.lanes));
  for (unsigned width = count / 2; width > 0; width /= 2)
    for (unsigned k = 0; k < width; ++k) r[k] = add(a.sum_dtype, r[2 * k], r[2 * k + 1]);
  return r[0];
}

std::array<Value*, 2> Emitter::slot_memory(const Accumulator& a, Value* slot) {
  std::array<Value*, 2> memory{};
  Type* type = lanes_type(element_type(a.sum_dtype), a.lanes);
  for (int k = 0; k < parts_of(a.dtype); ++k)
    memory[static_cast<std::size_t>(k)] = builder_.CreateGEP(type, a.slots[k], slot);
  return memory;
}

// One iteration at a time, so the accumulators take turns; what is behind the last whole round is
// added to their sum. The body is emitted once: where it adds is a matter of the address.
void Emitter::serial_leaf(const Instr& instr, Accumulators& accumulators, Value* begin,
                          Value* end) {
  const auto first_tree =
      find_if(accumulators, [](const Accumulator& a) { return a.order == Order::Tree; });
  const unsigned count = accumulators_of(first_tree->dtype);
  Value* length = builder_.CreateSub(end, begin);
  Value* whole = builder_.CreateAnd(length, int64(-static_cast<std::int64_t>(count)));
  Value* has_whole = builder_.CreateICmpNE(whole, int64(0));
  const auto each_tree = [&](const std::function<void(Accumulator&)>& emit_code) {
    for (Accumulator& a : accumulators)
      if (a.order == Order::Tree) emit_code(a);
  };
  const auto clear = [&](Accumulator& a, unsigned first, unsigned last) {
    Type* type = lanes_type(element_type(a.sum_dtype), a.lanes);
    for (unsigned slot = first; slot < last; ++slot)
      for (Value* memory : slot_memory(a, int64(slot)))
        if (memory) builder_.CreateStore(minus_zero(type), memory);
  };
  const auto combine = [&] {
    each_tree([&](Accumulator& a) {
      store_parts(slot_memory(a, int64(count)).data(), sum_of_slots(a), a.sum_dtype, a.lanes);
    });
  };
  each_tree([&](Accumulator& a) { clear(a, count, count + 1); });
  if_then(has_whole, [&] { each_tree([&](Accumulator& a) { clear(a, 0, count); }); });
  counted(begin, end, 1, [&](Value* index) {
    Value* offset = builder_.CreateSub(index, begin);
    if_then(builder_.CreateAnd(has_whole, builder_.CreateICmpEQ(offset, whole)), combine);
    frame().slot =
        builder_.CreateSelect(builder_.CreateICmpSLT(offset, whole),
                              builder_.CreateAnd(offset, int64(count - 1)), int64(count));
    body(instr, index, lanes_);
    frame().slot = nullptr;
  });
  if_then(builder_.CreateICmpEQ(length, whole), combine);
  each_tree([&](Accumulator& a) {
    Emitted sum = load_parts(slot_memory(a, int64(count)).data(), a.sum_dtype, a.lanes);
    store_parts(a.narrow, sum, a.sum_dtype, a.lanes);
  });
}

void Emitter::tree(Accumulators& accumulators, Value* begin, Value* end,
                   const std::function<void(Value*, Value*)>& leaf) {
  std::vector<Accumulator*> sums;
  for (Accumulator& a : accumulators)
    if (a.order == Order::Tree) sums.push_back(&a);
  const unsigned count = accumulators_of(sums.front()->dtype);
  Value* to_do = stack(ArrayType::get(int64_, deepest_tree), "to_do");
  for (Accumulator* a : sums)
    for (int k = 0; k < parts_of(a->dtype); ++k) {
      Type* type = lanes_type(element_type(a->sum_dtype), a->lanes);
      a->left[k] = stack(ArrayType::get(type, deepest_tree), "left");
      if (a->width == 0) a->slots[k] = stack(ArrayType::get(type, count + 1), "slots");
    }
  const auto left_memory = [&](Accumulator& a, Value* depth) {
    std::array<Value*, 2> memory{};
    for (int k = 0; k < parts_of(a.dtype); ++k)
      memory[static_cast<std::size_t>(k)] =
          builder_.CreateGEP(lanes_type(element_type(a.sum_dtype), a.lanes), a.left[k], depth);
    return memory;
  };

  emit_pairwise(
      builder_, count, to_do, begin, end,
      {.leaf = leaf,
       .keep =
           [&](Value* depth) {
             for (Accumulator* a : sums)
               store_parts(left_memory(*a, depth).data(),
                           load_parts(a->narrow, a->sum_dtype, a->lanes), a->sum_dtype, a->lanes);
           },
       .join =
           [&](Value* depth) {
             for (Accumulator* a : sums) {
               Emitted left = load_parts(left_memory(*a, depth).data(), a->sum_dtype, a->lanes);
               Emitted own = load_parts(a->narrow, a->sum_dtype, a->lanes);
               store_parts(a->narrow, add(a->sum_dtype, left, own), a->sum_dtype, a->lanes);
             }
           }});
}

}  // namespace frit::codegen
