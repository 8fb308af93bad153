# cmake/FritSources.cmake: finds the sources; a new file needs no edit of any list.

# frit_collect_sources(): sets frit_sources, frit_jit_sources, frit_isl_sources,
# frit_python_sources, frit_test_sources, frit_jit_test_sources and frit_bench_sources in the caller.
function(frit_collect_sources)
  if(FRIT_FOLDERS)
    list(TRANSFORM FRIT_FOLDERS PREPEND "${PROJECT_SOURCE_DIR}/src/" OUTPUT_VARIABLE patterns)
    list(TRANSFORM patterns APPEND "/*.cpp")
  else()
    set(patterns ${PROJECT_SOURCE_DIR}/src/*.cpp)
  endif()
  file(GLOB_RECURSE all CONFIGURE_DEPENDS ${patterns})
  if(FRIT_EXCLUDED_SOURCES)
    list(REMOVE_ITEM all ${FRIT_EXCLUDED_SOURCES})
  endif()

  set(python_pattern "/src/python/")
  set(jit_pattern "/src/(codegen|backend/cpu/jit)/")
  set(isl_pattern "/src/schedule/isl/")

  set(tests ${all})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER all EXCLUDE REGEX "_test\\.cpp$")

  set(jit ${all})
  list(FILTER jit INCLUDE REGEX "${jit_pattern}")
  set(isl ${all})
  list(FILTER isl INCLUDE REGEX "${isl_pattern}")
  set(python ${all})
  list(FILTER python INCLUDE REGEX "${python_pattern}")
  list(FILTER all EXCLUDE REGEX "${jit_pattern}|${isl_pattern}|${python_pattern}")

  set(jit_tests ${tests})
  list(FILTER jit_tests INCLUDE REGEX "${jit_pattern}")
  list(FILTER tests EXCLUDE REGEX "${jit_pattern}|${python_pattern}")

  file(GLOB_RECURSE bench CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.cpp)

  set(frit_sources ${all} PARENT_SCOPE)
  set(frit_jit_sources ${jit} PARENT_SCOPE)
  set(frit_isl_sources ${isl} PARENT_SCOPE)
  set(frit_python_sources ${python} PARENT_SCOPE)
  set(frit_test_sources ${tests} PARENT_SCOPE)
  set(frit_jit_test_sources ${jit_tests} PARENT_SCOPE)
  set(frit_bench_sources ${bench} PARENT_SCOPE)
endfunction()
