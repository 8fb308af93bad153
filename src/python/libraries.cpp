// libraries.cpp: the versions of modules' dictionaries (frit/loops/libraries.py).
#include "python/libraries.h"

#include <algorithm>
#include <vector>

#include "python/objects.h"

namespace frit::python {
namespace {

// CPython 3.14 has no versions any more: there each call looks at the names.
#if PY_VERSION_HEX < 0x030E0000
constexpr bool has_versions = true;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // 3.12 and 3.13 still count them
std::uint64_t version_of(PyObject* dictionary) {
  return reinterpret_cast<PyDictObject*>(dictionary)->ma_version_tag;
}
#pragma GCC diagnostic pop
#else
constexpr bool has_versions = false;
std::uint64_t version_of(PyObject*) { return 0; }
#endif

struct Watched {
  Ref dictionary;
  std::uint64_t version = 0;
};
// Lives as long as the process.
std::vector<Watched>& all_watched() {
  static auto* watched = new std::vector<Watched>;
  return *watched;
}

}  // namespace

bool libraries_changed() {
  const std::vector<Watched>& watched = all_watched();
  if (!has_versions || watched.empty()) return true;
  return std::ranges::any_of(
      watched, [](const Watched& w) { return version_of(w.dictionary.get()) != w.version; });
}

void watch_libraries(PyObject* dictionaries) {
  std::vector<Watched> watched;
  for (Py_ssize_t k = 0; k < PyList_GET_SIZE(dictionaries); ++k) {
    PyObject* const dictionary = PyList_GET_ITEM(dictionaries, k);
    if (!PyDict_Check(dictionary)) raise(PyExc_TypeError, "watch_libraries: dictionaries");
    watched.push_back({Ref::borrow(dictionary), version_of(dictionary)});
  }
  std::swap(all_watched(), watched);
}

}  // namespace frit::python
