#!/usr/bin/env python3
"""Times gpuspy-report's summary on large made traces, checks what it says against what was made, and prints one table.

usage: measure.py BUILD [--launches N,N...] [--runs N] [--json FILE] [--folder FOLDER]

Wall and CPU time are medians over the runs; memory is the greatest resident size of any run. The traces are made in the folder
(of temporary files unless given) one at a time, some 10 to 25 bytes a launch, and deleted.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

CONTENTS = ["loop", "training"]


def resident_and_times(command):
    """Runs it; wall s, CPU s, greatest resident KiB."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - begin
    if status != 0:
        sys.exit(f"measure.py: {' '.join(command)}: wait status {status}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def differences(made, report):
    """What the report says otherwise than was made."""
    kernels = {}
    for row in report["kernels"]:  # A row for each owner.
        count, time_ns, least, most = kernels.get(row["mangled"], (0, 0, row["min_ns"], 0))
        kernels[row["mangled"]] = [count + row["count"], time_ns + row["time_ns"], min(least, row["min_ns"]),
                                   max(most, row["max_ns"])]
    said = {
        "launches": report["launches"]["host"],
        "matched": report["launches"]["matched"],
        "complete": report["launches"]["complete"],
        "calls": sum(row["count"] for row in report["calls"]),
        "copies": report["gpu"]["copies"],
        "copy_bytes": sum(row["bytes"] for row in report["copies"]),
        "busy_ns": report["gpu"]["busy_ns"],
        "kernels": kernels,
    }
    wanted = {key: made[key] for key in ("launches", "calls", "copies", "copy_bytes", "busy_ns", "kernels")}
    wanted |= {"matched": made["launches"], "complete": True}
    wrong = [f"{key}: {said[key]}, made {wanted[key]}" for key in wanted if said[key] != wanted[key]]
    # Ticks are half a ns: each wait's begin and end are rounded.
    if abs(report["sync"]["time_ns"] - made["sync_ns"]) > made["copies"]:
        wrong.append(f"sync_ns: {report['sync']['time_ns']}, made {made['sync_ns']}")
    return wrong


def measure(build, folder, content, launches, runs):
    trace = os.path.join(folder, f"{content}-{launches}.bin")
    told = os.path.join(folder, "report.json")
    try:
        made = json.loads(subprocess.check_output([f"{build}/bin/make_trace", content, str(launches), trace]))
        command = [f"{build}/bin/gpuspy-report", "--format", "json", "-o", told, trace]
        results = [resident_and_times(command) for _ in range(runs)]
        with open(told) as file:
            wrong = differences(made, json.load(file))
        if wrong:
            sys.exit(f"measure.py: {content}, {launches} launches: the report says otherwise: " + "; ".join(wrong))
    finally:
        for path in (trace, told):
            if os.path.exists(path):
                os.remove(path)
    wall = statistics.median(result[0] for result in results)
    return {
        "content": content,
        "launches": launches,
        "records": made["calls"] + made["launches"] + made["copies"],
        "trace_bytes": made["file_bytes"],
        "bytes_per_launch": made["file_bytes"] / launches,
        "wall_s": wall,
        "cpu_s": statistics.median(result[1] for result in results),
        "launches_per_s": launches / wall,
        "resident_mb": max(result[2] for result in results) * 1024 / 1e6,
        "runs": runs,
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--launches", default="1000000,10000000")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json")
    parser.add_argument("--folder")
    arguments = parser.parse_args()
    rows = []
    print(f"{'content':10} {'launches':>12} {'bytes/launch':>12} {'wall s':>8} {'CPU s':>8} {'M launches/s':>12} "
          f"{'resident MB':>11}")
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for launches in arguments.launches.split(","):
            for content in CONTENTS:
                row = measure(arguments.build, folder, content, int(launches), arguments.runs)
                rows.append(row)
                print(f"{content:10} {row['launches']:12,} {row['bytes_per_launch']:12.1f} {row['wall_s']:8.2f} "
                      f"{row['cpu_s']:8.2f} {row['launches_per_s'] / 1e6:12.2f} {row['resident_mb']:11.0f}", flush=True)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"cores": len(os.sched_getaffinity(0)), "analysis": rows}, file, indent=1)


if __name__ == "__main__":
    main()
