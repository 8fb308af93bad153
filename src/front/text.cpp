// text.cpp: arrays as text, for C++ programs, as NumPy's default print options have them.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>

#include "frit/array.h"
#include "front/common.h"

namespace frit {
namespace {

constexpr std::int64_t most_elements = 1000, most_at_an_end = 3;
constexpr std::size_t line_width = 75;
constexpr int most_fraction = 8;  // digits behind the point
constexpr double least_plain = 1e-4;

// ---- floating point -----------------------------------------------------------------------------

// A real number of a type; the double is exactly it.
struct Real {
  double value = 0;
  DType dtype = DType::Float64;

  // In the type itself.
  double rounded(double x) const {
    const Scalar nearest = cast_scalar(Scalar::of(DType::Float64, x), dtype);
    return cast_scalar(nearest, DType::Float64).as<double>();
  }
};

// sign d.ddd * 10^exponent
struct Decimal {
  bool is_negative = false;
  std::string digits;
  int exponent = 0;
};

template <class T, class... Format>
std::string chars_of(T value, Format... format) {
  char room[400];  // a double has 309 digits in front of its point
  return {room, std::to_chars(room, room + sizeof room, value, format...).ptr};
}

// The fewest digits that tell the number from the others of its type.
std::string shortest(const Real& x) {
  constexpr auto scientific = std::chars_format::scientific;
  if (x.dtype == DType::Float64) return chars_of(x.value, scientific);
  if (x.dtype == DType::Float32) return chars_of(static_cast<float>(x.value), scientific);
  std::string digits;
  for (int precision = 0; precision <= 5; ++precision) {
    digits = chars_of(x.value, scientific, precision);
    double same = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), same);
    if (x.rounded(same) == x.value) break;
  }
  return digits;
}

Decimal decimal_of(const std::string& scientific) {
  Decimal result;
  const std::size_t e = scientific.find('e');
  for (char c : scientific.substr(0, e)) {
    if (c == '-') result.is_negative = true;
    if (c >= '0' && c <= '9') result.digits += c;
  }
  result.exponent = std::stoi(scientific.substr(e + 1));
  return result;
}

void trim_zeros(std::string& digits) {
  while (digits.ends_with('0')) digits.pop_back();
}

// A number in parts; what is behind the point may be nothing.
struct Written {
  std::string whole;  // with its sign
  std::string fraction;
  std::string exponent;  // sign and digits
};

Written plainly(const Real& x, int precision) {
  const Decimal decimal = decimal_of(shortest(x));
  const int behind = static_cast<int>(decimal.digits.size()) - 1 - decimal.exponent;
  Written result;
  if (behind > precision) {
    const std::string cut = chars_of(x.value, std::chars_format::fixed, precision);
    const std::size_t point = cut.find('.');
    result = {cut.substr(0, point), cut.substr(point + 1), {}};
  } else {
    std::string digits = decimal.digits;
    if (decimal.exponent < 0) digits.insert(0, static_cast<std::size_t>(-decimal.exponent), '0');
    const auto whole = static_cast<std::size_t>(std::max(decimal.exponent, 0) + 1);
    if (digits.size() < whole) digits.resize(whole, '0');
    result = {(decimal.is_negative ? "-" : "") + digits.substr(0, whole), digits.substr(whole), {}};
  }
  trim_zeros(result.fraction);
  return result;
}

Written scientifically(const Decimal& decimal) {
  std::string exponent = std::to_string(std::abs(decimal.exponent));
  if (exponent.size() < 2) exponent.insert(0, 1, '0');
  return {(decimal.is_negative ? "-" : "") + decimal.digits.substr(0, 1), decimal.digits.substr(1),
          (decimal.exponent < 0 ? "-" : "+") + exponent};
}
// With all digits of the number itself up to the last one.
Written scientifically(double x, std::size_t fraction) {
  return scientifically(
      decimal_of(chars_of(x, std::chars_format::scientific, static_cast<int>(fraction))));
}
Written scientifically(const Real& x, int precision) {
  const Decimal fewest = decimal_of(shortest(x));
  const auto most = static_cast<std::size_t>(precision);
  Written result =
      fewest.digits.size() > most + 1 ? scientifically(x.value, most) : scientifically(fewest);
  trim_zeros(result.fraction);
  return result;
}

