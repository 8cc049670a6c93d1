#!/usr/bin/env python3
"""HolisticTraceAnalysis beside gpuspy-report, on the same content: time and memory of the kernel breakdown.

usage: compare_hta.py BUILD PYTHON [--launches N] [--runs N] [--json FILE]

PYTHON is an interpreter with the package HolisticTraceAnalysis. A trace of the loop is made and exported as Chrome JSON, which HTA
reads; each of both runs is a process of its own from the file to the table of kernels, and both must name the same kernel with the
same count and total time.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

from measure import resident_and_times

HTA = """
import json, logging, os, sys
os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"
from hta.trace_analysis import TraceAnalysis
logging.disable(logging.WARNING)
analysis = TraceAnalysis(trace_files={0: sys.argv[1]})
_, rows = analysis.get_gpu_kernel_breakdown(visualize=False, duration_ratio=1.0, num_kernels=10**6)
kernels = {row["name"]: [round(row["sum (us)"] * 1000)] for _, row in rows.iterrows() if row["kernel_type"] != "MEMORY"}
json.dump(kernels, open(sys.argv[2], "w"))
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("python")
    parser.add_argument("--launches", type=int, default=200_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    build = arguments.build
    with tempfile.TemporaryDirectory() as folder:
        trace, exported, told = (os.path.join(folder, name) for name in ("trace.bin", "trace.json", "told.json"))
        subprocess.run([f"{build}/bin/make_trace", "loop", str(arguments.launches), trace], check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run([f"{build}/bin/gpuspy-report", "export", "--to", "kineto", "-o", exported, trace], check=True)
        report = [f"{build}/bin/gpuspy-report", "--format", "json", "-o", told, trace]
        ours = [resident_and_times(report) for _ in range(arguments.runs)]
        with open(told) as file:
            expected = {row["name"]: [row["time_ns"]] for row in json.load(file)["kernels"]}
        theirs = [resident_and_times([arguments.python, "-c", HTA, exported, told]) for _ in range(arguments.runs)]
        with open(told) as file:
            found = json.load(file)
        if found != expected:
            sys.exit(f"compare_hta.py: HTA found {found}, the report {expected}")
        sizes = os.path.getsize(trace), os.path.getsize(exported)
    rows = []
    print(f"{'tool':24} {'file MB':>8} {'wall s':>8} {'CPU s':>8} {'resident MB':>12}")
    for name, results, size in (("gpuspy-report", ours, sizes[0]), ("HolisticTraceAnalysis", theirs, sizes[1])):
        row = {"tool": name, "file_mb": size / 1e6, "wall_s": statistics.median(result[0] for result in results),
               "cpu_s": statistics.median(result[1] for result in results),
               "resident_mb": max(result[2] for result in results) * 1024 / 1e6}
        rows.append(row)
        print(f"{name:24} {row['file_mb']:8.1f} {row['wall_s']:8.2f} {row['cpu_s']:8.2f} {row['resident_mb']:12.0f}")
    print(f"{rows[1]['wall_s'] / rows[0]['wall_s']:.0f} times the wall time, {rows[1]['cpu_s'] / rows[0]['cpu_s']:.0f} times "
          f"the CPU time, {rows[1]['resident_mb'] / rows[0]['resident_mb']:.0f} times the memory")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"launches": arguments.launches, "tools": rows}, file, indent=1)


if __name__ == "__main__":
    main()
