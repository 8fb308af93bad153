// disk_cache.h: compiled code in files of this user, so that the next process need not compile.
#pragma once

#include <optional>
#include <string>

#include "codegen/code.h"
#include "ir/disk_store.h"

namespace frit::cpu {

class DiskCache {
 public:
  explicit DiskCache(DiskStoreSettings settings) : store_(std::move(settings)) {}
  std::optional<codegen::Code> load(const std::string& kernel) const;
  void store(const std::string& kernel, const codegen::Code& code);
  // Of the same kernels, for grids.
  std::optional<codegen::GridCode> load_grid(const std::string& kernel) const;
  void store_grid(const std::string& kernel, const codegen::GridCode& code);
  bool is_enabled() const { return store_.is_enabled(); }

 private:
  DiskStore store_;
};

}  // namespace frit::cpu
