// disk_store.h: byte strings in files of this user, so that the next process need not compute them.
//
// A file holds its whole key, which is compared, and a checksum; its name is a hash of the key.
// What is damaged, of another version or another user's is not there, as far as load() is
// concerned. No function throws: without a usable folder nothing is found and nothing is kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace frit {

// 64 bits that depend on all bytes and on `seed`. Not cryptographic.
std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed);
// A file's size and time, which stand for its content: a new build has another time.
std::string build_of(const std::string& path);

struct DiskStoreSettings {
  std::string folder;             // empty: nothing is kept
  std::string identity;           // what the bytes depend on beside their key
  std::int64_t limit = 64 << 20;  // bytes; beyond, the oldest files go
};

// From FRIT_CACHE, FRIT_CACHE_DIR, XDG_CACHE_HOME and HOME.
std::string store_folder_from_environment();

class DiskStore {
 public:
  explicit DiskStore(DiskStoreSettings settings);
  std::optional<std::string> load(const std::string& key) const;
  void store(const std::string& key, std::string_view bytes);
  bool is_enabled() const { return !settings_.folder.empty(); }

 private:
  std::string key_of(const std::string& key) const;
  int open_folder() const;
  void make_room(int folder);

  DiskStoreSettings settings_;
  std::int64_t room_ = 0;  // bytes that can be written before the folder is looked through again
};

}  // namespace frit
