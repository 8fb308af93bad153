# Makefile: the front door to building, testing and measuring Frit.
SHELL    := /bin/bash
JOBS     ?= $(shell nproc)
PYTEST_JOBS ?= 2
VENV     := $(CURDIR)/.venv
PYTHON   := $(VENV)/bin/python
BUILD    ?= build
CMAKE_FLAGS ?=
SETUP    := $(VENV)/setup.done
# A developer's libraries go beside the Python files, so that the tree itself is the package.
DEVELOP  := -D FRIT_PACKAGE_DIR=$(CURDIR)/python/frit
GENERATE := cmake -G Ninja -S . -D CMAKE_BUILD_TYPE=Release -D Python_EXECUTABLE=$(PYTHON)
PYTEST   := $(PYTHON) -m pytest

.DEFAULT_GOAL := build
.PHONY: build setup demo test test-cpp test-python bench lint format asan ubsan tsan fuzz nightly \
        wheel clean

setup: $(SETUP)
$(SETUP): tools/setup.sh tools/requirements.txt
	bash tools/setup.sh $(VENV)

$(BUILD)/build.ninja: | $(SETUP)
	$(GENERATE) -B $(BUILD) $(DEVELOP) $(CMAKE_FLAGS)

build: $(SETUP) $(BUILD)/build.ninja
	cmake --build $(BUILD) -j $(JOBS)
	$(PYTHON) -m compileall -q python/frit

demo: build
	$(PYTHON) -m frit.demo

# pytest comes last: its closing line, with the count of tests, ends the output.
test: test-cpp test-python
test-cpp: build
	ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)
# The emulated device comes first: what the engine does for a GPU, on all kernels of these tests.
test-python: build test-cpp
	FRIT_DEVICE=emulated $(PYTEST) -q tests/traps tests/core tests/pykokkos tests/loops tests/fuzz/test_programs.py -n $(PYTEST_JOBS)
	$(PYTEST) tests -n $(PYTEST_JOBS)

bench: build
	$(PYTHON) bench/run.py

lint: $(SETUP)
	bash tools/lint.sh $(VENV)
format: $(SETUP)
	bash tools/lint.sh $(VENV) --fix

asan: $(SETUP)
	bash tools/sanitize.sh address,undefined $(PYTHON)
ubsan: $(SETUP)
	bash tools/sanitize.sh undefined $(PYTHON)
tsan: $(SETUP)
	bash tools/sanitize.sh thread $(PYTHON)

LOOP_FUZZ := tests/loops/test_grid.py tests/loops/test_loop_fuzz.py tests/loops/test_method_fuzz.py tests/loops/test_exits.py \
  tests/loops/test_implicit.py::test_random_loops_of_modules_do_what_python_does

# FRIT_FUZZ_PROGRAMS: how many random programs; each failure prints the seed that repeats it.
fuzz: build
	FRIT_FUZZ_PROGRAMS=$${FRIT_FUZZ_PROGRAMS:-20000} $(PYTEST) tests/fuzz tests/pykokkos/test_kernel_programs.py $(LOOP_FUZZ) -n $(PYTEST_JOBS)

# With FRIT_TEST_RECORDED small arrays are recorded as large ones are (tests/conftest.py).
RECORDED := tests/door tests/core tests/traps tests/pykokkos tests/loops

nightly: test lint asan tsan wheel
	FRIT_TEST_RECORDED=1 $(PYTEST) $(RECORDED) -n $(PYTEST_JOBS)
	FRIT_CPU=v3 $(PYTEST) tests/traps tests/core tests/pykokkos tests/loops -n $(PYTEST_JOBS)
	FRIT_FUZZ_PROGRAMS=200000 $(PYTEST) tests/fuzz tests/pykokkos/test_kernel_programs.py -n $(PYTEST_JOBS)
	FRIT_FUZZ_PROGRAMS=20000 $(PYTEST) $(LOOP_FUZZ) -n $(PYTEST_JOBS)

wheel: $(SETUP)
	bash tools/wheel.sh $(PYTHON)

clean:
	rm -rf build build-* dist
	find python -name '*.so' -delete
	find python tests tools -name __pycache__ -type d -exec rm -rf {} +
