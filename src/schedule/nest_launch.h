// nest_launch.h: In: nodes of a plan. Out: one launch: its Kernel, and what its arguments are.
#pragma once

#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "ir/kernel_writer.h"
#include "schedule/nest_carried.h"
#include "schedule/nest_program.h"

namespace frit {

// The least or largest number of a type.
Scalar extreme_of(DType dtype, bool largest);
// What a sum by `op` starts from: adding it changes nothing, not even the sign of a zero.
Scalar start_of(Op op, DType dtype);
inline bool wants_least(Op compare) { return compare == Op::Less || compare == Op::LessEqual; }

// Writes one launch.
class LaunchWriter {
 public:
  LaunchWriter(const JudgedNest& judged, const NestPlan& plan, const PlanFacts& facts);
  // Nodes that run one after another, as one iteration.
  NestLaunch in_order(const std::vector<const PlanNode*>& nodes);
  NestLaunch parallel(const PlanNode& node);

 private:
  using Kind = NestLaunch::Integer::Kind;
  NestLaunch finish();
  bool has_inner_loop(const PlanNode& node) const;

  // ---- arguments --------------------------------------------------------------------------------
  template <class T>
  static std::int32_t number_of(std::vector<T>& list, const T& wanted, bool& added) {
    const auto found = std::find(list.begin(), list.end(), wanted);
    added = found == list.end();
    const auto number = static_cast<std::int32_t>(found - list.begin());
    if (added) list.push_back(wanted);
    return number;
  }
  std::int32_t integer_number(const NestLaunch::Integer& wanted);
  ValueId integer(const NestLaunch::Integer& wanted);
  ValueId scalar(const NestLaunch::Number& wanted, DType dtype);
  std::int32_t operand(const NestLaunch::Pointer& wanted, DType dtype, bool writes);
  ValueId host_local(std::size_t x);

  // ---- values -----------------------------------------------------------------------------------
  // A value of the launch, or else of the host, which is an argument.
  ValueId value(ValueId id);
  ValueId int_apply(Op op, ValueId a, ValueId b) { return writer_.apply(op, DType::Int64, a, b); }
  ValueId less(ValueId a, ValueId b) { return writer_.apply(Op::Less, DType::Bool, a, b); }
  Address address(const Instr& instr, bool writes);

  // ---- locals -----------------------------------------------------------------------------------
  std::int32_t local(std::size_t x);
  // Does somebody outside of the launch read or write it?
  bool is_shared(std::size_t x) const { return mentions_in_all_[x] > mentions_[x]; }
  // Which values and locals belong to the launch.
  void find_inside(const std::vector<const PlanNode*>& nodes);
  static void count_mentions(const Block& block, std::vector<std::int32_t>& mentions);
  void add_inside(const PlanNode& node);
  void add_values(const Block& block);
  void store_local(std::int32_t x);
  LocalRole role(const PlanNode& node, std::size_t x) const;
  // The value that the last iteration leaves in a local.
  void store_last(const PlanNode& node, ValueId index);

  // ---- chunks -----------------------------------------------------------------------------------
  // Each chunk sums from the op's neutral element; the host adds the chunks' sums in order.
  void chunk(const PlanNode& node, ValueId round);
  std::optional<ChunkReduction> reduction_of(const PlanNode& node, std::int32_t x) const;
  static bool is_in_lanes(const PlanNode& node);
  bool adds_in_order(const PlanNode& node) const;
  bool adds_one_term(const PlanNode& node, std::int32_t x) const;
  static bool is_in_loop(const Block& block, const Instr* wanted);
  bool is_inside(const PlanNode& node, const Instr* instr) const;
  static bool contains(const Block& block, const Instr* wanted);
  void add_arrays(const PlanNode& node);
  // Each chunk its own, on the thread that goes on to use it.
  void fill_arrays();
  // Is there a dependence that the loop carries, and only between updates?
  bool is_reduced(std::int32_t loop, std::int32_t array) const;

  // ---- nodes ------------------------------------------------------------------------------------
  // Nodes of which several may stand for one instruction, with no values between them.
  void emit_in_order(const std::vector<PlanNode>& nodes);
  // The values and statements of the blocks, as they stand in the text.
  // but for node `skipped`.
  void emit_blocks(const std::vector<const Block*>& blocks, const std::vector<PlanNode>& nodes,
                   const PlanNode* skipped = nullptr);
  void need(const PlanNode& node, std::vector<bool>& needed) const;
  void need(ValueId id, std::vector<bool>& needed) const;
  void emit_value(const Instr& instr);
  ValueId load(const Instr& instr);
  bool streams(const Instr& instr) const;
  static bool uses_index(const NestAccess& access, const Instr& loop);
  void emit(const PlanNode& node);

