"""However the process ends, the trace is readable and holds what the host had done."""

import os
import random
import signal
import subprocess
import time
import unittest

import harness

ROUNDS = 20


class Exits(harness.TestCase):
    def test_clean_ends(self):
        for how, status in (("return", 7), ("exit", 7), ("thread", 5), ("_exit", 7), ("_Exit", 7)):
            with self.subTest(how=how):
                report = self.recorded("exits", how, status=status)
                self.assert_complete(report, 5)
                self.assertTrue(report["process"]["ended_cleanly"])

    def test_main_leaves_and_another_thread_is_the_last(self):
        """Ours must not be the one that keeps the process alive."""
        bare = self.run_host("main_leaves", preload=False)
        run = self.run_host("main_leaves")
        self.assertEqual((run.status, run.stdout, run.stderr), (bare.status, bare.stdout, bare.stderr))
        self.assertEqual(run.status, 0)
        self.assertEqual({c["name"]: c["count"] for c in run.report()["calls"]}["cudaDeviceSynchronize"], 5)

    def test_exit_without_handlers_beside_another_thread(self):
        """The rings are left to a salvager, since the other thread might still record; what CUPTI held is there all the same."""
        report = self.recorded("exits", "_exit_beside", status=7)
        self.assert_launches(report, host=6, expected=6, device_records=6, not_returned=0)
        self.assertIn("ended without notice", report["process"]["end"])

    def test_child_of_vfork_ends_nothing(self):
        run = self.run_host("exits", "vfork")
        self.assertEqual((run.status, run.stdout), (7, b"launched 5\nchild 9\n"))
        report = run.report()
        self.assert_complete(report, 6)
        self.assertTrue(report["process"]["ended_cleanly"])

    def test_end_without_synchronisation(self):
        report = self.recorded("exits", "unsynchronised")
        self.assert_complete(report, 5)

    def test_ends_without_notice(self):
        endings = (("quick_exit", 7), ("abort", -signal.SIGABRT), ("kill", -signal.SIGKILL),
                   ("segfault", -signal.SIGSEGV))
        for how, status in endings:
            with self.subTest(how=how):
                report = self.recorded("exits", how, status=status)
                self.assertEqual(report["launches"]["host"], 5, report["launches"])
                self.assertEqual(harness.call_counts(report)["cudaDeviceSynchronize"], 1)
                self.assertEqual(report["reading"]["bad_blocks"], 0)


class Killed(harness.TestCase):
    """Each launch that the host logged is in the report; at most the one that it was in is more."""

    def assert_holds(self, folder, log):
        done = log.stat().st_size if log.exists() else 0
        traces = [path for path in folder.iterdir() if path.name.startswith("trace.")]
        if done == 0 and not traces:
            return 0
        launches = harness.read_report(folder / "trace.bin")["launches"]["host"]
        self.assertGreaterEqual(launches, done)
        self.assertLessEqual(launches, done + 1)
        return done

    def test_sigkill_at_random_moments(self):
        chance = random.Random(20_240_229)
        seen = 0
        for _ in range(ROUNDS):
            folder = self.new_folder()
            log = folder / "log"
            with subprocess.Popen([harness.HOSTS / "long_run", log], cwd=folder, env=harness.environment(True)) as host:
                deadline = time.monotonic() + harness.TIMEOUT_S
                while not log.exists() or log.stat().st_size == 0:
                    self.assertLess(time.monotonic(), deadline, "the host did not start")
                    time.sleep(0.001)
                time.sleep(chance.uniform(0.0, 0.08))
                os.kill(host.pid, signal.SIGKILL)
                host.wait(timeout=harness.TIMEOUT_S)
            seen += self.assert_holds(folder, log)
        self.assertGreater(seen, ROUNDS)

    def test_own_ends_after_a_number_of_launches(self):
        for how, status in (("_exit", 0), ("abort", -signal.SIGABRT)):
            for count in (1, 17, 1000):
                with self.subTest(how=how, count=count):
                    folder = self.new_folder()
                    log = folder / "log"
                    host = subprocess.run([harness.HOSTS / "long_run", log, str(count), how], cwd=folder,
                                          env=harness.environment(True), timeout=harness.TIMEOUT_S, check=False)
                    self.assertEqual(host.returncode, status)
                    self.assertEqual(log.stat().st_size, count)
                    self.assertEqual(harness.read_report(folder / "trace.bin")["launches"]["host"], count)


class Overflow(harness.TestCase):
    def test_a_full_ring_drops_and_says_so(self):
        """A host faster than the drain thread, with the smallest ring: what is lost is counted, and never held back."""
        folder = self.new_folder()
        log = folder / "log"
        count = 20_000
        host = subprocess.run([harness.HOSTS / "long_run", log, str(count), "return"], cwd=folder, check=False,
                              env=harness.environment(True, GPUSPY_RING_KIB=16, GPUSPY_DRAIN_MS=1000),
                              timeout=harness.TIMEOUT_S)
        self.assertEqual((host.returncode, log.stat().st_size), (0, count))
        launches = harness.read_report(folder / "trace.bin")["launches"]
        self.assertLess(launches["host"], count)
        self.assertGreater(sum(launches["dropped"].values()), 0, launches)
        self.assertFalse(launches["complete"])


class Unwound(harness.TestCase):
    """Calls that never return: by cancellation, longjmp, an exception, the thread's exit."""

    def test_handler_that_jumps_out_of_calls(self):
        """Wherever it comes: out of the first call too, which looks for its library, and while an event is written."""
        report = self.recorded("jumps", GPUSPY_RING_KIB=16384)
        self.assertEqual(harness.call_counts(report).get("cublasSscal_v2"), 1000, report["launches"])
        dropped = sum(report["launches"]["dropped"].values())
        self.assertGreater(dropped, 0, "no jump came while an event was written")
        self.assertLessEqual(dropped, 500)

    def test_longjmp(self):
        report = self.recorded("unwind", "longjmp")
        self.assert_complete(report, 4)

    def test_exception(self):
        self.assert_complete(self.recorded("unwind", "exception"), 4)

    def test_thread_exit(self):
        self.assert_complete(self.recorded("unwind", "thread_exit"), 4)

    def test_cancellation(self):
        report = self.recorded("unwind", "cancel")
        self.assertEqual(report["launches"]["host"], 5)
        self.assertEqual(report["launches"]["failed"], 0)


if __name__ == "__main__":
    unittest.main()
