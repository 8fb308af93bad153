// testing_nest_kernels.h: sixteen well-known loop nests, as a person would write them.
#pragma once

#include <string>
#include <vector>

#include "schedule/testing_nest.h"

namespace frit::testing {

struct NestKernel {
  std::string name;
  Routine routine;
  std::vector<std::vector<std::int64_t>> shapes;  // of each array, for size n
  std::vector<std::int64_t> integers;
  std::vector<Scalar> scalars = {};
  bool sums_floats = false;  // in another order than in the text
};

class NestKernels {
 public:
  // Names in the order of the list.
  static std::vector<std::string> names() {
    return {"vector add", "saxpy",         "matmul",       "gemver",
            "atax",       "conv2d",        "jacobi-2d",    "heat-3d",
            "mandelbrot", "black-scholes", "n-body",       "floyd-warshall",
            "histogram",  "seidel-2d",     "gram-schmidt", "lu"};
  }

  static NestKernel make(const std::string& name, std::int64_t n, std::int64_t steps = 4) {
    NestKernels k(name, n, steps);
    if (name == "vector add") k.vector_add();
    if (name == "saxpy") k.saxpy();
    if (name == "matmul") k.matmul();
    if (name == "gemver") k.gemver();
    if (name == "atax") k.atax();
    if (name == "conv2d") k.conv2d();
    if (name == "jacobi-2d") k.jacobi();
    if (name == "heat-3d") k.heat();
    if (name == "mandelbrot") k.mandelbrot();
    if (name == "black-scholes") k.black_scholes();
    if (name == "n-body") k.n_body();
    if (name == "floyd-warshall") k.floyd_warshall();
    if (name == "histogram") k.histogram();
    if (name == "seidel-2d") k.seidel();
    if (name == "gram-schmidt") k.gram_schmidt();
    if (name == "lu") k.lu();
    k.made_.routine = k.m_.routine();
    return k.made_;
  }

 private:
  NestKernels(const std::string& name, std::int64_t n, std::int64_t steps) : size_(n) {
    made_.name = name;
    n_ = integer(n);
    steps_ = steps;
  }

  int integer(std::int64_t value) {
    made_.integers.push_back(value);
    return m_.integer();
  }
  int array(std::vector<std::int64_t> shape, DType dtype = DType::Float64) {
    const int number = m_.array(dtype, static_cast<int>(shape.size()));
    made_.shapes.push_back(std::move(shape));
    return number;
  }
  int vector() { return array({size_}); }
  int matrix() { return array({size_, size_}); }
  ValueId zero() { return m_.literal(0); }
  ValueId n() { return m_.arg(n_); }
  ValueId last() { return m_.minus(n(), m_.literal(1)); }
  void loop(const std::function<void(ValueId)>& body) {
    const ValueId begin = zero();
    m_.loop(begin, n(), body);
  }
  void inner_loop(const std::function<void(ValueId)>& body) {
    const ValueId begin = m_.literal(1);
    m_.loop(begin, last(), body);
  }
  ValueId scalar(double value) {
    made_.scalars.push_back(Scalar::of(DType::Float64, value));
    return m_.scalar_arg(m_.scalar(DType::Float64));
  }
  // array[indices] += value
  void add_to(int array, std::vector<ValueId> indices, ValueId value) {
    const ValueId old = m_.load(array, indices);
    m_.store(array, indices, m_.plus(old, value));
  }
  void add_to(int local, ValueId value) {
    const ValueId old = m_.read(local);
    m_.write(local, m_.plus(old, value));
  }
  ValueId product(ValueId a, ValueId b) { return m_.times(a, b); }

  void vector_add() {
    const int a = vector(), b = vector(), c = vector();
    loop([&](ValueId i) {
      const ValueId x = m_.load(a, {i});
      m_.store(c, {i}, m_.plus(x, m_.load(b, {i})));
    });
  }

  void saxpy() {
    const int x = vector(), y = vector();
    const ValueId a = scalar(2.5);
    loop([&](ValueId i) {
      const ValueId ax = m_.times(a, m_.load(x, {i}));
      m_.store(y, {i}, m_.plus(ax, m_.load(y, {i})));
    });
  }

  void matmul() {
    const int a = matrix(), b = matrix(), c = matrix();
    loop([&](ValueId i) {
      loop([&](ValueId j) {
        loop([&](ValueId k) {
          const ValueId x = m_.load(a, {i, k});
          add_to(c, {i, j}, m_.times(x, m_.load(b, {k, j})));
        });
      });
    });
  }

