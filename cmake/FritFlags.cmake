# cmake/FritFlags.cmake: the compiler flags of all our targets, sanitizers, ccache, precompiled headers.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# -g1: line tables only, so that a crash in a user's program can be read; costs nothing at run time.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(FRIT_CCACHE ccache)
if(FRIT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without this sloppiness ccache never hits when a precompiled header is in use.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${FRIT_CCACHE})
endif()

add_library(frit_flags INTERFACE)
# One answer in every tier: no contraction into fma, no relaxed mathematics of any kind.
# -fno-math-errno only drops errno, which nothing reads; sqrt then needs no call.
target_compile_options(frit_flags INTERFACE
  -ffp-contract=off -fno-math-errno -fno-semantic-interposition)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # A Node is a few hundred bytes: `rep stos`, which g++ clears it with, costs more than recording the rest of it.
  target_compile_options(frit_flags INTERFACE -mmemset-strategy=unrolled_loop:512:noalign,libcall:-1:noalign)
endif()
set(frit_warnings -Wall -Wextra -Wconversion -Werror=switch)
if(FRIT_WERROR)
  list(APPEND frit_warnings -Werror)
endif()
target_compile_options(frit_flags INTERFACE ${frit_warnings})
# Calls inside a library don't go through its table of imports.
target_link_options(frit_flags INTERFACE LINKER:--as-needed LINKER:-Bsymbolic-functions)

if(FRIT_SANITIZE)
  # -O1 keeps stacks readable; recovery off makes an undefined operation fail its test.
  set(CMAKE_CXX_FLAGS_RELEASE "-O1 -g")
  # GCC warns falsely about uninitialised values in instrumented code.
  target_compile_options(frit_flags INTERFACE
    -fsanitize=${FRIT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    $<$<CXX_COMPILER_ID:GNU>:-Wno-error=maybe-uninitialized>)
  target_link_options(frit_flags INTERFACE -fsanitize=${FRIT_SANITIZE})
elseif(NOT FRIT_FOLDERS)
  # A symbol that no file defines is found when libfrit is linked, not when a user loads it.
  target_link_options(frit_flags INTERFACE
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>:LINKER:--no-undefined>)
endif()

# frit_settings(target): what every library of ours shares.
function(frit_settings target)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:frit_flags>)
  set_target_properties(${target} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${FRIT_PACKAGE_DIR}
    BUILD_WITH_INSTALL_RPATH ON
    INSTALL_RPATH "$ORIGIN")
endfunction()

# frit_precompile(target header): force-includes header, compiled once.
function(frit_precompile target header)
  if(FRIT_PCH)
    target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/${header})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PRIVATE -fpch-preprocess)  # asked for by ccache
    else()
      target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
    endif()
  endif()
endfunction()
