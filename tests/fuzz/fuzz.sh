#!/bin/sh
# fuzz.sh [SECONDS [TARGET...]]: builds the preset fuzz and runs each target for that much CPU time (default 600 s, all targets: report
# views salvage). What makes one fail goes to tests/fuzz/found/fuzz_TARGET, which the quick tests replay. What is found to reach new
# code stays in build/fuzz/corpus, for the next run.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-600}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- report views salvage
cmake --preset fuzz
cmake --build --preset fuzz
corpus=build/fuzz/corpus

# Of all children so far, user and system.
cpu_seconds() {
    awk -v hz="$(getconf CLK_TCK)" '{ printf "%d\n", ($16 + $17) / hz }' "/proc/$$/stat"
}

build/fuzz/bin/make_corpus "$corpus"
for target; do
    found=tests/fuzz/found/fuzz_$target
    mkdir -p "$found"
    # libFuzzer counts time on the wall; beside other work that is less of a CPU.
    begin=$(cpu_seconds)
    spent=0
    while [ "$spent" -lt "$seconds" ]; do
        build/fuzz/bin/fuzz_"$target" -max_total_time=$((seconds - spent)) -max_len=65536 -rss_limit_mb=2048 -timeout=30 \
            -artifact_prefix="$found/" "$corpus/$target"
        spent=$(($(cpu_seconds) - begin))
    done
    echo "fuzz_$target: clean for $spent s of CPU time"
    rmdir "$found" 2>/dev/null || true
done
