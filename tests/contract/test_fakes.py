"""The fakes are like the real libraries where these are there: sonames, symbol versions, and no name that the real lack."""

import os
import pathlib
import re
import sys
import unittest

import harness

SIMULATED = harness.BUILD / "lib" / "simulated"
REAL = pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "lib64"
SKIPPED = 77
HOOKS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "hooks.md"
# Ours: the controls of the simulated device.
CONTROLS = "sim_"
# What a driver newer than every toolkit could have.
NEWER = {"cuLaunchKernel_v14"}
# What CUPTI has from 13.2 on.
NEWER_CUPTI = {"cuptiActivityRegisterCallbacks_v2", "cuptiActivityEnable_v2", "cuptiActivityDisable_v2"}
LIBRARIES = ["libcudart.so.13", "libcupti.so.13", "libcublas.so.13", "libcublasLt.so.13", "libcudnn.so.9",
             "libcudnn_graph.so.9", "libcudnn_cnn.so.9", "libcudnn_adv.so.9",
             "libcudnn_ops.so.9"]


def defined(path):
    lines = harness.output("nm", "-D", "--defined-only", path).splitlines()
    return {line.split()[-1] for line in lines if line.split()[-2] != "A"}


def soname(path):
    return next(line for line in harness.output("readelf", "-dW", path).splitlines() if "SONAME" in line).split("[")[1]


class Fakes(unittest.TestCase):
    def test_names_and_versions(self):
        for name in LIBRARIES:
            with self.subTest(library=name):
                self.assertEqual(soname(SIMULATED / name), soname(REAL / name))
                beside = defined(SIMULATED / name) - defined(REAL / name)
                self.assertEqual(sorted(symbol for symbol in beside if symbol.partition("@")[0] not in NEWER_CUPTI), [])

    def test_driver(self):
        """The toolkit has no driver, but a stub with its names."""
        stub = defined(REAL / "stubs" / "libcuda.so")
        fake = {name for name in defined(SIMULATED / "libcuda.so.1") if not name.startswith(CONTROLS)}
        self.assertEqual(sorted(fake - stub - NEWER), [])

    def test_activity_functions_of_cupti(self):
        """Each that CUPTI has is hooked, or docs/hooks.md says why it need not be."""
        names = {name.partition("@")[0] for name in defined(REAL / "libcupti.so.13") if name.startswith("cuptiActivity")}
        self.assertGreater(len(names), 20)
        named = set(re.findall(r"`(cuptiActivity\w+)`", HOOKS.read_text(encoding="utf-8")))
        self.assertEqual(sorted(names - named), [])


if __name__ == "__main__":
    missing = [name for name in LIBRARIES + ["stubs/libcuda.so"] if not (REAL / name).exists()]
    if missing:
        print(f"skipped: the toolkit's {missing[0]} is not on this machine (set CUDA_HOME)")
        sys.exit(SKIPPED)
    unittest.main()
