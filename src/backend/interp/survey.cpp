// survey.cpp: walks a Kernel as the decoder will, and numbers instructions by position.
#include "backend/interp/survey.h"

#include <algorithm>

namespace frit::interp {
namespace {

class Surveyor {
 public:
  Surveyor(const Kernel& kernel, const Variance& variance) : kernel_(kernel), variance_(variance) {
    survey_.values.resize(kernel.values.size());
    survey_.local_first.assign(kernel.locals.size(), never);
    survey_.local_last.assign(kernel.locals.size(), -1);
  }

  Survey run() {
    walk(kernel_.code);
    for (ValueFacts& value : survey_.values)
      if (value.death < -1) value.death = survey_.loop_ends[at(-2 - value.death)];
    find_next_writes();
    survey_.positions = position_;
    return std::move(survey_);
  }

 private:
  void walk(const Block& block) {
    const std::int32_t outer = block_;
    block_ = ++blocks_;
    for (const Instr& instr : block) visit(instr);
    block_ = outer;
  }

  void visit(const Instr& instr) {
    ++position_;
    switch (instr.kind) {
      case InstrKind::Constant:
        ++survey_.constants;
        return define(instr);
      case InstrKind::ScalarArg:
      case InstrKind::IntegerArg:
        return define(instr);
      case InstrKind::Apply:
      case InstrKind::Cast:
        for (ValueId arg : instr.args) use(arg);
        return define(instr);
      case InstrKind::Load:
        use_terms(instr.address);
        define(instr);
        events_.push_back({store_number, instr.result, position_});
        return;
      case InstrKind::Store:
        use_terms(instr.address);
        consume(instr.args[0]);
        events_.push_back({store_number, no_value, position_});
        return;
      case InstrKind::ReadLocal:
        define(instr);
        local(instr.number, instr.result);
        return;
      case InstrKind::WriteLocal:
        consume(instr.args[0]);
        local(instr.number, no_value);
        return;
      case InstrKind::Loop:
        return visit_loop(instr);
      case InstrKind::If:
        use(instr.args[0]);
        return visit_if(instr, variance_.values[at(instr.args[0])]);
      case InstrKind::While:
        return visit_while(instr, variance_.locals[at(instr.number)]);
    }
  }

  void visit_if(const Instr& instr, bool by_lane) {
    if (by_lane) begin_region();
    walk(instr.body);
    if (by_lane) {
      regions_.pop_back();
      begin_region();
    }
    walk(instr.other);
    if (by_lane) regions_.pop_back();
  }
  void visit_while(const Instr& instr, bool by_lane) {
    begin_loop();
    if (by_lane) begin_region();
    local_range(instr.number, true);
    walk(instr.other);
    walk(instr.body);
    if (by_lane) regions_.pop_back();
    end_loop();
  }
  void begin_region() {
    regions_.push_back(static_cast<std::int32_t>(survey_.regions.size()));
    survey_.regions.emplace_back();
  }

  void visit_loop(const Instr& loop) {
    if (!loop.parallel) {
      use(loop.args[0]);
      use(loop.args[1]);
    }
    begin_loop();
    define(loop);
    if (loop.vector) lane_index_ = loop.result;
    walk(loop.body);
    if (loop.vector) lane_index_ = no_value;
    for (const Reduction& reduction : loop.reductions) {
      ++survey_.values[at(reduction.value)].uses;
      survey_.values[at(reduction.value)].death = end_of_loop_around(reduction.value, 1);
      use_in_regions(reduction.value);
    }
    end_loop();
    for (const Reduction& reduction : loop.reductions) local(reduction.local, no_value);
  }

  void begin_loop() {
    open_.push_back(static_cast<std::int32_t>(survey_.loop_ends.size()));
    survey_.loop_ends.push_back(0);
  }
  void end_loop() {
    survey_.loop_ends[at(open_.back())] = ++position_;
    open_.pop_back();
  }

