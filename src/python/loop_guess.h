// loop_guess.h: a small program of a nest's bounds: about what the nest takes as Python.
#pragma once

#include <optional>
#include <vector>

#include "python/python.h"

namespace frit::python {

// Steps on a stack of numbers (python/frit/loops/work.py writes them):
//   c  a constant            v  an int that is given     s  the size of an array
//   0 .. 7  an extent of an array, or the length of something else
//   A .. G  an extent, counted from the last axis
//   + - * / d (floor) %      n x  least and largest     i  int()
//   r  the length of a range of three numbers, l  of one
class LoopGuess {
 public:
  // steps: pairs; inputs: a tuple each, of the number of what is passed or the name of a variable
  // of the module, and attributes.
  LoopGuess(PyObject* steps, PyObject* inputs);
  bool is_known() const { return !steps_.empty(); }
  // Nanoseconds; nullopt: something is no int or array. Sets no error, runs no code of a program.
  std::optional<double> value(PyObject* const* passed, std::size_t count, PyObject* space) const;

 private:
  enum class Kind : std::uint8_t { Constant, Read, Operation };
  struct Step {
    Kind kind;
    char word;
    double number;
  };
  struct Input {
    std::size_t number = 0;  // of what is passed, where there is no name
    Ref name;
    std::vector<Ref> attributes;
  };
  // Borrowed or held; null: there is none.
  static Ref find(const Input& input, PyObject* const* passed, std::size_t count, PyObject* space);

  std::optional<double> read(const Step& step, PyObject* const* passed, std::size_t count,
                             PyObject* space) const;

  std::vector<Step> steps_;
  bool is_plain_ = false;  // a read, l, c, *: as of most loops
  std::vector<Input> inputs_;
};

// An attribute that is read without running any code of a class: of the object's own; of its type
// where that is no descriptor; of a slot; the array of a kernel's view. Null, without an error: it
// is none of these.
Ref plain_attribute(PyObject* object, PyObject* name);

}  // namespace frit::python
