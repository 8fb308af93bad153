// distinct.cpp: integers that lie close together are places in a table; others, and floats, are
// found by a hash of their bits.
#include "front/distinct.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <vector>

#include "front/common.h"
#include "front/parts.h"
#include "ops/loops.h"

namespace frit {
namespace {

// f(an integer of the type).
template <class F>
decltype(auto) with_integer(DType dtype, F&& f) {
  switch (dtype) {
    case DType::Int8:
      return f(std::int8_t{});
    case DType::Int16:
      return f(std::int16_t{});
    case DType::Int32:
      return f(std::int32_t{});
    case DType::UInt8:
      return f(std::uint8_t{});
    case DType::UInt16:
      return f(std::uint16_t{});
    case DType::UInt32:
      return f(std::uint32_t{});
    case DType::UInt64:
      return f(std::uint64_t{});
    default:
      check(dtype == DType::Int64, "an integer type");
      return f(std::int64_t{});
  }
}

template <class T>
const T* elements_of(const Array& dense) {
  return reinterpret_cast<const T*>(dense.base()->data + dense.offset());
}

template <class T>
T* new_vector(Array& vector, std::int64_t n, DType dtype) {
  vector = empty({&n, 1}, dtype);
  Engine::get().allocate(vector.base());
  return reinterpret_cast<T*>(vector.base()->data);
}

// From the least to the greatest element.
struct Span {
  std::int64_t least = 0;
  std::uint64_t length = 0;  // 0: they do not fit into int64

  static Span of(const Array& dense) {
    const Extremes found = range_loop(dense.dtype())(elements_of<std::byte>(dense), dense.size());
    if (dense.dtype() == DType::UInt64 && (found.least < 0 || found.greatest < 0)) return {};
    return {found.least, static_cast<std::uint64_t>(found.greatest) -
                             static_cast<std::uint64_t>(found.least) + 1};
  }
  template <class T>
  std::uint64_t place(T x) const {
    return static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(least);
  }
};

// Marks from several threads at once.
void mark(std::uint8_t& byte) { std::atomic_ref(byte).store(1, std::memory_order_relaxed); }

// The values that integers have, by a table of all between the least and the greatest.
template <class T>
class ValueTable {
 public:
  ValueTable(const Array& dense, const Span& span)
      : from_(elements_of<T>(dense)), n_(dense.size()), span_(span), ranks_(span.length) {}

  Distinct run(const DistinctParts& parts, DType dtype) {
    Distinct found;
    std::vector<std::int64_t> counts;
    if (parts.counts) {
      counts = count();
      for (std::size_t k = 0; k < counts.size(); ++k) ranks_[k] = counts[k] != 0;
    } else {
      find();
    }
    std::int64_t size = 0;
    for (std::int32_t& rank : ranks_) {
      const std::int32_t is_there = rank;
      rank = static_cast<std::int32_t>(size);
      size += is_there;
      if (!is_there) rank = absent;
    }
    T* const values = new_vector<T>(found.values, size, dtype);
    std::int64_t* const most =
        parts.counts ? new_vector<std::int64_t>(found.counts, size, DType::Int64) : nullptr;
    for (std::size_t k = 0; k < ranks_.size(); ++k) {
      if (ranks_[k] == absent) continue;
      values[ranks_[k]] = static_cast<T>(static_cast<std::uint64_t>(span_.least) + k);
      if (most) most[ranks_[k]] = counts[k];
    }
    if (parts.index) {
      std::int64_t* const index = new_vector<std::int64_t>(found.index, size, DType::Int64);
      for (std::int64_t k = n_ - 1; k >= 0; --k) index[ranks_[span_.place(from_[k])]] = k;
    }
    if (parts.inverse) {
      std::int64_t* const inverse = new_vector<std::int64_t>(found.inverse, n_, DType::Int64);
      for_parts(n_, 2, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k) inverse[k] = ranks_[span_.place(from_[k])];
      });
    }
    return found;
  }

 private:
  static constexpr std::int32_t absent = -1;

  void find() {
    std::vector<std::uint8_t> is_there(ranks_.size());
    for_parts(n_, 2, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) mark(is_there[span_.place(from_[k])]);
    });
    std::copy(is_there.begin(), is_there.end(), ranks_.begin());
  }

  std::vector<std::int64_t> count() const {
    const auto length = std::ssize(ranks_);
    const std::int64_t parts = std::clamp<std::int64_t>(
        n_ / std::max<std::int64_t>(1 << 14, 4 * length), 1, ThreadPool::get().threads());
    std::vector<std::int64_t> tables(static_cast<std::size_t>(parts * length));
    for_parts(parts, n_ * 2 / parts, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t part = begin; part < end; ++part) {
        std::int64_t* const table = tables.data() + part * length;
        for (std::int64_t k = n_ * part / parts; k < n_ * (part + 1) / parts; ++k)
          ++table[span_.place(from_[k])];
      }
    });
    for (std::int64_t k = length; k < std::ssize(tables); ++k)
      tables[static_cast<std::size_t>(k % length)] += tables[static_cast<std::size_t>(k)];
    tables.resize(ranks_.size());
    return tables;
  }

  const T* from_;
  std::int64_t n_;
  Span span_;
  std::vector<std::int32_t> ranks_;  // of the values among those that are there
};

constexpr std::uint64_t longest_table = std::uint64_t{1} << 24;

}  // namespace

