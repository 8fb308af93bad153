#!/bin/bash
# setup.sh: installs what building Frit needs: Debian packages that are missing, and a virtual environment.
#
# Usage: setup.sh VENV    (VENV: the folder of the virtual environment, e.g. .venv)
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1

# tool or file that shows that it is there : Debian package that brings it
needs=(
  g++:g++ cmake:cmake ninja:ninja-build ccache:ccache dot:graphviz
  clang-22:clang-22 llvm-config-22:llvm-22-dev clang-format-14:clang-format-14
  /usr/include/isl/set.h:libisl-dev
  /usr/include/gtest/gtest.h:libgtest-dev
  /usr/include/benchmark/benchmark.h:libbenchmark-dev
  /usr/include/mpfr.h:libmpfr-dev
  libopenblas.so.0:libopenblas0
)

is_present() {
  case $1 in
    /*) [ -e "$1" ] ;;
    *.so.*) ldconfig -p | grep -qF "$1" ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

missing=()
for need in "${needs[@]}"; do
  is_present "${need%%:*}" || missing+=("${need#*:}")
done

python=$(command -v "${FRIT_SETUP_PYTHON:-python3}" || true)
if [ -z "$python" ]; then
  missing+=(python3 python3-venv python3-dev)
  python=python3
else
  "$python" -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
  header=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')/Python.h
  [ -e "$header" ] || missing+=(python3-dev)
fi

if [ ${#missing[@]} -gt 0 ]; then
  as_root=()
  if [ "$(id -u)" != 0 ]; then
    as_root=(sudo)
    if ! command -v sudo >/dev/null; then
      echo "setup: as root, run: apt-get install ${missing[*]}" >&2
      exit 1
    fi
  fi
  echo "setup: installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" apt-get install -q -y --no-install-recommends "${missing[@]}"
fi

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || {
  echo "setup: Frit needs Python 3.10 or later; $python is older" >&2
  exit 1
}
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r tools/requirements.txt

# `import frit` in this environment means the tree itself, so an edit needs no installation.
site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
echo "$PWD/python" > "$site/frit.pth"
touch "$venv/setup.done"