  void gemver() {
    made_.sums_floats = true;
    const int a = matrix(), u1 = vector(), v1 = vector(), u2 = vector(), v2 = vector(),
              w = vector(), x = vector(), y = vector(), z = vector();
    const ValueId alpha = scalar(1.5), beta = scalar(1.2);
    loop([&](ValueId i) {
      loop([&](ValueId j) {
        const ValueId old = m_.load(a, {i, j});
        const ValueId p = product(m_.load(u1, {i}), m_.load(v1, {j}));
        const ValueId q = product(m_.load(u2, {i}), m_.load(v2, {j}));
        const ValueId s = m_.plus(old, p);
        m_.store(a, {i, j}, m_.plus(s, q));
      });
    });
    loop([&](ValueId i) {
      loop([&](ValueId j) {
        const ValueId p = m_.times(beta, m_.load(a, {j, i}));
        add_to(x, {i}, m_.times(p, m_.load(y, {j})));
      });
    });
    loop([&](ValueId i) { add_to(x, {i}, m_.load(z, {i})); });
    loop([&](ValueId i) {
      loop([&](ValueId j) {
        const ValueId p = m_.times(alpha, m_.load(a, {i, j}));
        add_to(w, {i}, m_.times(p, m_.load(x, {j})));
      });
    });
  }

  void atax() {
    made_.sums_floats = true;
    const int a = matrix(), x = vector(), y = vector(), t = m_.local(DType::Float64);
    loop([&](ValueId i) { m_.store(y, {i}, m_.real(0)); });
    loop([&](ValueId i) {
      m_.write(t, m_.real(0));
      loop([&](ValueId j) {
        const ValueId p = m_.load(a, {i, j});
        add_to(t, m_.times(p, m_.load(x, {j})));
      });
      loop([&](ValueId j) {
        const ValueId p = m_.load(a, {i, j});
        add_to(y, {j}, m_.times(p, m_.read(t)));
      });
    });
  }

  void conv2d() {
    const int image = matrix(), w = array({3, 3}), out = matrix(), sum = m_.local(DType::Float64);
    inner_loop([&](ValueId i) {
      inner_loop([&](ValueId j) {
        m_.write(sum, m_.real(0));
        const ValueId p0 = zero();
        m_.loop(p0, m_.literal(3), [&](ValueId p) {
          const ValueId q0 = zero();
          m_.loop(q0, m_.literal(3), [&](ValueId q) {
            const ValueId row = m_.shifted(m_.plus(i, p), -1),
                          column = m_.shifted(m_.plus(j, q), -1);
            const ValueId pixel = m_.load(image, {row, column});
            add_to(sum, m_.times(pixel, m_.load(w, {p, q})));
          });
        });
        m_.store(out, {i, j}, m_.read(sum));
      });
    });
  }

  void in_time(const std::function<void()>& body) {
    const int steps = integer(steps_);
    const ValueId begin = zero();
    m_.loop(begin, m_.arg(steps), [&](ValueId) { body(); });
  }

  void jacobi() {
    const int a = matrix(), b = matrix();
    const auto sweep = [&](int from, int to) {
      inner_loop([&](ValueId i) {
        inner_loop([&](ValueId j) {
          ValueId sum = m_.load(from, {i, j});
          sum = m_.plus(sum, m_.load(from, {i, m_.shifted(j, -1)}));
          sum = m_.plus(sum, m_.load(from, {i, m_.shifted(j, 1)}));
          sum = m_.plus(sum, m_.load(from, {m_.shifted(i, 1), j}));
          sum = m_.plus(sum, m_.load(from, {m_.shifted(i, -1), j}));
          m_.store(to, {i, j}, m_.times(m_.real(0.2), sum));
        });
      });
    };
    in_time([&] {
      sweep(a, b);
      sweep(b, a);
    });
  }

  void heat() {
    const int a = array({size_, size_, size_}), b = array({size_, size_, size_});
    const auto sweep = [&](int from, int to) {
      inner_loop([&](ValueId i) {
        inner_loop([&](ValueId j) {
          inner_loop([&](ValueId k) {
            const ValueId middle = m_.load(from, {i, j, k});
            const ValueId twice = m_.times(m_.real(2), middle);
            ValueId sum = middle;
            const auto along = [&](std::vector<ValueId> above, std::vector<ValueId> below) {
              const ValueId upper = m_.minus(m_.load(from, std::move(above)), twice);
              const ValueId both = m_.plus(upper, m_.load(from, std::move(below)));
              sum = m_.plus(sum, m_.times(m_.real(0.125), both));
            };
            along({m_.shifted(i, 1), j, k}, {m_.shifted(i, -1), j, k});
            along({i, m_.shifted(j, 1), k}, {i, m_.shifted(j, -1), k});
            along({i, j, m_.shifted(k, 1)}, {i, j, m_.shifted(k, -1)});
            m_.store(to, {i, j, k}, sum);
          });
        });
      });
    };
    in_time([&] {
      sweep(a, b);
      sweep(b, a);
    });
  }

