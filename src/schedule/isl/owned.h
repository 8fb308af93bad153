// owned.h: isl's objects with an owner, for the files that use isl.
//
// isl's functions take some arguments over (__isl_take) and borrow others (__isl_keep): pass
// x.take() and x.get(). A null object, which isl gives after an error or past the limit of its
// operations, goes through all functions as null.
#pragma once

#include <isl/aff.h>
#include <isl/constraint.h>
#include <isl/ctx.h>
#include <isl/ilp.h>
#include <isl/local_space.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

#include <utility>

namespace frit::isl {

template <class T>
struct Functions;
#define FRIT_ISL(type)                                        \
  template <>                                                 \
  struct Functions<::type> {                                  \
    static ::type* copy(::type* x) { return type##_copy(x); } \
    static void free(::type* x) { type##_free(x); }           \
  };
FRIT_ISL(isl_set)
FRIT_ISL(isl_basic_set)
FRIT_ISL(isl_aff)
FRIT_ISL(isl_space)
FRIT_ISL(isl_local_space)
FRIT_ISL(isl_constraint)
FRIT_ISL(isl_val)
#undef FRIT_ISL

template <class T>
class Owned {
 public:
  Owned() = default;
  explicit Owned(T* x) : x_(x) {}
  Owned(const Owned& other) : x_(other.x_ ? Functions<T>::copy(other.x_) : nullptr) {}
  Owned(Owned&& other) noexcept : x_(std::exchange(other.x_, nullptr)) {}
  Owned& operator=(Owned other) noexcept {
    std::swap(x_, other.x_);
    return *this;
  }
  ~Owned() {
    if (x_) Functions<T>::free(x_);
  }
  T* get() const { return x_; }
  T* take() { return std::exchange(x_, nullptr); }
  T* copy() const { return Owned(*this).take(); }
  explicit operator bool() const { return x_ != nullptr; }

 private:
  T* x_ = nullptr;
};

using Set = Owned<isl_set>;
using BasicSet = Owned<isl_basic_set>;
using Aff = Owned<isl_aff>;
using Space = Owned<isl_space>;
using Val = Owned<isl_val>;

class Context {
 public:
  Context() : ctx_(isl_ctx_alloc()) { isl_options_set_on_error(ctx_, ISL_ON_ERROR_CONTINUE); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { isl_ctx_free(ctx_); }
  isl_ctx* get() const { return ctx_; }

 private:
  isl_ctx* ctx_;
};

}  // namespace frit::isl
