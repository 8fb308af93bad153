// kernel_bytes.cpp: a definition as words, and back.
#include "front/kernel_bytes.h"

#include <cstring>

#include "front/common.h"
#include "ir/error.h"
#include "ir/kernel_bytes.h"

namespace frit {
namespace {

using List = std::vector<std::int32_t>;

void write(std::int64_t value, List& words) {
  words.push_back(static_cast<std::int32_t>(value));
  words.push_back(static_cast<std::int32_t>(value >> 32));
}

void write_list(const List& list, List& words) {
  words.push_back(static_cast<std::int32_t>(list.size()));
  words.insert(words.end(), list.begin(), list.end());
}
List read_list(WordReader& reader) {
  List list(reader.count());
  for (std::int32_t& number : list) number = reader.word();
  return list;
}

KernelInteger read_integer(WordReader& reader) {
  KernelInteger integer;
  integer.kind = static_cast<KernelInteger::Kind>(reader.number(0, 3));
  integer.value = reader.long_word();
  integer.number = reader.word();
  integer.axis = reader.word();
  return integer;
}

// Whether the launch finds each of its numbers where the definition says.
bool is_consistent(const KernelDefinition& definition, const Routine& routine) {
  const auto parameters = static_cast<std::int32_t>(routine.parameter_ranks.size());
  const auto is_extent = [&](const KernelInteger& x) {
    return x.number >= 0 && x.number < parameters && x.axis >= 0 &&
           x.axis < routine.parameter_ranks[static_cast<std::size_t>(x.number)];
  };
  for (const KernelInteger& x : definition.integers)
    if (x.kind == KernelInteger::Kind::Extent ? !is_extent(x) : x.number < -1) return false;
  return definition.uses.size() == routine.parameter_ranks.size() &&
         definition.integers.size() == static_cast<std::size_t>(routine.body.integers) &&
         definition.scalars.size() == routine.body.scalars.size();
}

}  // namespace

std::string definition_as_bytes(const KernelDefinition& definition) {
  check(definition.reductions.empty(), "a kernel that is kept has no reductions");
  const Routine& routine = *definition.routine;
  List words{routine.rank};
  write_list(routine.parameter_ranks, words);
  words.push_back(static_cast<std::int32_t>(definition.uses.size()));
  for (ParameterUse use : definition.uses) words.push_back(static_cast<std::int32_t>(use));
  words.push_back(static_cast<std::int32_t>(definition.integers.size()));
  for (const KernelInteger& integer : definition.integers) {
    words.push_back(static_cast<std::int32_t>(integer.kind));
    write(integer.value, words);
    words.insert(words.end(), {integer.number, integer.axis});
  }
  write_list(definition.scalars, words);
  words.push_back(definition.accesses);
  return std::string(reinterpret_cast<const char*>(words.data()), words.size() * sizeof words[0]) +
         serialize(routine.body);
}

std::optional<KernelDefinition> definition_from(std::string_view bytes) {
  WordReader reader(bytes);
  Routine routine;
  routine.rank = reader.number(0, INT32_MAX);
  routine.parameter_ranks = read_list(reader);
  KernelDefinition definition;
  definition.uses.resize(reader.count());
  for (ParameterUse& use : definition.uses) use = static_cast<ParameterUse>(reader.number(0, 4));
  definition.integers.resize(reader.count());
  for (KernelInteger& integer : definition.integers) integer = read_integer(reader);
  definition.scalars = read_list(reader);
  definition.accesses = reader.word();
  std::optional<Kernel> body = deserialize(reader);
  if (!body || !reader.is_at_end()) return std::nullopt;
  routine.body = std::move(*body);
  if (!is_consistent(definition, routine)) return std::nullopt;
  const Locked lock(Engine::lock());
  try {
    definition.routine = intern(routine);
  } catch (const InternalError&) {
    return std::nullopt;
  }
  return definition;
}

}  // namespace frit
