// heat.cpp: heat in a plate of two materials: array expressions fused with a kernel, checked.
//
// Usage: heat [size [steps]]
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <frit/frit.h>

namespace {

using frit::Array;

struct Plate {
  std::int64_t size;
  std::vector<double> heat;            // at the start, row by row
  std::vector<std::int32_t> material;  // of each cell: an index into `conductivity`
  std::vector<double> conductivity;
};

Plate make_plate(std::int64_t size) {
  Plate plate{.size = size, .heat = {}, .material = {}, .conductivity = {0.24, 0.06}};
  for (std::int64_t i = 0; i < size; ++i)
    for (std::int64_t j = 0; j < size; ++j) {
      plate.heat.push_back(i == 0 || j == 0 ? 100.0 : 0.0);
      const std::int64_t x = 2 * i - size, y = 2 * j - size;
      plate.material.push_back(4 * (x * x + y * y) < size * size ? 1 : 0);
    }
  return plate;
}

// One step: next = u + c(material) * (sum of the neighbours - 4 u) inside, the edges stay; then
// everything cools a little.
Array step(const Array& u, const Array& material, const Array& conductivity, double cooling) {
  const std::int64_t rows = u.shape()[0], columns = u.shape()[1];
  const Array next = frit::empty(u.shape(), u.dtype());
  frit::KernelBuilder k({rows, columns});
  const auto U = k.input(u), M = k.input(material), C = k.input(conductivity), N = k.output(next);
  const auto i = k.axis(0), j = k.axis(1);
  const auto change = k.local(0.0);
  k.if_(i > 0 && j > 0 && i < rows - 1 && j < columns - 1, [&] {
    const auto neighbours = U(i - 1, j) + U(i + 1, j) + U(i, j - 1) + U(i, j + 1);
    change = C(M(i, j)) * (neighbours - 4.0 * U(i, j));
  });
  N(i, j) = U(i, j) + change;
  k.record();
  return next * (1.0 - cooling);
}

void plain_step(const Plate& plate, std::vector<double>& u, double cooling) {
  const std::vector<double> before = u;
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return before[static_cast<std::size_t>(i * plate.size + j)];
  };
  for (std::int64_t i = 0; i < plate.size; ++i)
    for (std::int64_t j = 0; j < plate.size; ++j) {
      const auto cell = static_cast<std::size_t>(i * plate.size + j);
      double change = 0.0;
      if (i > 0 && j > 0 && i < plate.size - 1 && j < plate.size - 1) {
        const double neighbours = at(i - 1, j) + at(i + 1, j) + at(i, j - 1) + at(i, j + 1);
        change = plate.conductivity[static_cast<std::size_t>(plate.material[cell])] *
                 (neighbours - 4.0 * at(i, j));
      }
      u[cell] = (at(i, j) + change) * (1.0 - cooling);
    }
}

}  // namespace

int main(int count, char** arguments) {
  const std::int64_t size = count > 1 ? std::atoll(arguments[1]) : 400;
  const int steps = count > 2 ? std::atoi(arguments[2]) : 50;
  constexpr double cooling = 0.001;
  const Plate plate = make_plate(size);

  Array u = frit::from_values(std::span<const double>(plate.heat), {size, size});
  const Array material =
      frit::from_values(std::span<const std::int32_t>(plate.material), {size, size});
  const Array conductivity = frit::from_values(std::span<const double>(plate.conductivity), {2});
  for (int t = 0; t < steps; ++t) {
    u = step(u, material, conductivity, cooling);
    if (t == 0) std::fputs(frit::explain().c_str(), stdout);
  }
  const std::vector<double> result = frit::values<double>(u);

  std::vector<double> expected = plate.heat;
  for (int t = 0; t < steps; ++t) plain_step(plate, expected, cooling);
  const bool same = result == expected;
  std::printf("%lld x %lld cells, %d steps: mean heat %.6f; %s\n", static_cast<long long>(size),
              static_cast<long long>(size), steps,
              frit::value<double>(frit::sum(u)) / static_cast<double>(u.size()),
              same ? "bit for bit what plain loops give" : "NOT what plain loops give");
  return same ? 0 : 1;
}