  void mandelbrot() {
    const int out = array({size_, size_}, DType::Int64);
    const int x = m_.local(DType::Float64), y = m_.local(DType::Float64),
              count = m_.local(DType::Int64);
    loop([&](ValueId i) {
      loop([&](ValueId j) {
        const ValueId size = m_.cast(n(), DType::Float64);
        const ValueId fi = m_.cast(i, DType::Float64), fj = m_.cast(j, DType::Float64);
        const ValueId cx =
            m_.minus(m_.times(m_.apply(Op::TrueDivide, fj, size), m_.real(3)), m_.real(2));
        const ValueId cy =
            m_.minus(m_.times(m_.apply(Op::TrueDivide, fi, size), m_.real(3)), m_.real(1.5));
        m_.write(x, m_.real(0));
        m_.write(y, m_.real(0));
        m_.write(count, m_.literal(0));
        m_.while_(
            [&] {
              const ValueId xx = m_.times(m_.read(x), m_.read(x));
              const ValueId yy = m_.times(m_.read(y), m_.read(y));
              const ValueId inside = m_.apply(Op::LessEqual, m_.plus(xx, yy), m_.real(4));
              const ValueId more = m_.apply(Op::Less, m_.read(count), m_.literal(100));
              return m_.apply(Op::LogicalAnd, inside, more);
            },
            [&] {
              const ValueId xx = m_.times(m_.read(x), m_.read(x));
              const ValueId yy = m_.times(m_.read(y), m_.read(y));
              const ValueId next = m_.plus(m_.minus(xx, yy), cx);
              const ValueId xy = m_.times(m_.times(m_.real(2), m_.read(x)), m_.read(y));
              m_.write(y, m_.plus(xy, cy));
              m_.write(x, next);
              add_to(count, m_.literal(1));
            });
        m_.store(out, {i, j}, m_.read(count));
      });
    });
  }

  void black_scholes() {
    const int price = vector(), strike = vector(), time = vector(), call = vector(), put = vector();
    const ValueId rate = scalar(0.02), volatility = scalar(0.3);
    loop([&](ValueId i) {
      const ValueId s = m_.load(price, {i}), k = m_.load(strike, {i}), t = m_.load(time, {i});
      const ValueId root = m_.times(volatility, m_.apply(Op::Sqrt, t));
      const ValueId half = m_.times(m_.times(m_.real(0.5), volatility), volatility);
      const ValueId drift = m_.times(m_.plus(rate, half), t);
      const ValueId ratio = m_.apply(Op::Log, m_.apply(Op::TrueDivide, s, k));
      const ValueId d1 = m_.apply(Op::TrueDivide, m_.plus(ratio, drift), root);
      const ValueId d2 = m_.minus(d1, root);
      const auto normal = [&](ValueId d) {
        const ValueId e = m_.apply(Op::Erf, m_.times(d, m_.real(0.7071067811865476)));
        return m_.times(m_.real(0.5), m_.plus(m_.real(1), e));
      };
      const ValueId n1 = normal(d1), n2 = normal(d2);
      const ValueId discount = m_.apply(Op::Exp, m_.times(m_.apply(Op::Negative, rate), t));
      const ValueId kd = m_.times(k, discount);
      const ValueId c = m_.minus(m_.times(s, n1), m_.times(kd, n2));
      m_.store(call, {i}, c);
      m_.store(put, {i}, m_.plus(m_.minus(kd, s), c));
    });
  }

