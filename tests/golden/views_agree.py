"""Views add up to what the summary of the same trace says: views_agree.py GPUSPY_REPORT

Both are computed from the same records, but in different ways: the summary as they come, the views on the timeline.
"""

import json
import pathlib
import subprocess
import sys


def report(program, trace, *options):
    done = subprocess.run([program, *options, "--format", "json", str(trace)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def total(table, column):
    return sum(row[column] or 0 for row in table["rows"])


def differences(summary, views):
    gpu, sync = summary["gpu"], summary["sync"]
    pairs = {
        "synchronisation time by site": (total(views["sync"]["sites"], "time_ns"), sync["time_ns"]),
        "synchronisation time by thread": (total(views["sync"]["threads"], "time_ns"), sync["time_ns"]),
        "GPU busy meanwhile": (total(views["sync"]["threads"], "gpu_busy_ns"), sync["gpu_busy_ns"] or 0),
        "GPU time by owner": (total(views["libraries"]["owners"], "time_ns"), gpu["kernel_time_ns"] or 0),
        "launches by owner": (total(views["libraries"]["owners"], "count"), gpu["kernels"]),
        "copies by kind and by size": (
            total(views["memory"]["copies"], "bytes"),
            total(views["memory"]["sizes"], "bytes"),
        ),
    }
    if gpu["copies"] + gpu["sets"] > 0:  # Else the summary counts the calls, and views have device records alone.
        pairs["bytes copied"] = (
            total(views["memory"]["copies"], "bytes"),
            sum(row["bytes"] for row in summary["copies"]),
        )
    return [f"{what}: view {view}, summary {whole}" for what, (view, whole) in pairs.items() if view != whole]


def main():
    program = sys.argv[1]
    traces = sorted(pathlib.Path(__file__).parent.glob("*.bin"))
    failures = [] if traces else ["there are no traces"]
    for trace in traces:
        found = differences(report(program, trace), report(program, trace, "--view", "sync,libraries,memory")["views"])
        failures += [f"{trace.name}: {difference}" for difference in found]
    for failure in failures:
        print("FAILED", failure, file=sys.stderr)
    return 1 if failures else 0


sys.exit(main())
