#!/bin/sh
# tests/bench/run.sh: every benchmark that needs no GPU; a table each, and its numbers as JSON in $OUT (build/bench unless set).
set -e
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/../../build/bench}
mkdir -p "$out"
"$here/analysis/run.sh" --json "$out/analysis.json"
