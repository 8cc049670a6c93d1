#!/usr/bin/env python3
"""Hosts of every shape on a GPU: other profilers, kills, forks, errors. Each row is a program with and without gpuspy.

    tests/gpu/life.py --build BUILD --out FOLDER [--only NAME...] [--jobs N]

What must hold is correctness, not time: rows run side by side. Leaves life.md and life.json. Exit status: 0 everything held, 1
something did not, 2 it could not be started.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import tables
from runner import Machine

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = HERE / "life"
SECONDS = 120
KILLS = 20
KILLS_AT_ONCE = 5


class Row:
    """One shape of host: what was seen, and what did not hold."""

    def __init__(self, name, promise):
        self.name, self.promise = name, promise
        self.seen, self.faults = [], []

    def need(self, holds, fault):
        if not holds:
            self.faults.append(fault)
        return holds


def report_of(machine, trace):
    """JSON of a trace, or the fault as text."""
    command = [str(machine.report), "--format", "json", str(trace)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        return f"gpuspy-report: exit status {done.returncode}: {done.stderr.strip()[:200]}"
    return json.loads(done.stdout)


def traces_of(machine, row, folder):
    """{file name: report} of what a run left; a trace that cannot be read is a fault."""
    reports = {}
    for trace in sorted((machine.work / folder).glob("trace*.bin*")):  # one that ended before is trace.bin.old
        report = report_of(machine, trace)
        if row.need(not isinstance(report, str), f"{trace.name}: {report}"):
            row.need(report["reading"]["bad_blocks"] == 0, f"{trace.name}: bad blocks")
            reports[trace.name] = report
    return reports


def counted(report):
    launches = report["launches"]
    return (
        f"{launches['host']} launches, {launches['expected']} expected, {launches['device_records']} device records, "
        f"{report['gpu']['untimed']} untimed, "
        f"{'complete' if launches['complete'] else 'not complete: ' + '; '.join(launches['reasons'])}"
    )


def need_all_matched(row, report, complete=True):
    launches = report["launches"]
    row.need(launches["host"] > 0, "no launch was seen")
    row.need(launches["unmatched_launches"] == 0, f"{launches['unmatched_launches']} unmatched launches")
    row.need(launches["unmatched_records"] == 0, f"{launches['unmatched_records']} unmatched records")
    if complete:
        row.need(launches["complete"], f"not complete: {'; '.join(launches['reasons'])}")


def both(machine, row, command, status=0, same_errors=False, timeout_s=SECONDS, **variables):
    """Runs the command bare and recorded, side by side; both must end alike. Gives the recorded run's folder."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = {
            name: pool.submit(machine.run, command, f"{row.name}/{name}", timeout_s, name == "gpuspy", **variables)
            for name in ("bare", "gpuspy")
        }
        bare, recorded = (runs[name].result() for name in ("bare", "gpuspy"))
    row.need(bare.status == status, f"bare: {bare.fault() or 'it ended well'}")
    row.need(recorded.status == bare.status, f"recorded: exit status {recorded.status}: {recorded.fault()}")
    row.need(recorded.stdout == bare.stdout, "standard output differs")
    if same_errors:
        row.need(steady(recorded.stderr) == steady(bare.stderr), "standard error differs")
    return f"{row.name}/gpuspy", recorded


def steady(text):
    """Without what differs from run to run: addresses, pids, times, the paths of temporary folders."""
    return re.sub(r"0x[0-9a-f]+|\b\d+\b|/tmp/\S+", "*", text)


# -- other users of CUPTI --------------------------------------------------------------------------------------------------


def profiler(machine, row, script, complete=True, **variables):
    folder, recorded = both(machine, row, [sys.executable, PROGRAMS / script], **variables)
    reports = traces_of(machine, row, folder)
    if row.need(list(reports) == ["trace.bin"], f"traces: {list(reports)}"):
        report = reports["trace.bin"]
        need_all_matched(row, report, complete)
        row.seen.append(counted(report))
    for line in recorded.stdout.splitlines()[-3:]:
        row.need(not line.endswith(": 0 kernels"), f"the host's profiler saw nothing: {line}")
        row.seen.append(line[:120])


