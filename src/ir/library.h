// library.h: libraries that are opened when first needed, with what they need: LLVM, isl.
#pragma once

#include <string>

namespace frit {

// The path of a file beside the library that this function is in.
std::string path_beside_libfrit(const char* name);

// A function of a library. Throws DeviceError where it can't be opened. Libraries are never closed:
// threads may be inside.
void* find_function(const std::string& path, const char* name);

template <class Function>
Function find_function(const std::string& path, const char* name) {
  return reinterpret_cast<Function>(find_function(path, name));
}

}  // namespace frit
