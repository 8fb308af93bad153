// nest_run.cpp: the run-time stage of a loop nest, and the host's part of its program.
#include "engine/nest_run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "backend/stop.h"
#include "engine/interrupts.h"
#include "engine/launch.h"
#include "engine/matrix_product.h"
#include "engine/memory.h"
#include "engine/nest_chunks.h"
#include "engine/nest_device.h"
#include "engine/pool.h"
#include "engine/stopwatch.h"
#include "engine/sweep.h"
#include "frit/version.h"
#include "ir/disk_store.h"
#include "ir/error.h"
#include "ir/layout.h"
#include "ir/library.h"
#include "schedule/caches.h"
#include "schedule/nest_cost.h"
#include "schedule/nest_simplify.h"

namespace frit {
namespace {

constexpr std::size_t most_variants = 16, most_programs = 64;
constexpr std::int64_t small_bound = 8;
constexpr std::int64_t lane_granule = 64;

std::size_t at(std::int64_t number) { return static_cast<std::size_t>(number); }

// What was found out about nests, beside the code of kernels. Under the engine's lock.
DiskStore& kept_dependences() {
  static DiskStore store(
      {.folder = store_folder_from_environment(),
       .identity = text("frit ", version(), "; ", build_of(path_beside_libfrit("libfrit.so")), "; ",
                        build_of(path_beside_libfrit("libfrit_isl.so")))});
  return store;
}

void add_once(std::vector<std::int32_t>& list, std::int32_t number) {
  if (std::find(list.begin(), list.end(), number) == list.end()) list.push_back(number);
}

// About how many, in steps of four: a plan is made for a range of sizes.
std::uint64_t size_class(double rounds) {
  if (rounds <= 8) return static_cast<std::uint64_t>(std::max(0.0, rounds));
  return 16 + static_cast<std::uint64_t>(std::log2(rounds) / 2);
}
double rounds_of_class(std::uint64_t c) {
  return c < 16 ? static_cast<double>(c) : std::exp2(2 * static_cast<double>(c - 16) + 1);
}

std::int64_t bytes_touched(const NestCall& call, const Kernel& body) {
  std::int64_t bytes = 0;
  for (std::size_t p = 0; p < call.arrays.size(); ++p) {
    const ByteSpan touched = bytes_of(call.arrays[p], body.operands[p].dtype);
    bytes += touched.high - touched.low;
  }
  return bytes;
}

// The middle of each index's range, and the rounds of each loop.
class RoundEstimate {
 public:
  RoundEstimate(const Nest& nest, std::span<const std::int64_t> integers)
      : nest_(nest), integers_(integers), middle_(nest.loops.size(), 0) {}

  template <class Visit>
  void run(Visit&& visit) {
    for (std::size_t k = 0; k < nest_.loops.size(); ++k) {
      const NestLoop& loop = nest_.loops[k];
      double rounds = loop.instr->rounds > 0 ? loop.instr->rounds : 16;
      if (!loop.is_while()) {
        const double begin = value(loop.instr->args[0], 0), end = value(loop.instr->args[1], 0);
        rounds = std::max(0.0, end - begin);
        middle_[k] = begin + rounds / 2;
      }
      visit(k, rounds);
    }
  }

 private:
  double value(ValueId id, int depth) const { return value(nest_.forms[at(id)], depth); }
  double value(const Affine& form, int depth) const {
    double sum = static_cast<double>(form.constant);
    for (const auto& [term, coefficient] : form.terms)
      sum += static_cast<double>(coefficient) * variable(term, depth);
    return sum;
  }
  double variable(ValueId id, int depth) const {
    const std::size_t values = nest_.routine.body.values.size();
    if (at(id) >= values) {
      const Nest::Division& division = nest_.divisions[at(id) - values];
      const double x = depth < 8 ? value(division.dividend, depth + 1) : 16;
      return std::floor(x / static_cast<double>(division.divisor));
    }
    if (at(id) >= nest_.definitions.size()) return 16;
    const Instr& instr = *nest_.definitions[at(id)];
    if (instr.kind == InstrKind::IntegerArg)
      return static_cast<double>(integers_[at(instr.number)]);
    if (instr.kind == InstrKind::Loop) return middle_[at(nest_.definition_loop[at(id)])];
    if (instr.kind == InstrKind::Apply && depth < 8) {
      const double x = value(instr.args[0], depth + 1);
      const double y = instr.args[1] == no_value ? 0 : value(instr.args[1], depth + 1);
      if (instr.op == Op::Minimum) return std::min(x, y);
      if (instr.op == Op::Maximum) return std::max(x, y);
      if (instr.op == Op::Multiply) return x * y;
      if (instr.op == Op::FloorDivide && y != 0) return std::floor(x / y);
    }
    return 16;
  }

