// disk_store.cpp: the files and their folder.
#include "ir/disk_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "ir/error.h"

namespace frit {
namespace {

struct Header {
  char magic[8];
  std::uint32_t format;
  std::uint32_t key_size;
  std::uint64_t size;
  std::uint64_t checksum;  // of everything, with 0 in this place
};
static_assert(sizeof(Header) == 32);

constexpr char magic[8] = {'F', 'R', 'I', 'T', 'C', 'O', 'D', 'E'};
constexpr std::uint32_t format = 3;
constexpr std::int64_t largest_file = 16 << 20;
constexpr std::int64_t block = 4096;  // what a file takes of the disk is a multiple of this
constexpr std::string_view extension = ".code";
constexpr std::string_view unfinished = ".new-";

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const auto product =
      static_cast<unsigned __int128>(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xe7037ed1a0b428dbu);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator int() const { return number_; }
  int release() {
    const int number = number_;
    number_ = -1;
    return number;
  }

 private:
  int number_;
};

std::string file_name(const std::string& key) {
  char name[33];
  std::snprintf(name, sizeof name, "%016llx%016llx",
                static_cast<unsigned long long>(hash_bytes(key, 2)),
                static_cast<unsigned long long>(hash_bytes(key, 3)));
  return std::string(name) + std::string(extension);
}

std::string file_of(const std::string& key, std::string_view content) {
  Header header{};
  std::memcpy(header.magic, magic, sizeof magic);
  header.format = format;
  header.key_size = static_cast<std::uint32_t>(key.size());
  header.size = content.size();
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += key;
  bytes += content;
  header.checksum = hash_bytes(bytes, 4);
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

std::optional<std::string> content_of(std::string& bytes, const std::string& key) {
  Header header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::uint64_t checksum = header.checksum;
  header.checksum = 0;
  std::memcpy(bytes.data(), &header, sizeof header);
  if (std::memcmp(header.magic, magic, sizeof magic) != 0 || header.format != format ||
      header.key_size != key.size() || header.size > bytes.size() ||
      bytes.size() != sizeof header + std::uint64_t{header.key_size} + header.size ||
      hash_bytes(bytes, 4) != checksum || bytes.compare(sizeof header, key.size(), key) != 0)
    return std::nullopt;
  return bytes.substr(sizeof header + key.size());
}

bool is_mine(const struct stat& status) { return status.st_uid == geteuid(); }

// The whole file, if it is a plain file of this user.
std::optional<std::string> read_file(int folder, const std::string& name) {
  const Descriptor file(
      openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || !is_mine(status) ||
      status.st_size > largest_file)
    return std::nullopt;
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = read(file, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    done += static_cast<std::size_t>(count);
  }
  return bytes;
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void make_folders(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1))
    mkdir(path.substr(0, slash).c_str(), 0700);
  mkdir(path.c_str(), 0700);
}

}  // namespace

std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed) {
  std::uint64_t hash = mix(seed, bytes.size());
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + at, 8);
    hash = mix(hash, word);
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, bytes.data() + at, bytes.size() - at);
  return mix(mix(hash, rest), seed);
}

std::string build_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return "none";
  return text(status.st_size, ' ', status.st_mtim.tv_sec, ' ', status.st_mtim.tv_nsec);
}

std::string store_folder_from_environment() {
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value ? value : "";
  };
  if (variable("FRIT_CACHE") == "0") return "";
  std::string folder;
  if (!variable("FRIT_CACHE_DIR").empty())
    folder = variable("FRIT_CACHE_DIR");
  else if (!variable("XDG_CACHE_HOME").empty())
    folder = variable("XDG_CACHE_HOME") + "/frit";
  else if (access(variable("HOME").c_str(), X_OK) == 0)  // a home that is not there is not made
    folder = variable("HOME") + "/.cache/frit";
  if (folder.empty() || folder[0] != '/')
    return "";  // a relative folder would depend on where the program is
  return folder + "/kernels";
}

// To look through a full folder costs 50 ms: a process does it when it has written a good deal, and
// one in sixteen does it at its first write, so that many that write little keep the limit too.
DiskStore::DiskStore(DiskStoreSettings settings) : settings_(std::move(settings)) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const bool chosen = (now.tv_nsec / 1000 + getpid()) % 16 == 0;
  room_ = chosen ? 0 : settings_.limit / 64;
}

std::string DiskStore::key_of(const std::string& key) const {
  return settings_.identity + '\0' + key;
}

// A descriptor of the folder if it is ours alone, else -1. Opened anew each time: programs that
// become daemons close all descriptors, and the number would then mean something else.
int DiskStore::open_folder() const {
  if (!is_enabled()) return -1;
  Descriptor folder(
      open(settings_.folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (folder < 0 || fstat(folder, &status) != 0 || !is_mine(status)) return -1;
  if ((status.st_mode & 0077) != 0 && fchmod(folder, 0700) != 0) return -1;
  return folder.release();
}

std::optional<std::string> DiskStore::load(const std::string& given) const {
  const Descriptor folder(open_folder());
  if (folder < 0) return std::nullopt;
  const std::string key = key_of(given);
  std::optional<std::string> bytes = read_file(folder, file_name(key));
  if (!bytes) return std::nullopt;
  return content_of(*bytes, key);
}

void DiskStore::store(const std::string& given, std::string_view content) {
  if (!is_enabled()) return;
  const std::string key = key_of(given);
  const std::string bytes = file_of(key, content);
  if (static_cast<std::int64_t>(bytes.size()) > std::min(largest_file, settings_.limit / 4)) return;
  make_folders(settings_.folder);
  const Descriptor folder(open_folder());
  if (folder < 0) return;
  room_ -= (static_cast<std::int64_t>(bytes.size()) + block - 1) / block * block;
  if (room_ < 0) make_room(folder);

  static std::atomic<unsigned> count = 0;
  const std::string temporary = text(unfinished, getpid(), '-', count++);
  const Descriptor file(openat(folder, temporary.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file < 0) return;
  if (!write_all(file, bytes) ||
      renameat(folder, temporary.c_str(), folder, file_name(key).c_str()) != 0)
    unlinkat(folder, temporary.c_str(), 0);
}

// Deletes the oldest files until three quarters of the limit are in use, and what writers that died
// have left.
void DiskStore::make_room(int folder) {
  struct File {
    std::string name;
    std::int64_t size;
    timespec time;
  };
  const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* listing = copy < 0 ? nullptr : fdopendir(copy);
  if (!listing) return;
  std::vector<File> files;
  std::int64_t used = 0;
  const time_t now = time(nullptr);
  while (const dirent* entry = readdir(listing)) {
    const std::string name = entry->d_name;
    struct stat status {};
    if (fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode))
      continue;
    if (name.starts_with(unfinished)) {
      if (now - status.st_mtim.tv_sec > 600) unlinkat(folder, name.c_str(), 0);
      continue;
    }
    if (!name.ends_with(extension)) continue;
    files.push_back({name, status.st_blocks * 512, status.st_mtim});
    used += status.st_blocks * 512;
  }
  closedir(listing);
  if (used > settings_.limit) {
    std::sort(files.begin(), files.end(), [](const File& a, const File& b) {
      return std::pair(a.time.tv_sec, a.time.tv_nsec) < std::pair(b.time.tv_sec, b.time.tv_nsec);
    });
    for (const File& file : files) {
      if (used <= settings_.limit / 4 * 3) break;
      if (unlinkat(folder, file.name.c_str(), 0) == 0) used -= file.size;
    }
  }
  room_ = std::max<std::int64_t>(settings_.limit - used, 0);
}

}  // namespace frit
