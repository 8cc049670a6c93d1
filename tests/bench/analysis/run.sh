#!/bin/sh
# tests/bench/analysis/run.sh [measure.py's options]: how fast gpuspy-report is and what it needs, on made traces of 1 M and
# 10 M launches. Uses and builds the preset release; needs no GPU.
set -e
cd "$(dirname "$0")/../../.."
[ -f build/release/build.ninja ] || cmake --preset release
cmake --build build/release --target make_trace gpuspy-report
exec python3 tests/bench/analysis/measure.py build/release "$@"
