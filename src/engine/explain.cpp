// explain.cpp: the last plan, or what is pending, as text and as a graph.
#include <sstream>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace frit {
namespace {

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string s = "(";
  for (std::size_t k = 0; k < shape.size(); ++k) s += (k ? ", " : "") + std::to_string(shape[k]);
  return s + (shape.size() == 1 ? ",)" : ")");
}

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

// How often the lines from `first` on repeat their first `period`.
std::size_t repeats(const std::vector<std::string>& lines, std::size_t first, std::size_t period) {
  std::size_t k = first + period;
  while (k < lines.size() && lines[k] == lines[k - period]) ++k;
  return (k - first) / period;
}

// A loop's rounds give the same lines again and again: they are told once, with their number.
std::vector<std::string> without_repeats(const std::vector<std::string>& lines) {
  constexpr std::size_t longest = 64, fewest = 3;
  std::vector<std::string> kept;
  for (std::size_t k = 0; k < lines.size();) {
    std::size_t period = 1, times = repeats(lines, k, 1);
    while (times < fewest && period < longest) times = repeats(lines, k, ++period);
    if (times < fewest) {
      kept.push_back(lines[k++]);
      continue;
    }
    for (std::size_t n = 0; n < period; ++n) kept.push_back(lines[k + n]);
    if (period == 1)
      kept.back() += ", " + std::to_string(times) + " times";
    else
      kept.push_back("  (these " + std::to_string(period) + " " + std::to_string(times) +
                     " times)");
    k += period * times;
  }
  return kept;
}

std::string explain_eager(const std::vector<std::string>& lines, std::size_t count, bool dot) {
  const char* const why = "one by one: new, and done sooner than planned";
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
           " arrays over " + shape_text(domain->shape()) +
           (has_lanes ? ", with lanes along loops inside" : "");
  std::string s(info(op).numpy_name.empty() ? info(op).name : info(op).numpy_name);
  if (kind == NodeKind::Reduce) s += ".reduce";
  return s + " " + std::string(info(dtype).name) + shape_text(domain->shape());
}

std::string Engine::explain(bool dot) {
  std::shared_ptr<const Plan> plan = last_plan_;
  std::vector<std::string> names;
  if (last_nodes_)
    for (const NodeLabel& node : *last_nodes_) names.push_back(node.text());
  const bool pending = !nodes_.empty();
  if (!pending && !plan && !names.empty())
    return explain_eager(without_repeats(names), names.size(), dot);
  if (pending) {
    number_bases();
    plan = make_plan(segment(slot_states()));
    names.clear();
    for (const Node& node : nodes_) names.push_back(NodeLabel(node).text());
  }
  if (!plan) return dot ? "digraph frit {}\n" : "nothing was evaluated yet\n";
  std::ostringstream out;
  if (dot)
    out << "digraph frit {\n  rankdir=LR; node [shape=box, fontname=monospace, fontsize=10];\n";
  else
    out << (pending ? "pending: " : "evaluated: ") << names.size() << " operations in "
        << plan->groups.size() << (plan->groups.size() == 1 ? " kernel" : " kernels") << "; moves "
        << bytes_text(plan->bytes_moved) << " of at least " << bytes_text(plan->bytes_least) << "; "
        << plan->contracted << " temporaries never stored\n";
  for (std::size_t g = 0; g < plan->groups.size(); ++g) {
    const GroupSummary& group = plan->groups[g];
    std::vector<std::string> lines;
    for (std::uint32_t n : group.nodes) lines.push_back(n < names.size() ? names[n] : "?");
    lines = without_repeats(lines);
    if (dot) {
      out << "  k" << g << " [label=\"kernel " << g << ", " << bytes_text(group.bytes_moved);
      for (const std::string& line : lines) out << "\\l" << line;
      out << "\\l\"];\n";
      if (g > 0)
        out << "  k" << g - 1 << " -> k" << g << " [label=\"" << group.why << "\", fontsize=9];\n";
      continue;
    }
    out << "kernel " << g << ": " << bytes_text(group.bytes_moved);
    if (g > 0) out << "; apart because: " << group.why;
    if (group.parts == 1) out << "; point after point, on one thread";
    if (group.parts > 1) out << "; in " << group.parts << " parts with arrays of their own";
    out << "\n";
    for (const std::string& line : lines) out << "    " << line << "\n";
  }
  if (dot) out << "}\n";
  return out.str();
}

}  // namespace frit
