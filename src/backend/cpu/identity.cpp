// identity.cpp: versions, formulas and CPU as one line of text.
#include "backend/cpu/identity.h"

#include "frit/version.h"
#include "ir/disk_store.h"
#include "ir/error.h"
#include "ops/level.h"
#include "ops/ops.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__linux__)
#include <sys/auxv.h>
#endif

namespace frit::cpu {
namespace {

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

}  // namespace

std::string code_identity(const std::string& jit_path) {
  const auto formulas = formula_bitcode();
  return text("frit ", version(), "; formulas ", std::hex,
              hash_bytes({formulas.data(), formulas.size()}, 1), "; compiler ", build_of(jit_path),
              "; cpu ", cpu(), "; level ", cpu_level());
}

}  // namespace frit::cpu
