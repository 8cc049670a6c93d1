"""Every hook forwards every argument and result, in the form of each major version of the vendor's libraries."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import abi
import harness

HEADERS = pathlib.Path(os.environ.get("GPUSPY_VENDOR_HEADERS", abi.ROOT / "build" / "vendor-headers"))


def setUpModule():
    try:
        abi.folders.fetch_all(HEADERS)
    except OSError as error:
        print(f"skipped: the vendor's headers cannot be fetched: {error}")
        sys.exit(77)


def run(program, folder, **variables):
    environment = {**os.environ, "GPUSPY_OUTPUT": str(folder / "trace.bin"), "GPUSPY_DEVICE_TIMING": "0", **variables}
    return subprocess.run([program], env=environment, capture_output=True, text=True, timeout=120, check=False)


class Abi(unittest.TestCase):
    def check(self, header_set, at_least):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            functions = abi.read_functions(HEADERS, header_set)
            self.assertGreaterEqual(len(functions), at_least)
            program = abi.build(folder, functions)
            bare = run(program, folder)
            self.assertEqual((bare.returncode, bare.stderr), (0, ""), bare.stdout[-2000:])
            self.assertFalse((folder / "trace.bin").exists())
            recorded = run(program, folder, LD_PRELOAD=str(harness.PRELOAD))
            self.assertEqual((recorded.returncode, recorded.stderr), (0, ""), recorded.stdout[-2000:])
            self.assertEqual(recorded.stdout, bare.stdout)
            self.assertRegex(bare.stdout, rf"^{len(functions)} functions, 0 faults$")
            if any(function.forwarded for function in functions):
                self.assertTrue((folder / "trace.bin").exists(), "nothing was recorded: the hooks were not in between")


def add(header_set, at_least):
    name = "test_" + re.sub(r"\W", "_", header_set)
    setattr(Abi, name, lambda self: self.check(header_set, at_least))


# How many functions of the table each declares, at least: a set that is read as empty must not pass.
for _set, _count in {
    "toolkit": 1500, "cuda12.9": 1300, "cuda12.0": 1000, "cuda11.7": 900, "cudnn9.0": 60, "cudnn8.9": 70, "cudnn8.5": 70,
    "nccl2.13": 20, "nccl2.32": 40, "cutensor1": 5, "cutensor2": 6, "cusparselt": 3,
}.items():
    add(_set, _count)


class Tables(unittest.TestCase):
    def check(self, script):
        command = [sys.executable, abi.ROOT / "scripts" / "hook_tables" / script, "--check", "--headers", HEADERS]
        process = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual((process.returncode, process.stderr), (0, ""))

    def test_tables_are_what_the_headers_give(self):
        self.check("make.py")

    def test_document_is_what_the_tables_give(self):
        self.check("document.py")


if __name__ == "__main__":
    unittest.main()
