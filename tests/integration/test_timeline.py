"""Times, waits and copies whose right values are known."""

import unittest

import harness

MS = 1_000_000


class Timeline(harness.TestCase):
    def test_manual_clock_is_exact(self):
        report = self.recorded("timeline", SIM_CLOCK="manual")
        self.assert_complete(report, 4)
        gpu = report["gpu"]
        self.assertEqual(gpu["kernel_time_ns"], 5000 + 1000 + 5000 + 1000)
        self.assertEqual(gpu["time_ns"], 12000 + 500 + 250)
        self.assertEqual(gpu["busy_ns"], 7000 + 1750)
        self.assertAlmostEqual(gpu["concurrency"], 12750 / 8750)
        times = {kernel["mangled"]: (kernel["count"], kernel["min_ns"], kernel["max_ns"]) for kernel in report["kernels"]}
        self.assertEqual(times, {"_Z11long_kernelv": (2, 5000, 5000), "_Z12short_kernelv": (2, 1000, 1000)})
        self.assertEqual(harness.copies(report), {"DtoD": (1, 1000), "memset": (1, 512)})

    def test_graph_nodes_run_one_after_another(self):
        report = self.recorded("graphs", "child", SIM_CLOCK="manual", SIM_KERNEL_NS=700)
        self.assertEqual(report["gpu"]["kernel_time_ns"], 21 * 700)
        self.assertEqual(report["gpu"]["busy_ns"], 21 * 700)

    def test_branches_of_a_graph_overlap(self):
        """first, then second beside two of third: 1000 + 2000 busy of 4000, after a set; then a copy."""
        report = self.recorded("graphs", "replay", SIM_CLOCK="manual")
        gpu = report["gpu"]
        self.assertEqual(gpu["kernel_time_ns"], 24 * 1000)
        self.assertEqual(gpu["busy_ns"], 5 * 3000 + 2 * (250 + 3000 + 500) + 1000)


class Waits(harness.TestCase):
    KERNEL_NS = 5 * MS

    def setUp(self):
        self.report = self.recorded("sync_threads", SIM_KERNEL_NS=self.KERNEL_NS)

    def test_every_thread_waited(self):
        self.assert_complete(self.report, 40)
        sync = self.report["sync"]
        waiting = [thread for thread in sync["threads"] if thread["time_ns"] > 5 * self.KERNEL_NS]
        self.assertEqual(len(waiting), 4, sync["threads"])

    def test_each_kind_of_wait_is_named(self):
        times = {call["name"]: call["time_ns"] for call in self.report["sync"]["calls"]}
        for name in ("cudaStreamSynchronize", "cudaEventSynchronize", "cuStreamSynchronize", "cudaDeviceSynchronize"):
            # Ten kernels each; a wait may have begun late, never by more than half of them.
            self.assertGreater(times[name], 5 * self.KERNEL_NS, name)
            self.assertLess(times[name], 100 * self.KERNEL_NS, name)

    def test_no_thread_waited_longer_than_the_wall(self):
        for thread in self.report["sync"]["threads"]:
            self.assertLessEqual(thread["share_of_wall"], 1.0)
        self.assertLessEqual(self.report["sync"]["any_thread_ns"], self.report["wall_ns"])


class Copies(harness.TestCase):
    def test_directions_and_bytes(self):
        report = self.recorded("copies")
        self.assertEqual(harness.copies(report), {
            "HtoD": (3, 1000 + 500 + 10),
            "DtoH": (3, 1000 + 500 + 100),
            "DtoD": (2, 1000 + 100),
            "memset": (3, 1000 + 256 + 100),
        })
        self.assert_launches(report, host=0, expected=0, device_records=0, complete=True)

    def test_blocking_copies_are_waits(self):
        report = self.recorded("copies", SIM_COPY_NS=10 * MS)
        times = {call["name"]: call["time_ns"] for call in report["sync"]["calls"]}
        self.assertGreater(times["cudaMemcpy"], 20 * MS)


if __name__ == "__main__":
    unittest.main()