std::optional<Distinct> distinct_in_table(const Array& dense, const DistinctParts& parts) {
  Locked lock(Engine::lock());
  const Span span = Span::of(dense);
  if (span.length == 0 || span.length > longest_table ||
      span.length > 2 * static_cast<std::uint64_t>(dense.size()))
    return std::nullopt;
  return with_integer(dense.dtype(), [&]<class T>(T) {
    return ValueTable<T>(dense, span).run(parts, dense.dtype());
  });
}

// ---- among others -------------------------------------------------------------------------------

namespace {

// The bits by which elements are told apart: those of 0.0 for -0.0.
inline std::uint64_t key_of(double x) { return std::bit_cast<std::uint64_t>(x + 0.0); }
inline std::uint64_t key_of(float x) { return std::bit_cast<std::uint32_t>(x + 0.0f); }
template <class T>
requires std::is_integral_v<T> std::uint64_t key_of(T x) { return static_cast<std::uint64_t>(x); }

// The keys of `wanted`, at the first free place from where each should be.
class KeySet {
 public:
  template <class T>
  KeySet(const T* wanted, std::int64_t n)
      : shift_(64 - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n) * 2))),
        keys_(std::size_t{1} << (64 - shift_), free_key) {
    for (std::int64_t k = 0; k < n; ++k)
      if (wanted[k] == wanted[k]) add(key_of(wanted[k]));
  }

  bool has(std::uint64_t key) const {
    if (key == free_key) [[unlikely]]
      return has_free_key_;
    std::size_t place = place_of(key);
    while (keys_[place] != key && keys_[place] != free_key) place = next(place);
    return keys_[place] == key;
  }

 private:
  static constexpr std::uint64_t free_key = std::uint64_t{1} << 63;  // no float's: -0.0

  std::size_t place_of(std::uint64_t key) const { return (key * 0x9e3779b97f4a7c15u) >> shift_; }
  std::size_t next(std::size_t place) const { return (place + 1) & (keys_.size() - 1); }
  void add(std::uint64_t key) {
    if (key == free_key) {
      has_free_key_ = true;
      return;
    }
    std::size_t place = place_of(key);
    while (keys_[place] != key && keys_[place] != free_key) place = next(place);
    keys_[place] = key;
  }

  int shift_;
  std::vector<std::uint64_t> keys_;
  bool has_free_key_ = false;
};

template <class T>
class Membership {
 public:
  Membership(const Array& elements, const Array& wanted, bool is_inverted, std::uint8_t* answers)
      : from_(elements_of<T>(elements)),
        n_(elements.size()),
        wanted_(elements_of<T>(wanted)),
        count_(wanted.size()),
        is_inverted_(is_inverted),
        answers_(answers) {}

  void by_table(const Span& span) const {
    std::vector<std::uint8_t> table(span.length + 1, is_inverted_);  // behind it: all others
    for (std::int64_t k = 0; k < count_; ++k)
      table[span.place(wanted_[k])] = static_cast<std::uint8_t>(!is_inverted_);
    for_all([&](T x) { return table[std::min(span.place(x), span.length)]; });
  }

  void by_keys() const {
    const KeySet keys(wanted_, count_);
    for_all([&](T x) { return static_cast<std::uint8_t>(keys.has(key_of(x)) != is_inverted_); });
  }

  // By comparing with each, in loops with vectors.
  void by_comparing(DType dtype) const {
    static constexpr std::int64_t block = 4096;
    const Loop compare = loop(is_inverted_ ? Op::NotEqual : Op::Equal, dtype),
               join = loop(is_inverted_ ? Op::BitwiseAnd : Op::BitwiseOr, DType::Bool);
    for_parts(n_, count_, [&](std::int64_t begin, std::int64_t end) {
      std::uint8_t room[block];
      for (; begin < end; begin += block) {
        const std::int64_t n = std::min(block, end - begin);
        for (std::int64_t k = 0; k < count_; ++k) {
          void* const pair[] = {k == 0 ? answers_ + begin : room, const_cast<T*>(from_ + begin),
                                const_cast<T*>(wanted_ + k)};
          compare(pair, n, 2);
          void* const both[] = {answers_ + begin, answers_ + begin, room};
          if (k > 0) join(both, n, 0);
        }
      }
    });
  }

 private:
  template <class Answer>
  void for_all(Answer&& answer) const {
    for_parts(n_, 2, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) answers_[k] = answer(from_[k]);
    });
  }

  const T* from_;
  std::int64_t n_;
  const T* wanted_;
  std::int64_t count_;
  bool is_inverted_;
  std::uint8_t* answers_;
};

}  // namespace

Array are_among(const Array& elements, const Array& wanted, bool is_inverted) {
  constexpr std::int64_t few = 8;
  Locked lock(Engine::lock());
  const Array of = dense(elements), in = dense(wanted);
  const Array result = empty(elements.shape(), DType::Bool);
  Engine::get().allocate(result.base());
  auto* const answers = reinterpret_cast<std::uint8_t*>(result.base()->data);
  const auto answer = [&]<class T>(T) {
    const Membership<T> membership(of, in, is_inverted, answers);
    if (in.size() <= few) return membership.by_comparing(of.dtype());
    if constexpr (std::is_integral_v<T>) {
      const Span span = Span::of(in);
      const auto both = static_cast<std::uint64_t>(of.size() + in.size());
      if (span.length > 0 && span.length <= std::min(longest_table, 8 * both))
        return membership.by_table(span);
    }
    membership.by_keys();
  };
  if (of.dtype() == DType::Float64)
    answer(double{});
  else if (of.dtype() == DType::Float32)
    answer(float{});
  else
    with_integer(of.dtype(), answer);
  return result;
}

}  // namespace frit