def torch_profiler(machine, row):
    profiler(machine, row, "profiler_sessions.py")


def torch_profiler_teardown(machine, row):
    profiler(machine, row, "profiler_sessions.py", complete=False, TEARDOWN_CUPTI="1")


def jax_profiler(machine, row):
    profiler(machine, row, "profiler_jax.py", complete=False, XLA_PYTHON_CLIENT_PREALLOCATE="false")


def triton_profiler(machine, row):
    profiler(machine, row, "profiler_proton.py", complete=False)


# -- ends ------------------------------------------------------------------------------------------------------------------


def kill_once(machine, index, delay_s):
    """SIGKILL in the middle of ResNet training; (launches without a record, fault)."""
    folder = machine.work / f"sigkill/{index}"
    folder.mkdir(parents=True)
    environment = machine.environment(preload=True)
    command = [sys.executable, str(HERE / "workloads" / "resnet_train.py"), "--steps", "100000"]
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as host:
        steps = 0
        for _ in host.stdout:
            steps += 1
            if steps == 5:
                break
        time.sleep(delay_s)
        host.send_signal(signal.SIGKILL)
        steps += sum(1 for _ in host.stdout)
    if steps < 5 or host.returncode != -signal.SIGKILL:
        return None, f"the training ended by itself: {host.returncode}"
    report = report_of(machine, folder / "trace.bin")
    if isinstance(report, str):
        return None, report
    launches = report["launches"]
    faults = []
    if report["reading"]["bad_blocks"]:
        faults.append("bad blocks")
    if report["process"]["ended_cleanly"] or launches["complete"]:
        faults.append("said to have ended cleanly, or to be complete")
    if launches["unmatched_launches"] or launches["unmatched_records"]:
        faults.append(f"unmatched: {launches['unmatched_launches']} launches, {launches['unmatched_records']} records")
    if launches["expected"] != launches["device_records"] + launches["not_returned"]:
        faults.append(f"{launches['expected']} expected, {launches['device_records']} came, {launches['not_returned']} not returned")
    waits = sum(call["count"] for call in report["calls"] if call["name"] == "cudaStreamSynchronize")
    if waits < steps:  # loss.item() waits once a step, before the step is printed
        faults.append(f"{steps} steps were printed, {waits} waits recorded")
    return launches["not_returned"], "; ".join(faults)


def sigkill(machine, row):
    chance = random.Random(5)
    with concurrent.futures.ThreadPoolExecutor(KILLS_AT_ONCE) as pool:
        runs = [pool.submit(kill_once, machine, index, chance.uniform(0, 0.5)) for index in range(KILLS)]
        outcomes = [run.result() for run in runs]
    missing = [lost for lost, _ in outcomes if lost is not None]
    row.faults += [f"kill {index}: {fault}" for index, (_, fault) in enumerate(outcomes) if fault]
    row.seen.append(f"{len(missing)} of {KILLS} traces read; launches without a record: {min(missing, default='-')} to {max(missing, default='-')}, said")


def one_trace(machine, row, script, status=0, complete=True, same_errors=False):
    folder, _ = both(machine, row, [sys.executable, PROGRAMS / script], status=status, same_errors=same_errors)
    reports = traces_of(machine, row, folder)
    if row.need(list(reports) == ["trace.bin"], f"traces: {list(reports)}"):
        need_all_matched(row, reports["trace.bin"], complete)
        row.seen.append(counted(reports["trace.bin"]))


def exception(machine, row):
    one_trace(machine, row, "exception.py", status=1, same_errors=True)


def os_exit(machine, row):
    one_trace(machine, row, "os_exit.py", status=3)


def illegal_address(machine, row):
    folder, recorded = both(machine, row, [sys.executable, PROGRAMS / "illegal_address.py"])
    reports = traces_of(machine, row, folder)
    row.need("illegal memory access" in recorded.stdout, "the program saw no error")
    if row.need(list(reports) == ["trace.bin"], f"traces: {list(reports)}"):
        row.seen.append(counted(reports["trace.bin"]))


