"""Runs host programs on the simulated device, with and without libgpuspy.so, and reads what gpuspy-report says."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["GPUSPY_BUILD"])
HOSTS = pathlib.Path(os.environ["GPUSPY_HOSTS"])
PRELOAD = BUILD / "lib" / "libgpuspy.so"
REPORT = BUILD / "bin" / "gpuspy-report"
SIMULATED = BUILD / "lib" / "simulated"
TIMEOUT_S = 30
SKIPPED = 77


class Run:
    """What a program did and left. `folder` is where it ran; traces are files that it left there."""

    def __init__(self, folder, process):
        self.folder = folder
        self.status = process.returncode
        self.stdout = process.stdout
        self.stderr = process.stderr

    def traces(self):
        return sorted(path for path in self.folder.iterdir() if path.name.startswith("trace."))

    def reports(self):
        return [read_report(path) for path in self.traces()]

    def report(self):
        """The report of the one trace there is."""
        traces = self.traces()
        if len(traces) != 1:
            raise AssertionError(f"{len(traces)} traces: {[path.name for path in traces]}; stderr: {self.stderr!r}")
        return read_report(traces[0])

    def listed_calls(self):
        """Every recorded call of the one trace there is, a line each (gpuspy-report --format calls)."""
        (trace,) = self.traces()
        process = subprocess.run([REPORT, "--format", "calls", trace], capture_output=True, text=True,
                                 timeout=TIMEOUT_S, check=False)
        if process.returncode != 0:
            raise AssertionError(f"gpuspy-report --format calls: status {process.returncode}, {process.stderr!r}")
        return process.stdout.splitlines()


def environment(preload, **variables):
    """A small environment of our own, so that a caller's CUDA settings change nothing."""
    chosen = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "LANG") if name in os.environ}
    chosen["LD_LIBRARY_PATH"] = f"{SIMULATED}:{HOSTS}"
    if preload:
        chosen["LD_PRELOAD"] = str(PRELOAD)
    chosen.update({name: str(value) for name, value in variables.items()})
    return chosen


def read_report(path):
    process = subprocess.run([REPORT, "--format", "json", path], capture_output=True, timeout=TIMEOUT_S, check=False)
    if process.returncode != 0:
        raise AssertionError(f"gpuspy-report {path.name}: status {process.returncode}, {process.stderr!r}")
    return json.loads(process.stdout)


def read_view(path, table):
    """The rows of one table of a view: `table` is its full name, flops.operations."""
    process = subprocess.run([REPORT, "--view", table, "--format", "json", path], capture_output=True,
                             timeout=TIMEOUT_S, check=False)
    if process.returncode != 0:
        raise AssertionError(f"gpuspy-report --view {table}: status {process.returncode}, {process.stderr!r}")
    view, name = table.split(".")
    return json.loads(process.stdout)["views"][view][name]["rows"]


@contextlib.contextmanager
def private_shared_memory(case):
    """A /dev/shm that no other gpuspy on this machine looks into: its folder, and a function that puts a command, to be run in `folder`,
    there. Skips the test where mounting needs privileges."""
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode != 0:
        case.skipTest("mounting needs privileges")
    with subprocess.Popen(["unshare", "-m", "sh", "-ec", "mount -t tmpfs none /dev/shm; echo; exec sleep 600"],
                          stdout=subprocess.PIPE) as keeper:
        try:
            keeper.stdout.readline()

            def there(folder, *command):
                return ["nsenter", f"--mount=/proc/{keeper.pid}/ns/mnt", "sh", "-ec", "cd \"$0\"; exec \"$@\"", str(folder),
                        *map(str, command)]

            yield pathlib.Path(f"/proc/{keeper.pid}/root/dev/shm"), there
        finally:
            keeper.kill()


class TestCase(unittest.TestCase):
    """Each run has an empty folder of its own, removed at the end of the test."""

    maxDiff = None

    def new_folder(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="gpuspy-test-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        return folder

    def run_host(self, name, *arguments, preload=True, **variables):
        return self.run_command([HOSTS / name, *arguments], preload=preload, **variables)

    def run_command(self, command, preload=True, **variables):
        folder = self.new_folder()
        process = subprocess.run([str(part) for part in command], cwd=folder, env=environment(preload, **variables),
                                 capture_output=True, stdin=subprocess.DEVNULL, timeout=TIMEOUT_S, check=False)
        return Run(folder, process)

    def recorded(self, name, *arguments, status=0, **variables):
        """Runs a host that shall end with `status` under gpuspy; gives its report."""
        run = self.run_host(name, *arguments, **variables)
        self.assertEqual(run.status, status, (run.stdout, run.stderr))
        self.assertEqual(run.stderr, b"")
        return run.report()

    def assert_launches(self, report, **expected):
        """Named counts of launches; both kinds of unmatched are 0 unless they are named."""
        expected = {"unmatched_launches": 0, "unmatched_records": 0, **expected}
        found = {name: report["launches"][name] for name in expected}
        self.assertEqual(found, expected, report["launches"])

    def assert_complete(self, report, launches, **expected):
        """`launches` kernels were launched one by one, and each came back from the device."""
        self.assert_launches(report, **{"host": launches, "captured": 0, "failed": 0, "graph_launches": 0,
                                        "expected": launches, "device_records": launches, "complete": True,
                                        **expected})

    def assert_kernels(self, report, **expected):
        """Counts by mangled name: exactly these kernels."""
        self.assertEqual(kernel_counts(report), expected)


def kernel_counts(report):
    """Counts by mangled name, over all owners."""
    counts = {}
    for kernel in report["kernels"]:
        counts[kernel["mangled"]] = counts.get(kernel["mangled"], 0) + kernel["count"]
    return counts


def call_counts(report):
    return {call["name"]: call["count"] for call in report["calls"]}


def copies(report):
    return {copy["direction"]: (copy["count"], copy["bytes"]) for copy in report["copies"]}
