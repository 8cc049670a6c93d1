#!/bin/sh
# Benchmarks without a GPU: tests/bench/run.sh [BUILD [FOLDER]]. Prints one table a part, and writes JSON into FOLDER (BUILD/bench unless given).
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
build=$(cd "${1:-$root/build/release}" && pwd)
out=${2:-$build/bench}
mkdir -p "$out"
export PYTHONDONTWRITEBYTECODE=1
python3 "$root/tests/bench/hooks/times.py" "$build" --json "$out/hook_times.json"
echo
python3 "$root/tests/bench/hooks/instructions.py" "$build" --json "$out/hook_instructions.json"
echo
python3 "$root/tests/bench/hooks/throughput.py" "$build" --json "$out/hook_throughput.json"
echo
"$root/tests/bench/analysis/run.sh" --json "$out/analysis.json"
