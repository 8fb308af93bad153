// source.cpp: the current source position, read from the interpreter's frames in a few nanoseconds.
//
// A position is a code object and an instruction index. Code objects met here are kept alive, so
// that a position can be resolved later; the table also remembers which of them belong to the
// packages that are never "the user's line".
#include "python/source.h"

#include <frameobject.h>

#include <array>
#include <unordered_map>
#include <unordered_set>

#include "engine/engine.h"
#include "python/float_state.h"

#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000
#define FRIT_READS_FRAMES 1
#define Py_BUILD_CORE 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <internal/pycore_frame.h>
#pragma GCC diagnostic pop
#undef Py_BUILD_CORE
#endif

namespace frit::python {
namespace {

// Programs that make code without end are not held in memory for it.
constexpr std::size_t most_codes = 20000;

struct CodeTable {
  std::unordered_map<const void*, bool> is_package;  // by code object, each with a reference held
  std::vector<std::string> folders;
};

CodeTable& codes() {
  static CodeTable* table = new CodeTable;
  return *table;
}

bool lies_in_package(PyCodeObject* code) {
  const char* name = PyUnicode_AsUTF8(code->co_filename);
  if (!name) {
    PyErr_Clear();
    return false;
  }
  for (const std::string& folder : codes().folders)
    if (std::string_view(name).starts_with(folder)) return true;
  return false;
}

// The last innermost code seen, when it was the user's: the common case costs one comparison.
const void* last_user_code = nullptr;
// Codes of packages met last, each at a place of its own: the table divides at each look.
std::array<const void*, 64> package_codes;
// The last innermost code that was found to be no library's.
const void* last_program_code = nullptr;

void forget_recent_codes() {
  last_user_code = nullptr;
  last_program_code = nullptr;
  package_codes.fill(nullptr);
}

bool is_package_code(PyCodeObject* code) {
  CodeTable& table = codes();
  const auto found = table.is_package.find(code);
  if (found != table.is_package.end()) return found->second;
  if (table.is_package.size() >= most_codes) {
    for (const auto& [kept, package] : table.is_package) Py_DECREF(const_cast<void*>(kept));
    table.is_package.clear();
    forget_recent_codes();
  }
  const bool package = lies_in_package(code);
  Py_INCREF(as_object(code));
  table.is_package.emplace(code, package);
  return package;
}

bool is_user_code(PyCodeObject* code) {
  if (code == last_user_code) return true;
  const void*& recent =
      package_codes[(reinterpret_cast<std::uintptr_t>(code) >> 4) % package_codes.size()];
  if (code == recent) return false;
  if (is_package_code(code)) {
    recent = code;
    return false;
  }
  last_user_code = code;
  return true;
}

// Of a line of our own, for SourcePosition::inner.
std::uint32_t number_of(SourcePosition at) {
  const auto code = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(at.code) >> 4);
  return (code * 31 + static_cast<std::uint32_t>(at.instruction)) | 1;
}

#ifdef FRIT_READS_FRAMES

SourcePosition position_in(const _PyInterpreterFrame* frame) {
  return {frame->f_code, static_cast<std::int32_t>(_PyInterpreterFrame_LASTI(frame))};
}

[[gnu::noinline]] SourcePosition search_frames(const _PyInterpreterFrame* frame) {
  std::uint32_t inner = 0;
  for (; frame; frame = frame->previous) {
    if (_PyFrame_IsIncomplete(const_cast<_PyInterpreterFrame*>(frame))) continue;
    SourcePosition at = position_in(frame);
    if (is_user_code(frame->f_code)) {
      at.inner = inner;
      return at;
    }
    if (inner == 0) inner = number_of(at);
  }
  return {};
}

inline SourcePosition find_source() {
  const _PyInterpreterFrame* frame = PyThreadState_GET()->cframe->current_frame;
  if (frame && frame->f_code == last_user_code &&
      !_PyFrame_IsIncomplete(const_cast<_PyInterpreterFrame*>(frame)))
    return position_in(frame);
  return search_frames(frame);
}

// The innermost of Python's, borrowed; null: none runs.
PyCodeObject* code_of_frame() {
  const _PyInterpreterFrame* frame = PyThreadState_GET()->cframe->current_frame;
  while (frame && _PyFrame_IsIncomplete(const_cast<_PyInterpreterFrame*>(frame)))
    frame = frame->previous;
  return frame ? frame->f_code : nullptr;
}

int line_of(PyCodeObject* code, std::int32_t instruction) {
  return PyCode_Addr2Line(code, instruction * static_cast<int>(sizeof(_Py_CODEUNIT)));
}

#else

SourcePosition find_source() {
  std::uint32_t inner = 0;
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  while (frame) {
    const Ref code = Ref::steal(as_object(PyFrame_GetCode(frame)));
    auto* object = reinterpret_cast<PyCodeObject*>(code.get());
    SourcePosition at{object, PyFrame_GetLineNumber(frame)};
    if (is_user_code(object)) {
      at.inner = inner;
      Py_DECREF(as_object(frame));
      return at;
    }
    if (inner == 0) inner = number_of(at);
    PyFrameObject* outer = PyFrame_GetBack(frame);
    Py_DECREF(as_object(frame));
    frame = outer;
  }
  return {};
}

PyCodeObject* code_of_frame() {
  PyFrameObject* frame = PyEval_GetFrame();
  if (!frame) return nullptr;
  PyCodeObject* code = PyFrame_GetCode(frame);
  Py_DECREF(code);  // the frame holds it
  return code;
}

int line_of(PyCodeObject*, std::int32_t line) { return line; }

#endif

}  // namespace

void note_ufunc(const char* name) {
  know_float_state();
  SourcePosition at = find_source();
  at.ufunc = name;
  Engine::get().source = at;
}

void Steps::next(const char* ufunc) {
  note_ufunc(ufunc);
  Engine::get().source.inner = ++count_;
}

SourcePosition current_source() { return find_source(); }

void note_source() {
  know_float_state();
  Engine::get().source = find_source();
}

PyObject* innermost_code() { return as_object(code_of_frame()); }

SourceLine resolve_source(SourcePosition position) {
  if (!codes().is_package.contains(position.code)) return {};
  auto* code = static_cast<PyCodeObject*>(const_cast<void*>(position.code));
  const auto text_of = [](PyObject* name) {
    const char* text = PyUnicode_AsUTF8(name);
    if (!text) PyErr_Clear();
    return std::string(text ? text : "?");
  };
  return {text_of(code->co_filename), line_of(code, position.instruction), text_of(code->co_name)};
}

bool is_called_by_library() {
  PyCodeObject* code = code_of_frame();
  if (!code || code == last_program_code) return false;
  if (is_package_code(code)) return false;
  const char* name = PyUnicode_AsUTF8(code->co_filename);
  if (!name) PyErr_Clear();
  const std::string_view file(name ? name : "");
  if (file.find("/site-packages/") != file.npos || file.find("/dist-packages/") != file.npos)
    return true;
  last_program_code = code;  // which the table of codes holds
  return false;
}

void set_package_folders(std::vector<std::string> folders) {
  CodeTable& table = codes();
  table.folders = std::move(folders);
  forget_recent_codes();
  for (auto& [code, package] : table.is_package)
    package = lies_in_package(static_cast<PyCodeObject*>(const_cast<void*>(code)));
}

}  // namespace frit::python
