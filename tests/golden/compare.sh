#!/bin/sh
# compare.sh GPUSPY_REPORT: for each NAME.bin beside this script, the text and JSON reports against NAME.expected.txt and
# NAME.expected.json. approve.sh writes them.
set -u
report=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")" || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
compared=0
for trace in *.bin; do
    [ -e "$trace" ] || continue
    name=${trace%.bin}
    for format in txt json; do
        [ "$format" = txt ] && option=text || option=json
        "$report" --format "$option" "$trace" >"$folder/$name.$format" 2>"$folder/error"
        status=$?
        # 6: the trace is known to be a partial one; its report says so.
        if [ "$status" -ne 0 ] && [ "$status" -ne 6 ]; then
            echo "FAILED $trace: status $status: $(cat "$folder/error")" >&2
            failures=$((failures + 1))
        elif ! diff -u "$name.expected.$format" "$folder/$name.$format" >&2; then
            echo "FAILED $name.expected.$format differs; if the new report is right: tests/golden/approve.sh" >&2
            failures=$((failures + 1))
        fi
        compared=$((compared + 1))
    done
done
if [ "$compared" -eq 0 ]; then
    echo "FAILED: no trace to compare" >&2
    exit 1
fi
[ "$failures" -eq 0 ] && echo "$compared reports as expected"
exit "$failures"
