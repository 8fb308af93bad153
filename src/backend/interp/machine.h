// machine.h: runs a Program: the state of one running part of a launch.
#pragma once

#include <cstdint>

#include "backend/backend.h"
#include "backend/interp/arena.h"
#include "backend/interp/lanes.h"
#include "backend/interp/program.h"
#include "backend/stop.h"

namespace frit::interp {

class Machine {
 public:
  Machine(const Program& program, const LaunchArguments& arguments, std::byte* scratch);
  ~Machine() { arena_.release(mark_); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // Runs the kernel with iterations [begin, end) of its parallel loop.
  void run(std::int64_t begin, std::int64_t end);

 private:
  // Where the lanes of a load or store lie: lane k at memory + k * stride.
  struct Place {
    std::byte* memory;
    std::int64_t stride;
  };

  void execute(std::int32_t first, std::int32_t end);

  // machine.cpp
  void apply(const Step& step, std::byte* out);
  void apply_store(const Step& step);
  void apply_chain(const Step& step);
  void load(const Step& step);
  void load_from(const Place& from, const Step& step);
  void store(const Step& step);
  void move(const Step& step);
  void gather(const Step& step);
  void scatter(const Step& step);
  void copy_out(const Place& to, const std::byte* from, std::int64_t from_stride, int size);
  void save_overwritten(const Step& step, const Place& to, int size);
  template <class T>
  void save_overwritten(const T& owner, const std::byte* low, const std::byte* high);
  template <class T>
  void save_all(const T& owner);
  std::byte* scattered_place(const Step& step, std::int64_t* offsets);

  // branches.cpp
  struct Packing;
  void if_lanes(const Step& step, std::int32_t first);
  void while_lanes(const Step& step, std::int32_t first);
  void run_packed(const Region& region, const Lane* lanes, std::int64_t count, std::int32_t first,
                  std::int32_t end);

  // loops.cpp
  struct Reducing;
  void loop(const Step& step, std::int32_t first);
  void vector_loop(const Step& step, const LoopDetail& detail, std::int32_t first);
  void serial_loop(const Step& step, const LoopDetail& detail, std::int32_t first);
  bool added_rows(const Step& step, const LoopDetail& detail, std::int32_t first,
                  std::int64_t begin, std::int64_t end);
  bool short_reduction(const Step& step, const LoopDetail& detail, std::int32_t first,
                       std::int64_t begin, std::int64_t end);
  bool turned_rows(const Step& step, const LoopDetail& detail, std::int32_t first,
                   std::int64_t begin, std::int64_t end);
  bool takes_row(const LoopDetail& row);
  template <class PlaceOfRow>
  std::pair<Place, std::int64_t> over_rows(const LoopDetail& detail, std::int64_t begin,
                                           const PlaceOfRow& place);
  bool short_rows(const Step& step, const LoopDetail& detail, std::int32_t first,
                  std::int64_t begin, std::int64_t end);
  bool reduced_rows(const Step& step, const LoopDetail& detail, std::int32_t first,
                    std::int64_t begin, std::int64_t end);
  static bool reduces_at_once(const ReductionDetail& reduction);
  void reduce_block_at_once(const ReductionDetail& reduction);
  void run_block(const Step& step, const LoopDetail& detail, std::int32_t first, std::int64_t begin,
                 std::int64_t lanes);
  void reduce_lanes(const Reducing& loop, std::int64_t begin, std::int64_t n, int depth);
  void reduce_block(const Reducing& loop, std::int64_t begin, std::int64_t n, int depth);
  void add_lanes(const ReductionDetail& reduction, std::byte* carry, bool first);
  void reduce_iterations(const Reducing& loop, std::int64_t begin, std::int64_t n, int depth);
  void reduce_leaf(const Reducing& loop, std::int64_t begin, std::int64_t n, int depth);
  void add_iteration(const ReductionDetail& reduction, std::byte* into, bool first);
  void add_accumulators(const Reducing& loop, std::size_t number, std::int64_t width, int depth);
  void add_partial(const ReductionDetail& reduction, std::byte* into, std::byte* from);
  void add_in_order(const ReductionDetail& reduction, std::byte* carry);
  void read_carries(const Reducing& loop);
  void write_reduced(const ReductionDetail& reduction, std::byte* reduced);
  std::int64_t width_of_local(const ReductionDetail& reduction) const {
    return reduction.local_varies ? lanes_ : 1;
  }
  std::int64_t width_of(const ReductionDetail& reduction) const {
    return reduction.value_varies ? lanes_ : 1;
  }

  // Throws Stopped where somebody asks for it.
  void look_for_stop() const {
    if (program_.may_stop) stop_if_asked();
  }

  // Registers.
  std::byte*& reg(Register number) { return registers_[number]; }
  std::int64_t integer(Register number) const {
    std::int64_t value;
    __builtin_memcpy(&value, registers_[number], sizeof value);
    return value;
  }
  std::int64_t stride_of(const Term& term, int size) const {
    return term.stride == unit_stride ? size : arguments_.integers[term.stride];
  }
  std::byte* uniform_address(const Step& step) const {
    const Access& access = program_.accesses[static_cast<std::size_t>(step.access)];
    return uniform_address(access, step.size);
  }
  std::byte* uniform_address(const Access& access, int size) const {
    std::byte* address = bases_[access.operand];
    const Term* term = program_.terms.data() + access.first_term;
    for (int k = 0; k < access.uniform_terms; ++k)
      address += integer(term[k].index) * stride_of(term[k], size);
    return address;
  }
  Place lane_place(const Step& step) const;
  Place lane_place(const Step& step, std::int32_t access) const;
  std::uint8_t* conditions(Register number) { return reinterpret_cast<std::uint8_t*>(reg(number)); }
  Lane* lanes_in(Register number) { return reinterpret_cast<Lane*>(reg(number)); }
  bool is_own(const std::byte* memory) const { return memory >= frame_ && memory < frame_end_; }

  const Program& program_;
  const LaunchArguments& arguments_;
  Arena& arena_;
  const Arena::Mark mark_;
  std::byte** registers_;
  std::byte** bases_;  // of the operands
  const std::byte *frame_, *frame_end_;
  std::byte* temporaries_[3] = {};    // blocks for one step
  std::int64_t begin_ = 0, end_ = 0;  // of the parallel loop
  std::int64_t lane_ = 0;             // index of the first lane
  std::int64_t lanes_ = 1;            // in the current block
  // Where lanes are packed: the number of each in the vector loop's block.
  const Lane* places_ = nullptr;
  bool is_ended_ = false;  // the innermost loop in order: its other rounds do nothing
};

}  // namespace frit::interp
