"""A host's output and status are byte for byte the same with and without gpuspy."""

import re
import unittest

import harness

HOSTS = [
    ("launch_runtime",), ("launch_driver",), ("launch_static",), ("two_runtimes",), ("owners",), ("libraries",),
    ("launch_lookup", "dlsym"), ("launch_lookup", "procaddress"), ("launch_lookup", "entrypoint"),
    ("launch_lookup", "next"), ("launch_lookup", "default"),
    ("graphs", "replay"), ("graphs", "child"), ("graphs", "update"), ("graphs", "manual"), ("graphs", "disable"),
    ("graphs", "broken"), ("sync_threads",), ("copies",), ("errors",), ("timeline",),
    ("forks", "plain"), ("forks", "child"), ("forks", "both"), ("forks", "late"),
    ("exits", "return"), ("exits", "exit"), ("exits", "_exit"), ("exits", "quick_exit"), ("exits", "abort"),
    ("exits", "kill"), ("exits", "segfault"), ("exits", "thread"), ("exits", "unsynchronised"),
    ("unwind", "cancel"), ("unwind", "longjmp"), ("unwind", "exception"), ("unwind", "thread_exit"),
    ("plain",), ("probe",), ("devices",), ("cuda12",), ("launch_forms",), ("names", "odd"), ("names", "reuse", 20),
]

FAILURES = [
    {"SIM_NO_DEVICE": 1},
    {"SIM_FAIL": "cuInit:999:0"},
    {"SIM_FAIL": "cuLaunchKernel:700:5"},
    {"SIM_FAIL": "cuLaunchKernel:1:3,cudaDeviceSynchronize:999:1"},
    {"SIM_FAIL": "cuStreamSynchronize:719:1"},
    {"SIM_FAIL": "cuMemAlloc_v2:2:1"},
    {"SIM_FAIL": "cudnnBackendExecute:5000:1,cublasLtMatmul:13:1"},
    {"SIM_DRIVER_VERSION": 12000},
]


class Transparency(harness.TestCase):
    def assert_same(self, host, **variables):
        bare = self.run_host(*host, preload=False, **variables)
        spied = self.run_host(*host, **variables)
        self.assertEqual((spied.status, spied.stdout, spied.stderr), (bare.status, bare.stdout, bare.stderr))
        self.assertEqual(bare.traces(), [])
        spied.reports()  # Readable, each of them; and the rings of hosts that ended without notice are gone then.

    def test_every_host(self):
        for host in HOSTS:
            with self.subTest(host=host):
                self.assert_same(host)

    def test_failing_calls(self):
        for failure in FAILURES:
            for host in (("errors",), ("libraries",), ("launch_static",)):
                with self.subTest(host=host, failure=failure):
                    self.assert_same(host, **failure)

    def test_runpath_of_the_caller_applies(self):
        """cuDNN finds its sub-libraries by its own RUNPATH, whoever stands between."""
        cudnn = harness.SIMULATED / "libcudnn.so.9"
        bare = self.run_host("by_path", cudnn, preload=False, LD_LIBRARY_PATH="")
        spied = self.run_host("by_path", cudnn, LD_LIBRARY_PATH="")
        self.assertIn(b"version known", bare.stdout)
        self.assertEqual((spied.status, spied.stdout, spied.stderr), (bare.status, bare.stdout, bare.stderr))

    def test_no_driver(self):
        """Without libcuda.so.1: the runtime's own error, nothing else."""
        alone = self.new_folder()
        (alone / "libcudart.so.13").symlink_to(harness.SIMULATED / "libcudart.so.13")
        bare = self.run_host("launch_runtime", preload=False, LD_LIBRARY_PATH=alone)
        spied = self.run_host("launch_runtime", LD_LIBRARY_PATH=alone)
        self.assertEqual(bare.stdout, b"cudaLaunchKernel: failed with 35\n")
        self.assertEqual((spied.status, spied.stdout, spied.stderr), (bare.status, bare.stdout, bare.stderr))

    def test_switched_off(self):
        run = self.run_host("launch_runtime", GPUSPY_DISABLE=1)
        self.assertEqual((run.status, run.stdout, run.stderr, run.traces()), (0, b"launched 12\n", b"", []))

    def test_bad_settings_give_one_line_each(self):
        run = self.run_host("launch_runtime", GPUSPY_DRAIN_MS="soon")
        self.assertEqual((run.status, run.stdout), (0, b"launched 12\n"))
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.assertRegex(run.stderr.decode(), re.compile("GPUSPY_DRAIN_MS.*soon"))
        self.assert_complete(run.report(), 12)


class CapturedGraphs(harness.TestCase):
    def test_nothing_is_added_to_a_hosts_graph(self):
        run = self.run_host("graphs", "replay")
        self.assertEqual(run.stdout.splitlines()[0], b"nodes: 3")


if __name__ == "__main__":
    unittest.main()
