// contents.cpp: ranges of index arrays, by the stamp of their memory.
#include "front/contents.h"

#include <unordered_map>

#include "engine/engine.h"
#include "front/common.h"
#include "ir/hash.h"

namespace frit {
namespace {

constexpr std::size_t most_ranges = 1024;

// Stamps are never used twice, so that what is kept here never becomes wrong, only useless.
struct Elements {
  std::uint64_t stamp = 0;
  std::int64_t offset = 0;
  LayoutRef layout;
  DType dtype{};
  bool operator==(const Elements& other) const {
    return stamp == other.stamp && offset == other.offset && layout.get() == other.layout.get() &&
           dtype == other.dtype;
  }
};
struct HashOfElements {
  std::size_t operator()(const Elements& e) const {
    const std::uint64_t place =
        static_cast<std::uint64_t>(e.offset) + reinterpret_cast<std::uintptr_t>(e.layout.get());
    return mixed(e.stamp, place);
  }
};

// Under the engine's lock. Never destroyed: kernels may be recorded while the process ends.
auto& known_ranges() {
  static auto& known = *new std::unordered_map<Elements, std::optional<Range>, HashOfElements>;
  return known;
}

std::optional<Range> compute_range(const Array& a) {
  if (a.size() == 0) return std::nullopt;
  const auto as_int64 = [](const Array& x) {
    return item(astype(x, DType::Int64)).as<std::int64_t>();
  };
  const Array low = reduce(Op::Minimum, a), high = reduce(Op::Maximum, a);
  const Range range{as_int64(low), as_int64(high)};
  if (range.low > range.high) return std::nullopt;  // uint64 beyond int64
  return range;
}

}  // namespace

std::optional<Range> range_of_elements(const Array& a) {
  // The stamp comes before the elements are read: a write meanwhile takes it away.
  const Elements elements{Engine::get().stamp(a.base()), a.offset(), LayoutRef(a.layout()),
                          a.dtype()};
  if (elements.stamp == 0) return compute_range(a);
  if (const auto found = known_ranges().find(elements); found != known_ranges().end())
    return found->second;
  const std::optional<Range> range = compute_range(a);
  if (known_ranges().size() >= most_ranges) known_ranges().clear();
  known_ranges().emplace(elements, range);
  return range;
}

}  // namespace frit