  const Nest& nest_;
  std::span<const std::int64_t> integers_;
  std::vector<double> middle_;
};

}  // namespace

// ---- variants and programs ----------------------------------------------------------------------

struct LoopNest::Program {
  std::vector<std::uint64_t> key;
  std::shared_ptr<const NestProgram> program;
  std::vector<std::shared_ptr<KernelCode>> code;  // one a launch
  std::optional<NestPoints> points;
  // Kept from run to run: registers, locals, and the arguments of a launch. is_fixed: the values
  // that only integers decide are in the registers, for those of the latest call.
  bool is_fixed = false;
  // Which flags of the host's computations are told (products stand outside of the conditions that
  // may keep them from being computed); whether it raised any in the latest run.
  bool has_conditions = false;
  unsigned flags_of_host() const {
    return has_conditions ? flags_of_interest & ~unsigned{flag_overflow} : flags_of_interest;
  }
  bool host_has_raised = false;
  std::vector<Scalar> registers, locals;
  std::vector<std::int64_t> integers;
  std::vector<Scalar> scalars;
  std::vector<void*> pointers;
  std::vector<std::vector<std::byte>> partials;  // by local: the chunks' sums
  struct Arrays {
    std::byte* first = nullptr;
    std::int64_t step = 0;      // bytes, from one chunk's to the next
    std::int64_t in_place = 0;  // elements that the first chunk has already
  };
  std::vector<Arrays> arrays;  // by parameter: the chunks' own
  LaunchSweep sweep;
  NestAccount account;  // of a device
};

struct LoopNest::Variant {
  std::vector<std::uint64_t> key;
  std::shared_ptr<const Nest> nest;
  std::vector<std::unique_ptr<Program>> programs;
  Program* last = nullptr;
};

LoopNest::LoopNest(Routine routine) : routine_(std::move(routine)), judge_(routine_.body) {
  const Kernel& body = routine_.body;
  std::vector<const Instr*> definitions(body.values.size());
  for_each_instr(body.code, [&](const Instr& instr) {
    if (instr.result != no_value) definitions[at(instr.result)] = &instr;
  });
  const auto is_argument = [&](ValueId id) {
    return id != no_value && definitions[at(id)]->kind == InstrKind::IntegerArg;
  };
  for_each_instr(body.code, [&](const Instr& instr) {
    if (instr.kind == InstrKind::While && instr.rounds == 0) may_be_endless_ = true;
    if (instr.kind == InstrKind::Loop && is_argument(instr.args[1]))
      add_once(if_small_, definitions[at(instr.args[1])]->number);
    const bool scales =
        instr.kind == InstrKind::Apply &&
        (instr.op == Op::Multiply || instr.op == Op::FloorDivide || instr.op == Op::Remainder);
    if (!scales || body.values[at(instr.result)] != DType::Int64) return;
    for (int k = instr.op == Op::Multiply ? 0 : 1; k < 2; ++k)
      if (is_argument(instr.args[k]) &&
          definitions[at(instr.args[1 - k])]->kind != InstrKind::Constant &&
          !is_argument(instr.args[1 - k]))
        add_once(literal_, definitions[at(instr.args[k])]->number);
  });
  for (std::int32_t n : scaling_integers(routine_)) add_once(literal_, n);
}

LoopNest::~LoopNest() = default;

LoopNest::Variant& LoopNest::variant_for(const NestCall& call) {
  const auto& operands = routine_.body.operands;
  key_.clear();
  for (std::int32_t n : literal_) key_.push_back(static_cast<std::uint64_t>(call.integers[at(n)]));
  for (std::int32_t n : if_small_) {
    const std::int64_t value = call.integers[at(n)];
    key_.push_back(value >= 0 && value <= small_bound ? static_cast<std::uint64_t>(value)
                                                      : ~std::uint64_t{0});
  }
  NestFacts facts;
  facts.same.resize(operands.size());
  for (std::size_t b = 0; b < operands.size(); ++b) {
    const NestArgument& y = call.arrays[b];
    if (operands[b].written && !is_nested(y.shape, y.strides, size_of(operands[b].dtype))) {
      facts.mixed.emplace_back(b, b);
      key_.insert(key_.end(), {1, b, b});
    }
    const ByteSpan own = bytes_of(y, operands[b].dtype);
    for (std::size_t a = 0; a < b; ++a) {
      if (!operands[a].written && !operands[b].written) continue;
      const ByteSpan other = bytes_of(call.arrays[a], operands[a].dtype);
      if (!overlap(own, other)) continue;
      SharedMemory shared = shared_memory(call.arrays[a], y, operands[a].dtype, operands[b].dtype);
      if (shared.kind == SharedMemory::Kind::None) continue;
      const bool usable = shared.kind == SharedMemory::Kind::Shifted && facts.same[b].array < 0 &&
                          facts.same[a].array < 0;
      if (!usable) {
        facts.mixed.emplace_back(a, b);
        key_.insert(key_.end(), {2, a, b});
        continue;
      }
      key_.insert(key_.end(), {3, a, b});
      for (std::int64_t s : shared.shift) key_.push_back(static_cast<std::uint64_t>(s));
      facts.same[b] = {static_cast<std::int32_t>(a), std::move(shared.shift)};
    }
  }
  if (last_variant_ && last_variant_->key == key_) return *last_variant_;
  for (const auto& known : variants_)
    if (known->key == key_) return *(last_variant_ = known.get());
  if (variants_.size() >= most_variants) {
    // Values that change from call to call are not worth an analysis each.
    variants_.clear();
    last_variant_ = nullptr;
    latest_ = nullptr;
    std::vector<std::int32_t>& fixed = if_small_.empty() ? literal_ : if_small_;
    if (!fixed.empty()) {
      fixed.clear();
      return variant_for(call);
    }
  }
  facts.integers.resize(at(routine_.body.integers));
  for (std::int32_t n : literal_) facts.integers[at(n)] = call.integers[at(n)];
  for (std::int32_t n : if_small_) {
    const std::int64_t value = call.integers[at(n)];
    if (value >= 0 && value <= small_bound) facts.integers[at(n)] = value;
  }
  auto made = std::make_unique<Variant>();
  made->key = key_;
  made->nest = analyse_nest(routine_, std::move(facts), &kept_dependences());
  variants_.push_back(std::move(made));
  return *(last_variant_ = variants_.back().get());
}

LoopNest::Program& LoopNest::program(const NestCall& call) {
  std::size_t count = call.integers.size();
  for (const NestArgument& a : call.arrays) count += 2 * a.shape.size();
  facts_.resize(count);
  auto end = std::copy(call.integers.begin(), call.integers.end(), facts_.begin());
  for (const NestArgument& a : call.arrays)
    end = std::copy(a.strides.begin(), a.strides.end(),
                    std::copy(a.shape.begin(), a.shape.end(), end));
  const auto addresses = static_cast<std::ptrdiff_t>(count);
  for (const NestArgument& a : call.arrays)
    facts_.push_back(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.data)));
  if (latest_ && facts_ == latest_facts_) return *latest_;
  const Variant* before = last_variant_;
  Variant& variant = variant_for(call);
  // Other memory, which is shared in the same way: all else is as it was.
  const bool is_alike =
      latest_ && &variant == before &&
      std::equal(facts_.begin(), facts_.begin() + addresses, latest_facts_.begin());
  if (!is_alike) {
    latest_ = nullptr;
    latest_ = &find_program(variant, call);
    latest_->is_fixed = false;
  }
  std::swap(facts_, latest_facts_);
  return *latest_;
}

