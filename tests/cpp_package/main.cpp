// main.cpp: uses the installed headers and libraries, both tiers, and checks values.
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <frit/frit.h>
#include <frit/version.h>

// The sum of (2 x + 1) for x = 0 .. n-1, which is n squared; x is overwritten before it is read.
double sum_of_odd_numbers(std::int64_t n) {
  using frit::DType, frit::Op, frit::Scalar;
  const frit::Array x =
      frit::arange(Scalar::of(DType::Float64, 0.0), Scalar::of(DType::Float64, 1.0), n);
  const frit::Array odd = frit::apply(Op::Add, {frit::apply(Op::Multiply, {x, 2.0}), 1.0});
  frit::apply(Op::Multiply, {x, 0.0}, {.out = &x});  // `odd` must have seen x as it was
  double sum = 0;
  std::memcpy(&sum, frit::item(frit::reduce(Op::Add, odd)).bytes, sizeof sum);
  return sum;
}

// As above, by operators and a kernel: what is at i moves to n - 1 - i.
double sum_of_a_kernel(std::int64_t n) {
  const frit::Array x = frit::arange(0.0, 1.0, n), y = frit::zeros({n});
  frit::KernelBuilder k({n});
  const auto X = k.input(x), Y = k.output(y);
  const auto i = k.axis(0);
  Y(n - 1 - i) = 2.0 * X(i) + 1.0;
  k.record();
  return frit::value<double>(frit::sum(slice(y, {{0, 1}})) + frit::sum(slice(y, {{.start = 1}})));
}

int main() {
  if (std::strcmp(frit::version(), FRIT_VERSION) != 0) {
    std::printf("headers are %s, the library is %s\n", FRIT_VERSION, frit::version());
    return 1;
  }
  for (const frit::Tier tier : {frit::Tier::Interpreter, frit::Tier::Compiled}) {
    frit::set_tier(tier);
    for (const double sum : {sum_of_odd_numbers(1000), sum_of_a_kernel(1000)})
      if (sum != 1e6) {
        std::printf("tier %d: the sum is %g, not 1e6\n", static_cast<int>(tier), sum);
        return 1;
      }
  }
  if (frit::statistics().compiled_launches == 0) {
    std::printf("nothing ran compiled: libfrit_jit was not found beside libfrit\n");
    return 1;
  }
  std::printf("frit %s\n", frit::version());
  return 0;
}
