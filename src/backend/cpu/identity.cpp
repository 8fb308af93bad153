// identity.cpp: versions, formulas and CPU as one line of text.
#include "backend/cpu/identity.h"

#include <sys/stat.h>

#include <cstring>

#include "frit/version.h"
#include "ir/error.h"
#include "ops/ops.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__linux__)
#include <sys/auxv.h>
#endif

namespace frit::cpu {
namespace {

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const auto product =
      static_cast<unsigned __int128>(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xe7037ed1a0b428dbu);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

#if defined(__x86_64__)
// The raw answers of cpuid and of the system (xgetbv): model and every feature, whatever they are
// called.
std::string cpu() {
  std::string answers;
  const auto ask = [&](unsigned leaf, unsigned subleaf) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(leaf, subleaf, &a, &b, &c, &d)) return;
    if (leaf == 1) b = 0;  // the number of the core we happen to be on
    answers += text(std::hex, a, ' ', b, ' ', c, ' ', d, ' ');
  };
  ask(0, 0);
  ask(1, 0);
  ask(7, 0);
  ask(7, 1);
  ask(0x80000001, 0);
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE)) {
    unsigned low = 0, high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    answers += text(std::hex, low, ' ', high);
  }
  return answers;
}
#else
std::string cpu() { return text(getauxval(AT_HWCAP), ' ', getauxval(AT_HWCAP2)); }
#endif

// The file's size and time stand for its content: a new build has another time.
std::string build_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return "none";
  return text(status.st_size, ' ', status.st_mtim.tv_sec, ' ', status.st_mtim.tv_nsec);
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

std::string code_identity(const std::string& jit_path) {
  const auto formulas = formula_bitcode();
  return text("frit ", version(), "; formulas ", std::hex,
              hash_bytes({formulas.data(), formulas.size()}, 1), "; compiler ", build_of(jit_path),
              "; cpu ", cpu());
}

}  // namespace frit::cpu
