// loop_pace.cpp: see loop_pace.h.
#include "engine/loop_pace.h"

#include <algorithm>
#include <bit>

namespace frit {
namespace {

constexpr double compiled_at_least = 1.5e-6;           // what no compiled call takes less than
constexpr double first_tried_for = 4, tried_for = 32;  // a try costs that much less than was spent
constexpr double most_tried = 1e-3;  // no longer call is run as Python to see what it takes
constexpr double long_call = 20e-6;  // timing it costs nothing
constexpr std::uint32_t few = 8;     // calls; of more, one in as many is timed,
constexpr std::uint32_t many = 64;   // of short ones one in these

bool translator_is_loaded = false;
std::uint64_t news_of_all = 0;

std::uint8_t class_of(std::optional<double> guess) {
  constexpr int last = 47;
  if (!guess) return 0;
  const auto nanoseconds = static_cast<std::uint64_t>(std::clamp(*guess * 1e9, 2.0, 1e18));
  return static_cast<std::uint8_t>(
      std::min(static_cast<int>(std::bit_width(nanoseconds)) - 1, last));
}

// What a machine does besides only adds, so a mean follows what is less at once.
void follow(double& mean, std::uint32_t& count, double seconds) {
  if (count == 0)
    mean = seconds;
  else if (seconds < mean)
    mean += (seconds - mean) / 2;
  else
    mean += (std::min(seconds, 4 * mean) - mean) / 8;
  ++count;
}

}  // namespace

void LoopPace::set_translated() {
  is_translated_ = translator_is_loaded = true;
  ++news_of_all;
}

std::uint64_t LoopPace::news() { return news_of_all; }

double LoopPace::python_of(const Class& own, std::optional<double> guess) const {
  if (own.pythons > 0) return own.python;
  return guess ? *guess * measured_to_guess_ : limits_.worth / 2;
}

bool LoopPace::skips(double guess) {
  Class& own = classes_[class_of(guess)];
  if (own.skips == 0) return false;
  --own.skips;
  return true;
}

LoopPace::Choice LoopPace::choose(std::optional<double> guess) {
  const std::uint8_t number = class_of(guess);
  Class& own = classes_[number];
  const double python = python_of(own, guess);
  Choice choice{.number = number, .guess = guess, .expected = python};
  if (!is_translated_)
    choice.verdict = before_translation(python, guess || own.pythons > 0);
  else if (!is_compiled(own, python))
    choice.verdict = python < limits_.shortest ? Verdict::Short : Verdict::Slower;
  if (choice.verdict == Verdict::Compiled) return choice;
  own.python_since += python;
  if (own.pythons < few || python > long_call) {
    choice.is_timed = true;
  } else if (choice.verdict == Verdict::Short) {
    choice.is_timed = true;
    choice.stands_for = many;
    own.skips = many - 1;
    own.python_since += own.skips * python;
  } else {
    choice.is_timed = ++own.calls % few == 0;
    choice.stands_for = few;
  }
  return choice;
}

LoopPace::Verdict LoopPace::before_translation(double python, bool is_known) const {
  if (python < limits_.shortest) return Verdict::Short;
  const double worth = translator_is_loaded ? limits_.worth : limits_.first_worth;
  if (limits_.is_eager || owed_ + python >= worth) return Verdict::Compiled;
  return is_known ? Verdict::Soon : Verdict::Unknown;
}

bool LoopPace::is_compiled(Class& own, double python) const {
  if (limits_.shortest < 0) return true;
  const double compiled = own.compileds > 1 ? own.compiled : limits_.shortest;
  if (python <= compiled) {
    const double cost = std::max(compiled, python);
    if (python < compiled_at_least || own.python_since < tried_for * cost) return false;
    own.python_since = 0;
    return true;
  }
  // The first try shows what the guess is worth. Then: the larger the difference, the less often.
  const double wait =
      own.pythons == 0 ? first_tried_for * python : tried_for * python * (python / compiled);
  if (python > most_tried || own.compiled_since < wait) return true;
  own.compiled_since = 0;
  return false;
}

void LoopPace::note_python(const Choice& choice, double seconds) {
  Class& own = classes_[choice.number];
  follow(own.python, own.pythons, seconds);
  if (choice.guess && *choice.guess > 0) {
    const double ratio = seconds / *choice.guess;
    measured_to_guess_ =
        is_measured_ ? measured_to_guess_ + (ratio - measured_to_guess_) / 8 : ratio;
    is_measured_ = true;
  }
  if (!is_translated_)
    owe(choice.stands_for * std::max(seconds - std::max(limits_.shortest, 0.0), 0.0));
}

// The first call of a class is not like those behind it: it makes plans.
void LoopPace::note_compiled(const Choice& choice, double seconds) {
  Class& own = classes_[choice.number];
  own.compiled_since += seconds;
  if (own.compileds == 0) {
    own.compileds = 1;
    ++news_of_all;
  } else if (own.compileds == 1) {
    own.compiled = seconds;
    own.compileds = 2;
  } else {
    follow(own.compiled, own.compileds, seconds);
  }
}

}  // namespace frit
