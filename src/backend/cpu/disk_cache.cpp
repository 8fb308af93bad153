// disk_cache.cpp: code as bytes, and back.
#include "backend/cpu/disk_cache.h"

#include <cstring>

namespace frit::cpu {
namespace {

struct Header {
  std::uint64_t entry;
  std::uint32_t call_outs;
  std::uint32_t is_improvable;
};

std::string to_bytes(const codegen::Code& code) {
  const Header header{.entry = code.entry,
                      .call_outs = static_cast<std::uint32_t>(code.call_outs.size()),
                      .is_improvable = code.is_improvable ? 1u : 0u};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  for (const codegen::CallOut& call_out : code.call_outs) {
    bytes.push_back(static_cast<char>(call_out.op));
    bytes.push_back(static_cast<char>(call_out.in));
    bytes.push_back(static_cast<char>(call_out.math));
  }
  return bytes + code.bytes;
}

std::optional<codegen::Code> from_bytes(const std::string& bytes) {
  Header header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::size_t at = sizeof header;
  constexpr std::size_t size = 3;  // of a call-out
  if ((bytes.size() - at) / size < header.call_outs ||
      header.entry >= bytes.size() - at - size * header.call_outs)
    return std::nullopt;
  codegen::Code code{.bytes = {},
                     .entry = header.entry,
                     .call_outs = {},
                     .is_improvable = header.is_improvable != 0};
  for (std::uint32_t k = 0; k < header.call_outs; ++k, at += size) {
    const auto op = static_cast<std::uint8_t>(bytes[at]),
               in = static_cast<std::uint8_t>(bytes[at + 1]),
               math = static_cast<std::uint8_t>(bytes[at + 2]);
    if (op >= op_count || in >= dtype_count || math >= math_library_count) return std::nullopt;
    code.call_outs.push_back(
        {static_cast<Op>(op), static_cast<DType>(in), static_cast<MathLibrary>(math)});
  }
  code.bytes = bytes.substr(at);
  return code;
}

}  // namespace

std::optional<codegen::Code> DiskCache::load(const std::string& kernel) const {
  const std::optional<std::string> bytes = store_.load(kernel);
  return bytes ? from_bytes(*bytes) : std::nullopt;
}

void DiskCache::store(const std::string& kernel, const codegen::Code& code) {
  if (store_.is_enabled()) store_.store(kernel, to_bytes(code));
}

}  // namespace frit::cpu
