"""What the measurements look like as Markdown."""


def table(header, rows):
    """Lines of a Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "| " + " | ".join("---" for _ in header) + " |"]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


def milliseconds(ns):
    """A time; a report without device times has none."""
    return "-" if ns is None else f"{ns / 1e6:,.3f}"


LAUNCH_FIELDS = "expected device_records unmatched_launches unmatched_records captured failed graph_nodes".split()


def launches_table(rows):
    header = ["program", "expected", "device records", "unmatched launches", "unmatched records", "captured", "failed"]
    header += ["graph nodes", "distinct kernels", "complete", "GPU time ms", "concurrency", "known answer", "all held"]
    body = []
    for row in rows:
        verdict = "not measured" if row.not_measured else "yes" if not row.faults else "NO"
        if not row.report:
            body.append([row.name, *["-"] * (len(header) - 2), verdict])
            continue
        launches, gpu = row.report["launches"], row.report["gpu"]
        cells = [launches[key] for key in LAUNCH_FIELDS]
        cells += [len({kernel["mangled"] or kernel["name"] for kernel in row.report["kernels"]})]
        cells += ["yes" if launches["complete"] else "NO", milliseconds(gpu["time_ns"])]
        cells += ["-" if gpu["concurrency"] is None else f"{gpu['concurrency']:.2f}"]
        cells += ["-" if row.known_kernels is None else row.known_kernels]
        body.append([row.name, *cells, verdict])
    return table(header, body)


def profiler_table(rows):
    header = ["program", "kernels", "torch.profiler's", "distinct", "torch.profiler's", "other counts", "time ms"]
    header += ["torch.profiler's", "ratio"]
    body = []
    for row in rows:
        if row.comparison:
            ours, theirs = row.comparison.ours, row.comparison.theirs
            cells = [
                ours.launches,
                theirs.launches,
                len(ours.counts),
                len(theirs.counts),
                len(row.comparison.differences),
            ]
            ratio = row.comparison.time_ratio
            cells += [
                milliseconds(ours.time_ns),
                milliseconds(theirs.time_ns),
                "-" if ratio is None else f"{ratio:.4f}",
            ]
            body.append([row.name, *cells])
    return table(header, body)


def owners_table(rows):
    """Share of GPU time by owning library."""
    body = []
    for row in rows:
        if not row.report:
            continue
        times = {}
        for kernel in row.report["kernels"]:
            owner = kernel["library"] or kernel["owner"] or "not known"
            times[owner] = times.get(owner, 0) + (kernel["time_ns"] or 0)
        total = sum(times.values()) or 1
        shares = sorted(times.items(), key=lambda item: -item[1])
        body.append([row.name, ", ".join(f"{owner} {time / total:.1%}" for owner, time in shares)])
    return table(["program", "kernel time by owner"], body)


def cost_table(summary):
    header = ["small operators", "median µs", "least", "most", "ratio to nothing (median of rounds)"]
    return table(header, [[name, *(f"{value:.2f}" for value in values)] for name, *values in summary])


def page(facts, rows, cost, rounds, faults):
    """The whole result."""
    lines = ["# Measurements on a GPU", ""]
    lines += [f"- {name}: {value}" for name, value in facts.items()]
    lines += ["", "## Launches and device records", "", *launches_table(rows)]
    lines += ["", "## The same kernels as torch.profiler", "", *profiler_table(rows)]
    lines += ["", "## Who owns the kernels", "", *owners_table(rows)]
    lines += ["", f"## Cost: the small-operator loop, {rounds} interleaved rounds", "", *cost_table(cost)]
    notes = [f"- {row.name}: not measured: {row.not_measured}" for row in rows if row.not_measured]
    notes += [f"- {row.name}: {note}" for row in rows for note in row.notes]
    if notes:
        lines += ["", "## What was not looked at", "", *notes]
    lines += ["", "## What did not hold", ""]
    lines += [f"- {fault}" for fault in faults] or ["Everything held."]
    return "\n".join(lines) + "\n"
