// array.h: lazy arrays: what every door uses to say what is to be computed.
//
// An Array is a window on a base: an element type, a shape, strides and an offset into memory that
// may not exist yet. Operations record what is asked for and return at once; a value is computed
// when it is wanted (data(), item(), eval()). All functions may be called from any thread; they
// hold the engine's lock while they record.
//
// Errors: ValueError, TypeError and IndexError (ir/error.h) at the call, before anything is
// recorded.
#pragma once

#include <complex>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/error.h"
#include "ops/ops.h"

namespace frit {

class Base;    // memory, or the promise of it (ir/trace.h)
class Layout;  // shape and strides (ir/layout.h)

class Array {
 public:
  Array() = default;  // no array: operator bool is false
  Array(const Array& other);
  Array(Array&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)),
        layout_(std::exchange(other.layout_, nullptr)),
        offset_(other.offset_),
        dtype_(other.dtype_) {}
  // Binds a name to another array, and stores nothing: assign() does that.
  Array& operator=(Array other) & noexcept {
    std::swap(base_, other.base_);
    std::swap(layout_, other.layout_);
    std::swap(offset_, other.offset_);
    std::swap(dtype_, other.dtype_);
    return *this;
  }
  ~Array() {
    if (base_) release();
  }
  // Adopts references that the caller owns. For the engine and front.
  Array(Base* base, const Layout* layout, std::int64_t offset, DType dtype) noexcept
      : base_(base), layout_(layout), offset_(offset), dtype_(dtype) {}

  // Whether there is an array. Not what its elements are: `if (x > 0)` is no question.
  explicit operator bool() const& { return base_ != nullptr; }
  explicit operator bool() const&& = delete;
  DType dtype() const { return dtype_; }
  int ndim() const;
  std::int64_t size() const;
  std::span<const std::int64_t> shape() const;
  std::span<const std::int64_t> strides() const;   // bytes
  std::int64_t offset() const { return offset_; }  // bytes from the base's first byte
  bool c_contiguous() const;
  bool f_contiguous() const;
  bool same_base(const Array& other) const { return base_ == other.base_; }
  bool writable() const;

  Base* base() const { return base_; }
  const Layout* layout() const { return layout_; }

 private:
  void release() noexcept;

  Base* base_ = nullptr;
  const Layout* layout_ = nullptr;
  std::int64_t offset_ = 0;
  DType dtype_ = DType::Float64;
  friend struct ArrayAccess;
};

// ---- operands -----------------------------------------------------------------------------------

// As int64. ValueError where it is beyond.
template <class T>
Scalar integer(T x) {
  if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8)
    if (x > static_cast<T>(INT64_MAX))
      throw ValueError(text("a number beyond int64: ", x, "; give it as a Scalar of its type"));
  return Scalar::of(DType::Int64, static_cast<std::int64_t>(x));
}

template <class T>
inline constexpr bool is_std_complex = false;
template <class T>
inline constexpr bool is_std_complex<std::complex<T>> = true;
template <class T>
concept AComplex = is_std_complex<T>;

// What an op takes: an array, or a scalar which may be weak (a Python number). Borrows the array.
struct Argument {
  const Array* array = nullptr;
  Scalar scalar;  // used when array is null
  Weak weak = Weak::No;

  Argument(const Array& a) : array(&a) {}
  // A number takes the arrays' type where it can: an int32 array + 1 stays int32.
  template <class T>
  requires std::is_arithmetic_v<T> Argument(T x) {
    if constexpr (std::is_same_v<T, bool>) {
      scalar = Scalar::of(DType::Bool, static_cast<std::uint8_t>(x));
    } else if constexpr (std::is_integral_v<T>) {
      scalar = integer(x);
      weak = Weak::Int;
    } else {
      scalar = Scalar::of(DType::Float64, static_cast<double>(x));
      weak = Weak::Float;
    }
  }
  template <AComplex T>
  Argument(T x)
      : scalar(Scalar::of(DType::Complex128, std::complex<double>(x))), weak(Weak::Complex) {}
  Argument(Scalar s, Weak w = Weak::No) : scalar(s), weak(w) {}
};

// ---- memory -------------------------------------------------------------------------------------

Array empty(std::span<const std::int64_t> shape, DType dtype);  // C order; contents undefined
// The strides (bytes) are those of some order of the axes: the elements fill the memory.
Array empty_strided(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides,
                    DType dtype);
Array full(std::span<const std::int64_t> shape, const Scalar& value);  // of value.dtype
// Elements that lie in C order, copied now.
Array copy_of(const void* elements, std::span<const std::int64_t> shape, DType dtype);
Array arange(const Scalar& start, const Scalar& step,
             std::int64_t n);  // start + i * step, in start.dtype (as NumPy fills)
