#!/bin/sh
# What integration.programs runs, and much more of Python's own test suite: some minutes. After the release build.
#
#     tests/integration/long_programs.sh [BUILD]
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
build=$(CDPATH='' cd -- "${1:-$here/../../build/release}" && pwd)
GPUSPY_LONG_PROGRAMS=1 GPUSPY_BUILD=$build GPUSPY_HOSTS=$build/tests/hosts exec python3 "$here/test_programs.py" --verbose