  void define(const Instr& instr) {
    ValueFacts& value = survey_.values[at(instr.result)];
    value.definition = &instr;
    value.block = block_;
    value.level = static_cast<std::int32_t>(open_.size());
    value.region_level = static_cast<std::int32_t>(regions_.size());
  }
  // -2 - the number of the outermost loop that is around this place and not around the definition,
  // but
  // at most `own` of the loops around both.
  Position end_of_loop_around(ValueId id, std::int32_t own) const {
    const std::int32_t level = survey_.values[at(id)].level;
    const auto depth = static_cast<std::int32_t>(open_.size());
    return -2 - open_[at(std::min(level, depth - own))];
  }
  void use(ValueId id) {
    if (id == no_value) return;
    ++survey_.values[at(id)].uses;
    extend(id);
    use_in_regions(id);
  }
  void use_in_regions(ValueId id) {
    if (!variance_.values[at(id)]) return;
    for (std::size_t k = at(survey_.values[at(id)].region_level); k < regions_.size(); ++k) {
      std::vector<ValueId>& values = survey_.regions[at(regions_[k])].values;
      if (std::find(values.begin(), values.end(), id) == values.end()) values.push_back(id);
    }
  }
  void extend(ValueId id) {
    ValueFacts& value = survey_.values[at(id)];
    value.death = static_cast<std::int32_t>(open_.size()) > value.level ? end_of_loop_around(id, 0)
                                                                        : position_;
  }
  // A use that an Apply can do itself. Its operands are then needed here.
  void consume(ValueId id) {
    use(id);
    ValueFacts& value = survey_.values[at(id)];
    if (value.block != block_ || !variance_.values[at(id)]) return;
    if (!is_computed(*value.definition)) return;
    value.consumed_in_place = true;
    for (ValueId arg : value.definition->args)
      if (arg != no_value) extend(arg);
  }
  // By a loop of the op table, that is; a cast to the same type is a copy.
  bool is_computed(const Instr& instr) const {
    return instr.kind == InstrKind::Apply ||
           (instr.kind == InstrKind::Cast &&
            kernel_.values[at(instr.args[0])] != kernel_.values[at(instr.result)]);
  }
  void use_terms(const Address& address) {
    for (const Term& term : address.terms)
      if (term.index != lane_index_) use(term.index);
  }
  void local_range(std::int32_t number, bool written) {
    Position& first = survey_.local_first[at(number)];
    first = std::min(first, position_);
    survey_.local_last[at(number)] = position_;
    for (std::int32_t region : regions_)
      use_local(survey_.regions[at(region)].locals, number, written);
  }
  static void use_local(std::vector<RegionFacts::Local>& locals, std::int32_t number,
                        bool written) {
    for (RegionFacts::Local& local : locals)
      if (local.number == number) {
        local.written |= written;
        return;
      }
    locals.push_back({number, written});
  }
  void local(std::int32_t number, ValueId read) {
    local_range(number, read == no_value);
    events_.push_back({number, read, position_});
  }

  void find_next_writes() {
    std::vector<Position> next(kernel_.locals.size() + 1, never);
    for (auto event = events_.rbegin(); event != events_.rend(); ++event) {
      Position& write = next[at(event->number + 1)];
      if (event->read == no_value)
        write = event->position;
      else
        survey_.values[at(event->read)].next_write = write;
    }
  }

  static constexpr std::int32_t store_number = -1;  // all of memory counts as one
  struct Event {
    std::int32_t number;
    ValueId read;  // no_value: a write
    Position position;
  };

  const Kernel& kernel_;
  const Variance& variance_;
  Survey survey_;
  std::vector<Event> events_;
  std::vector<std::int32_t> open_;     // loops around this place
  std::vector<std::int32_t> regions_;  // regions around this place
  ValueId lane_index_ = no_value;
  std::int32_t block_ = 0, blocks_ = 0;
  Position position_ = 0;
};

}  // namespace

Survey survey(const Kernel& kernel, const Variance& variance) {
  return Surveyor(kernel, variance).run();
}

}  // namespace frit::interp
