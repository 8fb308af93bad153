// machine.cpp: runs steps: ops and memory. Loops: loops.cpp; branches by lane: branches.cpp.
#include "backend/interp/machine.h"

#include <algorithm>
#include <cstring>

#include "backend/interp/kept_flags.h"
#include "ir/per_thread.h"

namespace frit::interp {

namespace {

inline void copy_one(std::byte* to, const std::byte* from, int size) {
  with_size(size, [&](auto tag) { std::memcpy(to, from, decltype(tag)::value); });
}

}  // namespace

Machine::Machine(const Program& program, const LaunchArguments& arguments, std::byte* scratch)
    : program_(program), arguments_(arguments), arena_(per_thread<Arena>()), mark_(arena_.mark()) {
  const std::size_t registers = static_cast<std::size_t>(program.integers + program.scalars) +
                                program.constants.size() + program.frame_offsets.size();
  const std::size_t table_bytes =
      ((registers + program.operands.size()) * sizeof(std::byte*) + 63) & ~std::size_t{63};
  const auto temporary_bytes = static_cast<std::size_t>(program.temporary_bytes);
  std::byte* memory = arena_.take(table_bytes + static_cast<std::size_t>(program.frame_bytes) +
                                  3 * temporary_bytes);
  registers_ = reinterpret_cast<std::byte**>(memory);
  bases_ = registers_ + registers;
  std::byte* const frame = memory + table_bytes;
  frame_ = frame;
  frame_end_ = frame + program.frame_bytes + 3 * temporary_bytes;
  for (std::size_t k = 0; k < 3; ++k)
    temporaries_[k] = frame + program.frame_bytes + k * temporary_bytes;

  std::byte** next = registers_;
  for (std::int32_t k = 0; k < program.integers; ++k)
    *next++ = reinterpret_cast<std::byte*>(const_cast<std::int64_t*>(arguments.integers + k));
  for (std::int32_t k = 0; k < program.scalars; ++k)
    *next++ = const_cast<std::byte*>(arguments.scalars[k].bytes);
  for (const Scalar& constant : program.constants) *next++ = const_cast<std::byte*>(constant.bytes);
  for (std::int32_t offset : program.frame_offsets) *next++ = frame + offset;
  for (std::size_t k = 0; k < program.operands.size(); ++k) {
    const std::int32_t offset = program.operands[k].scratch_offset;
    bases_[k] = offset < 0 ? static_cast<std::byte*>(arguments.pointers[k])
                           : scratch + arguments.integers[offset];
  }
}

void Machine::run(std::int64_t begin, std::int64_t end) {
  begin_ = begin;
  end_ = end;
  execute(0, static_cast<std::int32_t>(program_.steps.size()));
}

void Machine::execute(std::int32_t first, std::int32_t end) {
  const Step* const steps = program_.steps.data();
  for (std::int32_t k = first; k < end; ++k) {
    const Step& step = steps[k];
    switch (step.kind) {
      case StepKind::Apply:
      case StepKind::ApplyWrite:
        apply(step, reg(step.out));
        break;
      case StepKind::ApplyStore:
        apply_store(step);
        break;
      case StepKind::ApplyChain:
        apply_chain(step);
        break;
      case StepKind::ApplyOnce: {
        void* const args[4] = {reg(step.out), reg(step.in[0]), reg(step.in[1]), reg(step.in[2])};
        const KeptFlags flags(step.is_silent);
        step.function(args, 1, 0);
        break;
      }
      case StepKind::AddIntegers:
      case StepKind::SubtractIntegers:
      case StepKind::MultiplyIntegers: {
        const auto x = static_cast<std::uint64_t>(integer(step.in[0]));
        const auto y = static_cast<std::uint64_t>(integer(step.in[1]));
        const std::uint64_t result = step.kind == StepKind::AddIntegers        ? x + y
                                     : step.kind == StepKind::SubtractIntegers ? x - y
                                                                               : x * y;
        std::memcpy(reg(step.out), &result, sizeof result);
        break;
      }
      case StepKind::Load:
        load(step);
        break;
      case StepKind::LoadOnce:
        copy_one(reg(step.out), uniform_address(step), step.size);
        break;
      case StepKind::Gather:
        gather(step);
        break;
      case StepKind::Store:
        store(step);
        break;
      case StepKind::Move:
        move(step);
        break;
      case StepKind::StoreOnce: {
        std::byte* const to = uniform_address(step);
        save_overwritten(step, to, to + step.size);
        copy_one(to, reg(step.in[0]), step.size);
        break;
      }
      case StepKind::Scatter:
        scatter(step);
        break;
      case StepKind::Copy:
        std::memcpy(reg(step.out), reg(step.in[0]), static_cast<std::size_t>(lanes_ * step.size));
        break;
      case StepKind::CopyOnce:
        copy_one(reg(step.out), reg(step.in[0]), step.size);
        break;
      case StepKind::Write:
        copy_out({reg(step.out), step.size}, reg(step.in[0]), step.splat ? 0 : step.size,
                 step.size);
        break;
      case StepKind::Loop:
        loop(step, k + 1);
        k = step.end - 1;
        break;
      case StepKind::If:
        if (*conditions(step.in[0])) {
          execute(k + 1, step.middle);
        } else {
          is_ended_ = step.ends_loop;
          execute(step.middle, step.end);
        }
        k = step.end - 1;
        break;
      case StepKind::IfLanes:
        if_lanes(step, k + 1);
        k = step.end - 1;
        break;
      case StepKind::While:
        for (;;) {
          look_for_stop();
          execute(k + 1, step.middle);
          if (!*conditions(step.in[0])) break;
          execute(step.middle, step.end);
        }
        k = step.end - 1;
        break;
      case StepKind::WhileLanes:
        while_lanes(step, k + 1);
        k = step.end - 1;
        break;
    }
  }
}

// ---- ops ----------------------------------------------------------------------------------------

void Machine::apply(const Step& step, std::byte* out) {
  void* const args[4] = {out, reg(step.in[0]), reg(step.in[1]), reg(step.in[2])};
  const KeptFlags flags(step.is_silent);
  step.function(args, lanes_, step.splat);
}

void Machine::apply_store(const Step& step) {
  const Place to = lane_place(step);
  if (step.hazard_count > 0) save_overwritten(step, to, step.size);
  if (!places_ && to.stride == step.size) return apply(step, to.memory);
  std::byte* const block = reg(step.spare);
  apply(step, block);
  if (places_)
    store_lanes(to.memory, to.stride, places_, block, step.size, lanes_, step.size);
  else
    copy_out(to, block, step.size, step.size);
}

void Machine::apply_chain(const Step& step) {
  const Chain& chain = program_.chains[static_cast<std::size_t>(step.detail)];
  const void* rows[chain_length];
  for (int k = 0; k < chain_length; ++k) rows[k] = reg(chain.rows[k]);
  const Place to = lane_place(step);
  if (step.hazard_count > 0) save_overwritten(step, to, step.size);
  const KeptFlags flags(step.is_silent);
  chain.loops.chain(to.memory, reg(step.in[0]), rows, lanes_);
}

// ---- memory -------------------------------------------------------------------------------------

Machine::Place Machine::lane_place(const Step& step) const { return lane_place(step, step.access); }
Machine::Place Machine::lane_place(const Step& step, std::int32_t number) const {
  const Access& access = program_.accesses[static_cast<std::size_t>(number)];
  const Term* const term = program_.terms.data() + access.first_term + access.uniform_terms;
  std::int64_t stride = 0;
  for (int k = 0; k < access.lane_terms; ++k) stride += stride_of(term[k], step.size);
  return {uniform_address(access, step.size) + lane_ * stride, stride};
}

void Machine::load(const Step& step) { load_from(lane_place(step), step); }

void Machine::load_from(const Place& from, const Step& step) {
  if (!places_ && from.stride == step.size) {
    reg(step.out) = from.memory;
    return;
  }
  std::byte* const block = reg(step.spare);
  if (places_)
    load_lanes(block, from.memory, from.stride, places_, lanes_, step.size);
  else
    copy_strided(block, step.size, from.memory, from.stride, lanes_, step.size);
  reg(step.out) = block;
}

// Copies the lanes from a block (or, with from_stride 0, from one element) to memory.
void Machine::copy_out(const Place& to, const std::byte* from, std::int64_t from_stride, int size) {
  if (to.stride != size)
    copy_strided(to.memory, to.stride, from, from_stride, lanes_, size);
  else if (from_stride == 0)
    fill(to.memory, from, lanes_, size);
  else
    std::memmove(to.memory, from, static_cast<std::size_t>(lanes_ * size));
}

void Machine::store(const Step& step) {
  const Place to = lane_place(step);
  if (step.hazard_count > 0) save_overwritten(step, to, step.size);
  const int from_stride = step.splat ? 0 : step.size;
  if (places_)
    store_lanes(to.memory, to.stride, places_, reg(step.in[0]), from_stride, lanes_, step.size);
  else
    copy_out(to, reg(step.in[0]), from_stride, step.size);
}

void Machine::move(const Step& step) {
  const Place from = lane_place(step), to = lane_place(step, step.detail);
  const std::byte* const last = from.memory + (lanes_ - 1) * from.stride;
  const std::byte *const low = std::min<const std::byte*>(from.memory, last),
                         *const high = std::max<const std::byte*>(from.memory, last) + step.size;
  const std::int64_t bytes = lanes_ * step.size;
  if (to.stride == step.size && (to.memory >= high || to.memory + bytes <= low))
    return copy_strided(to.memory, step.size, from.memory, from.stride, lanes_, step.size);
  copy_strided(reg(step.spare), step.size, from.memory, from.stride, lanes_, step.size);
  copy_out(to, reg(step.spare), step.size, step.size);
}

void Machine::save_overwritten(const Step& step, const Place& to, int size) {
  if (places_) return save_all(step);
  const std::byte* const last = to.memory + (lanes_ - 1) * to.stride;
  if (to.stride >= 0)
    save_overwritten(step, to.memory, last + size);
  else
    save_overwritten(step, last, to.memory + size);
}

template <class T>
void Machine::save_overwritten(const T& owner, const std::byte* low, const std::byte* high) {
  const Hazard* const hazards = program_.hazards.data() + owner.hazards;
  for (int k = 0; k < owner.hazard_count; ++k) {
    const std::byte* const begin = reg(hazards[k].direct);
    const std::int64_t bytes = lanes_ * hazards[k].size;
    if (begin >= high || begin + bytes <= low || is_own(begin)) continue;
    std::memcpy(reg(hazards[k].spare), begin, static_cast<std::size_t>(bytes));
    reg(hazards[k].direct) = reg(hazards[k].spare);
  }
}

template <class T>
void Machine::save_all(const T& owner) {
  save_overwritten(owner, nullptr, reinterpret_cast<const std::byte*>(UINTPTR_MAX));
}
template void Machine::save_all(const Region&);

namespace {

// The distance of each lane's element from the uniform part of its address.
void lane_offsets(std::int64_t* offsets, const Lane* places, std::int64_t stride, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) offsets[k] = (places ? places[k] : k) * stride;
}
void add_offsets(std::int64_t* offsets, const std::byte* indices, std::int64_t stride,
                 std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t index;
    std::memcpy(&index, indices + k * 8, sizeof index);
    offsets[k] += index * stride;
  }
}

}  // namespace

