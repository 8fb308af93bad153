// emit_memory.cpp: loads and stores, by how the lanes of an access lie in memory.
#include <algorithm>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

#include "codegen/emitter.h"

namespace frit::codegen {

using namespace llvm;

namespace {

// Arrays from outside may be misaligned, and unaligned moves cost nothing where the data is
// aligned.
constexpr Align any_alignment;  // of one byte

}  // namespace

// ---- addresses ----------------------------------------------------------------------------------

Value* Emitter::integer(std::int32_t number) {
  Value*& loaded = integers_[static_cast<std::size_t>(number)];
  if (loaded) return loaded;
  IRBuilder<>::InsertPointGuard guard(builder_);
  builder_.SetInsertPoint(entry_->getTerminator());
  Value* at =
      builder_.CreateConstGEP1_64(int64_, function_->getArg(1), static_cast<unsigned>(number));
  return loaded = builder_.CreateLoad(int64_, at);
}

Value* Emitter::stride_of(const Address& address, const Term& term) {
  if (term.stride != unit_stride) return integer(term.stride);
  return int64(size_of(kernel_.operands[static_cast<std::size_t>(address.operand)].dtype));
}

// Elements side by side are counted by the type: GVN doesn't follow products from round to round.
Value* Emitter::along(Value* pointer, const Address& address, const Term& term, Value* index) {
  const auto size = static_cast<unsigned>(
      size_of(kernel_.operands[static_cast<std::size_t>(address.operand)].dtype));
  if (term.stride == unit_stride)
    return builder_.CreateGEP(builder_.getIntNTy(8 * size), pointer, index);
  return builder_.CreatePtrAdd(pointer, builder_.CreateMul(index, stride_of(address, term)));
}

// Adds the terms whose index is the same in all lanes: those from outside the innermost loop, or
// those from inside it.
Value* Emitter::add_uniform_terms(const Address& address, bool outer, Value* pointer) {
  for (const Term& term : address.terms) {
    Emitted& index = value(term.index);
    if (index.varies() || (index.level < level()) != outer) continue;
    pointer = along(pointer, address, term, index.part[0].scalar);
  }
  return pointer;
}

Value* Emitter::add_affine_bases(const Address& address, bool outer, Value* pointer) {
  for (const Term& term : address.terms) {
    Emitted& index = value(term.index);
    if (!index.is_affine() || (index.level < level()) != outer) continue;
    pointer = along(pointer, address, term, index.base);
  }
  return pointer;
}

void Emitter::find_step(const Address& address, Place& place) {
  const DType dtype = kernel_.operands[static_cast<std::size_t>(address.operand)].dtype;
  Value* step = nullptr;
  for (const Term& term : address.terms) {
    Emitted& index = value(term.index);
    if (!index.is_affine()) continue;
    Value* own = builder_.CreateMul(index.step, stride_of(address, term));
    step = step ? builder_.CreateAdd(step, own) : own;
  }
  if (!step) return;
  const auto* literal = dyn_cast<ConstantInt>(step);
  const bool unit = literal && literal->getSExtValue() == size_of(dtype);
  place.kind = unit ? Place::Kind::Unit : Place::Kind::Strided;
  place.step = step;
  const auto* instruction = dyn_cast<Instruction>(step);
  const auto triple = [&] { place.triple = builder_.CreateMul(step, int64(3)); };
  if (unit) return;
  if (!instruction || instruction->getParent() == entry_)
    at_preheader(triple);
  else
    triple();
}

// 0, step, 2 * step, ..
Value* Emitter::evenly_spaced(Value* step) {
  return builder_.CreateMul(lane_numbers(), builder_.CreateVectorSplat(lanes_, step));
}

// Indices that are computed lane by lane: addresses are too, in scalar registers; or as a vector of
// offsets, where a gather takes one.
void Emitter::add_computed_terms(const Address& address, Place& place) {
  SmallVector<const Term*, 4> computed;
  for (const Term& term : address.terms)
    if (value(term.index).varies() && !value(term.index).is_affine()) computed.push_back(&term);
  if (computed.empty()) return;
  if (gathers(kernel_.operands[static_cast<std::size_t>(address.operand)].dtype)) {
    for (const Term* term : computed) {
      Value* stride = builder_.CreateVectorSplat(lanes_, stride_of(address, *term));
      Value* own = builder_.CreateMul(vector_of(value(term->index), 0), stride);
      place.offsets = place.offsets ? builder_.CreateAdd(place.offsets, own) : own;
    }
    if (place.step) place.offsets = builder_.CreateAdd(place.offsets, evenly_spaced(place.step));
    place.kind = Place::Kind::Computed;
    return;
  }
  SmallVector<Value*, 16> lanes;
  for (unsigned lane = 0; lane < lanes_; ++lane) {
    Value* pointer = lane_pointer(place, lane);
    for (const Term* term : computed) {
      Value* index = builder_.CreateExtractElement(vector_of(value(term->index), 0), lane);
      pointer = along(pointer, address, *term, index);
    }
    lanes.push_back(pointer);
  }
  place.lanes = lanes;
  place.kind = Place::Kind::Computed;
}

Place Emitter::place(const Address& address) {
  Place place{.pointer = operand_pointers_[static_cast<std::size_t>(address.operand)]};
  at_preheader([&] {
    place.pointer = add_uniform_terms(address, true, place.pointer);
    place.pointer = add_affine_bases(address, true, place.pointer);
  });
  place.pointer = add_uniform_terms(address, false, place.pointer);
  place.pointer = add_affine_bases(address, false, place.pointer);
  find_step(address, place);
  add_computed_terms(address, place);
  return place;
}

// In groups of four lanes, so that most addresses are a base and a scaled register, which costs
// nothing.
Value* Emitter::lane_pointer(const Place& place, unsigned lane) {
  if (!place.lanes.empty()) return place.lanes[lane];
  if (place.offsets)
    return builder_.CreatePtrAdd(place.pointer, builder_.CreateExtractElement(place.offsets, lane));
  if (place.kind == Place::Kind::Uniform) return place.pointer;
  if (place.kind == Place::Kind::Unit)
    return builder_.CreatePtrAdd(place.pointer, builder_.CreateMul(place.step, int64(lane)));
  Value* group = place.pointer;
  if (lane >= 4)
    group = builder_.CreatePtrAdd(group, builder_.CreateMul(place.step, int64(lane & ~3u)));
  switch (lane & 3u) {
    case 0:
      return group;
    case 1:
      return builder_.CreatePtrAdd(group, place.step);
    case 2:
      return builder_.CreatePtrAdd(group, builder_.CreateMul(place.step, int64(2)));
    default:
      return builder_.CreatePtrAdd(group, place.triple);
  }
}

// Inactive lanes get the address of an active one: they read what may be read.
void Emitter::make_safe(Place& place) {
  SmallVector<Value*, 16> own, active;
  for (unsigned lane = 0; lane < lanes_; ++lane) {
    own.push_back(lane_pointer(place, lane));
    active.push_back(builder_.CreateExtractElement(mask_, lane));
  }
  Value* first = own.back();
  for (unsigned lane = lanes_ - 1; lane-- > 0;)
    first = builder_.CreateSelect(active[lane], own[lane], first);
  place.lanes.clear();
  for (unsigned lane = 0; lane < lanes_; ++lane)
    place.lanes.push_back(builder_.CreateSelect(active[lane], own[lane], first));
}

// ---- loads --------------------------------------------------------------------------------------

// No iteration of an independent loop writes what others read, so what all of them read can be read
// before them; unless this iteration may have written it.
bool Emitter::is_hoistable_load(const Address& address) {
  int highest = 0;
  for (const Term& term : address.terms) highest = std::max(highest, value(term.index).level);
  return may_hoist(highest) && frame().independent && !frame().stored;
}

void Emitter::load(const Instr& instr) {
  const DType dtype = dtype_of(instr.result);
  Place from = place(instr.address);
  switch (from.kind) {
    case Place::Kind::Uniform: {
      Emitted result;
      if (is_hoistable_load(instr.address)) {
        at_preheader([&] { result = load_single(dtype, from.pointer); });
        result.level = level() - 1;
      } else {
        result = load_single(dtype, from.pointer);
      }
      return define(instr, result);
    }
    case Place::Kind::Unit:
      if (instr.streaming) prefetch(dtype, from);
      if (const auto found = neighbours_.find(&instr); found != neighbours_.end())
        return define(instr, load_neighbour(found->second, dtype, from.pointer));
      [[fallthrough]];
    case Place::Kind::Strided:
    case Place::Kind::Computed:
      return define(instr, count_ ? load_partial(dtype, from) : load_full(dtype, from));
  }
}

// The processor fetches ahead by itself, but within a page only, and a long body leaves it no room
// to look beyond: the chain of 20 operations took 1.3 times as long (schedule/caches.h).
void Emitter::prefetch(DType dtype, const Place& from) {
  constexpr unsigned ahead = 2048;
  prefetch(builder_.CreateConstGEP1_64(builder_.getInt8Ty(), from.pointer, ahead),
           lanes_ * static_cast<unsigned>(size_of(dtype)), false);
}

void Emitter::prefetch(Value* first, unsigned bytes, bool for_stores) {
  constexpr unsigned line = 64, kept = 3, data = 1;
  for (unsigned k = 0; k < bytes; k += line) {
    Value* place = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), first, k);
    builder_.CreateIntrinsic(Intrinsic::prefetch, {place->getType()},
                             {place, builder_.getInt32(for_stores ? 1 : 0), builder_.getInt32(kept),
                              builder_.getInt32(data)});
  }
}

