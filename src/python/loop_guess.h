// loop_guess.h: a small program of a nest's bounds: about what the nest takes as Python.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "python/python.h"

namespace frit::python {

// Steps on a stack of numbers (frit/loops/run/work.py writes them):
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
  // Is it the same for all calls?
  bool is_constant() const { return steps_.size() == 1 && steps_[0].kind == Kind::Constant; }
  // Nanoseconds; nullopt: something is no int or array. Sets no error, runs no code of a program.
  std::optional<double> value(PyObject* const* passed, std::size_t count, PyObject* space);

 private:
  enum class Kind : std::uint8_t { Constant, Read, Operation };
  struct Step {
    Kind kind;
    char word;
    double number;  // of a read: which
  };
  struct Read {
    char word;
    std::size_t input;
    std::size_t passed = not_passed;  // the number of what is passed, where that is all
  };
  struct Input {
    std::size_t number = 0;  // of what is passed, where there is no name
    Ref name;
    std::vector<Ref> attributes;
  };
  // Borrowed or held; null: there is none.
  static Ref find(const Input& input, PyObject* const* passed, std::size_t count, PyObject* space);

  static constexpr std::size_t most =
      32;  // reads, and numbers on the stack; else there is no guess
  static constexpr std::size_t not_passed = ~std::size_t{0};
  using Numbers = std::array<double, most>;

  std::size_t number_of(char word, std::size_t input);
  std::optional<double> find_number(const Read& read, PyObject* const* passed, std::size_t count,
                                    PyObject* space) const;
  static std::optional<double> extent_passed(const Read& read, PyObject* const* passed,
                                             std::size_t count);
  std::optional<double> compute(const Numbers& numbers) const;

  std::vector<Step> steps_;
  std::vector<Input> inputs_;
  std::vector<Read> reads_;  // each once
  // What the latest call has read, and its value: most calls are like the one before.
  Numbers known_{};
  std::optional<double> known_value_;
};

// An attribute that is read without running any code of a class: of the object's own; of its type
// where that is no descriptor; of a slot; the array of a kernel's view. Null, without an error: it
// is none of these.
Ref plain_attribute(PyObject* object, PyObject* name);

}  // namespace frit::python
