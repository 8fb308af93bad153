// kernel_values.h: what a launch's kernel takes: where each value comes from, and what it is.
#pragma once

#include <vector>

#include "frit/array.h"
#include "python/interop.h"
#include "python/objects.h"

namespace frit::python {

// One value of a launch. What the types are: `key`.
struct Value {
  std::uint64_t key = 0;
  Array array;
  Scalar scalar;
  std::int64_t integer = 0;
  bool foreign = false;
  bool read_only = false;  // this window on the memory
};

// The last three bits of a key.
inline constexpr std::uint64_t array_key = 1, number_key = 2, object_key = 3, absent_key = 4;

// Nothing, of type absent_key, where `object` is null. Throws for what no kernel can take.
void take_value(Value& value, PyObject* object);

struct Values {
  std::vector<Value> values;
  ~Values() {
    for (Value& value : values)
      if (value.foreign) release_foreign(std::move(value.array));
  }
};

// What is called: a function, or a method of `self`.
struct Callee {
  PyObject* function = nullptr;  // PyFunctionObject
  PyObject* self = nullptr;      // null: no method
};

// A place that a value comes from: a keyword argument, or something that the body names.
struct Slot {
  enum class Root : std::uint8_t {
    Keyword,
    Self,
    Global,      // of the function's module
    Cell,        // number `cell` of the function's closure
    Dictionary,  // of another module's: `holder`
    CellObject,  // of another function's closure: `holder`
  } root = Root::Keyword;
  Ref name;  // Keyword, Global, Dictionary: interned
  Ref holder;
  Py_ssize_t cell = 0;
  std::vector<Ref> attributes;
};

// A new reference; null (no error) if it is not there. values, names: the keyword arguments.
Ref slot_value(const Slot& slot, const Callee& callee, PyObject* const* values, PyObject* names);

// (root, name or cell, attributes..)
Slot slot_from(PyObject* row);

}  // namespace frit::python
