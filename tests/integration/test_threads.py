"""Threads in numbers: each gets a ring, none waits for long, rings and memory are used again."""

import unittest

import harness


class Threads(harness.TestCase):
    def recorded_calls(self, *arguments, said=b"called\n", **variables):
        """What is recorded of cublasSaxpy_v2, and what is counted as lost by cause."""
        report = None
        for preload in (False, True):
            run = self.run_host("threads", *arguments, preload=preload, GPUSPY_RING_KIB=16, **variables)
            self.assertEqual((run.status, run.stdout, run.stderr), (0, said, b""), preload)
            report = run.report() if preload else None
        self.assertEqual(report["reading"]["bad_blocks"], 0)
        return harness.call_counts(report)["cublasSaxpy_v2"], report["launches"]["dropped"]

    def test_a_thousand_that_begin_at_once(self):
        """They claim their rings at the same moment."""
        self.assertEqual(self.recorded_calls("alive", 1000), (1 + 3 * 1000, {}))

    def test_waves_of_a_hundred(self):
        self.assertEqual(self.recorded_calls("waves", 20, 100), (1 + 20 * 100 * 2, {}))

    def test_short_lived(self):
        # No more threads than there can be rings, so that nothing depends on when the drain thread runs.
        self.assertEqual(self.recorded_calls("short", 4000, said=b"memory is flat\ncalled\n"), (1 + 4000 * 2, {}))

    def test_short_lived_leave_no_memory_behind(self):
        """A page for each of them would be more than is called flat."""
        calls, dropped = self.recorded_calls("short", 100_000, said=b"memory is flat\ncalled\n")
        self.assertEqual(calls + sum(dropped.values()), 1 + 100_000 * 2)


if __name__ == "__main__":
    unittest.main()