// In the rounds of the loop from `index` on: their share, one line after another.
void Emitter::fetch(const Instr& loop, const Fetch& what, Value* index) {
  Value* first = operand_pointers_[static_cast<std::size_t>(what.address.operand)];
  at_preheader([&] { first = add_uniform_terms(what.address, true, first); });
  const DType dtype = kernel_.operands[static_cast<std::size_t>(what.address.operand)].dtype;
  const std::int64_t bytes = what.elements * size_of(dtype);
  Value* round = builder_.CreateSub(index, value(loop.args[0]).part[0].scalar);
  prefetch(builder_.CreatePtrAdd(first, builder_.CreateMul(round, int64(bytes))),
           lanes_ * static_cast<unsigned>(bytes), what.for_stores);
}

Emitted Emitter::load_full(DType dtype, Place& from) {
  const bool as_vector = from.kind == Place::Kind::Unit && (!mask_ || machine_.can_mask(dtype));
  return as_vector ? load_unit(dtype, from) : load_each(dtype, from);
}

// Which lanes of a partial iteration are active.
Value* Emitter::active_lanes() {
  return builder_.CreateICmpSLT(lane_numbers(), builder_.CreateVectorSplat(lanes_, count_));
}

// A partial iteration gathers its lanes in memory, or by a masked move; the others are copies of
// the first.
Emitted Emitter::load_partial(DType dtype, Place& from) {
  Value* loaded[2];
  make_memory(loaded, dtype, lanes_, "loaded");
  const auto move = [&] {
    Value* mask = active_lanes();
    Type* type = lanes_type(element_type(dtype), lanes_);
    Value* some = builder_.CreateFreeze(builder_.CreateMaskedLoad(
        type, from.pointer, any_alignment, mask, Constant::getNullValue(type)));
    Value* first =
        builder_.CreateVectorSplat(lanes_, builder_.CreateExtractElement(some, std::uint64_t{0}));
    builder_.CreateStore(builder_.CreateSelect(mask, some, first), loaded[0]);
  };
  const auto gather = [&] {
    Type* element = element_type(dtype);
    Value* memory =
        stack(lanes_type(element, lanes_ * static_cast<unsigned>(parts_of(dtype))), "lanes");
    const auto copy = [&](Value* source, Value* lane) {
      Value* to =
          builder_.CreateGEP(element, memory, builder_.CreateMul(lane, int64(parts_of(dtype))));
      store_single(load_single(dtype, source), dtype, to);
    };
    counted(int64(0), count_, 1, [&](Value* lane) {
      copy(builder_.CreatePtrAdd(from.pointer, builder_.CreateMul(lane, from.step)), lane);
    });
    counted(count_, int64(lanes_), 1, [&](Value* lane) { copy(from.pointer, lane); });
    store_parts(loaded, lanes_from_memory(dtype, memory), dtype, lanes_);
  };
  const bool moves = from.kind == Place::Kind::Unit && machine_.can_mask(dtype);
  if_then_else(
      is_full_, [&] { store_parts(loaded, load_full(dtype, from), dtype, lanes_); },
      [&] { moves ? move() : gather(); });
  return load_parts(loaded, dtype, lanes_);
}

