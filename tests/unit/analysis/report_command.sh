#!/bin/sh
# gpuspy-report as a person meets it: report_command.sh GPUSPY_REPORT WRITE_SAMPLE_TRACE
set -u
report=$1
write_sample=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

# expect NAME STATUS PATTERN COMMAND...: the command ends with STATUS; its stderr is one line that holds PATTERN, or is
# empty when PATTERN is.
expect() {
    name=$1 status=$2 pattern=$3
    shift 3
    "$@" >"$folder/out" 2>"$folder/err"
    got=$?
    lines=$(wc -l <"$folder/err")
    if [ "$got" -ne "$status" ]; then
        echo "FAILED $name: status $got, not $status" >&2
        failures=$((failures + 1))
    elif [ -z "$pattern" ] && [ "$lines" -ne 0 ]; then
        echo "FAILED $name: stderr is not empty: $(cat "$folder/err")" >&2
        failures=$((failures + 1))
    elif [ -n "$pattern" ] && { [ "$lines" -ne 1 ] || ! grep -qF -- "$pattern" "$folder/err"; }; then
        echo "FAILED $name: stderr is not one line with '$pattern': $(cat "$folder/err")" >&2
        failures=$((failures + 1))
    fi
}

trace=$folder/trace.bin
"$write_sample" "$trace" || exit 1
: >"$folder/empty"
echo "hello" >"$folder/text"
head -c 5000 /dev/urandom >"$folder/noise"
size=$(wc -c <"$trace")
head -c $((size - 5)) "$trace" >"$folder/cut"
head -c 300 "$trace" >"$folder/few" # its header alone is whole
head -c 40 "$trace" >"$folder/header"
{ head -c 8 "$trace"; printf '\002\000'; tail -c +11 "$trace"; } >"$folder/newer"
mkfifo "$folder/fifo"

expect "good trace" 0 "" "$report" "$trace"
grep -q "complete: 3 expected" "$folder/out" || { echo "FAILED good trace: no report" >&2; failures=$((failures + 1)); }
expect "json" 0 "" "$report" --format json "$trace"
grep -q '"schema": 1' "$folder/out" || { echo "FAILED json: no report" >&2; failures=$((failures + 1)); }
expect "to a file" 0 "" "$report" -o "$folder/report.txt" "$trace"
[ -s "$folder/report.txt" ] && [ ! -s "$folder/out" ] || { echo "FAILED to a file" >&2; failures=$((failures + 1)); }
expect "to standard output" 0 "" "$report" -o - "$trace"
cmp -s "$folder/out" "$folder/report.txt" || { echo "FAILED to standard output: another report" >&2; failures=$((failures + 1)); }
expect "compare to standard output" 0 "" "$report" compare -o - "$trace"
grep -q "launches" "$folder/out" || { echo "FAILED compare to standard output" >&2; failures=$((failures + 1)); }
[ ! -e - ] || { echo "FAILED to standard output: a file is called -" >&2; failures=$((failures + 1)); }
for words in "" compare; do
    expect "$words to a file without a name" 2 "--output: the name of the file is empty; - is standard output" "$report" $words -o "" "$trace"
done
expect "views as words" 2 "several views have commas between them: --view kernels,calls" "$report" --view kernels calls "$trace"
expect "views as words, no trace" 2 "calls is a view, and no such trace is there; several views have commas" "$report" --view kernels calls
expect "help" 0 "" "$report" --help
expect "version" 0 "" "$report" --version
expect "missing" 3 "$folder/none: cannot be opened: No such file" "$report" "$folder/none"
expect "directory" 3 "$folder: cannot be opened: it is a directory" "$report" "$folder"
expect "fifo" 3 "not a regular file" "$report" "$folder/fifo"
expect "empty" 4 "$folder/empty: is empty" "$report" "$folder/empty"
expect "text" 4 "$folder/text: is not a gpuspy trace" "$report" "$folder/text"
expect "noise" 4 "$folder/noise: is not a gpuspy trace" "$report" "$folder/noise"
expect "header cut" 4 "cut off inside its header" "$report" "$folder/header"
expect "newer" 5 "made by a newer gpuspy: format 2.x, this one reads 1.x" "$report" "$folder/newer"
expect "cut" 6 "$folder/cut: partly readable" "$report" "$folder/cut"
grep -q "^PARTIAL" "$folder/out" || { echo "FAILED cut: no report" >&2; failures=$((failures + 1)); }
expect "calls" 0 "" "$report" --format calls "$trace"
grep -q "cuLaunchKernel(" "$folder/out" || { echo "FAILED calls: no call" >&2; failures=$((failures + 1)); }
expect "calls that nothing is left of" 6 "partly readable" "$report" --format calls -o "$folder/calls" "$folder/few"
[ -e "$folder/calls" ] || { echo "FAILED calls that nothing is left of: no file" >&2; failures=$((failures + 1)); }
expect "calls of no trace" 4 "is not a gpuspy trace" "$report" --format calls -o "$folder/none" "$folder/text"
[ ! -e "$folder/none" ] || { echo "FAILED calls of no trace: a file" >&2; failures=$((failures + 1)); }
expect "rows of calls" 2 "--format calls has none" "$report" --format calls --top 3 "$trace"
expect "negative rows" 2 "--top: -1 is no number of rows" "$report" --top -1 "$trace"
expect "no argument" 2 "trace is required" "$report"
expect "bad option" 2 "--nonsense" "$report" --nonsense "$trace"
expect "bad format" 2 "yaml" "$report" --format yaml "$trace"
expect "bad top" 2 "top" "$report" --top many "$trace"
expect "onto the trace" 2 "is the trace itself" "$report" -o "$trace" "$trace"
expect "no such folder" 1 "cannot be written" "$report" -o "$folder/none/report" "$trace"
if [ -w /dev/full ]; then
    expect "full disk" 1 "No space left" sh -c '"$0" "$1" >/dev/full' "$report" "$trace"