// Leaves the offsets in the first temporary.
std::byte* Machine::scattered_place(const Step& step, std::int64_t* offsets) {
  const Access& access = program_.accesses[static_cast<std::size_t>(step.access)];
  const Place place = lane_place(step);
  lane_offsets(offsets, places_, place.stride, lanes_);
  const Term* const term =
      program_.terms.data() + access.first_term + access.uniform_terms + access.lane_terms;
  for (int k = 0; k < access.varying_terms; ++k)
    add_offsets(offsets, reg(term[k].index), stride_of(term[k], step.size), lanes_);
  return place.memory;
}

void Machine::gather(const Step& step) {
  const Access& access = program_.accesses[static_cast<std::size_t>(step.access)];
  std::byte* const to = reg(step.out);
  if (access.varying_terms == 1) {
    const Place place = lane_place(step);
    const Term& term = program_.terms[static_cast<std::size_t>(
        access.first_term + access.uniform_terms + access.lane_terms)];
    const Steps steps{.lanes = places_,
                      .stride = place.stride,
                      .indices = reg(term.index),
                      .index_stride = stride_of(term, step.size)};
    return load_indexed(to, place.memory, steps, lanes_, step.size);
  }
  auto* const offsets = reinterpret_cast<std::int64_t*>(temporaries_[0]);
  const std::byte* const base = scattered_place(step, offsets);
  with_size(
      step.size,
      [](auto tag, std::byte* to, const std::byte* from, const std::int64_t* offsets, int n) {
        constexpr int size = decltype(tag)::value;
        for (int k = 0; k < n; ++k) std::memcpy(to + k * size, from + offsets[k], size);
      },
      to, base, offsets, static_cast<int>(lanes_));
}

void Machine::scatter(const Step& step) {
  auto* const offsets = reinterpret_cast<std::int64_t*>(temporaries_[0]);
  std::byte* const base = scattered_place(step, offsets);
  save_all(step);
  const std::byte* const from = reg(step.in[0]);
  with_size(
      step.size,
      [](auto tag, std::byte* to, const std::int64_t* offsets, const std::byte* from, bool splat,
         int n) {
        constexpr int size = decltype(tag)::value;
        const int from_stride = splat ? 0 : size;
        for (int k = 0; k < n; ++k) std::memcpy(to + offsets[k], from + k * from_stride, size);
      },
      base, offsets, from, step.splat != 0, static_cast<int>(lanes_));
}

}  // namespace frit::interp