  void n_body() {
    const int x = vector(), y = vector(), z = vector(), ax = vector(), ay = vector(), az = vector();
    const int fx = m_.local(DType::Float64), fy = m_.local(DType::Float64),
              fz = m_.local(DType::Float64);
    loop([&](ValueId i) {
      for (int f : {fx, fy, fz}) m_.write(f, m_.real(0));
      loop([&](ValueId j) {
        const ValueId dx = m_.minus(m_.load(x, {j}), m_.load(x, {i}));
        const ValueId dy = m_.minus(m_.load(y, {j}), m_.load(y, {i}));
        const ValueId dz = m_.minus(m_.load(z, {j}), m_.load(z, {i}));
        ValueId r = m_.plus(m_.times(dx, dx), m_.times(dy, dy));
        r = m_.plus(m_.plus(r, m_.times(dz, dz)), m_.real(0.01));
        const ValueId cube = m_.times(r, m_.apply(Op::Sqrt, r));
        const ValueId inverse = m_.apply(Op::TrueDivide, m_.real(1), cube);
        add_to(fx, m_.times(dx, inverse));
        add_to(fy, m_.times(dy, inverse));
        add_to(fz, m_.times(dz, inverse));
      });
      m_.store(ax, {i}, m_.read(fx));
      m_.store(ay, {i}, m_.read(fy));
      m_.store(az, {i}, m_.read(fz));
    });
  }

  void floyd_warshall() {
    const int d = matrix();
    loop([&](ValueId k) {
      loop([&](ValueId i) {
        loop([&](ValueId j) {
          const ValueId first = m_.load(d, {i, k});
          const ValueId way = m_.plus(first, m_.load(d, {k, j}));
          const ValueId known = m_.load(d, {i, j});
          m_.store(d, {i, j}, m_.apply(Op::Minimum, known, way));
        });
      });
    });
  }

  void histogram() {
    const int bin = array({size_}, DType::Int64), count = array({256}, DType::Int64);
    loop([&](ValueId i) {
      const ValueId b = m_.load(bin, {i});
      add_to(count, {b}, m_.literal(1));
    });
  }

  void seidel() {
    const int a = matrix();
    in_time([&] {
      inner_loop([&](ValueId i) {
        inner_loop([&](ValueId j) {
          ValueId sum = no_value;
          for (int p = -1; p <= 1; ++p)
            for (int q = -1; q <= 1; ++q) {
              const ValueId row = m_.shifted(i, p), column = m_.shifted(j, q);
              const ValueId next = m_.load(a, {row, column});
              sum = sum == no_value ? next : m_.plus(sum, next);
            }
          m_.store(a, {i, j}, m_.apply(Op::TrueDivide, sum, m_.real(9)));
        });
      });
    });
  }

  void gram_schmidt() {
    made_.sums_floats = true;
    const int a = matrix(), q = matrix(), r = matrix(), norm = m_.local(DType::Float64);
    loop([&](ValueId k) {
      m_.write(norm, m_.real(0));
      loop([&](ValueId i) {
        const ValueId x = m_.load(a, {i, k});
        add_to(norm, m_.times(x, x));
      });
      const ValueId root = m_.apply(Op::Sqrt, m_.read(norm));
      m_.store(r, {k, k}, root);
      loop([&](ValueId i) {
        const ValueId x = m_.load(a, {i, k});
        m_.store(q, {i, k}, m_.apply(Op::TrueDivide, x, m_.load(r, {k, k})));
      });
      const ValueId next = m_.shifted(k, 1);
      m_.loop(next, n(), [&](ValueId j) {
        m_.store(r, {k, j}, m_.real(0));
        loop([&](ValueId i) {
          const ValueId x = m_.load(q, {i, k});
          add_to(r, {k, j}, m_.times(x, m_.load(a, {i, j})));
        });
        loop([&](ValueId i) {
          const ValueId old = m_.load(a, {i, j});
          const ValueId x = m_.load(q, {i, k});
          m_.store(a, {i, j}, m_.minus(old, m_.times(x, m_.load(r, {k, j}))));
        });
      });
    });
  }

  void lu() {
    const int a = matrix();
    loop([&](ValueId k) {
      const ValueId next = m_.shifted(k, 1);
      m_.loop(next, n(), [&](ValueId i) {
        const ValueId x = m_.load(a, {i, k});
        m_.store(a, {i, k}, m_.apply(Op::TrueDivide, x, m_.load(a, {k, k})));
        m_.loop(next, n(), [&](ValueId j) {
          const ValueId old = m_.load(a, {i, j});
          const ValueId y = m_.load(a, {i, k});
          m_.store(a, {i, j}, m_.minus(old, m_.times(y, m_.load(a, {k, j}))));
        });
      });
    });
  }

  const std::int64_t size_;
  std::int64_t steps_ = 4;
  int n_ = 0;
  NestMaker m_;
  NestKernel made_;
};

}  // namespace frit::testing
