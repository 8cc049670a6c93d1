"""After their thread's first event, hooks that launch, copy, set, wait, allocate, communicate or execute a library's work neither
allocate nor take a lock nor make a system call, with one exception that is bounded: the call that wakes the drain thread, at most once in
a quarter of a ring. The hosts set a trap for all three and say what was caught (tests/hosts/trap.hpp); a lock of gpuspy's own asks for the process's id, and
is caught as a system call.
"""

import re
import unittest

import harness

SYS_FUTEX = 202
FUTEX_WAKE_PRIVATE = 129


def caught(run):
    """{(what the thread was doing, what was caught): times}; and the closing line."""
    lines = run.stdout.decode().splitlines()
    found = {}
    for line in lines[:-1]:
        doing, what, times = re.fullmatch(r"(.+): (.+), (\d+) times", line).groups()
        found[doing, what] = int(times)
    return found, lines[-1]


class SilentLibrary(harness.TestCase):
    """The library behind the hooks does nothing at all: whatever the trap catches is ours."""

    def watched(self, how, preload=True, **variables):
        run = self.run_host("silent_calls", how, preload=preload, GPUSPY_DEVICE_TIMING=0, **variables)
        if run.status == harness.SKIPPED:
            self.skipTest("no seccomp")
        self.assertEqual((run.status, run.stderr), (0, b""), run.stdout)
        found, last = caught(run)
        return run, found, int(last.removesuffix(" functions"))

    def test_every_such_hook(self):
        for how in ("linked", "pointers"):
            with self.subTest(how=how):
                run, found, functions = self.watched(how, GPUSPY_RING_KIB=16384)
                self.assertEqual(found, {})
                self.assertGreater(functions, 1500)
                report = run.report()
                # One to begin with, two rounds that are not watched, three that are.
                self.assertEqual(sum(harness.call_counts(report).values()), 1 + 5 * functions)
                self.assertEqual(len(report["calls"]), functions)
                self.assertEqual(report["launches"]["dropped"], {})

    def test_ring_that_becomes_full(self):
        run, found, functions = self.watched("full", GPUSPY_RING_KIB=16)
        report = run.report()
        recorded = sum(harness.call_counts(report).values())
        self.assertEqual(recorded + report["launches"]["dropped"]["ring_full"], 1 + 62 * functions)
        self.assertLessEqual(found.keys(), {("any call", f"system call {SYS_FUTEX} ({FUTEX_WAKE_PRIVATE})")})
        # A ring of 16 KiB holds some 200 events: at most four wakes for them, and one more for the first that is dropped.
        self.assertLess(sum(found.values()), recorded / 20)

    def test_first_call_of_a_thread_is_caught(self):
        _, found, _ = self.watched("first")
        self.assertGreater(len(found), 0)
        self.assertTrue(all(what.startswith("system call") for _, what in found), found)

    def test_set_up_is_caught(self):
        _, found, _ = self.watched("set_up")
        self.assertGreater(len(found), 0)

    def test_library_that_allocates_and_locks_is_caught(self):
        for preload in (False, True):
            _, found, _ = self.watched("library", preload=preload)
            self.assertLessEqual({("library", "malloc"), ("library", "free"), ("library", "pthread_mutex_lock")},
                                 set(found))


class SimulatedDevice(harness.TestCase):
    """With CUPTI's callbacks inside of the calls. The simulated driver does what it likes: only what comes from libgpuspy.so counts."""

    def test_launches_copies_and_waits(self):
        for timing in (1, 0):
            with self.subTest(timing=timing):
                run = self.run_host("sim_calls", "libgpuspy.so", GPUSPY_DEVICE_TIMING=timing, GPUSPY_RING_KIB=16384)
                if run.status == harness.SKIPPED:
                    self.skipTest("no seccomp")
                self.assertEqual((run.status, run.stderr), (0, b""), run.stdout)
                found, last = caught(run)
                self.assertEqual(last, "used")
                # The set-up call at the end is there to be caught.
                self.assertEqual({doing for doing, _ in found}, {"cuModuleGetFunction"}, found)
                self.assertEqual(harness.call_counts(run.report())["cuMemcpyDtoH_v2"], 52)


if __name__ == "__main__":
    unittest.main()
