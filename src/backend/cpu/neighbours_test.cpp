// neighbours_test.cpp: loads that share registers (codegen/emit_neighbours.cpp) touch nothing else.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "backend/cpu/cpu.h"
#include "ir/testing.h"

namespace frit {
namespace {

using testing::KernelMaker;

// Memory between two pages that nobody may touch.
class Guarded {
 public:
  explicit Guarded(std::size_t pages) : size_(pages * page) {
    all_ = static_cast<std::byte*>(mmap(nullptr, size_ + 2 * page, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(all_, page, PROT_NONE);
    mprotect(end(), page, PROT_NONE);
  }
  ~Guarded() { munmap(all_, size_ + 2 * page); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  std::byte* begin() const { return all_ + page; }
  std::byte* end() const { return begin() + size_; }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t page = 4096;
  std::size_t size_;
  std::byte* all_;
};

enum class Kind { OneOperand, ManyOperands };

// y[i] = x[i + d0] op x[i + d1] op ..: all as indices of one operand, or an operand each.
Kernel kernel_of(Kind kind, DType dtype, const std::vector<std::int64_t>& offsets) {
  KernelMaker make;
  std::vector<int> operands;
  for (std::size_t k = 0; k < offsets.size(); ++k)
    operands.push_back(kind == Kind::ManyOperands || k == 0 ? make.operand(dtype) : operands[0]);
  const int y = make.written(dtype);
  std::vector<ValueId> distances;
  for (std::int64_t d : offsets) distances.push_back(make.constant(d - offsets[0]));
  make.parallel_vector([&](ValueId i) {
    ValueId sum = no_value;
    for (std::size_t k = 0; k < offsets.size(); ++k) {
      const bool shifts = kind == Kind::OneOperand && offsets[k] != offsets[0];
      const ValueId at = shifts ? make.apply(Op::Add, i, distances[k]) : i;
      const ValueId x = make.load(operands[k], {{at}});
      sum = k == 0 ? x : make.apply(k % 2 == 0 ? Op::Subtract : Op::Add, sum, x);
    }
    make.store(y, {{i}}, sum);
  });
  Kernel kernel = make.kernel();
  if (kind == Kind::ManyOperands)
    for (std::size_t k = 1; k < offsets.size(); ++k) {
      kernel.operands[k].beside = 0;
      kernel.operands[k].distance = static_cast<std::int32_t>(offsets[k] - offsets[0]);
    }
  verify(kernel);
  return kernel;
}

template <class T>
T combine(const T* x, const std::vector<std::int64_t>& offsets) {
  T sum = x[offsets[0]];
  for (std::size_t k = 1; k < offsets.size(); ++k)
    sum = static_cast<T>(k % 2 == 0 ? sum - x[offsets[k]] : sum + x[offsets[k]]);
  return sum;
}

template <class T>
void expect_same(DType dtype) {
  const auto compiler = make_compiler();
  const Guarded memory(2);
  std::mt19937 random(1);
  std::vector<T> given(memory.size() / sizeof(T));
  for (T& x : given) x = static_cast<T>(random() % 1000);
  std::memcpy(memory.begin(), given.data(), memory.size());
  const std::vector<std::int64_t> cases[] = {{0, 1, 2},       {1, 0, 2}, {-1, 0, 1},
                                             {4, 3, 2, 1, 0}, {0, 3, 7}, {0, 7, 1},
                                             {0, 9, 15, 1},   {0, 1, 8}, {0, 1, 2, 30, 31, 32}};
  for (const Kind kind : {Kind::OneOperand, Kind::ManyOperands})
    for (const std::vector<std::int64_t>& offsets : cases) {
      const Compiler::Slot slot = compiler->request(kernel_of(kind, dtype, offsets));
      compiler->wait();
      ASSERT_NE(slot->load(), nullptr);
      const auto [low, high] = std::ranges::minmax(offsets);
      for (std::int64_t n = 0; n < 140; ++n)
        for (const bool at_end : {false, true}) {
          const T* x = at_end ? reinterpret_cast<T*>(memory.end()) - n - high
                              : reinterpret_cast<T*>(memory.begin()) - low;
          std::vector<T> y(static_cast<std::size_t>(n) + 2, T{7});
          std::vector<void*> pointers;
          for (std::size_t k = 0; k < (kind == Kind::OneOperand ? 1 : offsets.size()); ++k)
            pointers.push_back(const_cast<T*>(x + offsets[k]));
          pointers.push_back(y.data() + 1);
          slot->load()->run({pointers.data(), nullptr, nullptr}, 0, n, nullptr);
          for (std::int64_t i = 0; i < n; ++i)
            ASSERT_EQ(y[static_cast<std::size_t>(i) + 1], combine(x + i, offsets))
                << i << " of " << n;
          ASSERT_EQ(y.front(), T{7});
          ASSERT_EQ(y.back(), T{7});
        }
    }
}

TEST(Neighbours, of_float64) { expect_same<double>(DType::Float64); }
TEST(Neighbours, of_float32) { expect_same<float>(DType::Float32); }
TEST(Neighbours, of_int64) { expect_same<std::int64_t>(DType::Int64); }
TEST(Neighbours, of_int32) { expect_same<std::int32_t>(DType::Int32); }
TEST(Neighbours, of_int16) { expect_same<std::int16_t>(DType::Int16); }

// What is stored between two loads is seen by the second one.
TEST(Neighbours, a_store_between_them_counts) {
  KernelMaker make;
  const int x = make.written(DType::Float64), y = make.written(DType::Float64);
  const ValueId one = make.constant(std::int64_t{1}), two = make.constant(std::int64_t{2});
  make.parallel_vector([&](ValueId i) {
    const auto at = [&](ValueId by) { return make.load(x, {{make.apply(Op::Add, i, by)}}); };
    const ValueId sum =
        make.apply(Op::Add, make.apply(Op::Add, at(one), at(two)), make.load(y, {{i}}));
    make.store(y, {{i}}, sum);
    make.store(y, {{i}}, make.apply(Op::Multiply, make.load(y, {{i}}), make.load(x, {{i}})));
  });
  const auto compiler = make_compiler();
  const Compiler::Slot slot = compiler->request(make.kernel());
  compiler->wait();
  ASSERT_NE(slot->load(), nullptr);
  std::vector<double> a(103), b(101, 3.0);
  for (std::size_t k = 0; k < a.size(); ++k) a[k] = static_cast<double>(k);
  void* pointers[] = {a.data(), b.data()};
  slot->load()->run({pointers, nullptr, nullptr}, 0, 101, nullptr);
  for (std::size_t k = 0; k < b.size(); ++k) ASSERT_EQ(b[k], (a[k + 1] + a[k + 2] + 3) * a[k]);
}

}  // namespace
}  // namespace frit