LoopNest::Program& LoopNest::find_program(Variant& variant, const NestCall& call) {
  evaluate_conditions(*variant.nest, call.integers, other_key_);
  const std::size_t bits = other_key_.size();
  for (std::size_t p = 0; p < call.arrays.size(); ++p) {
    const NestArgument& a = call.arrays[p];
    std::uint64_t unit = 0;
    for (std::size_t k = a.strides.size(); k-- > 0 && unit == 0;)
      if (a.strides[k] == size_of(routine_.body.operands[p].dtype)) unit = k + 1;
    other_key_.push_back(unit);
  }
  RoundEstimate(*variant.nest, call.integers).run([&](std::size_t, double rounds) {
    other_key_.push_back(size_class(rounds));
  });
  const std::int64_t bytes = bytes_touched(call, routine_.body);
  const Distance distance = distance_of(bytes);
  const bool is_near = is_in_own_cache(bytes);
  other_key_.push_back(static_cast<std::uint64_t>(distance) | (is_near ? 4 : 0));
  if (variant.last && variant.last->key == other_key_) return *variant.last;
  for (const auto& known : variant.programs)
    if (known->key == other_key_) return *(variant.last = known.get());
  if (variant.programs.size() >= most_programs) {
    variant.programs.clear();
    variant.last = nullptr;
  }
  PlanFacts facts;
  for (std::size_t p = 0; p < call.arrays.size(); ++p)
    facts.unit_axes.push_back(static_cast<std::int32_t>(other_key_[bits + p]) - 1);
  for (std::size_t k = 0; k < variant.nest->loops.size(); ++k)
    facts.rounds.push_back(tuning.assumed_rounds > 0
                               ? tuning.assumed_rounds
                               : rounds_of_class(other_key_[bits + call.arrays.size() + k]));
  facts.shortest_chunk = tuning.shortest_chunk;
  facts.distance = distance;
  facts.is_in_own_cache = is_near;
  facts.rows_together = rows_from(distance, is_near);
  auto made = std::make_unique<Program>();
  made->key = other_key_;
  made->program = lower_nest(
      judge(variant.nest,
            {other_key_.begin(), other_key_.begin() + static_cast<std::ptrdiff_t>(bits)}),
      facts);
  made->points = points_of(made->program->judged);
  has_points_ = has_points_.value_or(false) || made->points;
  for (const NestLaunch& launch : made->program->launches)
    made->code.push_back(Engine::get().code_of(launch.kernel));
  const Nest& nest = *variant.nest;
  made->registers.resize(nest.routine.body.values.size());
  made->locals.resize(nest.routine.body.locals.size());
  for (std::size_t k = 0; k < made->locals.size(); ++k)
    made->locals[k] = Scalar{.dtype = nest.routine.body.locals[k]};
  for_each_instr(nest.routine.body.code,
                 [&](const Instr& instr) { made->has_conditions |= instr.kind == InstrKind::If; });
  made->partials.resize(made->locals.size());
  made->arrays.resize(call.arrays.size());
  variant.programs.push_back(std::move(made));
  return *(variant.last = variant.programs.back().get());
}

const NestProgram& LoopNest::program_for(const NestCall& call) { return *program(call).program; }

bool LoopNest::may_have_points() const { return has_points_.value_or(true); }

std::optional<LoopNest::Points> LoopNest::points_for(const NestCall& call) {
  const std::optional<NestPoints>& points = program(call).points;
  if (!points || latest_->program->takes_long) return std::nullopt;
  std::optional<std::vector<std::int64_t>> extents = points->extents(call.integers);
  if (!extents) return std::nullopt;
  return Points{points->routine, std::move(*extents)};
}

// ---- running ------------------------------------------------------------------------------------

namespace {

std::int64_t number_of(const Scalar& s) { return s.as<std::int64_t>(); }

void apply_to(Op op, Scalar& into, const std::byte* other) {
  void* args[3] = {into.bytes, into.bytes, const_cast<std::byte*>(other)};
  loop(op, into.dtype)(args, 1, 0);
}

bool compares(Op op, const std::byte* a, const Scalar& b) {
  std::uint8_t answer = 0;
  void* args[3] = {&answer, const_cast<std::byte*>(a), const_cast<std::byte*>(b.bytes)};
  loop(op, b.dtype)(args, 1, 0);
  return answer != 0;
}

// Memory of a launch's chunks, given back at its end.
class ChunkMemory {
 public:
  ChunkMemory() = default;
  ChunkMemory(const ChunkMemory&) = delete;
  ChunkMemory& operator=(const ChunkMemory&) = delete;
  ~ChunkMemory() {
    for (const auto& [data, bytes] : blocks_) memory::deallocate(data, bytes);
  }
  std::byte* add(std::int64_t bytes) {
    blocks_.reserve(blocks_.size() + 1);
    std::byte* data = memory::allocate(std::max<std::int64_t>(bytes, 64));
    blocks_.emplace_back(data, std::max<std::int64_t>(bytes, 64));
    return data;
  }

