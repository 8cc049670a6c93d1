#!/bin/sh
# replay_corpus.sh MAKE_CORPUS REPLAY: the seeds, and what the fuzzer found (tests/fuzz/found), through the fuzz target.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" "$folder"
found=$(dirname "$0")/found
if [ -d "$found" ]; then
    "$2" "$folder" "$found"
else
    "$2" "$folder"
fi
