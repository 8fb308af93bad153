# cmake/FritTests.cmake: the unit tests, which stand beside their units as *_test.cpp.
find_package(GTest REQUIRED)
include(GoogleTest)
find_library(FRIT_MPFR mpfr)
find_library(FRIT_GMP gmp)

# frit_add_tests(name sources...): one test executable, its tests known to ctest one by one.
function(frit_add_tests name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE frit GTest::gtest_main Threads::Threads ${CMAKE_DL_LIBS})
  target_include_directories(${name} PRIVATE ${frit_generated_include})
  if(FRIT_MPFR AND FRIT_GMP)
    target_link_libraries(${name} PRIVATE ${FRIT_MPFR} ${FRIT_GMP})
    target_compile_definitions(${name} PRIVATE FRIT_HAVE_MPFR)
  endif()
  frit_settings(${name})
  set_target_properties(${name} PROPERTIES
    BUILD_WITH_INSTALL_RPATH OFF BUILD_RPATH "${FRIT_PACKAGE_DIR}")
  # Found when ctest runs, not when the program is linked: an edit need not wait for it.
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 600)
endfunction()

if(frit_test_sources)
  frit_add_tests(frit_tests ${frit_test_sources})
  frit_precompile(frit_tests cmake/pch_tests.h)
  foreach(library frit_jit frit_isl)
    if(TARGET ${library})
      add_dependencies(frit_tests ${library})  # opened at run time, by the tests of the engine
    endif()
  endforeach()
endif()

# Apart from the others, so that those run in a process in which LLVM is not loaded from the start.
if(frit_jit_test_sources AND TARGET frit_jit)
  frit_add_tests(frit_jit_tests ${frit_jit_test_sources})
  target_link_libraries(frit_jit_tests PRIVATE frit_jit FritLLVM::LLVM)
  frit_precompile(frit_jit_tests cmake/pch_llvm.h)
endif()

if(NOT FRIT_SANITIZE AND NOT FRIT_FOLDERS)
  add_test(NAME installed_cmake_package
           COMMAND ${CMAKE_COMMAND}
             -D BUILD=${CMAKE_BINARY_DIR} -D SOURCE=${PROJECT_SOURCE_DIR}/tests/cpp_package
             -D WORK=${CMAKE_BINARY_DIR}/cpp_package -D GENERATOR=${CMAKE_GENERATOR}
             -D COMPILER=${CMAKE_CXX_COMPILER} -D VERSION=${PROJECT_VERSION}
             -P ${PROJECT_SOURCE_DIR}/tests/cpp_package/run.cmake)
endif()
