// disk_cache.h: compiled code in files of this user, so that the next process need not compile.
//
// A file holds its whole key, which is compared, and a checksum; its name is a hash of the key.
// What is damaged, of another version or another user's is not there, as far as load() is
// concerned. No function throws: without a usable folder nothing is found and nothing is kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "codegen/code.h"

namespace frit::cpu {

struct DiskCacheSettings {
  std::string folder;             // empty: no cache
  std::string identity;           // what code depends on beside its kernel
  std::int64_t limit = 64 << 20;  // bytes; beyond, the oldest files go
};

// From FRIT_CACHE, FRIT_CACHE_DIR, XDG_CACHE_HOME and HOME.
std::string cache_folder_from_environment();

class DiskCache {
 public:
  explicit DiskCache(DiskCacheSettings settings);
  std::optional<codegen::Code> load(const std::string& kernel) const;
  void store(const std::string& kernel, const codegen::Code& code);
  bool is_enabled() const { return !settings_.folder.empty(); }

 private:
  std::string key_of(const std::string& kernel) const;
  int open_folder() const;
  void make_room(int folder);

  DiskCacheSettings settings_;
  std::int64_t room_ = 0;  // bytes that can be written before the folder is looked through again
};

}  // namespace frit::cpu
