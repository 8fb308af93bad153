#!/bin/bash
# wheel.sh: builds the wheel, installs it into an empty environment, and uses it from there.
#
# Usage: wheel.sh PYTHON    (PYTHON: of the environment that setup.sh made)
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1

rm -rf dist
"$python" -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir dist .
wheel=$(echo dist/frit-*.whl)
contents=$("$python" -m zipfile -l "$wheel")
for library in libfrit.so libfrit_jit.so libfrit_isl.so _core; do
  [[ $contents == *"frit/$library"* ]] || {
    echo "wheel: $wheel has no $library" >&2
    exit 1
  }
done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$python" -m venv "$scratch/venv"
"$scratch/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel"
cp tools/wheel_check.py examples/numpy/nbody.py "$scratch"
cd "$scratch"  # so that nothing of the tree can be imported by accident
"$scratch/venv/bin/python" -I wheel_check.py
"$scratch/venv/bin/python" -m frit --report nbody.py --size 200 --steps 5
echo "wheel: $wheel works"
