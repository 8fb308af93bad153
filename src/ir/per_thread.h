// per_thread.h: an object of each thread that may be used until the thread's very end.
#pragma once

namespace frit {

// The thread's own T. A plain thread_local is gone while the destructors of others still run, and
// these may evaluate arrays; what they make here is not freed.
template <class T>
T& per_thread() {
  static thread_local T* object = nullptr;
  struct End {
    ~End() {
      delete object;
      object = nullptr;
    }
  };
  if (!object) [[unlikely]] {
    object = new T;
    static thread_local End end;
    static_cast<void>(end);
  }
  return *object;
}

}  // namespace frit
