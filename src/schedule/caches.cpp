// caches.cpp: asks the system how large the caches are.
#include "schedule/caches.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

#include "ir/error.h"

namespace frit {
namespace {

// Bytes of a core's cache of data, by level; of the whole system's files, for sysconf takes the
// caches of all cores for one in virtual machines. 0: there is none, or nobody knows.
std::int64_t cache_bytes(int level) {
  for (int k = 0; k < 8; ++k) {
    const std::string folder =
        text("/sys/devices/system/cpu/cpu0/cache/index", k, "/");  // as lscpu(1) does
    int its_level = 0;
    std::int64_t kib = 0;
    std::string type;
    std::ifstream(folder + "level") >> its_level;
    std::ifstream(folder + "type") >> type;
    std::ifstream(folder + "size") >> kib;
    if (its_level == level && type != "Instruction") return kib << 10;
  }
  return 0;
}

}  // namespace

// What does little but load and store.
bool gains_from_own_cache(const Kernel& kernel) {
  constexpr int most_operations = 4, fewest_loads = 2;
  int operations = 0, loads = 0;
  for_each_instr(kernel.code, [&](const Instr& instr) {
    operations += instr.kind == InstrKind::Apply || instr.kind == InstrKind::Cast;
    loads += instr.kind == InstrKind::Load;
  });
  return operations <= most_operations && loads >= fewest_loads;
}

double own_cache() {
  static const std::int64_t size = cache_bytes(2);
  return static_cast<double>(size > 0 ? size : 512 << 10);
}

// A virtual machine of few CPUs sees all of a cache that most of the processor's cores are others'.
double shared_cache() {
  constexpr std::int64_t most_a_cpu = 48 << 20;
  static const std::int64_t size = cache_bytes(3);
  static const std::int64_t cpus = std::max(1U, std::thread::hardware_concurrency());
  return static_cast<double>(size > 0 ? std::min(size, cpus * most_a_cpu) : 8 << 20);
}

}  // namespace frit