fi
expect "broken pipe" 0 "" sh -c '{ "$0" --top 0 "$1"; echo $? >"$2"; } | true' "$report" "$trace" "$folder/status"
[ "$(cat "$folder/status")" = 0 ] || { echo "FAILED broken pipe: status $(cat "$folder/status")" >&2; failures=$((failures + 1)); }

expect "calls" 0 "" "$report" --format calls "$trace"
grep -q "cudaLaunchKernel(" "$folder/out" || { echo "FAILED calls: no call" >&2; failures=$((failures + 1)); }
expect "calls of a trace that was cut" 6 "$folder/cut: partly readable" "$report" --format calls "$folder/cut"
expect "calls of no trace" 4 "is not a gpuspy trace" "$report" --format calls -o "$folder/kept" "$folder/text"
[ ! -e "$folder/kept" ] || { echo "FAILED calls of no trace: a file was made" >&2; failures=$((failures + 1)); }
expect "calls, broken pipe" 0 "" sh -c '{ "$0" --format calls "$1"; echo $? >"$2"; } | true' "$report" "$trace" "$folder/status"
[ "$(cat "$folder/status")" = 0 ] || { echo "FAILED calls, broken pipe: status $(cat "$folder/status")" >&2; failures=$((failures + 1)); }

# has TEXT: what the last command printed holds it.
has() {
    grep -qF -- "$1" "$folder/out" || { echo "FAILED $name: no '$1'" >&2; failures=$((failures + 1)); }
}

expect "a view" 0 "" "$report" --view calls "$trace"
has "cuLaunchKernel"
expect "all views" 0 "" "$report" --view all "$trace"
has "Kernels  ("
has "Threads  ("
expect "views of a trace that was cut" 6 "$folder/cut: partly readable" "$report" --view calls "$folder/cut"
expect "views of no trace" 4 "is not a gpuspy trace" "$report" --view calls -o "$folder/none" "$folder/text"
[ ! -e "$folder/none" ] || { echo "FAILED views of no trace: a file" >&2; failures=$((failures + 1)); }
expect "one table as CSV" 0 "" "$report" --view calls.threads --format csv "$trace"
has "tid,calls,launches"
expect "views as JSON" 0 "" "$report" --view calls,kernels --format json "$trace"
has '"views": {'
expect "several tables as CSV" 2 "takes one table: --view calls.calls, calls.threads" "$report" --view calls --format csv "$trace"
expect "no such view" 2 'there is no view "nope"; there are: kernels, calls' "$report" --view nope "$trace"
expect "no such table" 2 'there is no table "calls.nope"; there are: calls.calls' "$report" --view calls.nope "$trace"
expect "bad filter" 2 'is no regular expression' "$report" --filter "(" "$trace"
expect "bad time" 2 '--from "soon" is no time' "$report" --from soon "$trace"
expect "negative time" 2 '--to "-1" is no time' "$report" --to=-1 "$trace"
expect "no range" 2 '--from must be before --to' "$report" --from 2 --to 1s "$trace"
expect "bad device" 2 '--device "gpu" is no number' "$report" --device gpu "$trace"
expect "no steady state" 2 'no iterations were found' "$report" --steady "$trace"
expect "steady and a range" 2 "--steady" "$report" --steady --from 1 "$trace"
expect "views of calls" 2 "--view is for tables" "$report" --format calls --view calls "$trace"
expect "a filter alone shows all views" 0 "" "$report" --filter . "$trace"
has "Kernels  ("
expect "what nothing matches" 0 "" "$report" --view kernels --filter 'no such kernel' "$trace"
has "nothing to show"
expect "configurations" 0 "" "$report" --view kernels --by-config --names mangled "$trace"
has "grid"
expect "a page" 0 "" "$report" --format html -o "$folder/page.html" "$trace"
grep -q "^<!DOCTYPE html>" "$folder/page.html" || { echo "FAILED a page: no page" >&2; failures=$((failures + 1)); }
expect "a page into a pipe" 0 "" sh -c '"$0" --format html "$1" | cat' "$report" "$trace"
cmp -s "$folder/out" "$folder/page.html" || { echo "FAILED a page into a pipe: another page" >&2; failures=$((failures + 1)); }
expect "a page onto a terminal" 2 "a page is not for a terminal: say -o report.html" \
    sh -c 'script -qec "$0 --format html $1 2>$2" /dev/null >"$2.out"; status=$?; cat "$2" >&2; exit $status' "$report" "$trace" "$folder/terminal"
