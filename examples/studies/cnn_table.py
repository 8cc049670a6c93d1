"""The utilisation table of the networks that cnn_utilisation.py ran, as Markdown.

    python3 cnn_table.py --report .../gpuspy-report traces/runs.json >table.md

Each trace is asked for its steady state: iterations are found by gpuspy-report itself, the network carries no marks.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def ask(report, trace, *options):
    return json.loads(subprocess.run([report, trace, "--format", "json", *options], check=True, capture_output=True).stdout)


def traces_by_pid(report, folder):
    """One process after the other: each but the last moved its trace to trace.bin.old.N, so names say nothing."""
    return {ask(report, trace, "--top", "1")["process"]["pid"]: trace for trace in folder.glob("trace.*bin*")}


def measure(report, trace, run):
    """What one run took in its steady state; None stands for what is not known."""
    views = ask(report, trace, "--view", "flops.totals,phases", "--steady")["views"]
    whole = ask(report, trace, "--top", "1")
    iterations = [row for row in ask(report, trace, "--view", "phases")["views"]["phases"]["iterations"]["rows"]
                  if row["kind"] != "warm-up"]
    (total,) = views["flops"]["totals"]["rows"]
    durations = sorted(row["duration_ns"] for row in iterations)
    steady_ns = sum(durations)
    images = run["batch"] * len(iterations)
    return {
        **run,
        "complete": whole["launches"]["complete"],
        "iterations": len(iterations),
        "launches": iterations[len(iterations) // 2]["launches"],
        "ms": durations[len(durations) // 2] / 1e6,
        "images_per_s": images / (steady_ns / 1e9),
        "busy": sum(row["busy_ns"] for row in iterations) / steady_ns,
        "gflop_per_image": total["flops"] and total["flops"] / images / 1e9,
        "covered": total["covered"],
        "of_wall": total["utilisation_of_wall"],
        "of_busy": total["utilisation_of_busy"],
    }


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0] * len(values)
    for rank, position in enumerate(order):
        result[position] = rank
    return result


def rank_correlation(a, b):
    """Spearman's, without ties."""
    n = len(a)
    return 1 - 6 * sum((x - y) ** 2 for x, y in zip(ranks(a), ranks(b))) / (n * (n * n - 1))


def percent(value):
    return "-" if value is None else f"{100 * value:.1f}"


def table(rows, number_format):
    """Both batch sizes of a network side by side, highest utilisation at the larger batch first."""
    batches = sorted({row["batch"] for row in rows})
    by_key = {(row["network"], row["batch"]): row for row in rows if row["format"] == number_format}
    networks = sorted({network for network, _ in by_key}, key=lambda name: -(by_key[name, batches[-1]]["of_wall"] or 0))
    head = ["network", "GFLOP/image", "covered %"]
    for batch in batches:
        head += [f"{batch}: ms", "images/s", "busy %", "of peak: wall %", "busy %"]
    print("| " + " | ".join(head) + " |")
    print("| --- |" + " ---: |" * (len(head) - 1))
    for network in networks:
        last = by_key[network, batches[-1]]
        cells = [network, f"{last['gflop_per_image']:.2f}", percent(last["covered"])]
        for batch in batches:
            row = by_key[network, batch]
            cells += [f"{row['ms']:.3f}", f"{row['images_per_s']:,.0f}", percent(row["busy"]), percent(row["of_wall"]),
                      percent(row["of_busy"])]
        print("| " + " | ".join(cells) + " |")


def compare_with_published(rows, number_format):
    """Do the networks come in the order of a published table? By rank correlation, of images a second."""
    with open(HERE / "published_throughput.csv", encoding="utf-8") as file:
        published = {line["network"]: line for line in csv.DictReader(x for x in file if not x.startswith("#"))}
    batch = max(row["batch"] for row in rows)
    ours = {row["network"]: row for row in rows if row["format"] == number_format and row["batch"] == batch}
    both = [name for name in published if name in ours]
    theirs = [float(published[name]["images_per_s"]) for name in both]
    arithmetic = [float(published[name]["images_per_s"]) * float(published[name]["gmacs"]) for name in both]
    print(f"\nAgainst the published table, {len(both)} networks, batch {batch}, {number_format}: rank correlation of images/s "
          f"{rank_correlation([ours[name]['images_per_s'] for name in both], theirs):.3f}, of arithmetic a second "
          f"{rank_correlation([ours[name]['of_wall'] or 0 for name in both], arithmetic):.3f}")
    gaps = sorted(both, key=lambda name: abs(ranks(theirs)[both.index(name)]
                                             - ranks([ours[n]["images_per_s"] for n in both])[both.index(name)]))
    print("Places that differ most: " + ", ".join(gaps[-3:]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", default="gpuspy-report")
    parser.add_argument("--json", help="file for the rows as JSON")
    parser.add_argument("runs", type=pathlib.Path)
    args = parser.parse_args()

    runs = json.loads(args.runs.read_text())
    traces = traces_by_pid(args.report, args.runs.parent)
    rows = []
    for run in runs:
        if run["status"] == 0:
            rows.append(measure(args.report, traces[run["pid"]], run))
    failed = [run for run in runs if run["status"] != 0]
    incomplete = [row["network"] for row in rows if not row["complete"]]
    print(f"{len(rows)} runs, {len(failed)} failed {failed or ''}, {len(incomplete)} not complete {incomplete or ''}",
          file=sys.stderr)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(rows, indent=1))
    for number_format in sorted({row["format"] for row in rows}):
        print(f"\n### {number_format}\n")
        table(rows, number_format)
        compare_with_published(rows, number_format)


if __name__ == "__main__":
    main()
