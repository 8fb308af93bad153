// flatten.cpp: an ELF object becomes one flat image; no linker and no loader is needed.
#include <elf.h>

#include <cstring>
#include <vector>

#include "codegen/native.h"
#include "ir/error.h"

namespace frit::codegen {
namespace {

template <class T>
T read_at(const char* bytes, std::uint64_t offset) {
  T value;
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

// Lays out and patches the sections of one object. It comes from LLVM in this process, so its own
// tables are trusted.
class Flattening {
 public:
  explicit Flattening(const char* object)
      : object_(object),
        header_(read_at<Elf64_Ehdr>(object, 0)),
        offsets_(header_.e_shnum, absent) {}

  FlatCode run() {
    for (unsigned k = 0; k < header_.e_shnum; ++k) lay_out(k);
    for (unsigned k = 0; k < header_.e_shnum; ++k) {
      const Elf64_Shdr table = section(k);
      if (table.sh_type == SHT_RELA && offsets_[table.sh_info] != absent) relocate(table);
    }
    find_entry();
    return std::move(code_);
  }

 private:
  static constexpr std::uint64_t absent = ~std::uint64_t{0};

  Elf64_Shdr section(unsigned number) const {
    return read_at<Elf64_Shdr>(object_, header_.e_shoff + number * sizeof(Elf64_Shdr));
  }

  void lay_out(unsigned number) {
    const Elf64_Shdr s = section(number);
    if (!(s.sh_flags & SHF_ALLOC) || s.sh_size == 0 || s.sh_type == SHT_X86_64_UNWIND) return;
    if (is_unwind_table(s)) return;
    check(!(s.sh_flags & SHF_WRITE) && s.sh_type == SHT_PROGBITS && s.sh_addralign <= 64,
          "a kernel's code has no writable data");
    const std::uint64_t alignment = s.sh_addralign > 1 ? s.sh_addralign : 1;
    const std::uint64_t offset = (code_.bytes.size() + alignment - 1) / alignment * alignment;
    code_.bytes.resize(offset, '\0');
    code_.bytes.append(object_ + s.sh_offset, s.sh_size);
    offsets_[number] = offset;
  }
  bool is_unwind_table(const Elf64_Shdr& s) const {
    const Elf64_Shdr names = section(header_.e_shstrndx);
    return std::strcmp(object_ + names.sh_offset + s.sh_name, ".eh_frame") == 0;
  }

  void relocate(const Elf64_Shdr& table) {
    const Elf64_Shdr symbols = section(table.sh_link);
    for (std::uint64_t at = 0; at < table.sh_size; at += sizeof(Elf64_Rela)) {
      const auto entry = read_at<Elf64_Rela>(object_, table.sh_offset + at);
      const auto symbol = read_at<Elf64_Sym>(
          object_, symbols.sh_offset + ELF64_R_SYM(entry.r_info) * sizeof(Elf64_Sym));
      if (symbol.st_shndx >= offsets_.size() || offsets_[symbol.st_shndx] == absent)
        throw InternalError("frit: internal error: compiled code calls " +
                            name_of(symbols, symbol));
      patch(entry, offsets_[table.sh_info] + entry.r_offset,
            offsets_[symbol.st_shndx] + symbol.st_value);
    }
  }
  std::string name_of(const Elf64_Shdr& symbols, const Elf64_Sym& symbol) const {
    return object_ + section(symbols.sh_link).sh_offset + symbol.st_name;
  }
  // References within the image are relative to the place that makes them.
  void patch(const Elf64_Rela& entry, std::uint64_t place, std::uint64_t target) {
    check(header_.e_machine == EM_X86_64, "only x86-64 objects can be made flat so far");
    const auto distance =
        static_cast<std::int64_t>(target) + entry.r_addend - static_cast<std::int64_t>(place);
    switch (ELF64_R_TYPE(entry.r_info)) {
      case R_X86_64_PC32:
      case R_X86_64_PLT32: {
        const auto value = static_cast<std::int32_t>(distance);
        check(value == distance, "compiled code is small");
        std::memcpy(code_.bytes.data() + place, &value, sizeof value);
        return;
      }
      case R_X86_64_PC64:
        std::memcpy(code_.bytes.data() + place, &distance, sizeof distance);
        return;
      default:
        throw InternalError("frit: internal error: compiled code has an address in it");
    }
  }

  void find_entry() {
    for (unsigned k = 0; k < header_.e_shnum; ++k) {
      const Elf64_Shdr s = section(k);
      if (s.sh_type != SHT_SYMTAB) continue;
      for (std::uint64_t at = 0; at < s.sh_size; at += sizeof(Elf64_Sym)) {
        const auto symbol = read_at<Elf64_Sym>(object_, s.sh_offset + at);
        if (name_of(s, symbol) != entry_name) continue;
        code_.entry = offsets_[symbol.st_shndx] + symbol.st_value;
        return;
      }
    }
    throw InternalError("frit: internal error: compiled code has an entry");
  }

  const char* object_;
  Elf64_Ehdr header_;
  std::vector<std::uint64_t> offsets_;  // of each section in the image
  FlatCode code_;
};

}  // namespace

FlatCode flatten(const char* object, std::size_t size) {
  check(size > sizeof(Elf64_Ehdr) && std::memcmp(object, ELFMAG, SELFMAG) == 0,
        "LLVM writes ELF objects");
  return Flattening(object).run();
}

}  // namespace frit::codegen
