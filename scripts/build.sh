#!/bin/sh
# Configures and builds one preset: scripts/build.sh [PRESET [TARGET...]], release unless given. Silent but for what failed.
#
# GPUSPY_JOBS: how many compilers at a time, else as many as there are processors.
set -u
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd) || exit 1
preset=${1:-release}
[ $# -gt 0 ] && shift
cd "$root" || exit 1
mkdir -p build || exit 1

log=build/$preset.log
cmake --preset "$preset" >"$log" 2>&1 || {
    cat "$log"
    echo "build: the preset $preset could not be configured" >&2
    exit 1
}
cmake --build --preset "$preset" -j "${GPUSPY_JOBS:-$(nproc)}" ${1:+--target} "$@" >"$log" 2>&1 || {
    grep -v '^\[' "$log" || cat "$log"
    echo "build: the preset $preset could not be built" >&2
    exit 1
}