// Complex elements as pairs.
Value* Emitter::lanes_in_memory(Emitted& what) {
  Value* vector = what.parts == 2 ? interleave(what) : vector_of(what, 0);
  Value* memory = stack(vector->getType(), "lanes");
  builder_.CreateStore(vector, memory);
  return memory;
}

Emitted Emitter::lanes_from_memory(DType dtype, Value* memory) {
  Type* type = lanes_type(element_type(dtype), lanes_ * static_cast<unsigned>(parts_of(dtype)));
  Value* loaded = builder_.CreateLoad(type, memory);
  if (parts_of(dtype) == 2) return deinterleave(loaded);
  Emitted result{.level = level()};
  result.part[0].vector = loaded;
  return result;
}

Emitted Emitter::load_single(DType dtype, Value* pointer) {
  Emitted result{.parts = parts_of(dtype), .level = level()};
  Type* type = element_type(dtype);
  for (int k = 0; k < result.parts; ++k)
    result.part[k].scalar = builder_.CreateAlignedLoad(
        type, k == 0 ? pointer : builder_.CreateConstGEP1_64(type, pointer, 1), any_alignment);
  return result;
}

Emitted Emitter::load_unit(DType dtype, const Place& from) {
  Emitted result{.parts = parts_of(dtype), .level = level()};
  Type* element = element_type(dtype);
  if (mask_) {
    Type* type = lanes_type(element, lanes_);
    Value* loaded = builder_.CreateMaskedLoad(type, from.pointer, any_alignment, mask_,
                                              Constant::getNullValue(type));
    // InstCombine (LLVM 22) merges a select by the same mask with the load, at the place of the
    // select: behind stores that may change what is loaded. It doesn't see through freeze, which
    // costs nothing.
    result.part[0].vector = builder_.CreateFreeze(loaded);
    return result;
  }
  if (result.parts == 1) {
    result.part[0].vector =
        builder_.CreateAlignedLoad(lanes_type(element, lanes_), from.pointer, any_alignment);
    return result;
  }
  return deinterleave(
      builder_.CreateAlignedLoad(lanes_type(element, 2 * lanes_), from.pointer, any_alignment));
}

