#!/bin/bash
# sanitize.sh: builds with a sanitizer into a folder of its own, then runs the C++ tests and the Python ones under it.
#
# Usage: sanitize.sh address,undefined|undefined|thread PYTHON [pytest arguments ...]
# FRIT_FUZZ_PROGRAMS: how many random programs the fuzzer runs (default here: 200; instrumented code is slow).
set -euo pipefail
cd "$(dirname "$0")/.."
sanitizers=$1
python=$2
shift 2
case $sanitizers in
  address*) name=asan runtime=(libasan.so) ;;
  undefined) name=ubsan runtime=() ;;
  thread) name=tsan runtime=(libtsan.so) ;;
  *) echo "sanitize: unknown sanitizer $sanitizers" >&2; exit 2 ;;
esac
build=$PWD/build-$name
package=$build/python/frit

cmake -G Ninja -S . -B "$build" -D FRIT_SANITIZE="$sanitizers" -D FRIT_PACKAGE_DIR="$package" \
  -D Python_EXECUTABLE="$python"
cmake --build "$build" -j "${JOBS:-$(nproc)}"

# The Python files, as links beside the instrumented libraries: a package like the tree's own.
mkdir -p "$package"
find "$package" -type l -delete
(cd python && find . -type f -not -name '*.so' -not -path '*/__pycache__/*' -exec sh -c '
  for file; do mkdir -p "$0/$(dirname "$file")"; ln -sf "$PWD/$file" "$0/$file"; done' \
  "$build/python" {} +)

export FRIT_FUZZ_PROGRAMS=${FRIT_FUZZ_PROGRAMS:-200}
suppressions=$PWD/tools/suppressions
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
export LSAN_OPTIONS=suppressions=$suppressions/lsan.txt:print_suppressions=0
# Children of a fork start threads of their own, which tsan refuses unless told.
export TSAN_OPTIONS=halt_on_error=1:die_after_fork=0:allocator_may_return_null=1:second_deadlock_stack=1:suppressions=$suppressions/tsan.txt
ctest --test-dir "$build" --output-on-failure -j "${JOBS:-$(nproc)}"

# CPython keeps memory until the process ends, by design: leaks are looked for in the C++ tests only.
export ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0:allocator_may_return_null=1
# The interpreter is not instrumented, so the runtime must be there before all else;
# libstdc++ with it, for the runtime wraps its throw.
preload=""
for library in "${runtime[@]}" libstdc++.so; do
  preload+="$(g++ -print-file-name="$library") "
done
tests=(tests)
[ $# -eq 0 ] || tests=("$@")
# Machine limits that sanitizers break (memory, time) are asserted by tests with this mark.
PYTHONPATH=$build/python LD_PRELOAD=$preload "$python" -m pytest -n "${PYTEST_JOBS:-2}" \
  -m "not unsanitized" "${tests[@]}"
