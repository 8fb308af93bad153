// nest_test.cpp: verdicts of nests that other tools get wrong, and of the usual kernels.
#include "schedule/nest.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ops/level.h"
#include "schedule/nest_program.h"
#include "schedule/testing_nest_kernels.h"

namespace frit {
namespace {

using testing::NestKernels;
using testing::NestMaker;

std::string verdicts(const NestMaker& m, std::vector<std::int64_t> integers = {},
                     NestFacts facts = {}) {
  const auto nest = analyse_nest(m.routine(), std::move(facts));
  ConditionBits bits;
  integers.resize(static_cast<std::size_t>(nest->routine.body.integers));
  evaluate_conditions(*nest, integers, bits);
  return print(judge(nest, bits));
}

TEST(Nest, element_by_element_is_parallel) {
  NestMaker m;
  const int a = m.array(DType::Float64, 1), b = m.array(DType::Float64, 1), n = m.integer();
  m.loop(m.literal(0), m.arg(n),
         [&](ValueId i) { m.store(a, {i}, m.plus(m.load(b, {i}), m.real(1))); });
  EXPECT_EQ(verdicts(m), "v2: parallel\n");
}

TEST(Nest, two_stores_that_collide_are_serial) {
  NestMaker m;
  const int a = m.array(DType::Float64, 1), b = m.array(DType::Float64, 1),
            c = m.array(DType::Float64, 1), n = m.integer();
  m.loop(m.literal(0), m.arg(n), [&](ValueId i) {
    m.store(a, {m.shifted(i, 1)}, m.load(b, {i}));
    m.store(a, {i}, m.load(c, {i}));
  });
  EXPECT_EQ(verdicts(m), "v2: serial: output dependence from store 1 to store 3, distance 1\n");
}

TEST(Nest, prefix_sum_is_a_scan) {
  NestMaker m;
  const int a = m.array(DType::Float64, 1), n = m.integer(), s = m.local(DType::Float64);
  m.write(s, m.real(0));
  m.loop(m.literal(0), m.arg(n), [&](ValueId i) {
    m.write(s, m.plus(m.read(s), m.load(a, {i})));
    m.store(a, {i}, m.read(s));
  });
  EXPECT_EQ(verdicts(m), "v3: scan: local 0\n");
}

TEST(Nest, sum_is_a_reduction) {
  NestMaker m;
  const int a = m.array(DType::Float64, 1), out = m.array(DType::Float64, 1), n = m.integer(),
            s = m.local(DType::Float64);
  m.write(s, m.real(0));
  m.loop(m.literal(0), m.arg(n), [&](ValueId i) { m.write(s, m.plus(m.read(s), m.load(a, {i}))); });
  m.store(out, {m.literal(0)}, m.read(s));
  EXPECT_EQ(verdicts(m), "v3: reduction\n");
}

TEST(Nest, sum_into_an_element_is_a_reduction) {
  NestMaker m;
  const int a = m.array(DType::Float64, 2), s = m.array(DType::Float64, 1), n = m.integer();
  m.loop(m.literal(0), m.arg(n), [&](ValueId i) {
    m.loop(m.literal(0), m.arg(n), [&](ValueId j) {
      m.store(s, {i}, m.plus(m.load(s, {i}), m.load(a, {i, j})));
    });
  });
  EXPECT_EQ(verdicts(m), "v2: parallel\n  v5: reduction\n");
}

TEST(Nest, a_sum_that_is_read_in_the_loop_is_serial) {
  NestMaker m;
  const int a = m.array(DType::Float64, 1), n = m.integer(), s = m.local(DType::Float64);
  m.write(s, m.real(0));
  m.loop(m.literal(0), m.arg(n), [&](ValueId i) {
    m.store(a, {i}, m.times(m.read(s), m.real(2)));
    m.if_(m.apply(Op::Greater, m.load(a, {i}), m.real(1)),
          [&] { m.write(s, m.plus(m.read(s), m.real(1))); });
  });
  EXPECT_EQ(verdicts(m), "v3: serial: local 0\n");
}

TEST(Nest, histogram_is_a_reduction_of_an_array) {
  NestMaker m;
  const int h = m.array(DType::Float64, 1), idx = m.array(DType::Int64, 1),
            w = m.array(DType::Float64, 1), n = m.integer();
  m.loop(m.literal(0), m.arg(n), [&](ValueId i) {
    const ValueId k = m.load(idx, {i});
    m.store(h, {k}, m.plus(m.load(h, {k}), m.load(w, {i})));
  });
  EXPECT_EQ(verdicts(m), "v2: reduction\n");
}

TEST(Nest, a_histogram_with_an_update_in_both_branches_is_a_reduction) {
  NestMaker m;
  const int h = m.array(DType::Float64, 1), idx = m.array(DType::Int64, 1),
            w = m.array(DType::Float64, 1), n = m.integer();
  m.loop(m.literal(0), m.arg(n), [&](ValueId i) {
    const ValueId k = m.load(idx, {i}), x = m.load(w, {i});
    m.if_(
        m.apply(Op::Greater, x, m.real(0)), [&] { m.store(h, {k}, m.plus(m.load(h, {k}), x)); },
        [&] { m.store(h, {k}, m.plus(m.load(h, {k}), m.real(1))); });
  });
  EXPECT_EQ(verdicts(m), "v2: reduction\n");
}

TEST(Nest, a_scatter_by_an_index_array_is_serial) {
  NestMaker m;
  const int out = m.array(DType::Float64, 1), perm = m.array(DType::Int64, 1),
            x = m.array(DType::Float64, 1), n = m.integer();
  m.loop(m.literal(0), m.arg(n),
         [&](ValueId i) { m.store(out, {m.load(perm, {i})}, m.load(x, {i})); });
  EXPECT_EQ(verdicts(m), "v2: serial: output dependence from store 2 to store 2\n");
}

// A state that many accesses read and write, at i + k or at idx[i] + k; how many dependences of it
// were judged.
std::int64_t judged_of_state(bool is_computed, int stores) {
  NestMaker m;
  const int state = m.array(DType::Float64, 1), idx = m.array(DType::Int64, 1), n = m.integer();
  m.loop(m.literal(0), m.arg(n), [&](ValueId i) {
    const ValueId place = is_computed ? m.load(idx, {i}) : i;
    for (int k = 0; k < stores; ++k)
      m.store(state, {m.shifted(place, k)}, m.load(state, {m.shifted(place, 2 * k)}));
  });
  const auto nest = analyse_nest(m.routine(), {});
  return std::ranges::count_if(nest->dependences, [](const auto& d) { return !d.assumed; });
}

TEST(Nest, a_state_that_is_read_and_written_at_dozens_of_computed_places_is_not_judged) {
  EXPECT_GT(judged_of_state(true, 3), 0);
  EXPECT_EQ(judged_of_state(true, 6), 0);
  EXPECT_GT(judged_of_state(false, 6), 0);
}

TEST(Nest, a_shift_by_an_argument_is_decided_at_run_time) {
  NestMaker m;
  const int a = m.array(DType::Float64, 1), n = m.integer(), k = m.integer();
  m.loop(m.literal(0), m.arg(n),
         [&](ValueId i) { m.store(a, {i}, m.plus(m.load(a, {m.plus(i, m.arg(k))}), m.real(1))); });
  EXPECT_EQ(verdicts(m, {100, 100}), "v2: parallel (at run time)\n");
  EXPECT_EQ(verdicts(m, {100, 0}), "v2: parallel (at run time)\n");
  EXPECT_EQ(verdicts(m, {100, 99}),
            "v2: serial: anti dependence from load 0 to store 1 (at run time)\n");
  EXPECT_EQ(verdicts(m, {100, -1}),
            "v2: serial: flow dependence from store 1 to load 0 (at run time)\n");
  EXPECT_EQ(verdicts(m, {100, -100}), "v2: parallel (at run time)\n");
}

TEST(Nest, overlapping_views_of_one_array_depend) {
  NestMaker m;
  const int u = m.array(DType::Float64, 1), v = m.array(DType::Float64, 1), n = m.integer();
  m.loop(m.literal(0), m.arg(n), [&](ValueId i) { m.store(v, {i}, m.load(u, {i})); });
  EXPECT_EQ(verdicts(m), "v2: parallel\n");
  const NestFacts shifted{.integers = {}, .same = {{}, {.array = u, .shift = {1}}}, .mixed = {}};
  EXPECT_EQ(verdicts(m, {}, shifted),
            "v2: serial: flow dependence from store 1 to load 0, distance 1\n");
  const NestFacts mixed{.integers = {}, .same = {}, .mixed = {{0, 1}}};
  EXPECT_EQ(verdicts(m, {}, mixed),
            "v2: serial: flow dependence from store 1 to load 0 (shared memory)\n");
}

TEST(Nest, a_private_local_that_is_read_afterwards_leaves_the_loop_parallel) {
  NestMaker m;
  const int a = m.array(DType::Float64, 1), out = m.array(DType::Float64, 1), n = m.integer(),
            t = m.local(DType::Float64);
  m.write(t, m.real(0));
  m.loop(m.literal(0), m.arg(n), [&](ValueId i) {
    m.write(t, m.times(m.load(a, {i}), m.real(2)));
    m.store(a, {i}, m.read(t));
  });
  m.store(out, {m.literal(0)}, m.read(t));
  EXPECT_EQ(verdicts(m), "v3: parallel\n");
}

// One row of LU: a[i, j] -= a[i, k] * a[k, j] for k below `behind`.
std::string verdict_of_lu_row(std::int64_t more) {
  NestMaker m;
  const int a = m.array(DType::Float64, 2), n = m.integer();
  m.loop(m.literal(0), m.arg(n), [&](ValueId i) {
    m.loop(m.literal(0), i, [&](ValueId j) {
      m.loop(m.literal(0), m.shifted(j, more), [&](ValueId k) {
        const ValueId product = m.times(m.load(a, {i, k}), m.load(a, {k, j}));
        m.store(a, {i, j}, m.minus(m.load(a, {i, j}), product));
      });
    });
  });
  const std::string text = verdicts(m);
  const std::size_t last = text.rfind("    v");
  return text.substr(text.find(": ", last) + 2, 6);
}

TEST(Nest, an_element_is_kept_in_a_local_where_all_other_loads_are_of_other_elements) {
  EXPECT_EQ(verdict_of_lu_row(0), "reduct");
  EXPECT_EQ(verdict_of_lu_row(-3), "reduct");
  EXPECT_EQ(verdict_of_lu_row(1), "serial");  // the last k is j
}

TEST(Nest, seidel_is_serial_in_both_loops) {
  NestMaker m;
  const int a = m.array(DType::Float64, 2), n = m.integer();
  const ValueId last = m.minus(m.arg(n), m.literal(1));
  m.loop(m.literal(1), last, [&](ValueId i) {
    m.loop(m.literal(1), last, [&](ValueId j) {
      const ValueId above = m.load(a, {m.shifted(i, -1), j});
      m.store(a, {i, j}, m.plus(above, m.load(a, {i, m.shifted(j, -1)})));
    });
  });
  EXPECT_EQ(verdicts(m),
            "v4: serial: flow dependence from store 2 to load 0, distance 1\n"
            "  v6: serial: flow dependence from store 2 to load 1, distance 1\n");
}

TEST(Nest, jacobi_over_time_is_parallel_inside) {
  NestMaker m;
  const int a = m.array(DType::Float64, 2), b = m.array(DType::Float64, 2), n = m.integer(),
            steps = m.integer();
  const auto sweep = [&](int from, int to) {
    const ValueId last = m.minus(m.arg(n), m.literal(1));
    m.loop(m.literal(1), last, [&](ValueId i) {
      m.loop(m.literal(1), last, [&](ValueId j) {
        ValueId sum = m.load(from, {i, j});
        sum = m.plus(sum, m.load(from, {m.shifted(i, -1), j}));
        sum = m.plus(sum, m.load(from, {m.shifted(i, 1), j}));
        sum = m.plus(sum, m.load(from, {i, m.shifted(j, -1)}));
        m.store(to, {i, j}, m.times(m.real(0.2), m.plus(sum, m.load(from, {i, m.shifted(j, 1)}))));
      });
    });
  };
  m.loop(m.literal(0), m.arg(steps), [&](ValueId) {
    sweep(a, b);
    sweep(b, a);
  });
  const std::string text = verdicts(m);
  EXPECT_NE(text.find(": serial: flow dependence"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5) << text;
  std::size_t parallel = 0;
  for (std::size_t k = 0; (k = text.find("parallel\n", k)) != std::string::npos; ++k) ++parallel;
  EXPECT_EQ(parallel, 4u) << text;
}

// ---- plans --------------------------------------------------------------------------------------

std::shared_ptr<const NestProgram> lowered(const Routine& routine,
                                           const std::vector<std::int64_t>& ranks_like,
                                           PlanFacts facts = {}) {
  const auto nest = analyse_nest(routine);
  ConditionBits bits;
  const std::vector<std::int64_t> integers(static_cast<std::size_t>(routine.body.integers), 1000);
  evaluate_conditions(*nest, integers, bits);
  facts.rounds.assign(nest->loops.size(), 1000);
  for (std::int64_t rank : ranks_like)
    facts.unit_axes.push_back(static_cast<std::int32_t>(rank) - 1);
  return lower_nest(judge(nest, bits), facts);
}
std::string plan(const Routine& routine, const std::vector<std::int64_t>& ranks_like) {
  return print(lowered(routine, ranks_like)->plan);
}
std::string plan(const NestMaker& m) {
  const Routine routine = m.routine();
  return plan(routine, {routine.parameter_ranks.begin(), routine.parameter_ranks.end()});
}
std::string plan_of_kernel(const std::string& name) {
  const Routine routine = NestKernels::make(name, 100).routine;
  return plan(routine, {routine.parameter_ranks.begin(), routine.parameter_ranks.end()});
}

TEST(NestPlan, floyd_warshall_is_peeled_at_row_and_column_k) {
  EXPECT_EQ(plan_of_kernel("floyd-warshall"),
            "host v2\n"
            "  parallel v5 before\n"
            "    vector v8 before\n      store 3\n"
            "    serial v8 at\n      store 3\n"
            "    vector v8 behind\n      store 3\n"
            "  serial v5 at\n"
            "    vector v8 before\n      store 3\n"
            "    serial v8 at\n      store 3\n"
            "    vector v8 behind\n      store 3\n"
            "  parallel v5 behind\n"
            "    vector v8 before\n      store 3\n"
            "    serial v8 at\n      store 3\n"
            "    vector v8 behind\n      store 3\n");
}

TEST(NestPlan, seidel_runs_as_wavefronts) {
  EXPECT_EQ(plan_of_kernel("seidel-2d"), "host v2\n  wavefront v7 tiles by 2\n    store 9\n");
}

TEST(NestPlan, three_loops_of_a_matrix_product_are_recognised) {
  EXPECT_EQ(plan_of_kernel("matmul").substr(0, 11), "product v2\n");
}

// In each order of the loops, and with swapped axes.
TEST(NestPlan, matrix_products_are_recognised_in_any_order_of_loops) {
  std::vector<int> order{0, 1, 2};
  do {
    NestMaker m;
    const int a = m.array(DType::Float64, 2), b = m.array(DType::Float64, 2),
              c = m.array(DType::Float64, 2), n = m.integer();
    const ValueId zero = m.literal(0), end = m.arg(n);
    m.loop(zero, end, [&](ValueId x) {
      m.loop(zero, end, [&](ValueId y) {
        m.loop(zero, end, [&](ValueId z) {
          const ValueId index[] = {x, y, z};
          const ValueId i = index[order[0]], j = index[order[1]], k = index[order[2]];
          const ValueId left = m.load(a, {k, i});
          const ValueId term = m.times(left, m.load(b, {k, j}));
          m.store(c, {i, j}, m.plus(m.load(c, {i, j}), term));
        });
      });
    });
    EXPECT_EQ(plan(m).substr(0, 7), "product") << order[0] << order[1] << order[2];
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(NestPlan, a_loop_of_two_halves_is_distributed) {
  NestMaker m;
  const int a = m.array(DType::Float64, 1), b = m.array(DType::Float64, 1),
            c = m.array(DType::Float64, 1), n = m.integer();
  const ValueId one = m.literal(1);
  m.loop(one, m.arg(n), [&](ValueId i) {
    const ValueId before = m.load(a, {m.shifted(i, -1)});
    m.store(a, {i}, m.plus(before, m.load(b, {i})));  // a scan
    m.store(c, {i}, m.times(m.load(a, {i}), m.real(2)));
  });
  EXPECT_EQ(plan(m), "serial v2\n  store 2\nvector v2\n  store 4\n");
}

TEST(NestPlan, colliding_stores_become_two_loops_in_their_order) {
  NestMaker m;
  const int a = m.array(DType::Float64, 2), b = m.array(DType::Float64, 2),
            c = m.array(DType::Float64, 2), n = m.integer();
  const ValueId zero = m.literal(0);
  m.loop(zero, m.arg(n), [&](ValueId i) {
    m.loop(zero, m.arg(n), [&](ValueId j) { m.store(a, {m.shifted(i, 1), j}, m.load(b, {i, j})); });
    m.loop(zero, m.arg(n), [&](ValueId j) { m.store(a, {i, j}, m.load(c, {i, j})); });
  });
  const std::string text = plan(m);
  EXPECT_LT(text.find("store 1"), text.find("store 3")) << text;
  std::size_t parallel = 0;
  for (std::size_t k = 0; (k = text.find("parallel", k)) != std::string::npos; ++k) ++parallel;
  EXPECT_EQ(parallel, 2u) << text;
}

TEST(NestPlan, a_sum_of_rows_runs_in_tiles_of_columns) {
  NestMaker m;
  const int a = m.array(DType::Float64, 2), y = m.array(DType::Float64, 1), n = m.integer();
  const ValueId zero = m.literal(0), end = m.arg(n);
  m.loop(zero, end, [&](ValueId i) {
    m.loop(zero, end, [&](ValueId j) {
      m.store(y, {j}, m.plus(m.load(y, {j}), m.load(a, {i, j})));
    });
  });
  EXPECT_EQ(plan(m), "parallel v3 tiles\n  serial v2\n    vector v3\n      store 2\n");
}

// b[i, j] = a[i - 1, j] + a[i, j] + a[i + 1, j], and perhaps c[i, j] = a[i, j] behind it.
Routine column_stencil(bool loads_behind) {
  NestMaker m;
  const int a = m.array(DType::Float64, 2), b = m.array(DType::Float64, 2),
            c = m.array(DType::Float64, 2), n = m.integer();
  const ValueId zero = m.literal(0), one = m.literal(1), end = m.arg(n);
  m.loop(one, end, [&](ValueId i) {
    m.loop(zero, end, [&](ValueId j) {
      const ValueId above = m.load(a, {m.plus(i, m.literal(-1)), j}), here = m.load(a, {i, j}),
                    below = m.load(a, {m.plus(i, one), j});
      m.store(b, {i, j}, m.plus(m.plus(above, here), below));
      if (loads_behind) m.store(c, {i, j}, m.load(a, {i, j}));
    });
  });
  return m.routine();
}
std::string plan_of_column_stencil(bool loads_behind) {
  return plan(column_stencil(loads_behind), {2, 2, 2});
}

TEST(NestPlan, rows_that_share_what_they_load_run_together) {
  const std::string rows = has_many_registers() ? "4" : "2";
  EXPECT_EQ(plan_of_column_stencil(false),
            "parallel v3 tiles\n  serial v3 " + rows + " together\n    vector v4\n      store 3\n");
}

// Of a: the row below the last one of the group, and those behind it. Of b: the group's own.
TEST(NestLaunch, what_the_next_rows_load_and_store_is_fetched_while_the_ones_before_run) {
  const auto kernel_of = [](const PlanFacts& facts) {
    const auto program = lowered(column_stencil(false), {2, 2, 2}, facts);
    return print(*program->launches.at(0).kernel);
  };
  const std::string kernel = kernel_of({}), rows = has_many_registers() ? "4" : "2";
  const std::size_t found = kernel.find("fetch x0[");
  ASSERT_NE(found, std::string::npos) << kernel;
  EXPECT_NE(kernel.find(" by " + rows + "\n", found), std::string::npos) << kernel;
  EXPECT_NE(kernel.find(" by " + rows + " for stores\n", found), std::string::npos) << kernel;
  EXPECT_EQ(kernel.find("fetch", kernel.find("fetch", found + 1) + 1), std::string::npos) << kernel;
  EXPECT_EQ(kernel_of({.unit_axes = {}, .rounds = {}, .distance = Distance::Memory}).find("fetch"),
            std::string::npos);
}

TEST(NestLaunch, little_but_loads_and_stores_are_told_what_cache_they_are_from) {
  const auto kernel_of = [](int terms, bool is_near) {
    NestMaker m;
    const int x = m.array(DType::Float64, 1), y = m.array(DType::Float64, 1), n = m.integer();
    m.loop(m.literal(0), m.arg(n), [&](ValueId i) {
      ValueId sum = m.load(x, {i});
      for (int k = 0; k < terms; ++k) sum = m.plus(sum, m.load(y, {i}));
      m.store(y, {i}, sum);
    });
    const auto program =
        lowered(m.routine(), {1, 1}, {.unit_axes = {}, .rounds = {}, .is_in_own_cache = is_near});
    return print(*program->launches.at(0).kernel);
  };
  const std::string words = "from a core's own cache";
  EXPECT_NE(kernel_of(1, true).find(words), std::string::npos);
  EXPECT_EQ(kernel_of(1, false).find(words), std::string::npos);
  EXPECT_EQ(kernel_of(6, true).find(words), std::string::npos) << kernel_of(6, true);
}

// Behind the last group of a part come another thread's rows.
TEST(NestLaunch, the_last_rows_of_a_part_fetch_none_behind_them) {
  const std::string kernel =
      print(*lowered(column_stencil(false), {2, 2, 2})->launches.at(0).kernel);
  const std::size_t found = kernel.find("fetch x1[");
  ASSERT_NE(found, std::string::npos) << kernel;
  const std::size_t first = found + std::string("fetch x1[").size();
  const std::string row = kernel.substr(first, kernel.find('*', first) - first);
  EXPECT_NE(kernel.find(row + " int64 = Minimum "), std::string::npos) << kernel;
}

// for k: for i: q[i, k] = a[i, k]; for j behind k: for i: a[i, j] += q[i, k], in lanes of j: all of
// them read a line for each i. Not of q[k, i], whose elements lie in one.
TEST(NestLaunch, a_column_that_all_lanes_read_has_a_line_a_row) {
  const auto lines_of = [](bool is_column) {
    NestMaker m;
    const int a = m.array(DType::Float64, 2), q = m.array(DType::Float64, 2), n = m.integer();
    const ValueId zero = m.literal(0), one = m.literal(1), end = m.arg(n);
    m.loop(zero, end, [&](ValueId k) {
      const auto place = [&](ValueId i) {
        return is_column ? std::vector<ValueId>{i, k} : std::vector<ValueId>{k, i};
      };
      m.loop(zero, end, [&](ValueId i) { m.store(q, place(i), m.load(a, {i, k})); });
      m.loop(m.plus(k, one), end, [&](ValueId j) {
        m.loop(zero, end, [&](ValueId i) {
          m.store(a, {i, j}, m.plus(m.load(a, {i, j}), m.load(q, place(i))));
        });
      });
    });
    double lines = 0;
    std::size_t lanes = 0;
    const auto program = lowered(m.routine(), {2, 2});
    for (const NestLaunch& launch : program->launches) {
      lanes += launch.grain == PlanNode::Grain::Lane;
      lines += launch.lines;
    }
    EXPECT_GT(lanes, 0u);
    return lines;
  };
  EXPECT_GT(lines_of(true), 0);
  EXPECT_EQ(lines_of(false), 0);
}

// a[i, j] = 2 * a[i, j] + b[i - 1, j] + b[i, j] + b[i + 1, j] must not run twice.
TEST(NestLaunch, rows_that_load_what_they_store_do_not_repeat) {
  NestMaker m;
  const int a = m.array(DType::Float64, 2), b = m.array(DType::Float64, 2), n = m.integer();
  const ValueId zero = m.literal(0), one = m.literal(1), end = m.arg(n);
  m.loop(one, end, [&](ValueId i) {
    m.loop(zero, end, [&](ValueId j) {
      const ValueId own = m.load(a, {i, j}), above = m.load(b, {m.plus(i, m.literal(-1)), j}),
                    here = m.load(b, {i, j}), below = m.load(b, {m.plus(i, one), j});
      m.store(a, {i, j}, m.plus(m.plus(own, own), m.plus(m.plus(above, here), below)));
    });
  });
  const auto text_of = [](const Routine& routine, std::vector<std::int64_t> ranks) {
    return print(*lowered(routine, ranks)->launches.at(0).kernel);
  };
  const std::string in_place = text_of(m.routine(), {2, 2});
  EXPECT_NE(in_place.find("fetch"), std::string::npos) << in_place;
  EXPECT_EQ(in_place.find("repeating"), std::string::npos) << in_place;
  EXPECT_NE(text_of(column_stencil(false), {2, 2, 2}).find("repeating"), std::string::npos);
}

TEST(NestPlan, rows_that_load_behind_a_store_do_not_run_together) {
  EXPECT_EQ(plan_of_column_stencil(true).find("together"), std::string::npos);
}

TEST(NestPlan, rows_without_a_shared_load_do_not_run_together) {
  NestMaker m;
  const int a = m.array(DType::Float64, 2), b = m.array(DType::Float64, 2), n = m.integer();
  const ValueId zero = m.literal(0), end = m.arg(n);
  m.loop(zero, end, [&](ValueId i) {
    m.loop(zero, end, [&](ValueId j) { m.store(b, {i, j}, m.load(a, {i, j})); });
  });
  EXPECT_EQ(plan(m).find("together"), std::string::npos);
}

TEST(NestPlan, a_sum_runs_in_chunks_of_lanes) {
  NestMaker m;
  const int a = m.array(DType::Float64, 1), out = m.array(DType::Float64, 1), n = m.integer(),
            s = m.local(DType::Float64);
  m.write(s, m.real(0));
  const ValueId zero = m.literal(0);
  m.loop(zero, m.arg(n), [&](ValueId i) { m.write(s, m.plus(m.read(s), m.load(a, {i}))); });
  m.store(out, {m.literal(0)}, m.read(s));
  const Routine routine = m.routine();
  const auto nest = analyse_nest(routine);
  const auto program =
      lower_nest(judge(nest, {}), {.unit_axes = {0, 0}, .rounds = {1e6}, .shortest_chunk = 4096});
  EXPECT_EQ(print(program->plan),
            "local 0\nparallel v3 chunks\n  vector v3\n    local 0\nstore 1\n");
}

TEST(NestPlan, chunks_of_lanes_are_whole_vectors) {
  const auto length = [](std::int64_t shortest, std::int64_t rounds) {
    NestLaunch launch;
    launch.shortest_chunk = shortest;
    return chunk_length(launch, rounds);
  };
  EXPECT_EQ(length(1, 400), 7);
  EXPECT_EQ(length(chunk_of_lanes, 100), 16);
  EXPECT_EQ(length(chunk_of_lanes, 1500), 32);
  EXPECT_EQ(length(4096, 10'000), 4096);
  EXPECT_EQ(length(4096, 1'000'003), 15'632);
}

}  // namespace
}  // namespace frit