# -- processes and libraries -----------------------------------------------------------------------------------------------


def several(machine, row, command, processes):
    """Each process that uses CUDA has a valid trace of its own."""
    folder, _ = both(machine, row, command)
    reports = traces_of(machine, row, folder)
    row.need(len(reports) == processes, f"{len(reports)} traces: {list(reports)}")
    for name, report in reports.items():
        need_all_matched(row, report)
        row.seen.append(f"{name}: {counted(report)}")
    pids = collections.Counter(report["process"]["pid"] for report in reports.values())
    row.need(len(pids) == len(reports), "two traces of one process")


def loader_workers(machine, row):
    one_trace(machine, row, "loader_workers.py")


def mp_fork(machine, row):
    several(machine, row, [sys.executable, PROGRAMS / "processes.py", "fork"], 3)


def mp_spawn(machine, row):
    several(machine, row, [sys.executable, PROGRAMS / "processes.py", "spawn"], 4)


def two_threads(machine, row):
    one_trace(machine, row, "two_threads.py")


def two_runtimes(machine, row):
    one_trace(machine, row, "two_runtimes.py")


ROWS = [
    (sigkill, "SIGKILL in ResNet-50 training, 20 times: readable, launches without a record stated"),
    (torch_profiler, "torch.profiler sees in three sessions what it sees alone; the trace is complete"),
    (torch_profiler_teardown, "the same when it ends CUPTI after each session (cuptiFinalize)"),
    (jax_profiler, "jax.profiler sees what it sees alone; nothing is unmatched"),
    (triton_profiler, "Triton's Proton sees what it sees alone; nothing is unmatched"),
    (loader_workers, "a DataLoader with 8 forked workers: one trace, complete"),
    (mp_fork, "torch.multiprocessing, fork: a trace for each of 3 processes that use CUDA"),
    (mp_spawn, "torch.multiprocessing, spawn: a trace for each of 4 processes that use CUDA"),
    (two_threads, "two threads, each with a stream of its own"),
    (two_runtimes, "two CUDA runtimes in one process"),
    (exception, "an exception that ends the script: the same message and status, complete"),
    (os_exit, "os._exit(3) keeps its status; complete"),
    (illegal_address, "an illegal address is reported as without gpuspy; readable"),
]


def write(out, rows):
    body = [
        [row.name, row.promise, "<br>".join(row.seen) or "-", "yes" if not row.faults else "NO: " + "; ".join(row.faults)]
        for row in rows
    ]
    text = "\n".join(tables.table(["host", "what must hold", "seen", "held"], body)) + "\n"
    (out / "life.md").write_text(text)
    (out / "life.json").write_text(json.dumps([vars(row) for row in rows], indent=1))
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="folder of the release build")
    parser.add_argument("--out", required=True, help="folder for the results")
    parser.add_argument("--only", nargs="*", default=None, help="names of the rows to run")
    parser.add_argument("--jobs", type=int, default=4, help="rows at once")
    parser.add_argument("--seconds", type=float, default=400, help="end everything after this time")
    args = parser.parse_args()
    known = {function.__name__: (function, promise) for function, promise in ROWS}
    names = list(known) if args.only is None else args.only
    if not names or not known.keys() >= set(names):
        print(f"life.py: --only names nothing, or what is not there; there are: {' '.join(known)}", file=sys.stderr)
        return 2
    out = pathlib.Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    work = tempfile.mkdtemp(prefix="gpuspy-life-")
    machine = Machine(args.build, work, args.seconds)

    def measure(name):
        function, promise = known[name]
        row = Row(name, promise)
        try:
            function(machine, row)
        except Exception as error:  # One row's fault must not lose the others.
            row.faults.append(f"{type(error).__name__}: {error}")
        print(f"{name}: {'; '.join(row.faults) or 'held'}", flush=True)
        return row

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        rows = list(pool.map(measure, names))
    print(write(out, rows))
    shutil.rmtree(work, ignore_errors=True)
    return 1 if any(row.faults for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
