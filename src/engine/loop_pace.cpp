// loop_pace.cpp: see loop_pace.h.
#include "engine/loop_pace.h"

#include <algorithm>
#include <utility>

namespace frit {
namespace {

constexpr double compiled_at_least = 0.4e-6;           // what no compiled call takes less than
constexpr double first_tried_for = 4, tried_for = 32;  // a try costs that much less than was spent
constexpr double much_slower = 4;                      // such ones are tried more seldom still
constexpr double most_tried = 1e-3;  // no longer call is run as Python to see what it takes
constexpr double long_call = 20e-6;  // timing it costs nothing, and little of it is a cold start
constexpr double long_start = 100e-6;
constexpr std::uint32_t few = 8;               // calls are timed; then
constexpr std::uint32_t some = 16, many = 64;  // one in these, of short ones in those

bool translator_is_loaded = false;
std::uint64_t news_of_all = 0;

// What a machine does besides only adds, so a mean follows what is less at once.
void follow(double& mean, std::uint32_t& count, double seconds) {
  if (count == 0 || (count < few && seconds < mean))
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

double LoopPace::compiled_of(const Class& own) const {
  return own.compileds > 1 ? own.compiled : std::max(limits_.shortest, least_compiled_);
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
  const bool is_compiled = choice.verdict == Verdict::Compiled;
  const Kind kind = is_compiled ? Kind::Compiled : Kind::Python;
  choice.is_cold = std::exchange(own.latest, kind) != kind;
  if (is_compiled) {
    const bool is_better = limits_.shortest < 0 || own.compiled < python;
    const bool is_settled = own.compileds >= few && own.compiled < long_call && is_better;
    choice.is_timed = !is_settled || ++own.calls % few == 0;
    if (!choice.is_timed) own.compiled_since += own.compiled;
    return choice;
  }
  choice.is_timed = true;
  const bool is_a_try = is_translated_ && python > compiled_of(own);
  if (own.pythons >= few && python <= long_call && !is_a_try) {
    choice.stands_for = choice.verdict == Verdict::Short ? many : some;
    own.skips = choice.stands_for - 1;
  }
  own.python_since += choice.stands_for * python;
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
  if (std::exchange(own.is_again, false)) return own.latest == Kind::Compiled;
  const double compiled = compiled_of(own);
  if (python <= compiled) {
    const bool is_short = compiled <= long_call;
    // One time alone that is much more may have been lengthened by another program.
    const double believed = own.compileds <= 2 ? std::min(compiled, 4 * python) : compiled;
    const int most_in_vain = compiled > much_slower * python ? 2 : 1;
    const int times = 1 << std::min<int>(own.in_vain, most_in_vain);
    const double wait = tried_for * believed * (is_short ? 2 : 1) * times;
    if (python < compiled_at_least || own.python_since < wait) return false;
    if (own.compileds > 1 && !own.is_interpreted && own.in_vain < 2) ++own.in_vain;
    own.python_since = 0;
    own.is_again = is_short;
    return true;
  }
  own.in_vain = 0;
  // The first try shows what the guess is worth. Then: the larger the difference, the less often.
  const bool is_short = python <= long_call;
  double wait = tried_for * python * (python / compiled);
  if (own.pythons == 0)
    wait = is_short ? 0 : first_tried_for * python;
  else if (is_short)
    wait *= 2;
  const bool is_believed = !limits_.ends_early || own.pythons > 0;
  if ((python > most_tried && is_believed) || own.compiled_since < wait) return true;
  own.compiled_since = 0;
  own.is_again = is_short;
  return false;
}

void LoopPace::note_python(const Choice& choice, double seconds) {
  Class& own = classes_[choice.number];
  const bool is_known = own.pythons > 0 || choice.guess;
  if (choice.is_cold && is_known && seconds > choice.expected && seconds < long_start) return;
  if (is_translated_ && own.pythons == 0 && seconds <= long_call) own.is_again = true;
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
  own.is_interpreted = choice.is_interpreted;
  if (own.compileds == 0) {
    own.compileds = 1;
    if (seconds <= most_tried) own.is_again = true;
    ++news_of_all;
    return;
  }
  const bool is_less = own.compileds == 1 || seconds < own.compiled;
  if (seconds < own.compiled / 2) own.in_vain = 0;  // it is not what it was
  if (choice.is_cold && !is_less) return;
  if (own.compileds == 1) {
    own.compiled = seconds;
    own.compileds = 2;
  } else {
    follow(own.compiled, own.compileds, seconds);
  }
  least_compiled_ = least_compiled_ == 0 ? seconds : std::min(least_compiled_, seconds);
}

}  // namespace frit