// i * step + first, and `last` at the end: n float64, recorded as one step of a kernel.
Array linspace(double first, double step, double last, std::int64_t n);

// Memory that somebody else owns: every access to it is immediate. `release(owner)` is called,
// without the engine's lock and not before drain_released() is called, once nobody needs the memory
// any more.
struct Foreign {
  void* data = nullptr;    // the first element of the window
  void* memory = nullptr;  // the lowest byte of all memory that `owner` keeps alive
  std::int64_t bytes = 0;  // of that memory
  void* owner = nullptr;
  void (*release)(void* owner) = nullptr;
  bool writable = true;
  // Nobody else can see this memory (a fresh result that we adopted): no different from our own.
  bool adopted = false;
};
Array wrap(const Foreign& memory, std::span<const std::int64_t> shape,
           std::span<const std::int64_t> strides, DType dtype);
// Calls the release functions that became due. Cheap when there are none. Call it without the
// engine's lock.
void drain_released();

// ---- windows: no copy ---------------------------------------------------------------------------

// Any window on the same base; checked to lie inside its memory.
Array window(const Array& a, std::span<const std::int64_t> shape,
             std::span<const std::int64_t> strides, std::int64_t byte_offset, DType dtype);
Array transpose(const Array& a, std::span<const int> axes);
Array broadcast_to(const Array& a, std::span<const std::int64_t> shape);
// One axis of a basic index: start, step and count elements (count < 0: an integer index, the axis
// goes away).
struct AxisSlice {
  std::int64_t start = 0, step = 1, count = -1;
};
Array slice(const Array& a, std::span<const AxisSlice> axes);
// A window with this shape if the strides allow it (NumPy's rule), else nullopt. The sizes must be
// equal.
std::optional<Array> reshape_window(const Array& a, std::span<const std::int64_t> shape);

// ---- ops ----------------------------------------------------------------------------------------

struct ApplyOptions {
  const Array* out = nullptr;    // written in place; its shape must be the broadcast shape
  const Array* where = nullptr;  // bool; only where it is true is anything written
  std::optional<Signature> signature = {};  // from dtype=; otherwise resolved from the arguments
  Casting casting = Casting::SameKind;
};
// The result, or *out. Broadcasting, promotion, casting and overlap as NumPy's ufuncs. The layout
// of a fresh result follows NumPy's order='K'.
Array apply(Op op, std::span<const Argument> arguments, const ApplyOptions& options = {});
Array apply(Op op, std::initializer_list<Argument> arguments, const ApplyOptions& options = {});
// The same of x and of as many elements of x's type, dense and in C order, that lie in memory of
// the caller's and are only read; `place`: which operand they are. No array where the result can't
// be computed at once: nothing is done then.
Array apply_beside(Op op, const Array& x, const void* elements, int place);

// The same by Power. ValueError where an integer is to be raised to a negative one; an array of
// signed integers as exponents is computed at the call.
Array power(const Argument& base, const Argument& exponent, const ApplyOptions& options = {});

// target[...] = value, broadcast and cast as assignment does ("unsafe").
void assign(const Array& target, const Argument& value, const Array* where = nullptr);
// The same to a window on a's base of a's type, which is made only where the elements can't be
// written at once.
void assign_window(const Array& a, std::span<const std::int64_t> shape,
                   std::span<const std::int64_t> strides, std::int64_t byte_offset,
                   const Argument& value);
Array astype(const Array& a, DType dtype, char order = 'K');  // always a fresh array
Array copy(const Array& a, char order = 'K');                 // order: C F A K
// The element at i of the axis comes from i - shift, counted round the end. Of arrays in C order
// (TypeError).
Array roll(const Array& a, std::int64_t shift, int axis);

struct ReduceOptions {
  std::span<const int> axes = {};  // distinct, from the first or last; ignored when all_axes
  bool all_axes = true;
  bool keepdims = false;
  std::optional<DType> dtype = {};  // the type in which to reduce
  std::optional<Scalar> initial = {};
  const Array* where = nullptr;
  const Array* out = nullptr;
};
// NumPy's order of float additions. ValueError for an empty reduction without identity. TypeError
// for `where` where the order counts (sums of floats): reduce where(mask, x, 0.0) instead.
Array reduce(Op op, const Array& a, const ReduceOptions& options = {});
// A negative axis counts from the last.
Array accumulate(Op op, const Array& a, int axis, std::optional<DType> dtype = {},
                 const Array* out = nullptr);
// The index of the first smallest or largest element (NaN counts as such), int64. No axis: over the
// flat array; a negative one counts from the last.
enum class Extreme : std::uint8_t { Min, Max };
Array arg_extreme(Extreme which, const Array& a, std::optional<int> axis, bool keepdims = false);