 private:
  std::vector<std::pair<std::byte*, std::int64_t>> blocks_;
};

}  // namespace

// One run of a program; State is a LoopNest::Program.
template <class State>
class NestRun {
 public:
  NestRun(State& state, const NestCall& call, const LoopNest::Tuning& tuning)
      : state_(state),
        tuning_(tuning),
        program_(*state.program),
        nest_(*program_.judged.nest),
        body_(nest_.routine.body),
        call_(call) {
    Engine& engine = Engine::get();
    // Other threads may have recorded something since.
    if (std::ranges::any_of(call_.arrays,
                            [](const auto& a) { return a.base && a.base->is_touched(); }))
      engine.eval_recorded();
    if (engine.has_device()) device_.emplace(call_, nest_, state_.account);
  }

  unsigned run() {
    clear_float_flags();
    state_.host_has_raised = false;
    begin_sweeps();
    try {
      const std::span<const NestStep> all = program_.steps;
      if (!state_.is_fixed) steps(all.first(program_.fixed));
      state_.is_fixed = true;
      steps(all.subspan(program_.fixed));
      sweep();
      stop_if_asked();
    } catch (const Stopped&) {  // what has been done by then stays done
      if (device_) device_->give_up();
      throw;
    }
    flags_ |= float_flags();
    if (device_) flags_ |= device_->finish();
    return flags_;
  }

 private:
  Scalar& value(ValueId id) { return state_.registers[at(id)]; }

  // The host computes what is the same in all rounds, even where there are none.
  void note_flags_of_host() {
    const unsigned raised = float_flags() & state_.flags_of_host();
    state_.host_has_raised |= raised != 0;
    flags_ |= raised;
  }

  void steps(std::span<const NestStep> list) {
    for (const NestStep& s : list) step(s);
  }

  void step(const NestStep& s) {
    stop_if_asked();  // what is computed by then may be no index
    switch (s.kind) {
      case NestStep::Kind::Compute:
        return compute(*s.instr);
      case NestStep::Kind::Launch:
        return launch(s.launch);
      case NestStep::Kind::Product:
        sweep();
        bring_home(true);
        if (!product(program_.plan.products[at(s.product)])) steps(s.body);
        return;
      case NestStep::Kind::If:
        return steps(value(s.instr->args[0]).template as<std::uint8_t>() ? s.body : s.other);
      case NestStep::Kind::While:
        for (;;) {
          steps(s.other);
          if (!state_.locals[at(s.instr->number)].template as<std::uint8_t>()) return;
          steps(s.body);
        }
      case NestStep::Kind::Loop: {
        const auto [begin, end] = range(*s.instr, s.parts);
        for (std::int64_t i = begin; i < end; ++i) {
          stop_if_asked();
          value(s.instr->result) = Scalar::of(DType::Int64, i);
          steps(s.body);
        }
        return;
      }
    }
  }

  std::pair<std::int64_t, std::int64_t> range(const Instr& loop,
                                              const std::vector<LoopPart>& parts) {
    std::int64_t begin = number_of(value(loop.args[0])), end = number_of(value(loop.args[1]));
    const std::int64_t first = begin, behind = end;
    for (const LoopPart& part : parts) {
      std::int64_t cut = first;
      if (part.cut.kind == SplitCandidate::Kind::Last) cut = behind - 1;
      if (part.cut.kind == SplitCandidate::Kind::OuterIndex)
        cut = number_of(value(nest_.loop(part.cut.loop).index()));
      switch (part.side) {
        case LoopPart::Side::Before:
          end = std::min(end, cut);
          break;
        case LoopPart::Side::At:
          begin = std::max(begin, cut);
          end = std::min(end, cut + 1);
          break;
        case LoopPart::Side::Behind:
          begin = std::max(begin, cut + 1);
          break;
      }
    }
    return {begin, end};
  }

  // ---- the host's instructions ------------------------------------------------------------------

  void compute(const Instr& instr) {
    switch (instr.kind) {
      case InstrKind::Constant:
        value(instr.result) = instr.constant;
        return;
      case InstrKind::ScalarArg:
        value(instr.result) = call_.scalars[at(instr.number)];
        return;
      case InstrKind::IntegerArg:
        value(instr.result) = Scalar::of(DType::Int64, call_.integers[at(instr.number)]);
        return;
      case InstrKind::Apply:
        return apply(instr);
      case InstrKind::Cast: {
        const DType from = body_.values[at(instr.args[0])], to = body_.values[at(instr.result)];
        Scalar made{.dtype = to};
        void* args[2] = {made.bytes, value(instr.args[0]).bytes};
        if (from == to)
          made = value(instr.args[0]);
        else
          cast_loop(from, to)(args, 1, 0);
        value(instr.result) = made;
        return;
      }
      case InstrKind::Load: {
        if (nest_.written[at(nest_.accesses[at(instr.number)].array)]) sweep();
        bring_home(false);
        Scalar made{.dtype = body_.values[at(instr.result)]};
        std::memcpy(made.bytes, address(instr), at(size_of(made.dtype)));
        value(instr.result) = made;
        return;
      }
      case InstrKind::Store: {
        sweep();
        bring_home(true);
        const Scalar& what = value(instr.args[0]);
        std::memcpy(address(instr), what.bytes, at(size_of(what.dtype)));
        return;
      }
      case InstrKind::ReadLocal:
        value(instr.result) = state_.locals[at(instr.number)];
        return;
      case InstrKind::WriteLocal:
        state_.locals[at(instr.number)] = value(instr.args[0]);
        return;
      case InstrKind::Loop:
      case InstrKind::If:
      case InstrKind::While:
        check(false, "a step of a program is one instruction");
    }
  }

