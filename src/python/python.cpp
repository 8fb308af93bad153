// python.cpp: errors from C++ to Python, and the sorting of arguments.
#include "python/python.h"

#include <cxxabi.h>
#include <unistd.h>

#include <cstdarg>
#include <cstring>
#include <new>

#include "engine/memory.h"
#include "python/numpy_api.h"

namespace frit::python {

void wait_for_the_end_of_the_process() noexcept {
  for (;;) pause();
}

PyObject* builtin(const char* name) {
  PyObject* const module = PyImport_AddModule("builtins");  // no import: frames may have none
  return module ? PyObject_GetAttrString(module, name) : nullptr;
}

namespace {

// While the interpreter is finalising, Python ends a daemon thread that asks for the GIL by
// unwinding its stack by force, which C++ frames cannot take part in: the thread waits for the
// process to end, as it does from Python 3.14 on.
struct HeldWhenUnwound {
  bool armed = true;
  ~HeldWhenUnwound() {
    if (armed) wait_for_the_end_of_the_process();
  }
};

// NumPy's own class of MemoryError, which words it.
void set_memory_error(const frit::OutOfMemory& refused) {
  const Ref module = Ref::steal(PyImport_ImportModule("numpy._core._exceptions"));
  const Ref type =
      Ref::steal(module ? PyObject_GetAttrString(module.get(), "_ArrayMemoryError") : nullptr);
  const Ref shape = Ref::steal(PyTuple_New(std::ssize(refused.shape)));
  for (std::size_t k = 0; shape && k < refused.shape.size(); ++k)
    PyTuple_SET_ITEM(shape.get(), static_cast<Py_ssize_t>(k),
                     PyLong_FromLongLong(refused.shape[k]));
  const Ref error =
      Ref::steal(type && shape ? PyObject_CallFunctionObjArgs(type.get(), shape.get(),
                                                              descriptor_of(refused.dtype), nullptr)
                               : nullptr);
  PyErr_Clear();
  if (error)
    PyErr_SetObject(type.get(), error.get());
  else
    PyErr_NoMemory();
}

}  // namespace

// noexcept would end the process before `held` could hold the thread.
void WithoutGil::take_back() {
  HeldWhenUnwound held;
  PyEval_RestoreThread(state_);
  held.armed = false;
}

void set_error_from_exception() noexcept {
  try {
    throw;
  } catch (const abi::__forced_unwind&) {
    wait_for_the_end_of_the_process();
  } catch (const PythonError&) {
  } catch (const Unfit& unfit) {
    PyErr_SetString(PyExc_TypeError, unfit.reason);
  } catch (const frit::ValueError& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const frit::TypeError& error) {
    PyErr_SetString(PyExc_TypeError, error.what());
  } catch (const std::out_of_range& error) {
    PyErr_SetString(PyExc_IndexError, error.what());
  } catch (const frit::OutOfMemory& refused) {
    set_memory_error(refused);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  } catch (...) {
    PyErr_SetString(PyExc_SystemError, "frit: an unknown C++ exception");
  }
}

void raise(PyObject* type, const char* format, ...) {
  va_list values;
  va_start(values, format);
  PyErr_FormatV(type, format, values);
  va_end(values);
  throw PythonError{};
}

namespace {

std::size_t slot_named(PyObject* name, std::span<const char* const> names) {
  Py_ssize_t length = 0;
  const char* text = PyUnicode_AsUTF8AndSize(name, &length);
  if (!text) throw PythonError{};
  for (std::size_t k = 0; k < names.size(); ++k)
    if (std::strlen(names[k]) == static_cast<std::size_t>(length) &&
        std::memcmp(names[k], text, static_cast<std::size_t>(length)) == 0)
      return k;
  throw Unfit{"an argument of this name is not native"};
}

}  // namespace

_PyCFunctionFastWithKeywords put_in_front(PyObject* method, _PyCFunctionFastWithKeywords function) {
  if (!Py_IS_TYPE(method, &PyMethodDescr_Type)) return nullptr;
  PyMethodDef*& row = reinterpret_cast<PyMethodDescrObject*>(method)->d_method;
  if (row->ml_flags != (METH_FASTCALL | METH_KEYWORDS)) return nullptr;
  auto* const before =
      reinterpret_cast<_PyCFunctionFastWithKeywords>(reinterpret_cast<void (*)()>(row->ml_meth));
  auto* const ours = new PyMethodDef(*row);  // as long as the method
  ours->ml_meth = as_c_function(function);
  row = ours;
  return before;
}

void sort_arguments(const Arguments& arguments, std::span<const char* const> names,
                    std::size_t most_positional, std::span<PyObject*> slots) {
  for (PyObject*& slot : slots) slot = nullptr;
  const auto positional = static_cast<std::size_t>(arguments.positional);
  if (positional > most_positional) throw Unfit{"too many arguments"};
  for (std::size_t k = 0; k < positional; ++k) slots[k] = arguments.values[k];
  for (Py_ssize_t k = 0; k < arguments.keywords(); ++k) {
    const std::size_t slot = slot_named(PyTuple_GET_ITEM(arguments.names, k), names);
    if (slots[slot]) throw Unfit{"an argument is given twice"};
    slots[slot] = arguments.values[arguments.positional + k];
  }
}

}  // namespace frit::python
