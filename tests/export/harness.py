"""Runs gpuspy-report, and gives the tests the tools that open exports."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

REPORT = os.environ["GPUSPY_REPORT"]
SOURCE = pathlib.Path(os.environ["GPUSPY_SOURCE"])
TOOLS = pathlib.Path(os.environ["GPUSPY_EXPORT_TOOLS"])
GOLDEN = SOURCE / "tests" / "golden"
# Of many kinds, none of which takes long: graphs, several streams, NCCL, without device times, with overlap.
VARIED = [GOLDEN / f"h200_{name}.bin" for name in (
    "cupy_arrays", "graph_resnet_infer", "jax_jit", "launches_static_ptds", "nccl_alone", "small_ops_host_only", "transformer",
    "two_streams")]
TIMEOUT_S = 60
SKIPPED = 77


def skip(reason):
    """Ends the whole test as skipped, for ctest to see."""
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def with_tools():
    """Makes the tools importable, or skips the test where there are none."""
    if not (TOOLS / "requirements.txt").exists():
        skip("the tools that open exports are not there: the test export.tools says why")
    sys.path.insert(0, str(TOOLS))


def report(*arguments, **options):
    return subprocess.run([REPORT, *map(str, arguments)], capture_output=True, timeout=TIMEOUT_S, check=False, **options)


def report_json(trace, *arguments):
    process = report(trace, "--format", "json", *arguments)
    if process.returncode != 0:
        raise AssertionError(process.stderr.decode())
    return json.loads(process.stdout)


def table(trace, name):
    view, table_name = name.split(".")
    return report_json(trace, "--view", name)["views"][view][table_name]["rows"]


class TestCase(unittest.TestCase):
    maxDiff = None

    def new_folder(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="gpuspy-export-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        return folder

    def scripted(self, what):
        """A trace of write_ranges_trace.cpp."""
        path = self.new_folder() / f"{what}.bin"
        subprocess.run([os.environ["GPUSPY_WRITE_TRACE"], path, what], check=True, timeout=TIMEOUT_S)
        return path

    def export(self, kind, trace, name):
        path = self.new_folder() / name
        process = report("export", "--to", kind, "-o", path, trace)
        self.assertEqual((process.returncode, process.stderr), (0, b""))
        return path