  void apply(const Instr& instr) {
    const DType in = body_.values[at(instr.args[info(instr.op).rule == TypeRule::Select ? 1 : 0])];
    Scalar made{.dtype = body_.values[at(instr.result)]};
    void* args[4] = {made.bytes, nullptr, nullptr, nullptr};
    for (int k = 0; k < info(instr.op).inputs; ++k) args[k + 1] = value(instr.args[k]).bytes;
    const bool is_one =
        instr.math != MathLibrary::Frit && program_.plan.runs_one_by_one(nest_, instr.result);
    loop(is_one ? instr.math : MathLibrary::Frit, instr.op, in)(args, 1, 0);
    value(instr.result) = made;
  }

  std::byte* address(const Instr& instr) {
    const NestArgument& a = call_.arrays[at(instr.address.operand)];
    std::byte* p = a.data;
    for (std::size_t k = 0; k < instr.address.terms.size(); ++k)
      p += number_of(value(instr.address.terms[k].index)) * a.strides[k];
    return p;
  }

  // ---- products ---------------------------------------------------------------------------------

  bool product(const NestProduct& p) {
    MatrixProduct m{.dtype = array_type(nest_.accesses[at(p.c)].instr->address.operand),
                    .a = matrix(p.a, p.rows),
                    .b = matrix(p.b, p.inner),
                    .out = matrix(p.c, p.rows)};
    m.rows = rounds(p.rows);
    m.columns = rounds(p.columns);
    m.inner = rounds(p.inner);
    m.accumulates = p.accumulates;
    return m.rows > 0 && m.columns > 0 && m.inner > 0 && multiply_matrices(m);
  }
  std::int64_t first(std::int32_t loop) {
    return number_of(value(nest_.loop(loop).instr->args[0]));
  }
  std::int64_t rounds(std::int32_t loop) {
    return number_of(value(nest_.loop(loop).instr->args[1])) - first(loop);
  }
  // The part of a parameter that an access runs over; its rows follow the loop `rows`.
  MatrixInMemory matrix(std::int32_t access, std::int32_t rows) {
    const NestAccess& a = nest_.accesses[at(access)];
    const NestArgument& array = call_.arrays[at(a.instr->address.operand)];
    MatrixInMemory m{array.data, 0, 0};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      // The form of the index itself: a.indices may be shifted to another parameter's.
      const Affine& form = nest_.forms[at(a.instr->address.terms[axis].index)];
      const std::int32_t loop = nest_.definition_loop[at(form.terms[0].first)];
      m.data += (first(loop) + form.constant) * array.strides[axis];
      (loop == rows ? m.row_stride : m.column_stride) = array.strides[axis];
    }
    return m;
  }

  // ---- launches ---------------------------------------------------------------------------------

  struct Range {
    std::int64_t begin = 0, end = 1, chunk = 1, extent = 1;
    std::int64_t wave = 0, wave_length = 1;

    void cut(std::int64_t length) {
      chunk = length;
      extent = (extent + length - 1) / length;
    }
  };

  void launch(std::int32_t number) {
    const NestLaunch& l = program_.launches[at(number)];
    if (device_ && runs_on_device(number, l)) return;
    bring_home(true);
    if (waits_for_sweep(number, l)) return;
    sweep();
    note_flags_of_host();  // a launch clears them
    if (l.across) return launch_waves(number, l);
    const std::optional<Range> r = range_of(l);
    if (!r) return;
    if (l.in_order >= 0) return launch_with_arrays(number, l, *r);
    launch(number, l, *r);
    for (const ChunkReduction& reduction : l.reductions) combine(reduction, *r);
  }
  // nullopt: it has no iterations.
  std::optional<Range> range_of(const NestLaunch& l) {
    Range r;
    if (!l.loop) return r;
    std::tie(r.begin, r.end) = range(*l.loop, l.parts);
    if (r.begin >= r.end) return std::nullopt;
    r.extent = r.end - r.begin;
    const bool is_cut = l.grain == PlanNode::Grain::Chunk || l.grain == PlanNode::Grain::Tile;
    if (is_cut && l.in_order < 0) r.cut(chunk_length(l, r.extent));
    return r;
  }

  void make_room(const NestLaunch& l, const Range& r) {
    for (const ChunkReduction& reduction : l.reductions) {
      make_room(reduction.local, r.extent);
      for (std::int32_t c : reduction.companions) make_room(c, r.extent);
    }
  }
  void make_room(std::int32_t x, std::int64_t chunks) {
    std::vector<std::byte>& parts = state_.partials[at(x)];
    parts.resize(std::max(parts.size(), at(chunks * size_of(local_type(x)))));
  }

  void launch_with_arrays(std::int32_t number, const NestLaunch& l, Range r) {
    const std::int64_t chunks = chunks_with_arrays(l, r);
    if (chunks < 2 || r.extent < 2) return launch(l.in_order);
    r.cut((r.extent + chunks - 1) / chunks);
    ChunkMemory memory;
    std::vector<ChunkCopies> own;
    try {
      for (const ChunkArray& a : l.arrays) {
        own.push_back(copies_of(a, r));
        own.back().data = memory.add(own.back().bytes());
      }
    } catch (const std::bad_alloc&) {
      return launch(l.in_order);
    }
    std::vector<std::span<const std::byte>> in_place;
    for (std::size_t k = 0; k < own.size(); ++k) {
      const ChunkCopies& c = own[k];
      const std::int64_t bytes = c.elements() * size_of(c.identity.dtype);
      auto& arrays = state_.arrays[at(l.arrays[k].parameter)];
      if (c.count == r.extent) {
        arrays = {c.data, bytes, 0};
      } else {
        arrays = {c.array.data, c.data - c.array.data, c.elements()};
        in_place.emplace_back(c.array.data, at(bytes));
      }
    }
    launch(number, l, r, in_place);
    for (const ChunkReduction& reduction : l.reductions) combine(reduction, r);
    for (const ChunkCopies& copies : own) flags_ |= frit::combine(copies);
  }

  void launch(std::int32_t number, const NestLaunch& l, const Range& r,
              std::span<const std::span<const std::byte>> near = {}) {
    make_room(l, r);
    fill_arguments(l, r);
    const double cost = cost_of(l, r);
    const bool is_lanes = l.grain == PlanNode::Grain::Lane;
    const LaunchArguments arguments{state_.pointers.data(), state_.integers.data(),
                                    state_.scalars.data()};
    const LaunchShape shape{.extent = r.extent,
                            .granule = is_lanes ? lane_granule : 1,
                            .offset = is_lanes ? r.begin & (lane_granule - 1) : 0,
                            .scratch_bytes = 0,
                            .cost = cost,
                            .cost_of_part = l.lines * nest_cost::line_of_another,
                            .once = program_.is_straight,
                            .near = near};
    Engine& engine = Engine::get();
    KernelCode& code = *state_.code[at(number)];
    if (!device_ || code.is_for_host)
      flags_ |= engine.launch(code, l.pace, arguments, shape);
    else
      launch_and_measure(l, code, arguments, shape);
  }

  // Of a launch that is about to run on the host.
  static bool is_interpreted(const KernelCode& code) {
    const Tier tier = Engine::get().settings.tier;
    return tier == Tier::Interpreter || (tier != Tier::Compiled && !code.is_compiled());
  }

  // ---- on a device ------------------------------------------------------------------------------

  void bring_home(bool is_written) {
    if (device_) device_->bring_home(is_written);
  }

  void launch_and_measure(const NestLaunch& l, KernelCode& code, const LaunchArguments& arguments,
                          const LaunchShape& shape) {
    const bool is_compiled = code.is_compiled();
    const Stopwatch watch;
    flags_ |= Engine::get().launch(code, l.pace, arguments, shape);
    device_->note_host(code, is_compiled, watch.nanoseconds(), shape.cost);
  }

  // Chunks decide the order of sums. Where that is not to be seen, there are more of them, one a
  // block of threads: warps on all processors, before several on one.
  static std::int64_t chunk_length_there(const NestLaunch& l, std::int64_t rounds) {
    constexpr std::int64_t most_chunks = 4096, blocks = 1024, warp = 32, threads = 256;
    if (!std::ranges::all_of(l.reductions, [](const ChunkReduction& reduction) {
          return reduction.extreme || reduces_in_any_order(reduction.op, reduction.identity.dtype);
        }))
      return chunk_length(l, rounds);
    const std::int64_t least =
        has_lanes_of_chunk(l) ? std::clamp(rounds / blocks / warp * warp, warp, threads) : 1;
    return std::max(least, (rounds + most_chunks - 1) / most_chunks);
  }
  // Are a chunk's own rounds what its threads share?
  static bool has_lanes_of_chunk(const NestLaunch& l) { return l.shortest_chunk > 1; }

  // Tiles of a wavefront are too few there, and chunks with arrays of their own too large.
  bool runs_on_device(std::int32_t number, const NestLaunch& l) {
    KernelCode& code = *state_.code[at(number)];
    if (code.is_for_host || l.across || l.in_order >= 0) return false;
    std::optional<Range> r = range_of(l);
    if (!r) return true;
    if (l.loop) r->extent = r->end - r->begin;
    r->chunk = 1;
    if (l.grain == PlanNode::Grain::Chunk) r->cut(chunk_length_there(l, r->extent));
    const bool is_chunk = l.grain == PlanNode::Grain::Chunk && has_lanes_of_chunk(l);
    const double elements = static_cast<double>(r->extent) *
                            std::max(1.0, is_chunk ? static_cast<double>(r->chunk) : l.lanes);
    if (!device_->takes(l, code, cost_of(l, *r), r->extent, elements)) return false;
    sweep();
    note_flags_of_host();
    make_room(l, *r);
    fill_arguments(l, *r);
    std::vector<std::span<std::byte>> own;
    for (const NestLaunch::Pointer& p : l.operands) {
      if (p.kind == NestLaunch::Pointer::Kind::Local)
        own.emplace_back(state_.locals[at(p.number)].bytes);
      else if (p.kind == NestLaunch::Pointer::Kind::Partial)
        own.emplace_back(part_of(p.number), at(r->extent * size_of(local_type(p.number))));
      else
        own.emplace_back();
    }
    if (!device_->run({.launch = l,
                       .code = code,
                       .pointers = state_.pointers,
                       .integers = state_.integers,
                       .scalars = state_.scalars,
                       .extent = r->extent,
                       .elements = elements,
                       .own = own}))
      return false;
    for (const ChunkReduction& reduction : l.reductions) combine(reduction, *r);
    return true;
  }

  // ---- sweeps -----------------------------------------------------------------------------------

  void begin_sweeps() {
    const bool may_sweep = program_.sweeps.any();
    state_.sweep.begin(may_sweep ? bytes_touched(call_, body_) : 0, tuning_.sweep_shift);
  }

  // If the launch may go along with those that wait, or be the first one, it waits too.
  bool waits_for_sweep(std::int32_t number, const NestLaunch& l) {
    const NestSweeps& sweeps = program_.sweeps;
    if (!state_.sweep.pays() || !sweeps.may_sweep[at(number)]) return false;
    const std::optional<Range> found = range_of(l);
    if (!found) return true;
    const Range& r = *found;
    if (r.chunk > 1 && l.integers.size() > SweptLaunch::most_integers) return false;
    SweptLaunch& swept = state_.sweep.next();
    swept.number = number;
    swept.code = state_.code[at(number)].get();
    swept.pace = l.pace;
    swept.cost = cost_of(l, r);
    swept.begin = r.begin;
    swept.end = r.end;
    swept.rows = r.chunk;
    swept.point.reset();
    if (const auto& point = sweeps.point[at(number)])
      swept.point = nest_.value_of(*point, call_.integers);
    if (r.chunk > 1) {
      swept.begin_argument = place_of(l, NestLaunch::Integer::Kind::Begin);
      swept.end_argument = place_of(l, NestLaunch::Integer::Kind::End);
    }
    if (!state_.sweep.takes(sweeps)) {
      sweep();
      if (!state_.sweep.takes(sweeps)) return false;
    }
    fill_arguments(l, r);
    SweptLaunch& room = state_.sweep.next();
    room.pointers = state_.pointers;
    room.integers = state_.integers;
    room.scalars = state_.scalars;
    state_.sweep.add();
    return true;
  }

  void sweep() {
    if (state_.sweep.is_empty()) return;
    note_flags_of_host();
    flags_ |= state_.sweep.run();
  }

  static std::size_t place_of(const NestLaunch& l, NestLaunch::Integer::Kind kind) {
    const auto found = std::ranges::find(l.integers, kind, &NestLaunch::Integer::kind);
    check(found != l.integers.end(), "a tile knows its range");
    return static_cast<std::size_t>(found - l.integers.begin());
  }

  // The tiles of (i, w) with the same sum of their numbers have nothing to do with one another. Of
  // the rectangle around the parallelogram only tiles with iterations are launched.
  void launch_waves(std::int32_t number, const NestLaunch& l) {
    const auto [i, i_end] = range(*l.loop, l.parts);
    const auto [j, j_end] = range(*l.across, {});
    if (i >= i_end || j >= j_end) return;
    const WaveTiles t = tiles_of(l, i_end - i, j_end - j);
    const std::int64_t slope = l.skew * t.rows, last = l.skew * (t.rows - 1) + (j_end - j);
    const std::int64_t tile_rows = (i_end - i + t.rows - 1) / t.rows;
    for (std::int64_t wave = 0;; ++wave) {
      // Tile row k begins at w = slope * k and ends before slope * k + last; its tile of this wave
      // is [(wave - k) * length, (wave - k + 1) * length).
      const std::int64_t before = wave * t.length - last;
      const std::int64_t low = before < 0 ? 0 : before / (slope + t.length) + 1;
      if (low >= tile_rows) return;
      const std::int64_t high =
          std::min(tile_rows, ((wave + 1) * t.length + slope + t.length - 1) / (slope + t.length));
      if (low < high)
        launch(number, l,
               {.begin = i + low * t.rows,
                .end = i_end,
                .chunk = t.rows,
                .extent = high - low,
                .wave = l.skew * i + j + (wave - low) * t.length,
                .wave_length = t.length});
    }
  }

  struct WaveTiles {
    std::int64_t rows = 1, length = 1;
  };
  // Results are the same for any tiles: they may follow the threads. Few rows: lanes along
  // a diagonal touch a page each, and 16 were the fastest at all sizes, on one thread too.
  WaveTiles tiles_of(const NestLaunch& l, std::int64_t rounds, std::int64_t columns) const {
    if (tuning_.wave_tile > 0) return {tuning_.wave_tile, tuning_.wave_tile};
    const std::int64_t threads = ThreadPool::get().threads();
    if (threads == 1 && l.by_rows) return {rounds, l.skew * rounds + columns};
    if (threads == 1) return {16, 4096};
    const std::int64_t rows = l.by_rows ? 64 : 16;
    // About (columns + slope) / (length + slope) tiles are in a launch: three a thread.
    return {rows, std::clamp<std::int64_t>(columns / (3 * threads) - l.skew * rows, 64, 1024)};
  }

  double cost_of(const NestLaunch& l, const Range& r) const {
    double each = 0;
    for (const NestLaunch::Cost& c : l.cost) {
      double product = c.weight;
      for (const auto& [loop, rounds] : c.loops)
        product *= loop == l.loop ? static_cast<double>(r.chunk) : rounds;
      each += product;
    }
    return each * static_cast<double>(r.extent * r.wave_length);
  }

  void fill_arguments(const NestLaunch& l, const Range& r) {
    using IntegerKind = NestLaunch::Integer::Kind;
    using PointerKind = NestLaunch::Pointer::Kind;
    state_.integers.clear();
    for (const NestLaunch::Integer& i : l.integers) {
      std::int64_t n = 0;
      switch (i.kind) {
        case IntegerKind::Value:
          n = number_of(value(i.number));
          break;
        case IntegerKind::Stride:
          n = call_.arrays[at(i.number)].strides[at(i.axis)];
          break;
        case IntegerKind::Begin:
          n = r.begin;
          break;
        case IntegerKind::End:
          n = r.end;
          break;
        case IntegerKind::Chunk:
          n = r.chunk;
          break;
        case IntegerKind::Wave:
          n = r.wave;
          break;
        case IntegerKind::WaveLength:
          n = r.wave_length;
          break;
        case IntegerKind::IsInterpreted:
          n = is_interpreted(*state_.code[static_cast<std::size_t>(&l - &program_.launches[0])]);
          break;
        case IntegerKind::PartialStride:
          n = bytes_behind(i.number, i.axis + 1);
          break;
        case IntegerKind::PartialStep:
          n = state_.arrays[at(i.number)].step;
          break;
        case IntegerKind::PartialElements:
          n = bytes_behind(i.number, 0) / size_of(array_type(i.number));
          break;
        case IntegerKind::PartialInPlace:
          n = state_.arrays[at(i.number)].in_place;
          break;
      }
      state_.integers.push_back(n);
    }
    state_.scalars.clear();
    for (const NestLaunch::Number& n : l.scalars)
      state_.scalars.push_back(n.local >= 0 ? state_.locals[at(n.local)] : value(n.value));
    state_.pointers.clear();
    for (const NestLaunch::Pointer& p : l.operands) switch (p.kind) {
        case PointerKind::Parameter:
          state_.pointers.push_back(call_.arrays[at(p.number)].data);
          break;
        case PointerKind::Local:
          state_.pointers.push_back(state_.locals[at(p.number)].bytes);
          break;
        case PointerKind::Partial:
          state_.pointers.push_back(state_.partials[at(p.number)].data());
          break;
        case PointerKind::PartialArray:
          state_.pointers.push_back(state_.arrays[at(p.number)].first);
          break;
      }
  }

  // ---- chunks -----------------------------------------------------------------------------------

  DType local_type(std::int32_t x) const { return body_.locals[at(x)]; }
  DType array_type(std::int32_t p) const { return body_.operands[at(p)].dtype; }

  // Of a dense array with the parameter's shape: the axes from `axis` on.
  std::int64_t bytes_behind(std::int32_t parameter, std::int32_t axis) const {
    std::int64_t bytes = size_of(array_type(parameter));
    const auto shape = call_.arrays[at(parameter)].shape;
    for (std::size_t k = at(axis); k < shape.size(); ++k) bytes *= shape[k];
    return bytes;
  }

  // How many, where each has arrays of its own, which it must be worth to fill and to add up. That
  // follows from sizes and strides alone, since it decides the order of sums. An even number, for
  // the threads that there mostly are.
  std::int64_t chunks_with_arrays(const NestLaunch& l, const Range& r) const {
    std::int64_t elements = 0;
    bool is_dense = true;
    for (const ChunkArray& a : l.arrays) {
      elements += copies_of(a, r).elements();
      is_dense = is_dense && lies_as_copies_do(a.parameter);
    }
    double work = 0;
    for (const NestLaunch::Cost& c : l.cost) {
      double product = c.weight;
      for (const auto& [loop, rounds] : c.loops) product *= loop == l.loop ? 1.0 : rounds;
      work += product;
    }
    // A round's work, counted in simple ones.
    const double rounds = static_cast<double>(r.extent) * std::max(1.0, work);
    const double share = static_cast<double>(elements * tuning_.array_share);
    const double most = static_cast<double>(tuning_.most_arrays);
    const auto chunks = static_cast<std::int64_t>(rounds < most * share ? rounds / share : most);
    if (chunks >= 2) return chunks / 2 * 2;
    return is_dense && rounds >= share / 4 ? 2 : 1;
  }

  // The first of two chunks takes the array itself.
  ChunkCopies copies_of(const ChunkArray& a, const Range& r) const {
    return {.array = call_.arrays[at(a.parameter)],
            .identity = a.identity,
            .op = a.op,
            .count = r.extent == 2 && lies_as_copies_do(a.parameter) ? 1 : r.extent};
  }
  bool lies_as_copies_do(std::int32_t parameter) const {
    const NestArgument& array = call_.arrays[at(parameter)];
    return is_contiguous(array.shape, array.strides, size_of(array_type(parameter)));
  }

  void combine(const ChunkReduction& reduction, const Range& r) {
    Scalar& local = state_.locals[at(reduction.local)];
    const std::int64_t item = size_of(local.dtype);
    const ScanLoop scan = is_complex(local.dtype) ? nullptr : scan_loop(reduction.op, local.dtype);
    if (!reduction.extreme && scan) {
      std::byte* parts = part_of(reduction.local);
      return scan(parts, parts, local.bytes, r.extent);
    }
    for (std::int64_t k = 0; k < r.extent; ++k) {
      const std::byte* part = part_of(reduction.local) + k * item;
      if (!reduction.extreme) {
        apply_to(reduction.op, local, part);
      } else if (compares(reduction.op, part, local)) {
        std::memcpy(local.bytes, part, at(item));
        for (std::int32_t c : reduction.companions) {
          const std::int64_t own = size_of(local_type(c));
          std::memcpy(state_.locals[at(c)].bytes, part_of(c) + k * own, at(own));
        }
      }
    }
  }

  std::byte* part_of(std::int32_t x) const { return state_.partials[at(x)].data(); }

  State& state_;
  const LoopNest::Tuning& tuning_;
  const NestProgram& program_;
  const Nest& nest_;
  const Kernel& body_;
  const NestCall& call_;
  std::optional<NestOnDevice> device_;
  unsigned flags_ = 0;
};

unsigned LoopNest::run(const NestCall& call) {
  return NestRun<Program>(program(call), call, tuning).run();
}

std::optional<unsigned> LoopNest::run_if_short(const NestCall& call, bool is_heard) {
  Program& found = program(call);
  if (found.program->takes_long) return std::nullopt;
  NestRun<Program> run(found, call, tuning);
  if (!is_heard || !found.program->may_be_endless) return run.run();
  const InterruptsHeard heard;
  try {
    return run.run();
  } catch (const Stopped&) {
    throw Interrupted();
  }
}

unsigned LoopNest::judged(const NestCall& call, unsigned raised) {
  for (const NestArgument& a : call.arrays)
    if (a.base) Engine::get().need(a.base);
  const Program& program = this->program(call);
  return judge_.judge(routine_, {}, call, raised, program.host_has_raised);
}

}  // namespace frit
