#!/bin/sh
# approve.sh [GPUSPY_REPORT] [NAME...]: writes NAME.expected.txt and NAME.expected.json of the traces beside this script
# (all without a NAME) from what gpuspy-report says now. Review the change as a diff before you commit it.
set -eu
folder=$(cd "$(dirname "$0")" && pwd)
report=$folder/../../build/release/bin/gpuspy-report
if [ $# -gt 0 ] && [ -x "$1" ] && [ ! -d "$1" ]; then
    report=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
    shift
fi
if [ ! -x "$report" ]; then
    echo "approve.sh: $report is not there: build the release preset, or name a gpuspy-report" >&2
    exit 2
fi
cd "$folder"
[ $# -gt 0 ] || set -- $(ls ./*.bin | sed 's|^\./||; s|\.bin$||')
for name in "$@"; do
    for format in text json; do
        [ "$format" = text ] && ending=txt || ending=json
        status=0
        "$report" --format "$format" -o "$name.expected.$ending" "$name.bin" || status=$?
        if [ "$status" -ne 0 ] && [ "$status" -ne 6 ]; then
            exit "$status"
        fi
    done
    echo "approved $name"
done
