// engine_bench.cpp: what the engine itself costs, without Python: recording, plans, whole evals.
#include <benchmark/benchmark.h>

#include <chrono>

#include "frit/frit.h"

namespace {

using namespace frit;

Array ones(std::int64_t n) {
  const std::int64_t shape[1] = {n};
  const Array a = full(shape, Scalar::of(DType::Float64, 1.5));
  eval();
  return a;
}

Array chain(const Array& x, const Array& y, int ops) {
  Array z = x + y;
  for (int k = 1; k < ops; ++k) z = k % 2 ? z * 1.0001 : z + y;
  return z;
}

// Recording one op on arrays too large to be computed at once; the evals are not timed.
void record_one_op(benchmark::State& state) {
  const Array x = ones(100'000), y = ones(100'000);
  for (auto _ : state) {
    const Array z = chain(x, y, 20);
    state.PauseTiming();
    eval();
    state.ResumeTiming();
  }
  state.counters["ns_an_op"] = benchmark::Counter(
      20.0 * 1e-9, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(record_one_op)->Iterations(2000);

// From a re-seen trace of 20 ops to its plan: the figure is plan_ns, of all evals the part before
// the first step.
void find_plan_again(benchmark::State& state) {
  const Array x = ones(4'000), y = ones(4'000);
  eval(chain(x, y, 20));
  reset_statistics();
  for (auto _ : state) eval(chain(x, y, 20));
  const Statistics s = statistics();
  state.counters["plan_ns"] = s.lookup_seconds * 1e9 / static_cast<double>(s.plan_hits);
  state.counters["hits"] = static_cast<double>(s.plan_hits);
}
BENCHMARK(find_plan_again);

// A user's kernel, written and recorded again: a stencil of five points on alternating arrays. The
// first figure is the writing, the second record() alone.
void record_a_kernel(benchmark::State& state) {
  constexpr std::int64_t n = 100;
  Array u = zeros({n, n}), v = zeros({n, n});
  std::chrono::nanoseconds recording{};
  for (auto _ : state) {
    KernelBuilder k({n - 2, n - 2});
    const auto U = k.input(u), V = k.output(v);
    const auto i = k.axis(0) + 1, j = k.axis(1) + 1;
    const Expression neighbours = U(i - 1, j) + U(i + 1, j) + U(i, j - 1) + U(i, j + 1);
    V(i, j) = U(i, j) + k.scalar(0.1) * (neighbours - 4.0 * U(i, j));
    const auto start = std::chrono::steady_clock::now();
    k.record();
    recording += std::chrono::steady_clock::now() - start;
    std::swap(u, v);
    if (state.iterations() % 64 == 0) {
      state.PauseTiming();
      eval();
      state.ResumeTiming();
    }
  }
  state.counters["record_ns"] =
      static_cast<double>(recording.count()) / static_cast<double>(state.iterations());
}
BENCHMARK(record_a_kernel)->Iterations(20'000);

void small_sum_of_two(benchmark::State& state) {
  const Array x = ones(state.range(0)), y = ones(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(x + y);
}
BENCHMARK(small_sum_of_two)->Arg(1)->Arg(10)->Arg(100)->Arg(1000);

void chain_of_twenty(benchmark::State& state) {
  const Array x = ones(state.range(0)), y = ones(state.range(0));
  for (int k = 0; k < 3; ++k) eval(chain(x, y, 20));
  wait_for_compiler();
  for (auto _ : state) eval(chain(x, y, 20));
  state.SetBytesProcessed(state.iterations() * state.range(0) * 24);
}
BENCHMARK(chain_of_twenty)->Arg(1'000)->Arg(100'000)->Arg(10'000'000)->UseRealTime();

}  // namespace
