// disk_cache.cpp: code as bytes, and back.
#include "backend/cpu/disk_cache.h"

#include <cstring>
#include <string_view>

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

struct GridHeader {
  std::uint32_t form, may_be_rare, read_early, strides;
  std::uint64_t text;  // bytes
};

constexpr const char* of_grid = "grid ";  // in front of its key

template <class T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string to_bytes(const codegen::GridCode& code) {
  std::string bytes;
  append(bytes, GridHeader{.form = static_cast<std::uint32_t>(code.form),
                           .may_be_rare = code.may_be_rare ? 1u : 0u,
                           .read_early = static_cast<std::uint32_t>(code.read_early.size()),
                           .strides = static_cast<std::uint32_t>(code.strides.size()),
                           .text = code.text.size()});
  for (const std::int32_t operand : code.read_early) append(bytes, operand);
  for (const auto& [operand, integer] : code.strides) {
    append(bytes, operand);
    append(bytes, integer);
  }
  return bytes + code.text + code.why_not;
}

std::optional<codegen::GridCode> grid_from_bytes(std::string_view bytes) {
  const auto take = [&](auto& value) {
    if (bytes.size() < sizeof value) return false;
    std::memcpy(&value, bytes.data(), sizeof value);
    bytes.remove_prefix(sizeof value);
    return true;
  };
  GridHeader header;
  if (!take(header) || header.form > static_cast<std::uint32_t>(codegen::GridForm::Blocks))
    return std::nullopt;
  codegen::GridCode code;
  code.form = static_cast<codegen::GridForm>(header.form);
  code.may_be_rare = header.may_be_rare != 0;
  for (std::int32_t operand; header.read_early > 0; --header.read_early) {
    if (!take(operand)) return std::nullopt;
    code.read_early.push_back(operand);
  }
  for (std::int32_t operand, integer; header.strides > 0; --header.strides) {
    if (!take(operand) || !take(integer)) return std::nullopt;
    code.strides.emplace_back(operand, integer);
  }
  if (header.text > bytes.size()) return std::nullopt;
  code.text = bytes.substr(0, header.text);
  code.why_not = bytes.substr(header.text);
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

std::optional<codegen::GridCode> DiskCache::load_grid(const std::string& kernel) const {
  const std::optional<std::string> bytes = store_.load(of_grid + kernel);
  return bytes ? grid_from_bytes(*bytes) : std::nullopt;
}

void DiskCache::store_grid(const std::string& kernel, const codegen::GridCode& code) {
  if (store_.is_enabled()) store_.store(of_grid + kernel, to_bytes(code));
}

}  // namespace frit::cpu
