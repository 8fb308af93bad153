// source.h: the line of the user's program that runs: noted for each op, looked up for reports.
#pragma once

#include <string>

#include "python/python.h"

namespace frit::python {

// Tells the engine where the interpreter is: the innermost frame outside the package folders.
void note_source();
SourcePosition current_source();

// What is recorded next is (a part of) this ufunc, and warnings call it so.
void note_ufunc(const char* name);
// The same for each of the steps of a function, of which warnings tell one by one.
class Steps {
 public:
  void next(const char* ufunc);

 private:
  std::uint32_t count_ = 0;
};

struct SourceLine {
  std::string filename;
  int line = 0;
  std::string function;
};
SourceLine resolve_source(SourcePosition position);

// Whether the innermost Python code is that of an installed library, which holds the real NumPy.
bool is_called_by_library();

// That code, borrowed; null: no Python runs.
PyObject* innermost_code();

// Code whose file lies below one of these folders is not the user's.
void set_package_folders(std::vector<std::string> folders);

}  // namespace frit::python
