# cmake/FindFritLLVM.cmake: finds LLVM 22 as a shared library, its headers, and the clang of the same version.
#
# Sets FRIT_CLANG (clang that turns the op formulas into bitcode), FRIT_LLVM_TOOLS_DIR (llvm-as,
# llvm-dis, opt, llvm-link ...), FRIT_LLVM_INCLUDE_DIRS, and defines FritLLVM::LLVM.
# LLVM's own package file is not used: it checks hundreds of static libraries and tools we don't need.
set(FRIT_LLVM_VERSION 22)
find_program(FRIT_LLVM_CONFIG NAMES llvm-config-${FRIT_LLVM_VERSION} llvm-config
             HINTS /usr/lib/llvm-${FRIT_LLVM_VERSION}/bin)
if(FRIT_LLVM_CONFIG)
  execute_process(COMMAND ${FRIT_LLVM_CONFIG} --version --includedir --libdir --bindir
                  OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" answer "${answer}")
  list(GET answer 0 FritLLVM_VERSION)
  list(GET answer 1 FRIT_LLVM_INCLUDE_DIRS)
  list(GET answer 2 FRIT_LLVM_LIBRARY_DIR)
  list(GET answer 3 FRIT_LLVM_TOOLS_DIR)
  find_library(FRIT_LLVM_LIBRARY NAMES LLVM-${FRIT_LLVM_VERSION} LLVM
               HINTS ${FRIT_LLVM_LIBRARY_DIR})
endif()
find_program(FRIT_CLANG NAMES clang-${FRIT_LLVM_VERSION} HINTS ${FRIT_LLVM_TOOLS_DIR})

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(FritLLVM
  REQUIRED_VARS FRIT_LLVM_LIBRARY FRIT_LLVM_INCLUDE_DIRS FRIT_CLANG
  VERSION_VAR FritLLVM_VERSION)
if(FritLLVM_FOUND AND NOT FritLLVM_VERSION MATCHES "^${FRIT_LLVM_VERSION}\\.")
  message(FATAL_ERROR "Frit needs LLVM ${FRIT_LLVM_VERSION}; ${FRIT_LLVM_CONFIG} says "
                      "${FritLLVM_VERSION}")
endif()

if(FritLLVM_FOUND AND NOT TARGET FritLLVM::LLVM)
  add_library(FritLLVM::LLVM SHARED IMPORTED)
  set_target_properties(FritLLVM::LLVM PROPERTIES
    IMPORTED_LOCATION ${FRIT_LLVM_LIBRARY}
    INTERFACE_COMPILE_DEFINITIONS
      "__STDC_CONSTANT_MACROS;__STDC_FORMAT_MACROS;__STDC_LIMIT_MACROS")
  target_include_directories(FritLLVM::LLVM SYSTEM INTERFACE ${FRIT_LLVM_INCLUDE_DIRS})
endif()