[ ! -s "$folder/terminal.out" ] || { echo "FAILED a page onto a terminal: something was written" >&2; failures=$((failures + 1)); }
expect "a page of no trace" 4 "is not a gpuspy trace" "$report" --format html -o "$folder/none.html" "$folder/text"
[ ! -e "$folder/none.html" ] || { echo "FAILED a page of no trace: a file" >&2; failures=$((failures + 1)); }
expect "a page of a trace that was cut" 6 "partly readable" "$report" --format html -o "$folder/cut.html" "$folder/cut"
grep -q "</html>" "$folder/cut.html" || { echo "FAILED a page of a trace that was cut: no page" >&2; failures=$((failures + 1)); }

expect "a view's tables" 0 "" "$report" --view latency "$trace"
has "Queue depth  ("
! grep -q "^Queue depth over time" "$folder/out" || { echo "FAILED $name: a table for charts" >&2; failures=$((failures + 1)); }
expect "a table for charts, by its name" 0 "" "$report" --view latency.depth_series "$trace"
has "Queue depth over time"
expect "compare" 0 "" "$report" compare "$trace" "$trace"
grep -q "^  launches .* 1.00 " "$folder/out" || { echo "FAILED compare: no launches" >&2; failures=$((failures + 1)); }
expect "compare as JSON" 0 "" "$report" compare --format json "$trace" "$trace"
grep -q '"measure": "gpu_time"' "$folder/out" || { echo "FAILED compare as JSON" >&2; failures=$((failures + 1)); }
expect "a page of a comparison" 0 "" "$report" compare --format html -o "$folder/compare.html" "$trace" "$trace"
grep -q "^<!DOCTYPE html>" "$folder/compare.html" || { echo "FAILED $name: no page" >&2; failures=$((failures + 1)); }
expect "a page of a comparison onto a terminal" 2 "a page is not for a terminal: say -o report.html" \
    sh -c 'script -qec "$0 compare --format html $1 2>$2" /dev/null >"$2.out"; status=$?; cat "$2" >&2; exit $status' "$report" "$trace" "$folder/terminal"
