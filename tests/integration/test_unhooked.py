"""Driver calls that reach no hook are told by CUPTI's callback: each counts once, as what it was."""

import unittest

import harness


class Unhooked(harness.TestCase):
    def both(self, what):
        bare = self.run_host("unhooked", what, preload=False)
        spied = self.run_host("unhooked", what)
        self.assertEqual(bare.status, 0, bare.stdout)
        self.assertEqual((spied.status, spied.stdout, spied.stderr), (bare.status, bare.stdout, bare.stderr))
        return spied.report()

    def test_in_turn_with_calls_that_are_seen(self):
        report = self.both("mixed")
        self.assert_launches(report, host=10, unhooked=7, failed=1, expected=9, device_records=9, complete=True)
        self.assert_kernels(report, hidden=9)
        self.assertEqual(harness.copies(report), {"DtoD": (6, 60), "memset": (6, 600)})
        calls = harness.call_counts(report)
        self.assertEqual((calls["cuLaunchKernel"], calls["cuMemsetD8Async"], calls["cuMemcpyDtoDAsync_v2"]), (10, 6, 6))

    def test_capture_that_is_not_seen_at_all(self):
        """What the graph holds is not known, which is said; its launches, and what was captured, are."""
        report = self.both("capture")
        self.assert_launches(report, host=1 + 3 + 2 + 1, unhooked=6, captured=3, graph_launches=2, unknown_graphs=2,
                             expected=2, device_records=2 + 6, complete=False)

    def test_launches_into_a_capture_that_is_seen(self):
        report = self.both("launches")
        self.assert_launches(report, host=1 + 3 + 2 + 1, unhooked=6, captured=3, graph_launches=2, graph_nodes=6,
                             expected=8, device_records=8, complete=True)
        self.assert_kernels(report, hidden=8)
        self.assertEqual(harness.copies(report), {"memset": (2, 200)})

    def test_seen_launches_into_a_capture_that_is_not(self):
        report = self.both("begin")
        self.assert_launches(report, host=1 + 3 + 2 + 1, unhooked=1, captured=3, graph_launches=2, graph_nodes=6,
                             expected=8, device_records=8, complete=True)
        self.assertEqual({kernel["owner"]: kernel["count"] for kernel in report["kernels"]}, {"unhooked": 7, "unknown": 1})


if __name__ == "__main__":
    unittest.main()
