"""The toolkit's own runtime and cuDNN, on a machine without a driver: the same errors with and without gpuspy."""

import os
import pathlib
import sys
import unittest

import harness

FOLDERS = [pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "lib64", pathlib.Path("/usr/local/cuda/lib64")]


def find(soname):
    return next((folder / soname for folder in FOLDERS if (folder / soname).exists()), None)


class RealLibraries(harness.TestCase):
    def test_errors_are_the_same(self):
        command = [harness.HOSTS / "real_libraries", RUNTIME, CUDNN]
        bare = self.run_command(command, preload=False, LD_LIBRARY_PATH=RUNTIME.parent)
        spied = self.run_command(command, LD_LIBRARY_PATH=RUNTIME.parent)
        self.assertEqual(bare.status, 0, (bare.stdout, bare.stderr))
        self.assertIn(b"cudaMalloc cudaError", bare.stdout)
        self.assertEqual((spied.status, spied.stdout, spied.stderr), (bare.status, bare.stdout, bare.stderr))

    def test_linked_program(self):
        """The program that is linked with the runtime, on the real one."""
        bare = self.run_host("launch_runtime", preload=False, LD_LIBRARY_PATH=RUNTIME.parent)
        spied = self.run_host("launch_runtime", LD_LIBRARY_PATH=RUNTIME.parent)
        self.assertIn(b"failed with", bare.stdout)
        self.assertEqual((spied.status, spied.stdout, spied.stderr), (bare.status, bare.stdout, bare.stderr))


if __name__ == "__main__":
    RUNTIME = find("libcudart.so.13")
    CUDNN = find("libcudnn.so.9")
    if RUNTIME is None or CUDNN is None:
        missing = "libcudart.so.13" if RUNTIME is None else "libcudnn.so.9"
        print(f"skipped: the toolkit's {missing} is not on this machine (set CUDA_HOME)")
        sys.exit(harness.SKIPPED)
    unittest.main()
