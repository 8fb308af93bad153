// explain.cpp: the last plan, or what is pending, as text and as a graph.
#include <sstream>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace frit {
namespace {

// As Python writes it.
std::string shape_text(const Layout& layout) { return shape_words(layout.shape(), ", "); }

std::string bytes_text(std::int64_t bytes) {
  std::ostringstream out;
  out.precision(3);
  if (bytes >= 1 << 20)
    out << static_cast<double>(bytes) / (1 << 20) << " MiB";
  else if (bytes >= 1 << 10)
    out << static_cast<double>(bytes) / (1 << 10) << " KiB";
  else
    out << bytes << " B";
  return out.str();
}

// What users call it.
std::string called(Op op) {
  if (op == Op::Copy) return "copy";
  if (op == Op::Select) return "where";
  return std::string(info(op).numpy_name.empty() ? info(op).name : info(op).numpy_name);
}

// How often the lines from `first` on repeat their first `period`.
std::size_t repeats(const std::vector<std::string>& lines, std::size_t first, std::size_t period) {
  std::size_t k = first + period;
  while (k < lines.size() && lines[k] == lines[k - period]) ++k;
  return (k - first) / period;
}

// Lines of which the first `period`, from `first` on, come `times` times.
struct Stretch {
  std::size_t first, period, times;
};

// A loop's rounds give the same lines again and again: they are told once, with their number.
std::vector<Stretch> stretches(const std::vector<std::string>& lines) {
  constexpr std::size_t longest = 64, fewest = 3;
  std::vector<Stretch> found;
  for (std::size_t k = 0; k < lines.size(); k += found.back().period * found.back().times) {
    std::size_t period = 1, times = repeats(lines, k, 1);
    while (times < fewest && period < longest) times = repeats(lines, k, ++period);
    found.push_back(times < fewest ? Stretch{k, 1, 1} : Stretch{k, period, times});
  }
  return found;
}

std::vector<std::string> without_repeats(const std::vector<std::string>& lines) {
  std::vector<std::string> kept;
  for (const auto [first, period, times] : stretches(lines)) {
    for (std::size_t n = 0; n < period; ++n) kept.push_back(lines[first + n]);
    if (times == 1) continue;
    if (period == 1)
      kept.back() += ", " + std::to_string(times) + " times";
    else
      kept.push_back("  (these " + std::to_string(period) + " " + std::to_string(times) +
                     " times)");
  }
  return kept;
}

std::string explain_eager(const std::vector<std::string>& lines, std::size_t count, bool dot) {
  const char* const why = "one by one: done sooner than planned, so far";
  std::ostringstream out;
  if (dot)
    out << "digraph frit {\n  node [shape=box, fontname=monospace, fontsize=10];\n  all [label=\""
        << why;
  else
    out << "evaluated: " << count << (count == 1 ? " operation" : " operations") << ", " << why
        << "\n";
  for (const std::string& line : lines) out << (dot ? "\\l" : "    ") << line << (dot ? "" : "\n");
  if (dot) out << "\\l\"];\n}\n";
  return out.str();
}

// What a plan's nodes are called, and where its groups ran, if that is known.
struct PlanWords {
  std::vector<std::string> names, places;
};

// What a kernel does, behind its number: equal for kernels that are alike.
std::string kernel_text(const GroupSummary& group, const std::string& place,
                        const std::vector<std::string>& names) {
  std::string s = bytes_text(group.bytes_moved);
  if (!place.empty()) s += "; " + place;
  if (!group.why.empty()) s += "; apart because: " + group.why;
  if (group.parts == 1) s += "; point after point, on one thread";
  if (group.parts > 1)
    s += "; in " + std::to_string(group.parts) + " parts with arrays of their own";
  std::vector<std::string> lines;
  for (std::uint32_t n : group.nodes) lines.push_back(n < names.size() ? names[n] : "?");
  for (const std::string& line : without_repeats(lines)) s += "\n    " + line;
  return s;
}

// The kernels' texts, each with its number; a loop's rounds once.
std::vector<std::string> kernel_texts(const Plan& plan, const PlanWords& words) {
  std::vector<std::string> texts, numbered;
  for (std::size_t g = 0; g < plan.groups.size(); ++g)
    texts.push_back(
        kernel_text(plan.groups[g], g < words.places.size() ? words.places[g] : "", words.names));
  for (const auto [first, period, times] : stretches(texts)) {
    for (std::size_t g = first; g < first + period; ++g)
      numbered.push_back("kernel " + std::to_string(g) + ": " + texts[g]);
    if (times == 1) continue;
    const auto range = [](std::size_t from, std::size_t to) {
      return (from == to ? "kernel " : "kernels ") + std::to_string(from) +
             (from == to ? "" : " to " + std::to_string(to));
    };
    numbered.push_back(range(first + period, first + period * times - 1) + ": " +
                       range(first, first + period - 1) + " again, " + std::to_string(times - 1) +
                       " times");
  }
  return numbered;
}

std::string describe(const Plan& plan, const PlanWords& words) {
  const std::size_t kernels = plan.groups.size();
  std::string s = std::to_string(words.names.size()) + " operations in " + std::to_string(kernels) +
                  (kernels == 1 ? " kernel" : " kernels") + "; moves " +
                  bytes_text(plan.bytes_moved) +
                  " (least possible: " + bytes_text(plan.bytes_least) + "); " +
                  std::to_string(plan.contracted) + " temporaries never stored\n";
  for (const std::string& text : kernel_texts(plan, words)) s += text + "\n";
  for (const PlanSweep& sweep : plan.sweeps) {
    const std::string first = std::to_string(plan.steps[sweep.first].group);
    const std::string last = std::to_string(plan.steps[sweep.behind - 1].group);
    s += "kernels " + first + " to " + last +
         " go over the rows together, each some rows behind the one before\n";
  }
  return s;
}

std::string draw(const Plan& plan, const PlanWords& words) {
  std::string s =
      "digraph frit {\n  rankdir=LR; node [shape=box, fontname=monospace, fontsize=10];\n";
  std::size_t k = 0;
  for (const std::string& text : kernel_texts(plan, words)) {
    std::string label;
    for (const char c : text) label += c == '\n' ? std::string("\\l") : std::string(1, c);
    s += "  k" + std::to_string(k) + " [label=\"" + label + "\\l\"];\n";
    if (k > 0) s += "  k" + std::to_string(k - 1) + " -> k" + std::to_string(k) + ";\n";
    ++k;
  }
  return s + "}\n";
}

}  // namespace

