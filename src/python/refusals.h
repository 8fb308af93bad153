// refusals.h: calls that native code refuses again and again are NumPy's without being asked for.
//
// A refusal is an exception, which takes some microseconds: NumPy's own call on a few elements
// takes a tenth of that. What was refused twice, at one place and with operands of the same kinds,
// is left to NumPy for some time, and then tried again, as a refusal may also depend on values.
#pragma once

#include <array>

#include "engine/engine.h"
#include "ir/hash.h"
#include "python/python.h"

namespace frit::python {

// One call: who is called, and with what. The callee is any address that stands for it.
struct CallOf {
  const void* callee;
  Arguments arguments;
  PyObject* self = nullptr;  // of a method
};

// Whether any call of this callee, from where the program is now, was refused.
extern std::array<bool, 256> refused_at;
inline std::size_t place_of(const void* callee) {
  const SourcePosition& at = Engine::get().source;
  const std::uint64_t hash =
      mixed(reinterpret_cast<std::uintptr_t>(callee) + static_cast<std::uint64_t>(at.instruction),
            reinterpret_cast<std::uintptr_t>(at.code));
  return hash % refused_at.size();
}
inline bool may_be_refused(const void* callee) { return refused_at[place_of(callee)]; }

// NumPy does this call, for this reason (as that of native_or).
struct Refusal {
  const char* reason;
};
const Refusal* find_refusal(const CallOf& call);
inline const Refusal* refusal_of(const CallOf& call) {
  return may_be_refused(call.callee) ? find_refusal(call) : nullptr;
}
// Native code refused the call, which NumPy then did.
void note_refusal(const CallOf& call, const char* reason);

// Runs native code; where it refuses (a case that is not native, or an error whose words NumPy
// knows best), `numpy(reason)` does it; the reason is null for an error.
template <class Native, class NumPy>
PyObject* native_or(const CallOf& call, Native&& native, NumPy&& numpy) noexcept {
  if (const Refusal* known = refusal_of(call)) [[unlikely]]
    return guarded([&] { return numpy(known->reason); });
  const char* reason = nullptr;
  try {
    return native();
  } catch (const Unfit& unfit) {
    reason = unfit.reason;
  } catch (const std::invalid_argument&) {
  } catch (const std::out_of_range&) {
  } catch (...) {
    set_error_from_exception();
    return nullptr;
  }
  PyObject* result = guarded([&] { return numpy(reason); });
  if (result) note_refusal(call, reason);
  return result;
}

}  // namespace frit::python