// One behind the other along an axis (a negative one counts from the last), in the type that holds
// all of them. ValueError, with NumPy's words: shapes that do not fit.
Array concatenate(std::span<const Array> parts, int axis = 0);
Array stack(std::span<const Array> parts, int axis = 0);  // along a new axis
// Fresh arrays, computed now: the elements in increasing order along an axis, NaNs last; and where
// they stood (int64), equal ones in their order.
Array sort(const Array& x, int axis = -1);
Array argsort(const Array& x, int axis = -1);

// Linear algebra by BLAS: NumPy's matmul rule for any dimensions.
Array matmul(const Array& a, const Array& b, const Array* out = nullptr);
// NumPy's dot of one or two dimensions: as matmul, but operands that BLAS cannot read are copied.
Array dot(const Array& a, const Array& b, const Array* out = nullptr);
// NumPy's einsum: sums of products along named axes, "ij,jk->ik" (letters, one ellipsis each). A
// window where it only names the axes of one operand. ValueError: subscripts that do not fit.
Array einsum(std::string_view subscripts, std::span<const Array> operands);

// ---- indexing by arrays -------------------------------------------------------------------------

// a[i0, i1, ..] on the leading axes: index arrays (integers, broadcast together; checked now,
// IndexError), result shape: broadcast shape + the remaining axes.
Array gather(const Array& a, std::span<const Array> indices);
// a[i0, i1, ..] = value, in order (the last of equal indices wins).
void scatter(const Array& a, std::span<const Array> indices, const Argument& value);
// a[i0, i1, ..] op= value for each, duplicates counted (ufunc.at).
void scatter_apply(Op op, const Array& a, std::span<const Array> indices, const Argument& value);
// The elements where mask is true, mask.ndim leading axes collapsed into one: evaluates the mask
// for the count.
Array compress(const Array& a, const Array& mask);
// a[mask] = values; values: broadcast to what compress gives. Evaluates the mask and the values.
void expand(const Array& a, const Array& mask, const Argument& values);
// The coordinates where a is true: one int64 array an axis. Evaluates a.
std::vector<Array> nonzero(const Array& a);
std::int64_t count_nonzero(const Array& a);  // evaluates

// ---- work of other libraries --------------------------------------------------------------------

// An opaque step: runs at its place in the program's order with pointers to its (evaluated)
// operands.
struct MatrixProducts;
struct CallKernel;

class Call {
 public:
  virtual ~Call() = default;
  virtual std::string_view name() const = 0;
  // pointers: the first element of each output window, then of each input window.
  virtual void run(std::span<std::byte* const> pointers) const = 0;
  // True: where nobody needs the outputs it is not run.
  virtual bool is_pure() const { return false; }
  // For devices, which have libraries of their own for the one, and take the other as what it is;
  // false: it is something else.
  virtual bool describe(MatrixProducts& products) const {
    static_cast<void>(products);
    return false;
  }
  virtual bool describe(CallKernel& kernel) const {
    static_cast<void>(kernel);
    return false;
  }
  // What a floating-point warning calls it; null: it gives none.
  virtual const char* warning_name() const { return nullptr; }
  // Which status flags of the processor its values mean, where these were raised.
  virtual unsigned meant_flags(std::span<std::byte* const> pointers, unsigned raised) const {
    static_cast<void>(pointers);
    return raised;
  }
};
void record_call(std::shared_ptr<const Call> call, std::span<const Array> outputs,
                 std::span<const Array> inputs);

// ---- values -------------------------------------------------------------------------------------

// Computes everything that was recorded before. eval(): into memory; run_pending(): large arrays
// that nobody is foreseen to read need not be stored.
void eval();
void run_pending();
void eval(const Array& a);
bool is_pending(const Array& a);  // something recorded still has to write it
bool has_pending();               // anything at all is recorded and not computed
// The value at the first element of the window (evaluates). Its as<T>() takes the bytes as they
// are; T has to be the type that its dtype says.
Scalar item(const Array& a);
// In brackets, as NumPy prints it (evaluates): of more than a thousand elements the first and last
// of each axis.
std::string to_string(const Array& a);
// Direct access: evaluates; from now on until end_export, all work on this base is immediate and
// its memory stays put (an export). Every begin has its end (ValueError), which may come from any
// thread.
std::byte* begin_export(const Array& a);
void end_export(Base* base);
// Memory for reading now, with no promise for later: valid until the next recorded operation.
const std::byte* read(const Array& a);
bool is_exported(const Array& a);
// The same elements may be reached through both (exact, within a work limit; else true).
bool may_share_memory(const Array& a, const Array& b);
// Its elements are there, and few enough for ops on them to be computed at once.
// `times`: up to so many times as much counts as few.
bool is_small_and_ready(const Array& a, std::int64_t times = 1);
// For what only moves or finds elements, and for small products: done at once up to here.
inline constexpr std::int64_t moderate_times = 16;
// The same for joins and triangles of matrices: more may be computed with what reads it.
inline constexpr std::int64_t moved_times = 64;

