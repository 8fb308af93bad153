// library.cpp: dlopen and dlsym, with their errors as exceptions.
#include "ir/library.h"

#include <dlfcn.h>

#include "ir/error.h"

namespace frit {

std::string path_beside_libfrit(const char* name) {
  Dl_info here{};
  if (!dladdr(reinterpret_cast<const void*>(&path_beside_libfrit), &here) || !here.dli_fname)
    return name;
  const std::string own = here.dli_fname;
  return own.substr(0, own.rfind('/') + 1) + name;  // with no slash: the name alone
}

void* find_function(const std::string& path, const char* name) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw DeviceError(dlerror());
  void* function = dlsym(library, name);
  if (!function) throw DeviceError(dlerror());
  return function;
}

}  // namespace frit
