#!/bin/sh
# replay_corpus.sh MAKE_CORPUS REPLAY TARGET: the seeds, and what the fuzzer found (tests/fuzz/found/TARGET), through the target.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" "$folder"
found=$(dirname "$0")/found/$3
set -- "$2" "$folder/${3#fuzz_}"
if [ -d "$found" ]; then
    set -- "$@" "$found"
fi
"$@"