// Is one instruction for all lanes faster than a load for each?
bool Emitter::gathers(DType dtype) const {
  return machine_.can_gather(dtype) && (mask_ || machine_.has_fast_gather);
}

// What inactive lanes get is no number that was computed from: see load_unit.
Emitted Emitter::load_gathered(DType dtype, const Place& from) {
  Value* offsets = from.offsets ? from.offsets : evenly_spaced(from.step);
  Value* pointers = builder_.CreateGEP(builder_.getInt8Ty(), from.pointer, offsets);
  Type* type = lanes_type(element_type(dtype), lanes_);
  Value* mask = mask_ ? mask_ : Constant::getAllOnesValue(lanes_type(bool_, lanes_));
  Value* loaded = builder_.CreateMaskedGather(type, pointers, any_alignment, mask,
                                              Constant::getNullValue(type));
  Emitted result{.parts = 1, .level = level()};
  result.part[0].vector = builder_.CreateFreeze(loaded);
  return result;
}

Emitted Emitter::load_each(DType dtype, Place& from) {
  if (gathers(dtype)) return load_gathered(dtype, from);
  if (mask_) make_safe(from);
  Emitted result{.parts = parts_of(dtype), .level = level()};
  Type* type = element_type(dtype);
  for (int k = 0; k < result.parts; ++k)
    result.part[k].vector = PoisonValue::get(lanes_type(type, lanes_));
  for (unsigned lane = 0; lane < lanes_; ++lane) {
    const Emitted one = load_single(dtype, lane_pointer(from, lane));
    for (int k = 0; k < result.parts; ++k)
      result.part[k].vector =
          builder_.CreateInsertElement(result.part[k].vector, one.part[k].scalar, lane);
  }
  return result;
}

// ---- stores -------------------------------------------------------------------------------------

