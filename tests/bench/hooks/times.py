"""What a hook adds to a call, in ns: times.py BUILD [--rounds N] [--json FILE].

The variants run in turns, in processes of their own. Given is the median and the least of the rounds: what else runs on the machine
adds, and nothing takes away.
"""

import argparse
import json
import re
import statistics
import sys

import preloaded

BURST = 2000  # hooks.cpp


def measure(build, variant, stamps):
    """{(call, threads): ns a call}, and what was dropped. To `stamps` go the ns of two readings of the time counter."""
    run = build.run(variant, [build.program("bench_hooks"), "--benchmark_format=json"])
    found = {}
    for row in json.loads(run.process.stdout)["benchmarks"]:
        if row["name"].startswith("two_time_stamps"):
            stamps.append(row["real_time"])
            continue
        call, threads = re.fullmatch(r"(\w+)/iterations:\d+/manual_time/threads:(\d+)", row["name"]).groups()
        # Google Benchmark divides a thread's time by the iterations of all threads.
        found[call, int(threads)] = row["real_time"] * int(threads) / BURST
    return found, run.dropped


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("build")
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--json")
    chosen = arguments.parse_args()
    build = preloaded.Build(chosen.build)
    times = {}
    stamps = []
    dropped = 0
    for _ in range(chosen.rounds):
        for variant in preloaded.VARIANTS:
            found, lost = measure(build, variant, stamps)
            dropped += lost
            for key, value in found.items():
                times.setdefault(key, {}).setdefault(variant, []).append(value)
    rows = []
    print(f"{'call':<24}{'threads':>8}{'bare':>12}{'off, added':>18}{'recorded, added':>20}   ns, least (median)")
    for (call, threads), by_variant in times.items():
        least = {variant: min(values) for variant, values in by_variant.items()}
        median = {variant: statistics.median(values) for variant, values in by_variant.items()}
        row = {"call": call, "threads": threads, "bare_ns": least["bare"]}
        text = f"{call:<24}{threads:>8}{least['bare']:>6.1f} ({median['bare']:.1f})"
        for variant in ("off", "recorded"):
            row[f"{variant}_added_ns"] = least[variant] - least["bare"]
            row[f"{variant}_added_median_ns"] = median[variant] - median["bare"]
            text += f"{row[f'{variant}_added_ns']:>11.1f} ({row[f'{variant}_added_median_ns']:.1f})"
        rows.append(row)
        print(text)
    print(f"of a recorded call two readings of the time counter take {min(stamps):.1f} ({statistics.median(stamps):.1f})")
    if dropped != 0:
        print(f"{dropped} events were dropped: these are not the times of recorded calls", file=sys.stderr)
    if chosen.json:
        with open(chosen.json, "w", encoding="utf-8") as file:
            json.dump({"rounds": chosen.rounds, "dropped": dropped, "two_time_stamps_ns": min(stamps), "calls": rows}, file, indent=2)
    return 1 if dropped else 0


if __name__ == "__main__":
    sys.exit(main())
