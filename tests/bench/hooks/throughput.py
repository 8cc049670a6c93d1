"""Events a second that are recorded and drained to disk without a loss: throughput.py BUILD [--json FILE].

One thread calls at a rate for two seconds; the drain thread has the rest of the machine. With rings of their default size.
"""

import argparse
import json
import pathlib
import sys

import preloaded

RATES = (1_000_000, 2_000_000, 5_000_000, 7_000_000, 10_000_000)
SECONDS = 2


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("build")
    arguments.add_argument("--json")
    chosen = arguments.parse_args()
    build = preloaded.Build(chosen.build)
    rows = []
    print(f"{'asked for, 1/s':>16}{'made, 1/s':>14}{'dropped':>12}{'bytes an event':>16}{'drain, ns an event':>20}")
    for rate in RATES:
        run = build.record([build.program("bench_paced_calls"), rate, SECONDS, 1], GPUSPY_RING_KIB="1024", GPUSPY_DRAIN_MS="20")
        made, seconds = run.process.stdout.split()
        events = int(made) + 1
        row = {"asked_per_s": rate, "made_per_s": events / float(seconds), "dropped": run.dropped,
               "bytes_per_event": run.trace_bytes / events, "drain_ns_per_event": run.report["overhead"]["drain_ns"] / events}
        rows.append(row)
        print(f"{rate:>16,}{row['made_per_s']:>14,.0f}{row['dropped']:>12,}{row['bytes_per_event']:>16.2f}"
              f"{row['drain_ns_per_event']:>20.1f}")
    if chosen.json:
        pathlib.Path(chosen.json).write_text(json.dumps({"seconds": SECONDS, "rates": rows}, indent=2), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