void Emitter::store(const Instr& instr) {
  const DType dtype = kernel_.operands[static_cast<std::size_t>(instr.address.operand)].dtype;
  for (Frame& around : frames_) around.stored = true;
  Emitted& what = value(instr.args[0]);
  const Place to = place(instr.address);
  switch (to.kind) {
    case Place::Kind::Uniform:
      // Lanes that all write one element: iterations run in order, so the last one's value stays.
      if (!what.varies()) return store_single(what, dtype, to.pointer);
      if (count_)
        return store_single(extract(what, builder_.CreateSub(count_, int64(1))), dtype, to.pointer);
      return store_each(what, dtype, to);
    case Place::Kind::Unit:
    case Place::Kind::Strided:
    case Place::Kind::Computed:
      if (count_) return store_partial(what, dtype, to, instr.streaming);
      return store_full(what, dtype, to, instr.streaming && streaming_);
  }
}

void Emitter::store_full(Emitted& what, DType dtype, const Place& to, bool streaming) {
  if (to.kind == Place::Kind::Unit && (!mask_ || machine_.can_mask(dtype)))
    store_unit(what, dtype, to, streaming);
  else
    store_each(what, dtype, to);
}

void Emitter::store_partial(Emitted& what, DType dtype, const Place& to, bool streaming) {
  for (int k = 0; k < what.parts; ++k)
    vector_of(what, k);  // before the branches, all of which use it
  const auto full = [&] {
    if (!streaming || !aligned_) return store_full(what, dtype, to, false);
    if_then_else(
        aligned_, [&] { store_full(what, dtype, to, true); },
        [&] { store_full(what, dtype, to, false); });
  };
  const auto one_by_one = [&] {
    Type* element = element_type(dtype);
    Value* memory = lanes_in_memory(what);
    counted(int64(0), count_, 1, [&](Value* lane) {
      Value* from =
          builder_.CreateGEP(element, memory, builder_.CreateMul(lane, int64(parts_of(dtype))));
      Value* place = builder_.CreatePtrAdd(to.pointer, builder_.CreateMul(lane, to.step));
      store_single(load_single(dtype, from), dtype, place);
    });
  };
  const auto move = [&] {
    builder_.CreateMaskedStore(vector_of(what, 0), to.pointer, any_alignment, active_lanes());
  };
  const bool moves = to.kind == Place::Kind::Unit && machine_.can_mask(dtype);
  if_then_else(is_full_, full, [&] { moves ? move() : one_by_one(); });
}

void Emitter::store_single(const Emitted& what, DType dtype, Value* pointer) {
  Type* type = element_type(dtype);
  for (int k = 0; k < what.parts; ++k)
    builder_.CreateAlignedStore(what.part[k].scalar,
                                k == 0 ? pointer : builder_.CreateConstGEP1_64(type, pointer, 1),
                                any_alignment);
}

void Emitter::store_unit(Emitted& what, DType dtype, const Place& to, bool streaming) {
  Value* lanes = what.parts == 2 ? interleave(what) : vector_of(what, 0);
  if (mask_) {
    builder_.CreateMaskedStore(lanes, to.pointer, any_alignment, mask_);
    return;
  }
  const unsigned bytes = lanes_ * static_cast<unsigned>(size_of(dtype));
  if (!streaming || bytes < 16) {
    builder_.CreateAlignedStore(lanes, to.pointer, any_alignment);
    return;
  }
  StoreInst* made =
      builder_.CreateAlignedStore(lanes, to.pointer, Align(std::min(bytes, machine_.vector_bytes)));
  made->setMetadata(LLVMContext::MD_nontemporal,
                    MDNode::get(context_, ConstantAsMetadata::get(builder_.getInt32(1))));
  streamed_ = true;
}

// Under a mask lanes that are not active write to memory that nobody reads: where half of the lanes
// are active, branches are foreseen wrongly half of the time.
void Emitter::store_each(Emitted& what, DType dtype, const Place& to) {
  Value* nowhere = mask_ ? stack(lanes_type(element_type(dtype), 2), "nowhere") : nullptr;
  for (unsigned lane = 0; lane < lanes_; ++lane) {
    Value* pointer = lane_pointer(to, lane);
    if (mask_) {
      pointer = builder_.CreateSelect(builder_.CreateExtractElement(mask_, lane), pointer, nowhere);
      if (auto* select = dyn_cast<Instruction>(pointer))
        select->setMetadata(LLVMContext::MD_unpredictable, MDNode::get(context_, {}));
    }
    store_single(extract(what, int64(lane)), dtype, pointer);
  }
}

}  // namespace frit::codegen
