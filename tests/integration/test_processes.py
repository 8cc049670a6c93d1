"""Processes that come of one another in every way: each that calls has one whole trace of its own, each that does not has none, none hangs."""

import collections
import unittest

import harness


class Processes(harness.TestCase):
    def reports_of(self, how, answer, **variables):
        """What the host says of its children must be the same without gpuspy. Gives all reports."""
        for preload in (False, True):
            run = self.run_host("processes", how, preload=preload, **variables)
            self.assertEqual((run.status, run.stdout, run.stderr), (0, b"%d\n" % answer, b""), preload)
        reports = run.reports()
        for report in reports:
            self.assertEqual(report["reading"]["bad_blocks"], 0)
            self.assertEqual(report["launches"]["dropped"], {})
            self.assertTrue(report["process"]["ended_cleanly"])
        self.assertEqual(len({report["process"]["pid"] for report in reports}), len(reports))
        return reports

    def calls_of(self, how, answer, **variables):
        """How often a process made so many calls: {calls: processes}."""
        reports = self.reports_of(how, answer, **variables)
        return collections.Counter(harness.call_counts(report)["cublasSaxpy_v2"] for report in reports)

    def test_children_that_walk_the_loaders_list(self):
        """Our drain thread reads it too, and a lock that it holds at the fork would be held in the child for ever."""
        self.assertEqual(self.calls_of("loader", 300, GPUSPY_DRAIN_MS=1), {301: 1})

    def test_children_of_a_process_that_looks_functions_up(self):
        self.assertEqual(self.calls_of("look_ups", 200), {})

    def test_fork_storm(self):
        expected = collections.Counter(child % 7 + 1 for child in range(0, 300, 2))
        expected[5] += 1
        self.assertEqual(self.calls_of("storm", 300), expected)

    def test_fork_while_other_threads_are_inside(self):
        """Of first calls that claim rings, of look-ups, of calls. What the parent did is not known in advance; its children's calls are."""
        reports = self.reports_of("busy", 100)
        calls = collections.Counter(harness.call_counts(report)["cublasSaxpy_v2"] for report in reports)
        self.assertEqual((len(reports), calls[3]), (101, 100))

    def test_system_calls_that_clone(self):
        """No handler of the C library's runs."""
        for how in ("clone", "clone3"):
            with self.subTest(how=how):
                self.assertEqual(self.calls_of(how, 4), {3: 1, 4: 4})

    def test_vfork_and_spawn(self):
        self.assertEqual(self.calls_of("exec", 200), {200: 1})

    def test_daemon(self):
        self.assertEqual(self.calls_of("daemon", 1), {6: 1})

    def test_child_of_a_child(self):
        self.assertEqual(self.calls_of("generations", 10), {2: 10})


if __name__ == "__main__":
    unittest.main()
