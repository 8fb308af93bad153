// loop_pace.h: whether a call of a loop runs compiled: by a guess of what it takes, then by times.
//
// A guess knows how long a loop's range is, not how soon it is left, nor what a compiled call takes
// beside its work (a guard that reads an index array, copies of what is written). So calls are
// timed, as Python and compiled, in classes of like guesses; whichever took less is done. The other
// one is tried again when it would cost little beside what was spent since: a short one twice, for
// the first call of a kind finds neither its code nor its memory in the caches. Compiled calls that
// have shown to take longer are tried more seldom; but where they were interpreted, the tries are
// what their code is compiled for.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>

namespace frit {

class LoopPace {
 public:
  // Compiled, or why not: its work is too short; it was measured, and Python takes less; it has not
  // run long enough to be translated, and its time is known, or not.
  enum class Verdict : std::uint8_t { Compiled, Short, Slower, Soon, Unknown };
  struct Limits {
    double shortest = 0;      // seconds as Python; below 0: all is compiled
    double worth = 0;         // seconds that Python loses before a loop is translated
    double first_worth = 0;   // the same for the first of a process
    bool is_eager = false;    // translated at once
    bool ends_early = false;  // it may: a guess is the most that it takes
  };
  struct Choice {
    Verdict verdict = Verdict::Compiled;
    bool is_timed = false;
    bool is_cold = false;          // behind calls of the other kind, or none: it takes longer
    bool is_interpreted = false;   // a compiled one, whose code was not there yet
    std::uint32_t stands_for = 1;  // calls, with its time
    std::uint8_t number = 0;
    std::optional<double> guess;
    double expected = 0;  // seconds as Python
  };

  explicit LoopPace(const Limits& limits) : limits_(limits) {}

  // Whether a call with this guess is one of the many that stay Python as the latest of its class
  // did: neither asked for nor timed.
  bool skips(std::optional<double> guess) {
    Class& own = classes_[class_of(guess)];
    if (own.skips == 0) return false;
    --own.skips;
    return true;
  }
  // guess: seconds as Python, nullopt where nobody knows.
  Choice choose(std::optional<double> guess);
  void note_python(const Choice& choice, double seconds);
  void note_compiled(const Choice& choice, double seconds);
  // A call as Python that nobody measures.
  void owe(double seconds) { owed_ += seconds; }
  void set_translated();
  // Of all loops: how often one was translated, or met a class of calls for the first time. A time
  // in which that happened tells little.
  static std::uint64_t news();

 private:
  enum class Kind : std::uint8_t { None, Python, Compiled };
  // Of calls with like guesses: seconds, and how much was spent on each kind since the other was
  // tried.
  struct Class {
    double python = 0, compiled = 0;
    double python_since = 0, compiled_since = 0;
    std::uint32_t pythons = 0, compileds = 0, calls = 0, skips = 0;
    Kind latest = Kind::None;
    bool is_again = false;       // the next one is of its kind
    std::uint8_t in_vain = 0;    // tries of compiled ones, up to a few
    bool is_interpreted = true;  // the latest of these
  };

  static std::uint8_t class_of(std::optional<double> guess) {
    constexpr int last = 47;
    if (!guess) return 0;
    const auto nanoseconds = static_cast<std::uint64_t>(std::clamp(*guess * 1e9, 2.0, 1e18));
    return static_cast<std::uint8_t>(
        std::min(static_cast<int>(std::bit_width(nanoseconds)) - 1, last));
  }
  double python_of(const Class& own, std::optional<double> guess) const;
  double compiled_of(const Class& own) const;
  Verdict before_translation(double python, bool is_known) const;
  bool is_compiled(Class& own, double python) const;

  Limits limits_;
  double owed_ = 0;
  double measured_to_guess_ = 1;
  double least_compiled_ = 0;  // of any class
  bool is_measured_ = false, is_translated_ = false;
  std::array<Class, 48> classes_{};
};

}  // namespace frit
