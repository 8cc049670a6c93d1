"""One measured program: its runs, what must hold of them, and the row that they make in the table."""

import dataclasses
import json
import statistics

import compare
import tables

RUN_SECONDS = 90
NOT_MEASURED = 77  # The exit status of a workload that says it cannot run here, on standard error.
LAUNCH_FIELDS = [*tables.LAUNCH_FIELDS, "complete"]
GPU_FIELDS = ["time_ns", "busy_ns", "concurrency"]
KERNEL_FIELDS = ["name", "mangled", "count", "time_ns", "library", "owner"]


@dataclasses.dataclass
class Measured:
    """A program's row.

    `faults` is what did not hold, a line each: empty means that everything held. `not_measured` is why nothing was
    looked at, `notes` what a reader must know though nothing is wrong.
    """

    name: str
    report: dict | None = None
    comparison: compare.Comparison | None = None
    known_kernels: int | None = None
    faults: list = dataclasses.field(default_factory=list)
    notes: list = dataclasses.field(default_factory=list)
    not_measured: str = ""
    seconds: float = 0.0

    def need(self, holds, fault):
        if not holds:
            self.faults.append(fault)
        return holds

    def verdict(self):
        """One line for a person."""
        if self.not_measured:
            return f"not measured: {self.not_measured}"
        return "; ".join(self.faults) or "held"


def check_launches(row, allowed_failures):
    """Promise 2: matched one by one, and complete."""
    launches = row.report["launches"]
    for key in ("unmatched_launches", "unmatched_records"):
        row.need(launches[key] == 0, f"{key} {launches[key]}, must be 0")
    reasons = "; ".join(launches.get("reasons", [])) or "no reason given"
    row.need(launches["complete"] is True, f"the report does not say complete: {reasons}")
    row.need(launches["device_records"] > 0, "no device record")
    row.need(
        launches["expected"] == launches["device_records"],
        f"{launches['expected']} launches expected on the device, {launches['device_records']} records",
    )
    row.need(
        launches["failed"] == allowed_failures,
        f"{launches['failed']} failed launches, the program makes {allowed_failures}",
    )
    counted = sum(kernel["count"] for kernel in row.report["kernels"])
    row.need(
        counted == launches["device_records"],
        f"the kernels' counts add up to {counted}, not to the {launches['device_records']} device records",
    )


def check_host(row, bare, recorded):
    """Promise 1: the same output and exit status with and without gpuspy."""
    row.need(bare.status == 0, f"without gpuspy: {bare.fault()}")
    row.need(recorded.status == bare.status, f"with gpuspy: {recorded.fault() or 'exit status 0'}")
    if recorded.stdout != bare.stdout:
        ours, theirs = recorded.stdout.splitlines(), bare.stdout.splitlines()
        for number, (our_line, their_line) in enumerate(zip(ours, theirs), start=1):
            if our_line != their_line:
                row.faults.append(f"output line {number} is {our_line!r} with gpuspy, {their_line!r} without")
                return
        row.faults.append(f"{len(ours)} lines of output with gpuspy, {len(theirs)} without")


def read_report(machine, row, folder, failures):
    """Reads and checks the trace in `folder`. A report without the fields that the tables show is no report."""
    report, fault = machine.read_trace(folder)
    if not row.need(not fault, fault):
        return
    lacking = [f"launches.{key}" for key in LAUNCH_FIELDS if key not in report.get("launches", {})]
    lacking += [f"gpu.{key}" for key in GPU_FIELDS if key not in report.get("gpu", {})]
    lacking += [f"kernels[].{key}" for key in KERNEL_FIELDS if any(key not in row for row in report.get("kernels", []))]
    if row.need(not lacking, f"the report has no {', '.join(lacking)}"):
        row.report = report
        check_launches(row, failures)


def take_notes(machine, row, folder, recorded):
    """Parts that the workload itself could not run, and traces of further processes, which no check looks at."""
    reasons = dict(line.split(": ", 1) for line in recorded.stderr.splitlines() if ": " in line)
    for line in recorded.stdout.splitlines():
        part, found, _ = line.partition(" not run: ")
        if found:
            row.notes.append(f"{line}: {reasons[part][:200]}" if part in reasons else line)
    others = sorted(path.name for path in (machine.work / folder).glob("trace.*.bin"))
    if others:
        row.notes.append(f"{len(others)} traces of further processes, not looked at: {', '.join(others[:4])}")