[ ! -s "$folder/terminal.out" ] || { echo "FAILED $name: something was written" >&2; failures=$((failures + 1)); }
expect "compare runs" 0 "" "$report" compare --label a,b "$trace,$trace" "$trace"
cp "$trace" "$folder/with,comma"
expect "a comma in a name" 0 "" "$report" compare "$folder/with,comma"
expect "compare nothing" 2 "traces is required" "$report" compare
expect "compare none" 3 "$folder/none.bin: cannot be opened" "$report" compare "$trace" "$folder/none.bin"
expect "compare text" 4 "$folder/text: is not a gpuspy trace" "$report" compare "$trace" "$folder/text"
expect "compare cut" 6 "$folder/cut: partly readable" "$report" compare "$trace" "$folder/cut"
grep -q "cut: can be read in part only" "$folder/out" || { echo "FAILED compare cut: not said" >&2; failures=$((failures + 1)); }
expect "compare labels" 2 "--label names 1, and 2 are compared" "$report" compare --label a "$trace" "$trace"
expect "compare labels that are the same" 2 '--label has the name "a" twice' "$report" compare --label a,a "$trace" "$trace"
expect "compare a label that is empty" 2 '--label has an empty name' "$report" compare --label a --label "" "$trace" "$trace"
expect "compare images" 2 '--images "x" is no number' "$report" compare --images x "$trace"
expect "compare part of an image" 2 "is no number of images: say a whole one" "$report" compare --images 0.5 "$trace"
expect "compare very many images" 2 "is no number of images: say a whole one" "$report" compare --images 99999999999999999999999 "$trace"
expect "compare more images" 2 "--images takes one number, or one for each of the 1" "$report" compare --images 1,2 "$trace"
expect "compare threshold" 2 '--threshold "5" is no share' "$report" compare --threshold 5 "$trace"
expect "compare curve" 2 "--curve needs --images" "$report" compare --curve "$trace"
expect "compare table" 2 "there are: traces, measures, spread, kernels, calls" "$report" compare --format csv --table none "$trace"
expect "compare onto a trace" 2 "is one of the traces" "$report" compare -o "$trace" "$trace"
expect "compare, options in front" 2 "--format stands before compare" "$report" --format json compare "$trace"
expect "condition not met" 0 "" "$report" compare --fail-if 'gpu_time>+5%' "$trace" "$trace"
expect "condition met" 7 "failed: launches>=2: trace: 2" "$report" compare --fail-if 'launches>=2' "$trace"
expect "condition not known" 7 "images_per_s of trace is not known" "$report" compare --fail-if 'images_per_s<5' "$trace"
expect "condition met, cut" 7 "partly readable" sh -c '"$0" compare --fail-if "launches<1000" "$1" 2>&1 >/dev/null | grep -v failed >&2; exec "$0" compare --fail-if "launches<1000" "$1" >/dev/null 2>&1' "$report" "$folder/cut"
for option in --filter --device --stream --from --to; do
    expect "$option without a value" 2 "$option: the value is empty: say " "$report" "$option" "" "$trace"
    expect "compare, $option without a value" 2 "$option: the value is empty: say " "$report" compare "$option" "" "$trace"
done
expect "condition of a part" 0 "" "$report" compare --from 210ns --fail-if 'launches>=2' "$trace"
has "a part of each trace is compared: --from 210ns"
expect "condition of a part that is met" 7 "failed: launches>=1: trace: 1" "$report" compare --from 210ns --fail-if 'launches>=1' "$trace"
expect "compare kernels by name" 0 "" "$report" compare --filter scal "$trace" "$trace"
expect "compare what never ran" 2 "--filter nope: nothing of it ran on a device in any of the traces" "$report" compare --filter nope "$trace"
expect "compare a bad pattern" 2 'is no regular expression' "$report" compare --filter "(" "$trace"
expect "compare beyond the end" 2 "trace.bin: --from 3600s: the recording ends at 1.000 ms" "$report" compare --from 3600s "$trace"
expect "compare no steady state" 2 'no iterations were found' "$report" compare --steady "$trace"
expect "compare steady and a range" 2 "--steady" "$report" compare --steady --from 1 "$trace"
expect "condition of nothing" 2 "there is no measure \"gpu\"; there are: wall, " "$report" compare --fail-if 'gpu>1' "$trace"
expect "condition of no library" 2 '--fail-if there is no library "cudn"; there are: cublas, cublaslt, cudnn' "$report" compare --fail-if 'share.cudn>1%' "$trace"
expect "condition of no library's calls" 2 '--fail-if there is no library "cudn"; there are: cublas, cublaslt, cudnn' "$report" compare --fail-if 'calls.cudn>1' "$trace"
expect "condition of a library that was not called" 0 "" "$report" compare --fail-if 'share.cutensor>1%' --fail-if 'calls.cutensor>0' --fail-if 'share.unknown>101%' "$trace"
expect "condition of a library that was not called is met" 7 "failed: calls.cutensor<1: trace: 0" "$report" compare --fail-if 'calls.cutensor<1' "$trace"
expect "condition without another" 2 "needs another trace to compare with" "$report" compare --fail-if 'wall>+5%' "$trace"

# A report that cannot be written leaves what was there.
if [ "$(id -u)" -eq 0 ] && mkdir "$folder/small" && mount -t tmpfs -o size=4k none "$folder/small" 2>/dev/null; then
    echo kept >"$folder/small/report"
    expect "a disk that is full" 1 "cannot be written" "$report" --top 0 --view all -o "$folder/small/report" "$trace"
    [ "$(cat "$folder/small/report")" = kept ] || { echo "FAILED $name: the old report is gone" >&2; failures=$((failures + 1)); }
    umount "$folder/small"
fi

[ "$failures" -eq 0 ] && echo "all as expected"
exit "$failures"
