// disk_cache_test.cpp: what is kept, and that old files make room for new ones.
#include "backend/cpu/disk_cache.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace frit::cpu {
namespace {

class DiskCacheTest : public testing::Test {
 protected:
  DiskCacheTest() {
    std::string name = testing::TempDir() + "frit-cache-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~DiskCacheTest() override { std::filesystem::remove_all(folder_); }

  static codegen::Code code_of(std::size_t bytes) {
    codegen::Code code;
    code.bytes.assign(bytes, 'x');
    return code;
  }
  std::size_t files() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      (void)entry;
      ++count;
    }
    return count;
  }

  std::string folder_;
};

TEST_F(DiskCacheTest, what_was_stored_is_found_by_another_and_nothing_else_is) {
  DiskCache({.folder = folder_, .identity = "a"}).store("kernel", code_of(100));
  const DiskCache again({.folder = folder_, .identity = "a"});
  ASSERT_TRUE(again.load("kernel"));
  EXPECT_EQ(again.load("kernel")->bytes, code_of(100).bytes);
  EXPECT_FALSE(again.load("other"));
  EXPECT_FALSE(DiskCache({.folder = folder_, .identity = "b"}).load("kernel"));
}

TEST_F(DiskCacheTest, grids_are_kept_with_all_that_a_launch_asks_of_them) {
  const codegen::GridCode code{.text = "text",
                               .form = codegen::GridForm::Rows,
                               .may_be_rare = true,
                               .read_early = {0, 3},
                               .strides = {{1, 2}, {4, 0}},
                               .why_not = ""};
  codegen::GridCode none;
  none.why_not = "it isn't parallel";
  DiskCache cache({.folder = folder_, .identity = "a"});
  cache.store("kernel", code_of(100));
  cache.store_grid("kernel", code);
  cache.store_grid("another", none);
  const auto found = cache.load_grid("kernel");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->text, "text");
  EXPECT_EQ(found->form, codegen::GridForm::Rows);
  EXPECT_TRUE(found->may_be_rare);
  EXPECT_EQ(found->read_early, code.read_early);
  EXPECT_EQ(found->strides, code.strides);
  EXPECT_EQ(found->why_not, "");
  EXPECT_EQ(cache.load("kernel")->bytes, code_of(100).bytes);
  ASSERT_TRUE(cache.load_grid("another"));
  EXPECT_EQ(cache.load_grid("another")->why_not, none.why_not);
  EXPECT_FALSE(cache.load_grid("third"));
}

TEST_F(DiskCacheTest, one_that_writes_much_keeps_the_limit_and_its_newest_file) {
  DiskCache cache({.folder = folder_, .identity = "a", .limit = 1 << 20});
  for (int k = 0; k < 600; ++k) cache.store("kernel " + std::to_string(k), code_of(3000));
  EXPECT_LE(files(), (std::size_t{1} << 20) / 4096 + 8);
  EXPECT_TRUE(cache.load("kernel 599"));
  EXPECT_FALSE(cache.load("kernel 0"));
}

TEST_F(DiskCacheTest, many_that_write_little_keep_the_limit_nearly) {
  constexpr int most = (1 << 20) / 4096;
  for (int k = 0; k < 4 * most; ++k) {
    DiskCache cache({.folder = folder_, .identity = "a", .limit = 1 << 20});
    cache.store("kernel " + std::to_string(k), code_of(3000));
  }
  EXPECT_LT(files(), static_cast<std::size_t>(2 * most));
}

}  // namespace
}  // namespace frit::cpu
