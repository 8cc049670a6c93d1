#!/bin/sh
# fuzz.sh [SECONDS [TARGET...]]: builds the preset fuzz and runs each target that long (default 600 s, all targets: report views
# salvage). What makes one fail goes to tests/fuzz/found/fuzz_TARGET, which the quick tests replay.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-600}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- report views salvage
cmake --preset fuzz
cmake --build --preset fuzz
corpus=build/fuzz/corpus
build/fuzz/bin/make_corpus "$corpus"
for target; do
    found=tests/fuzz/found/fuzz_$target
    mkdir -p "$found"
    build/fuzz/bin/fuzz_"$target" -max_total_time="$seconds" -max_len=65536 -rss_limit_mb=2048 -timeout=10 \
        -artifact_prefix="$found/" "$corpus/$target"
    rmdir "$found" 2>/dev/null || true
done
