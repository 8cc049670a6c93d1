#!/bin/sh
# fuzz.sh [SECONDS]: builds the preset fuzz and runs the fuzzer of the report (default 600 s). What makes it fail goes to
# tests/fuzz/found, which the quick tests replay.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-600}
cmake --preset fuzz
cmake --build --preset fuzz --target fuzz_report make_corpus
corpus=build/fuzz/corpus
mkdir -p "$corpus" tests/fuzz/found
build/fuzz/bin/make_corpus "$corpus"
exec build/fuzz/bin/fuzz_report -max_total_time="$seconds" -max_len=65536 -rss_limit_mb=2048 -timeout=10 \
    -artifact_prefix=tests/fuzz/found/ "$corpus"