// From here on numbers have an exponent: below, the type has all digits in front of the point. (As
// of NumPy 2.3.)
double least_scientific(DType dtype, double otherwise) {
  return dtype == DType::Float16 ? 1e3 : dtype == DType::Float32 ? 1e6 : otherwise;
}

enum class Plus : std::uint8_t { Hidden, Shown };

std::string word_of(double x, Plus plus) {  // of what is not finite
  const bool is_below = !std::isnan(x) && x < 0;
  const char* const sign = is_below ? "-" : plus == Plus::Shown ? "+" : "";
  return sign + std::string(std::isnan(x) ? "nan" : "inf");
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

// How the numbers of an array are written below one another.
class Column {
 public:
  Column(std::span<const double> values, DType dtype, Plus plus) : dtype_(dtype), plus_(plus) {
    is_scientific_ = wants_scientific(values);
    for (double x : values) {
      if (!std::isfinite(x)) continue;
      const Real number{x, dtype_};
      const Written parts = with_plus(is_scientific_ ? scientifically(number, most_fraction)
                                                     : plainly(number, most_fraction));
      whole_ = std::max(whole_, parts.whole.size());
      fraction_ = std::max(fraction_, parts.fraction.size());
      exponent_ = std::max(exponent_, parts.exponent.size());
    }
    behind_ = fraction_ + (is_scientific_ ? exponent_ + 1 : 0);
    for (double x : values)
      if (!std::isfinite(x)) {
        const std::size_t size = word_of(x, plus_).size();
        if (size > behind_ + 1) whole_ = std::max(whole_, size - behind_ - 1);
      }
  }

  std::string cell(double x) const {
    if (!std::isfinite(x)) return padded(word_of(x, plus_), whole_ + behind_ + 1);
    if (!is_scientific_) {
      const Written parts = with_plus(plainly({x, dtype_}, most_fraction));
      const std::string behind(fraction_ - parts.fraction.size(), ' ');
      return padded(parts.whole, whole_) + '.' + parts.fraction + behind;
    }
    Written parts = with_plus(scientifically(x, fraction_));
    parts.exponent.insert(1, exponent_ - parts.exponent.size(), '0');
    return padded(parts.whole, whole_) + '.' + parts.fraction + 'e' + parts.exponent;
  }

 private:
  bool wants_scientific(std::span<const double> values) const {
    double most = 0, least = std::numeric_limits<double>::infinity();
    for (double x : values) {
      if (!std::isfinite(x) || x == 0) continue;
      most = std::max(most, std::abs(x));
      least = std::min(least, std::abs(x));
    }
    const Real type{0, dtype_};
    return most != 0 && (most >= least_scientific(dtype_, 1e8) ||
                         least < type.rounded(least_plain) || type.rounded(most / least) > 1000);
  }
  Written with_plus(Written parts) const {
    if (plus_ == Plus::Shown && parts.whole[0] != '-') parts.whole.insert(0, 1, '+');
    return parts;
  }

  DType dtype_;
  Plus plus_;
  bool is_scientific_ = false;
  std::size_t whole_ = 0, fraction_ = 0, exponent_ = 0;
  std::size_t behind_ = 0;  // the point, of numbers that have some
};

// A number by itself: as many digits as tell it from others.
std::string alone(const Real& x, Plus plus, std::string_view end_of_whole) {
  if (!std::isfinite(x.value)) return word_of(x.value, plus);
  const double size = std::abs(x.value);
  const bool is_plain =
      size == 0 || (size >= least_plain && size < least_scientific(x.dtype, 1e16));
  constexpr int all = std::numeric_limits<double>::max_digits10 + 5;
  const Written parts = is_plain ? plainly(x, all) : scientifically(x, all);
  std::string text = plus == Plus::Shown && parts.whole[0] != '-' ? "+" : "";
  text += parts.whole;
  if (!parts.fraction.empty())
    text += '.' + parts.fraction;
  else if (is_plain)
    text += end_of_whole;
  return is_plain ? text : text + 'e' + parts.exponent;
}

std::string alone(double real, double imaginary, DType part) {
  const bool has_real = real != 0 || std::signbit(real);
  const std::string text =
      alone({imaginary, part}, has_real ? Plus::Shown : Plus::Hidden, "") + "j";
  return has_real ? "(" + alone({real, part}, Plus::Hidden, "") + text + ")" : text;
}

// ---- cells --------------------------------------------------------------------------------------

// Real and imaginary part of an element of a floating point type.
std::complex<double> number_at(DType dtype, const std::byte* at) {
  Scalar element{.dtype = dtype};
  std::memcpy(element.bytes, at, static_cast<std::size_t>(size_of(dtype)));
  return cast_scalar(element, DType::Complex128).as<std::complex<double>>();
}

std::vector<std::string> cells_of_numbers(DType dtype, std::span<const std::byte* const> elements,
                                          bool is_alone) {
  std::vector<double> real, imaginary;
  for (const std::byte* at : elements) {
    const std::complex<double> z = number_at(dtype, at);
    real.push_back(z.real());
    imaginary.push_back(z.imag());
  }
  const DType part = real_of(dtype);
  if (is_alone && is_complex(dtype)) return {alone(real[0], imaginary[0], part)};
  if (is_alone) return {alone({real[0], part}, Plus::Hidden, ".0")};
  std::vector<std::string> cells;
  const Column reals(real, part, Plus::Hidden);
  for (double x : real) cells.push_back(reals.cell(x));
  if (!is_complex(dtype)) return cells;
  const Column imaginaries(imaginary, part, Plus::Shown);
  for (std::size_t k = 0; k < cells.size(); ++k) {
    std::string cell = imaginaries.cell(imaginary[k]);
    cell.insert(cell.find_last_not_of(' ') + 1, 1, 'j');
    cells[k] += cell;
  }
  return cells;
}

std::string integer_at(DType dtype, const std::byte* at) {
  Scalar element{.dtype = dtype};
  std::memcpy(element.bytes, at, static_cast<std::size_t>(size_of(dtype)));
  if (is_unsigned(dtype))
    return std::to_string(cast_scalar(element, DType::UInt64).as<std::uint64_t>());
  return std::to_string(cast_scalar(element, DType::Int64).as<std::int64_t>());
}

std::vector<std::string> cells_of(DType dtype, std::span<const std::byte* const> elements,
                                  bool is_alone) {
  if (is_inexact(dtype)) return cells_of_numbers(dtype, elements, is_alone);
  std::vector<std::string> cells;
  for (const std::byte* at : elements) {
    if (is_bool(dtype))
      cells.emplace_back(*at != std::byte{0} ? "True" : "False");
    else
      cells.push_back(integer_at(dtype, at));
  }
  if (is_alone) return cells;
  std::size_t width = is_bool(dtype) ? 5 : 0;
  for (const std::string& cell : cells) width = std::max(width, cell.size());
  for (std::string& cell : cells) cell = padded(std::move(cell), width);
  return cells;
}

class Printer {
 public:
  explicit Printer(const Array& dense)
      : shape_(dense.shape()), is_short_(dense.size() > most_elements) {
    const std::byte* const first = read(dense);
    std::vector<const std::byte*> elements;
    for_each_shown(0, 0, [&](std::int64_t element) {
      elements.push_back(first + element * size_of(dense.dtype()));
    });
    cells_ = cells_of(dense.dtype(), elements, shape_.empty());
  }

  std::string text() {
    if (shape_.empty()) return cells_[0];
    if (cells_.empty()) return "[]";
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
        const std::string cell = i < 0 ? "..." : cells_[next_++];
        if (!is_first) separate(cell.size(), indent);
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
  // Between two cells of a row. Each axis takes a column for its bracket.
  void separate(std::size_t cell, const std::string& indent) {
    const std::size_t column = text_.size() - (text_.rfind('\n') + 1);
    if (column + 1 + cell <= line_width - indent.size()) {
      text_ += ' ';
      return;
    }
    text_.resize(text_.find_last_not_of(' ') + 1);
    text_ += '\n' + indent;
  }

  std::span<const std::int64_t> shape_;
  bool is_short_;
  std::vector<std::string> cells_;
  std::size_t next_ = 0;
  std::string text_;
};

}  // namespace

std::string to_string(const Array& a) {
  check_array(a);
  const Array dense = a.c_contiguous() ? a : copy(a, 'C');
  return Printer(dense).text();
}

}  // namespace frit
