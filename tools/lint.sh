#!/bin/bash
# lint.sh: checks layout, includes and Python style of the tree; with --fix, lays the files out anew.
#
# Usage: lint.sh VENV [--fix | --tidy]    (--tidy: also runs clang-tidy on build/compile_commands.json)
set -uo pipefail
cd "$(dirname "$0")/.."
bin=$1/bin
mode=${2:-}

mapfile -t cpp < <(find src include bench tests examples cmake -type f \
  \( -name '*.cpp' -o -name '*.h' -o -name '*.c' \) -not -path '*/build*' 2>/dev/null)

if [ "$mode" = --fix ]; then
  [ ${#cpp[@]} -eq 0 ] || clang-format-14 -i "${cpp[@]}"
  "$bin/ruff" format --quiet .
  "$bin/ruff" check --quiet --fix .
  exit
fi

failed=0
step() {
  echo "lint: $1"
  shift
  "$@" || failed=1
}
[ ${#cpp[@]} -eq 0 ] || step "clang-format" clang-format-14 --dry-run -Werror "${cpp[@]}"
# clang-format leaves comments as they are: tables stand in some of them.
step "line lengths" awk 'length > 100 { print FILENAME ":" FNR ": longer than 100 columns"; bad = 1 }
  END { exit bad }' "${cpp[@]}" src/ops/*.def
step "ruff format" "$bin/ruff" format --check .
step "ruff check" "$bin/ruff" check .
step "check_includes, of itself" "$bin/python" tools/check_includes.py --self-test
step "check_includes" "$bin/python" tools/check_includes.py
mapfile -t scripts < <(find tools .ci -type f \( -name '*.sh' -o -name run \))
step "shell syntax" bash -c 'for script; do bash -n "$script" || exit 1; done' lint "${scripts[@]}"
if [ "$mode" = --tidy ]; then
  mapfile -t sources < <(printf '%s\n' "${cpp[@]}" | grep '^src/.*\.cpp$')
  step "clang-tidy" clang-tidy -p build --quiet "${sources[@]}"
fi
[ $failed = 0 ] && echo "lint: all good"
exit $failed
