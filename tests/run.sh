#!/bin/sh
# Sets up, builds one preset and runs its tests: tests/run.sh [PRESET [ARGUMENTS OF ctest...]], release unless given.
#
#     tests/run.sh                     everything that a machine without a GPU can test
#     tests/run.sh asan -L unit        the unit tests with the address and undefined behaviour sanitizers
#     tests/run.sh release -L gpu      on a GPU
set -u
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd) || exit 1
cd "$root" || exit 1
preset=${1:-release}
[ $# -gt 0 ] && shift

scripts/setup.sh || exit 1
echo "Building build/$preset ..."
scripts/build.sh "$preset" || exit 1
ctest --preset "$preset" -j "${GPUSPY_JOBS:-$(nproc)}" "$@"
