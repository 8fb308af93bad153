// correlation.cpp: convolve and correlate of vectors, as NumPy's loops do them, by all threads.
//
// Each element of the result is a product of its own: of as many elements as lie beside one another
// there, by the type's `dot`. NumPy has loops for those of few elements, which wait for the memory.
#include <algorithm>
#include <array>

#include "front/common.h"
#include "front/parts.h"
#include "python/array_type.h"
#include "python/functions.h"
#include "python/interop.h"
#include "python/methods.h"
#include "python/operands.h"

namespace frit::python {
namespace {

enum class Mode : std::uint8_t { Valid, Same, Full };  // NumPy's numbers

std::int64_t length_of(std::int64_t longer, std::int64_t shorter, Mode mode) {
  switch (mode) {
    case Mode::Valid:
      return longer - shorter + 1;
    case Mode::Same:
      return longer;
    case Mode::Full:
      break;
  }
  return longer + shorter - 1;
}

// The elements of a longer vector by those of a shorter one, both there and dense; under the
// engine's lock.
template <class T>
class Products {
 public:
  Products(const Array& longer, const Array& shorter, Mode mode, PyArray_DotFunc* dot)
      : longer_(longer.base()->data + longer.offset()),
        shorter_(shorter.base()->data + shorter.offset()),
        size_(longer.size()),
        count_(shorter.size()),
        before_(mode == Mode::Valid  ? 0
                : mode == Mode::Same ? count_ / 2
                                     : count_ - 1),
        length_(length_of(size_, count_, mode)),
        dot_(dot) {}

  void store(std::byte* to) const {
    for_parts(length_, count_,
              [&](std::int64_t begin, std::int64_t end) { store(to, begin, end); });
  }

 private:
  void store(std::byte* to, std::int64_t begin, std::int64_t end) const {
    constexpr std::intptr_t item = sizeof(T);
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t first = k - before_;  // in `longer_`, of the shorter one's first element
      const std::int64_t skipped = std::max<std::int64_t>(0, -first);
      const std::int64_t stop = std::min(count_, size_ - first);
      dot_(const_cast<std::byte*>(longer_ + (first + skipped) * item), item,
           const_cast<std::byte*>(shorter_ + skipped * item), item, to + k * item, stop - skipped,
           nullptr);
    }
  }
  const std::byte *longer_, *shorter_;
  std::int64_t size_, count_, before_, length_;
  PyArray_DotFunc* dot_;
};

// convolve(a, v, mode="full") and correlate(a, v, mode="valid").
template <bool is_convolution>
struct Correlation {
  static constexpr const char* name = is_convolution ? "convolve" : "correlate";
  static PyObject* run(PyObject* self, const Arguments& arguments) {
    const auto [other, given] = named(arguments, {"v", "mode"});
    const std::optional<Mode> mode = mode_of(given);
    if (!mode || !other || !is_array(other) || !is_vector(self) || !is_vector(other))
      return left_to_numpy();
    const Array &a = array_behind(self), &v = array_behind(other);
    const bool swaps = is_convolution && v.size() > a.size();
    const Array& longer = swaps ? v : a;
    const Array shorter = is_convolution ? flipped(swaps ? a : v, std::array{0}) : v;
    if (std::optional<Array> result = by_parts(longer, shorter, *mode))
      return new_array(*std::move(result));
    Ref left = real_array(array_of(swaps ? other : self)),
        right = is_convolution ? real_array(shorter, false) : real_array(array_of(other));
    Ref result = checked((is_convolution ? PyArray_Correlate : PyArray_Correlate2)(
        left.get(), right.get(), static_cast<int>(*mode)));
    give_back(std::move(left));
    give_back(std::move(right));
    return object_of_result(std::move(result));
  }

 private:
  static bool is_vector(PyObject* object) {
    return array_behind(object).ndim() == 1 && array_behind(object).size() > 0;
  }
  static std::optional<Mode> mode_of(PyObject* given) {
    static constexpr const char* modes[] = {"valid", "same", "full"};
    if (!given) return is_convolution ? Mode::Full : Mode::Valid;
    for (int k = 0; k < 3 && PyUnicode_Check(given); ++k)
      if (PyUnicode_CompareWithASCIIString(given, modes[k]) == 0) return static_cast<Mode>(k);
    return std::nullopt;
  }

  // Of floats, so many that threads share them; a product of very many elements BLAS shares itself.
  static std::optional<Array> by_parts(const Array& longer, const Array& shorter, Mode mode) {
    constexpr std::int64_t least_work = 1 << 17, most_few = 11, most_elements = 1 << 13;
    const std::int64_t count = shorter.size();
    if (longer.dtype() != shorter.dtype() || longer.size() < count || count <= most_few ||
        count > most_elements || longer.size() < least_work / count ||
        ThreadPool::get().threads() == 1)
      return std::nullopt;
    if (longer.dtype() == DType::Float64) return products<double>(longer, shorter, mode);
    if (longer.dtype() == DType::Float32) return products<float>(longer, shorter, mode);
    return std::nullopt;
  }
  template <class T>
  static std::optional<Array> products(const Array& longer, const Array& shorter, Mode mode) {
    const DType dtype = longer.dtype();
    const Array x = longer.c_contiguous() ? longer : copy(longer, 'C');
    const Array y = shorter.c_contiguous() ? shorter : copy(shorter, 'C');
    const std::int64_t length = length_of(longer.size(), shorter.size(), mode);
    PyArray_DotFunc* const dot = PyDataType_GetArrFuncs(descriptor_of(dtype))->dotfunc;
    Array result = empty({&length, 1}, dtype);
    std::byte* const to = memory_of(result);
    evaluate(x);
    evaluate(y);
    const WithoutGil released;
    const Locked lock(Engine::lock());
    Products<T>(x, y, mode, dot).store(to);
    return result;
  }
};

}  // namespace

std::vector<PyMethodDef> correlation_shortcuts() {
  return {shortcut_row<Correlation<true>>(), shortcut_row<Correlation<false>>()};
}

}  // namespace frit::python
