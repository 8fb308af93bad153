// text.cpp: arrays as text, for C++ programs: brackets and columns as NumPy prints them.
#include <charconv>
#include <cmath>
#include <complex>
#include <cstring>
#include <functional>

#include "frit/array.h"
#include "front/common.h"

namespace frit {
namespace {

constexpr std::int64_t most_elements = 1000, most_at_an_end = 3;
constexpr std::size_t most_columns = 75;

template <class T>
std::string digits_of(T value) {
  char room[64];
  const auto end = std::to_chars(room, room + sizeof room, value).ptr;
  std::string digits(room, end);
  if (std::is_floating_point_v<T> && digits.find_first_not_of("-0123456789") == std::string::npos)
    digits += '.';
  return digits;
}

template <class T>
std::string digits_of(std::complex<T> z) {
  return digits_of(z.real()) + (std::signbit(z.imag()) ? "" : "+") + digits_of(z.imag()) + "j";
}

// One element; float16 is given as float32.
std::string text_of(DType dtype, const std::byte* at) {
  if (dtype == DType::Bool) return *at != std::byte{0} ? "true" : "false";
  switch (dtype) {
#define FRIT_DTYPE(Name, name, code, kind, size, type) \
  case DType::Name: {                                  \
    type value;                                        \
    std::memcpy(&value, at, sizeof value);             \
    return digits_of(value);                           \
  }
#include "ops/dtype.def"
#undef FRIT_DTYPE
  }
  return {};
}

class Printer {
 public:
  explicit Printer(const Array& dense)
      : shape_(dense.shape()), is_short_(dense.size() > most_elements) {
    const std::byte* const first = read(dense);
    for_each_shown(0, 0, [&](std::int64_t element) {
      cells_.push_back(text_of(dense.dtype(), first + element * size_of(dense.dtype())));
      width_ = std::max(width_, cells_.back().size());
    });
  }

  std::string text() {
    if (shape_.empty()) return cells_[0];
    write(0);
    return std::move(text_);
  }

 private:
  // -1 stands for what is left out.
  template <class Visit>
  void for_each_index(std::size_t axis, Visit&& visit) const {
    const std::int64_t n = shape_[axis];
    const bool leaves_out = is_short_ && n > 2 * most_at_an_end;
    for (std::int64_t i = 0; i < n; ++i) {
      if (leaves_out && i == most_at_an_end) {
        visit(std::int64_t{-1});
        i = n - most_at_an_end;
      }
      visit(i);
    }
  }

  void for_each_shown(std::size_t axis, std::int64_t element,
                      const std::function<void(std::int64_t)>& visit) const {
    if (axis == shape_.size()) return visit(element);
    for_each_index(axis, [&](std::int64_t i) {
      if (i >= 0) for_each_shown(axis + 1, element * shape_[axis] + i, visit);
    });
  }

  void write(std::size_t axis) {
    const bool is_row = axis + 1 == shape_.size();
    const std::string indent(axis + 1, ' ');
    text_ += '[';
    bool is_first = true;
    for_each_index(axis, [&](std::int64_t i) {
      if (is_row) {
        const std::string cell = i < 0 ? "..." : padded(cells_[next_++]);
        const std::size_t column = text_.size() - (text_.rfind('\n') + 1);
        if (!is_first) text_ += column + 1 + cell.size() < most_columns ? " " : "\n" + indent;
        text_ += cell;
      } else {
        if (!is_first) text_ += std::string(shape_.size() - 1 - axis, '\n') + indent;
        if (i < 0)
          text_ += "...";
        else
          write(axis + 1);
      }
      is_first = false;
    });
    text_ += ']';
  }
  std::string padded(const std::string& cell) const {
    return std::string(width_ - cell.size(), ' ') + cell;
  }

  std::span<const std::int64_t> shape_;
  bool is_short_;
  std::vector<std::string> cells_;
  std::size_t width_ = 0, next_ = 0;
  std::string text_;
};

}  // namespace

std::string to_string(const Array& a) {
  check_array(a);
  const Array wide = a.dtype() == DType::Float16 ? astype(a, DType::Float32) : a;
  const Array dense = wide.c_contiguous() ? wide : copy(wide, 'C');
  return Printer(dense).text();
}

}  // namespace frit