// ---- where it was asked for ---------------------------------------------------------------------

// A source position, set by a door before it records: opaque to the engine, resolved by the door
// when reporting.
struct SourcePosition {
  const void* code = nullptr;  // kept alive by the door
  std::int32_t instruction = 0;
  std::uint32_t step = 0;   // which of the steps that this instruction has recorded; 0: none waits
  std::uint32_t order = 0;  // of what is evaluated together: recorded behind what has a lower one
  const char* ufunc = nullptr;  // what warnings call the op, where that is not its own name
  // Where the door itself stands, in a function of many steps: a number for it; 0: nowhere.
  std::uint32_t inner = 0;
};
// For the door: a value that was there already was read. (Evaluating tells the engine by itself.)
void note_look();

// ---- settings and figures -----------------------------------------------------------------------

struct Statistics {
  std::int64_t recorded = 0;   // nodes
  std::int64_t immediate = 0;  // ops computed at once
  std::int64_t evals = 0;
  std::int64_t eager = 0;  // evals that ran their operations one by one, without a plan
  std::int64_t plan_hits = 0, plan_misses = 0;
  std::int64_t interpreted_launches = 0, compiled_launches = 0, calls = 0;
  std::int64_t device_launches = 0, bytes_uploaded = 0, bytes_downloaded = 0;
  std::int64_t swept_launches = 0;  // of these, those that went over their arrays together
  std::int64_t kernels_compiled = 0, kernels_loaded = 0, kernels_failed = 0;
  std::int64_t bytes_live = 0, bytes_peak = 0, bytes_cached = 0;
  double eval_seconds = 0;      // of all evals
  double plan_seconds = 0;      // making plans
  double lookup_seconds = 0;    // finding plans again
  double compile_seconds = 0;   // on the compile thread
  std::string compile_failure;  // why the first of kernels_failed did
};
Statistics statistics();
void reset_statistics();

enum class Tier : std::uint8_t {
  Automatic,
  Eager,        // each operation by itself, by a ready-made loop; where there is none, interpreted
  Interpreter,  // fused
  Compiled      // fused; waits for the compiler (tests)
};
void set_tier(Tier tier);
// FRIT_FUSION=off|trace|on, to see what fusing gains.
enum class Fusion : std::uint8_t {
  On,
  Trace,  // what is recorded waits, but each op and each kernel runs by itself
  Off,    // ..and at once
};
void set_fusion(Fusion fusion);
// FRIT_CHECK=bounds: how indices into arrays that the data of a kernel decide are checked.
enum class Check : std::uint8_t {
  WhereNeeded,  // by the index arrays' ranges, or an inspection; in the kernel where neither can
  Bounds,       // in the kernel, always, which then runs at once
};
void set_check(Check check);
// FRIT_DEVICE=cpu|cuda|auto: where launches run that are worth it. Arrays stay there until somebody
// needs them in memory. Throws DeviceError where there is no such device; Auto never does.
enum class DeviceKind : std::uint8_t {
  Cpu,
  Cuda,      // NVIDIA's GPUs
  Emulated,  // for tests: on the CPU, with memory of its own
  // A GPU if there is one, for what pays for its transfers; nothing else is known before it has
  // saved so much, or would have. Where none can be used it becomes Cpu.
  Auto,
  AutoEmulated,  // for tests: the same with the emulated one, which counts as a GPU's worth
};
void set_device(DeviceKind kind);
DeviceKind device();
std::string device_description();  // "NVIDIA H100 80GB HBM3"; of the CPU: empty
// Runs what is pending, and waits until it has been done; a device keeps what it has made.
void synchronize();
void set_lazy(bool lazy);  // false: every op is computed at once
int threads();
void set_threads(int n);
void wait_for_compiler();
void flush_caches();  // plans, kernels in memory, cached buffers

// Text of what is pending (before) or of the last eval (after): groups, kernels, bytes moved
// against the least possible.
std::string explain();
std::string explain_dot();  // the same as a Graphviz graph

// Floating-point warnings: what the kernels found since the last call; see engine/warnings.
enum class FloatError : std::uint8_t { DivideByZero = 1, Overflow = 2, Underflow = 4, Invalid = 8 };
struct FloatWarning {
  FloatError error;
  Op op;
  SourcePosition source;
  bool reduction = false;  // found in a reduction by the op
};
// Which of the errors are looked for (a mask of FloatError), for ops recorded from now on; kept
// with each node.
void set_float_checks(unsigned mask);
bool has_float_warnings();
std::vector<FloatWarning> take_float_warnings();

}  // namespace frit
