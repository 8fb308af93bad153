# cmake/FritPython.cmake: the extension module _core, bound with nanobind.
if(NOT DEFINED Python_EXECUTABLE AND NOT SKBUILD
   AND EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python)
  set(Python_EXECUTABLE ${PROJECT_SOURCE_DIR}/.venv/bin/python)
endif()
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)

execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
                OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)
execute_process(COMMAND ${Python_EXECUTABLE} -c "import numpy; print(numpy.get_include())"
                OUTPUT_VARIABLE FRIT_NUMPY_INCLUDE OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)

# NOMINSIZE: calls cross nanobind for every recorded op, so it is built for speed, not size.
nanobind_add_module(_core NB_STATIC NOMINSIZE NOSTRIP ${frit_python_sources})
target_link_libraries(_core PRIVATE frit)
target_include_directories(_core PRIVATE ${frit_generated_include})
target_include_directories(_core SYSTEM PRIVATE ${FRIT_NUMPY_INCLUDE})
# No NumPy 1 ABI: Frit needs NumPy 2.
target_compile_definitions(_core PRIVATE
  NPY_NO_DEPRECATED_API=NPY_2_0_API_VERSION NPY_TARGET_VERSION=NPY_2_0_API_VERSION)
frit_settings(_core)
# Libraries of 2 MiB and more are mapped at a multiple of 2 MiB, smaller ones anywhere. So would this
# one be, and in one of two of its places its branches collide with the interpreter's in the
# predictor: reading an element took 53 ns in every second process, 37 in the others.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_link_options(_core PRIVATE LINKER:-z,max-page-size=0x200000,-z,noseparate-code)
endif()
frit_precompile(_core cmake/pch_python.h)