def record(machine, row, command, failures=0, seconds=RUN_SECONDS, **variables):
    """Runs `command` without and with gpuspy and reads the trace. None when it cannot run here."""
    bare = machine.run(command, f"{row.name}/bare", seconds, **variables)
    row.seconds += bare.seconds
    if bare.status == NOT_MEASURED:
        row.not_measured = (bare.stderr.strip().splitlines() or ["it did not say why"])[-1]
        return None
    recorded = machine.run(command, f"{row.name}/gpuspy", seconds, preload=True, **variables)
    row.seconds += recorded.seconds
    check_host(row, bare, recorded)
    read_report(machine, row, f"{row.name}/gpuspy", failures)
    take_notes(machine, row, f"{row.name}/gpuspy", recorded)
    return recorded


def measure_workload(machine, python, script, seconds=RUN_SECONDS, profiled=True, compare_time=True):
    """A workload in Python: without gpuspy, with it, and, if it is PyTorch's, under torch.profiler."""
    row = Measured(script.stem)
    command = [python, script]
    recorded = record(machine, row, command, seconds=seconds)
    if recorded is not None and profiled:
        compare_with_profiler(machine, row, command, recorded, seconds, compare_time)
    return row


def compare_with_profiler(machine, row, command, recorded, seconds, compare_time):
    """The same kernels, as often; and the same time, where the kernels are long enough for that."""
    profile = machine.work / row.name / "profile.json"
    profiled = machine.run([*command, "--profile", profile], f"{row.name}/profiler", seconds)
    row.seconds += profiled.seconds
    if not row.need(profiled.status == 0, f"under torch.profiler: {profiled.fault()}"):
        return
    row.need(profiled.stdout == recorded.stdout, "the output under torch.profiler is another than under gpuspy")
    if row.report:
        row.comparison = compare.Comparison(
            compare.of_report(row.report), compare.of_profile(json.loads(profile.read_text()))
        )
        (machine.work / row.name / "comparison.txt").write_text("\n".join(row.comparison.lines()) + "\n")
        row.need(row.comparison.same_kernels, f"{len(row.comparison.differences)} kernels with another count")
        same_time = row.comparison.same_time or not compare_time
        row.need(same_time, f"total kernel time is {row.comparison.time_ratio} times torch.profiler's")


def measure_program(machine, name, command, failures=0, **variables):
    """A program that prints `kernels N`: the number that must be found on the device."""
    row = Measured(name)
    recorded = record(machine, row, command, failures, **variables)
    if recorded is None:
        return row
    words = recorded.stdout.split()
    if row.need("kernels" in words[:-1], "the program did not print its number of kernels"):
        row.known_kernels = int(words[words.index("kernels") + 1])
        if row.report:
            found = row.report["launches"]["device_records"]
            row.need(found == row.known_kernels, f"{found} device records, the program launched {row.known_kernels}")
    return row


def microseconds_per_operator(outcome):
    """What small_ops.py says on standard error; None when it said nothing."""
    for line in outcome.stderr.splitlines():
        if line.startswith("us_per_operator "):
            return float(line.split()[1])
    return None


def interleave(machine, python, script, rounds):
    """The cost of recording: each variant once per round, in turn. {variant: [µs per operator, one per round]}."""
    command = [python, script]
    variants = {
        "nothing": lambda: machine.run(command, "ab/nothing", RUN_SECONDS),
        "gpuspy, host only": lambda: machine.run(
            command, "ab/host_only", RUN_SECONDS, preload=True, GPUSPY_DEVICE_TIMING="0"
        ),
        "gpuspy": lambda: machine.run(command, "ab/full", RUN_SECONDS, preload=True),
        "torch.profiler": lambda: machine.run([*command, "--profile", "profile.json"], "ab/profiler", RUN_SECONDS),
    }
    samples = {name: [] for name in variants}
    slowest_round = 0.0
    for _ in range(rounds):
        before = machine.seconds_left()
        if before < 1.2 * slowest_round:
            break
        values = {name: microseconds_per_operator(run()) for name, run in variants.items()}
        slowest_round = max(slowest_round, before - machine.seconds_left())
        if None not in values.values():
            for name, value in values.items():
                samples[name].append(value)
    return samples


def summary(samples):
    """Rows (variant, median, least, most, median of the rounds' ratios to nothing); none without a whole round."""
    base = samples["nothing"]
    return [
        (
            name,
            statistics.median(values),
            min(values),
            max(values),
            statistics.median(v / b for v, b in zip(values, base)),
        )
        for name, values in samples.items()
        if values
    ]
