"""Kernels have their names, by whatever way their handles came, with device times and without."""

import resource
import shutil
import subprocess
import time
import unittest

import harness

MANY = 100_000
EACH = {f"kernel_{number:07}": 1 for number in range(MANY)}


class Names(harness.TestCase):
    def with_and_without_device_times(self, *command, **variables):
        bare = self.run_host(*command, preload=False)
        for timing in (1, 0):
            with self.subTest(timing=timing):
                spied = self.run_host(*command, GPUSPY_DEVICE_TIMING=timing, **variables)
                self.assertEqual((spied.status, spied.stdout, spied.stderr), (bare.status, bare.stdout, bare.stderr))
                self.assertEqual(spied.status, 0)
                report = spied.report()
                self.assert_launches(report)
                self.assertEqual(report["launches"]["dropped"], {})
                yield report

    def test_every_way_to_a_kernel(self):
        for report in self.with_and_without_device_times("names", "ways"):
            self.assert_kernels(report, from_module=1, from_library=3, from_librarys_module=1,
                                from_compiled_at_run_time=1, _Z10registeredv=2)

    def test_look_up_that_is_not_seen(self):
        for report in self.with_and_without_device_times("names", "hidden"):
            self.assert_kernels(report, hidden_launch=3, hidden_node=2, hidden_kernel=1, hidden_even=20,
                                hidden_odd=40)

    def test_graph_nodes_added_by_hand(self):
        for report in self.with_and_without_device_times("names", "nodes"):
            self.assert_kernels(report, by_function=2, by_kernel=2, by_cast=2)

    def test_node_that_becomes_another_kernel(self):
        for report in self.with_and_without_device_times("names", "changed"):
            self.assert_kernels(report, as_captured=1 + 8, as_changed=2, as_changed_again=4)

    def test_handles_that_come_back(self):
        for report in self.with_and_without_device_times("names", "reuse", 60):
            self.assert_kernels(report, **{f"module_{number}": number % 3 + 1 for number in range(60)})

    def test_looked_up_again_and_again(self):
        """A name that the trace has already is not written again."""
        sizes = []
        for count in (1, 5000):
            run = self.run_host("names", "again", count)
            self.assert_kernels(run.report(), looked_up_again=1, and_this_one=1)
            sizes.append(run.traces()[0].stat().st_size)
        self.assertLess(sizes[1], sizes[0] + 2000)

    def test_names_of_every_kind(self):
        names = ["not\ufffd\ufffdtext\ufffd", "_Z" + "x" * (65535 - 2), "long_" + "a" * 20000, "long_" + "a" * 20000 + "b"]
        for report in self.with_and_without_device_times("names", "odd"):
            counts = harness.kernel_counts(report)
            self.assertEqual(sum(counts.values()), 9)
            for name in names:
                self.assertEqual(counts.get(name), 1, (name[:20], [key[:40] for key in counts]))
            # An empty name, and a kernel that is called so.
            self.assertEqual(counts.get("(name not known)"), 2)

    def test_stripped_program(self):
        if shutil.which("strip") is None:
            self.skipTest("no strip")
        stripped = self.new_folder() / "stripped"
        subprocess.run(["strip", "--strip-all", "-o", stripped, harness.HOSTS / "names"], check=True, timeout=30)
        for timing in (1, 0):
            run = self.run_command([stripped, "ways"], GPUSPY_DEVICE_TIMING=timing)
            self.assertEqual(harness.kernel_counts(run.report())["_Z10registeredv"], 2)

    def test_kernels_that_are_loaded_at_their_first_launch(self):
        """The runtime loads a kernel at its first launch: its name is there in time."""
        for report in self.with_and_without_device_times("launch_runtime"):
            self.assert_kernels(report, _Z3addPfS_=5, _Z5scalePff=7)


class ManyNames(harness.TestCase):
    """A hundred thousand kernels, each launched once: every name exact. The ring is large, since the host is fast."""

    def run_many(self, way, timing, **variables):
        begin = time.monotonic()
        run = self.run_host("names", "many", way, MANY, GPUSPY_DEVICE_TIMING=timing, **variables)
        self.assertEqual((run.status, run.stderr), (0, b""))
        self.assertLess(time.monotonic() - begin, 60)
        return run.report()

    def check(self, report):
        self.assert_launches(report, host=MANY, failed=0)
        self.assertEqual(report["launches"]["dropped"], {})
        counts = harness.kernel_counts(report)
        self.assertEqual(len(counts), MANY)
        self.assertEqual(counts, EACH)

    def test_with_device_times(self):
        for way in ("module", "runtime"):
            with self.subTest(way=way):
                self.check(self.run_many(way, 1, GPUSPY_RING_KIB=65536))
        # Of every process that this test started, the report's among them; a sanitizer's own memory is several times that.
        if harness.BUILD.name not in ("asan", "tsan"):
            self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 1 << 20, "KiB")

    def test_without_device_times(self):
        for way in ("module", "library"):
            with self.subTest(way=way):
                self.check(self.run_many(way, 0, GPUSPY_RING_KIB=65536))


if __name__ == "__main__":
    unittest.main()