  // ---- loops ------------------------------------------------------------------------------------
  std::pair<ValueId, ValueId> range_of(const PlanNode& node);
  void emit_loop(const PlanNode& node);
  // A loop in order keeps what its next rounds load of what it stores.
  struct Carried {
    const Instr* store;
    std::vector<std::int32_t> locals;  // the kernel's, of what was stored 1, 2 .. rounds before
  };
  std::vector<Carried> open_carried(const PlanNode& node, ValueId begin, ValueId end);
  bool may_carry(const PlanNode& node, const CarriedElement& element,
                 std::vector<bool>& needed) const;
  void hand_on(const std::vector<Carried>& all);
  void emit_loop_body(const PlanNode& node) { emit_blocks(node.blocks, node.body); }
  // Each lane has its own bounds: it counts for itself.
  void emit_loop_of_lanes(const PlanNode& node, ValueId begin, ValueId end);
  // May the value differ between the lanes?
  bool differs(ValueId id) const;
  bool unrolls(const PlanNode& node) const;
  void emit_unrolled(const PlanNode& node);
  // Groups of rounds in one vector loop each, and what is left over one by one.
  void emit_together(const PlanNode& node);
  void emit_group(const PlanNode& node, ValueId first, ValueId last);
  // Does what the loop stores stand in arrays that nothing in it loads?
  bool stores_apart(std::int32_t loop) const;
  // While a group runs, what the next one loads and stores comes into the cache.
  void fetch_next_group(const PlanNode& node, ValueId next, ValueId begin);
  void fetch(const RowElement& element, const PlanNode& node, std::pair<ValueId, ValueId> place,
             bool for_stores);

  // ---- lanes ------------------------------------------------------------------------------------
  struct LaneSum {
    std::size_t local;
    std::int32_t outer;  // the kernel's local for it, outside of the loop
    std::int32_t lane;   // what one iteration adds
    Op op{};
    Op compare{};  // of an extreme
    bool extreme = false;
    std::int32_t best = -1;  // an extreme: of all lanes
  };
  void emit_vector(const PlanNode& node, ValueId begin, ValueId end);
  // A local that differs between lanes is another one than outside of the loop.
  void renew_private(const PlanNode& node);
  std::vector<LaneSum> open_sums(const PlanNode& node);
  static void find_writes(const std::vector<PlanNode>& nodes, std::vector<bool>& written);
  // w = skew * i + j in order; the iterations (i, w - skew * i) are lanes. All of it, or a tile.
  void emit_wavefront(const PlanNode& node);
  struct WaveRange {
    ValueId i_begin, i_end, j_begin, j_end;
    ValueId first, behind;  // of w
  };
  void emit_diagonals(const PlanNode& node, const WaveRange& range);
  void emit_rows_of_wave(const PlanNode& node, const WaveRange& range);

  // ---- cost -------------------------------------------------------------------------------------
  using Rounds = std::vector<std::pair<const Instr*, double>>;  // of the loops around
  void add_cost(const PlanNode& node, Rounds loops);
  void add_values_cost(const PlanNode& node, const Rounds& loops);
  void note_lines(const Rounds& loops);
  bool is_shared_column(const Instr& load, const Instr* loop) const;
  double rounds_of(const PlanNode& node) const;
  bool is_index(ValueId id) const;
  bool varies(const Instr& load, const Instr* loop) const;
  const JudgedNest& judged_;
  const NestPlan& plan_;
  const Nest& nest_;
  const Kernel& body_;
  const PlanFacts& facts_;
  NestLaunch launch_;
  KernelWriter writer_;
  std::vector<ValueId> values_;       // by value of the Routine: in the kernel, or no_value
  std::vector<std::int32_t> locals_;  // by local of the Routine: in the kernel, or -1
  std::vector<ValueId> scalar_values_;
  std::vector<bool> inside_;                                    // by value: the launch computes it
  std::vector<bool> reads_, writes_;                            // by local: in the launch
  std::vector<std::int32_t> mentions_, mentions_in_all_;        // by local
  std::set<const Instr*> mentioned_;                            // WriteLocals of the launch
  std::map<std::int32_t, std::pair<ValueId, ValueId>> ranges_;  // of chunks and tiles, by loop
  ValueId chunk_ = no_value;         // the number of the chunk, or of the tile of a wavefront
  std::int32_t lanes_loop_ = -1;     // the loop whose iterations are lanes now
  std::int32_t lanes_partner_ = -1;  // a wavefront's other loop
  const Instr* lanes_ = nullptr;     // what add_cost counts is in lanes of this loop
  // Of rounds side by side: what they load, and what they are to store behind all loads.
  struct Loaded {
    Address address;
    ValueId value;
  };
  struct Waiting {
    const Instr* store;
    Address address;
    ValueId value;
  };
  struct Group {
    std::vector<Loaded> loaded;
    std::vector<Waiting> waiting;
  };
  Group* group_ = nullptr;
  std::map<std::int32_t, std::int32_t> carried_;  // by access: the kernel's local that holds it
};

}  // namespace frit