NodeLabel::NodeLabel(const Node& node)
    : kind(node.kind),
      op(node.op),
      dtype(node.out.dtype),
      domain(node.kind == NodeKind::Reduce ? node.in[0].layout : node.out.layout) {
  if (kind == NodeKind::Call) call = node.site->call->name();
  if (kind != NodeKind::Routine) return;
  parameters = node.site->routine->parameters.size();
  is_loop = node.source.ufunc != nullptr;
  has_lanes = !node.site->routine->lanes.empty();
}

std::string NodeLabel::text() const {
  if (kind == NodeKind::Call) return call;
  if (kind == NodeKind::Routine)
    return (is_loop ? "loop nest of " : "user kernel of ") + std::to_string(parameters) +
           " arrays over " + shape_text(*domain) +
           (has_lanes ? ", with lanes along loops inside" : "");
  std::string s = called(op);
  if (kind == NodeKind::Reduce) s += ".reduce";
  return s + " " + std::string(info(dtype).name) + shape_text(*domain);
}

std::string Engine::explain(bool dot) {
  std::shared_ptr<const Plan> plan = last_plan_;
  PlanWords words;
  std::vector<std::string>& names = words.names;
  if (last_nodes_)
    for (const NodeLabel& node : *last_nodes_) names.push_back(node.text());
  const bool pending = newly_recorded() > 0;
  if (!pending && !plan && !names.empty())
    return explain_eager(without_repeats(names), names.size(), dot);
  if (pending) {
    number_bases();
    plan = make_plan(segment(slot_states()));
    names.clear();
    for (const Node& node : nodes_) names.push_back(NodeLabel(node).text());
  }
  if (!pending) words.places = last_places_;
  if (!plan) return dot ? "digraph frit {}\n" : "nothing was evaluated yet\n";
  if (dot) return draw(*plan, words);
  std::string s = (pending ? "pending: " : "evaluated: ") + describe(*plan, words);
  if (waiting_ > 0)
    s += std::to_string(waiting_) +
         " operations wait: what they make is stored when it is read again\n";
  return s;
}

}  // namespace frit
