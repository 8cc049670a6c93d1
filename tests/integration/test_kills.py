"""However and whenever the process ends, with several threads recording: what had been written to a ring is in the report.

GPUSPY_KILL_ROUNDS: rounds of each kind (tests/kills.sh runs hundreds)."""

import os
import pathlib
import random
import signal
import struct
import subprocess
import time
import unittest

import counted
import harness

ROUNDS = int(os.environ.get("GPUSPY_KILL_ROUNDS", "3"))
RUN = harness.BUILD / "bin" / "gpuspy-run"
SHARED = pathlib.Path("/dev/shm")
# Rings that take all that a thread may launch, so that none is dropped, however slow the machine is: a launch is two calls of
# 200 bytes at most.
MOST = 4000
SETTINGS = {"GPUSPY_RING_KIB": 2048}
SIGNALS = {"SIGKILL": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT}
OWN = {"_exit": 7, "abort": -signal.SIGABRT, "segfault": -signal.SIGSEGV, "quick_exit": 7, "exec": 7,
       "raise": -signal.SIGTERM}


class Kills(harness.TestCase):
    def start(self, folder, how, threads, moment_us, under_run):
        log = counted.Log(folder / "log")
        command = [harness.HOSTS / "counted", log.path, str(threads), how, str(moment_us), str(MOST)]
        command = [RUN, "--quiet", "--", *command] if under_run else command
        process = subprocess.Popen(command, cwd=folder, env=harness.environment(not under_run, **SETTINGS),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        return log, process

    def finish(self, process):
        _, said = process.communicate(timeout=2 * harness.TIMEOUT_S)
        return process.returncode, said

    def assert_rings_gone(self, pid, before):
        """`before`: rings of other gpuspys, of processes that had the same number."""
        self.assertEqual({path.name for path in SHARED.glob(f"gpuspy.{pid}.*")} - before, set())

    def check(self, folder, log, kind, under_run, status, before):
        """`status`: as subprocess has it for the host itself."""
        threads = log.threads()
        trace = folder / "trace.bin"
        self.assertEqual([path.name for path in folder.iterdir() if path.name.startswith("trace") and path != trace], [])
        if not trace.exists():
            self.assertEqual(log.launches(), 0, "launches, and no trace")
            return 0
        report = harness.read_report(trace)
        self.assertEqual((report["reading"]["bad_blocks"], report["reading"]["tail_bytes"]), (0, 0), report["reading"])
        self.assertEqual(report["launches"]["dropped"].get("ring_full", 0), 0)
        listed = counted.listed_launches(trace)
        self.assertLessEqual(set(listed), set(threads))
        for tid, (begun, done) in threads.items():
            found = listed.get(tid, [])
            self.assertGreaterEqual(len(found), done, f"thread {tid}")
            self.assertLessEqual(len(found), begun, f"thread {tid}")
            for one, other in zip(found, found[1:]):
                self.assertIn(other - one, (8, 8 * (1 - counted.KERNELS)))
        # Every launch is matched, or said to have no record yet: none is without a cause.
        launches = report["launches"]
        self.assertEqual((launches["unmatched_launches"], launches["unmatched_records"]), (0, 0), launches["reasons"])
        self.assertEqual(launches["expected"], launches["matched"] + launches["not_returned"])
        if under_run:
            self.assertEqual(report["process"]["wait_status"], (-status) if status < 0 else status << 8)
        elif not (kind == "_exit" and len(threads) == 1):  # alone, it is as good as an exit
            self.assertIn("ended without notice", report["process"]["end"])
        self.assert_rings_gone(log.pid(), before)
        return log.launches()

    def round(self, chance, kind, under_run):
        folder = self.new_folder()
        before = {path.name for path in SHARED.glob("gpuspy.*")}
        threads = chance.randint(1, 4)
        moment_s = chance.uniform(0, 0.03)
        if kind in OWN:
            log, process = self.start(folder, kind, threads, int(moment_s * 1e6), under_run)
            status, said = self.finish(process)
            expected = OWN[kind]
            self.assertEqual(status, 128 - expected if under_run and expected < 0 else expected, said)
        else:
            log, process = self.start(folder, "run", threads, 0, under_run)
            # One in four in the process's first moments, whatever it is at.
            if chance.random() < 0.75:
                counted.wait_until(self, log.all_threads_launched, "the host did not start")
            elif under_run:
                counted.wait_until(self, log.pid, "the host did not start")
            time.sleep(moment_s)
            os.kill(log.pid() if under_run else process.pid, SIGNALS[kind])
            status, said = self.finish(process)
            expected = -SIGNALS[kind]
            self.assertEqual(status, 128 - expected if under_run else expected, said)
        if under_run and not (folder / "trace.bin").exists():
            self.assertIn(b"no trace was written", said)  # Killed before its first call.
        else:
            self.assertEqual(said, b"")
        return self.check(folder, log, kind, under_run, expected, before)

    def rounds(self, kind):
        seed = int.from_bytes(kind.encode(), "little") + ROUNDS
        chance = random.Random(seed)
        launched = 0
        for number in range(ROUNDS):
            with self.subTest(kind=kind, round=number, seed=seed):
                launched += self.round(chance, kind, under_run=number % 2 == 1)
        self.assertGreater(launched, 0)

    def test_sigkill(self):
        self.rounds("SIGKILL")

    def test_sigterm(self):
        self.rounds("SIGTERM")

    def test_sigint(self):
        self.rounds("SIGINT")

    def test_exit_without_handlers(self):
        self.rounds("_exit")

    def test_abort(self):
        self.rounds("abort")

    def test_segfault(self):
        self.rounds("segfault")

    def test_quick_exit(self):
        self.rounds("quick_exit")

    def test_exec(self):
        self.rounds("exec")

    def test_own_signal(self):
        self.rounds("raise")


class Reaped(harness.TestCase):
    """A dead process's rings are not left to whoever reads its trace: the next process of gpuspy takes them."""

    def kill_one(self):
        folder = self.new_folder()
        before = set(SHARED.glob("gpuspy.*"))
        log = counted.Log(folder / "log")
        with subprocess.Popen([harness.HOSTS / "counted", log.path, "2", "run", "0", str(MOST)], cwd=folder,
                              env=harness.environment(True, GPUSPY_DRAIN_MS=1000, **SETTINGS)) as host:
            counted.wait_until(self, log.all_threads_launched, "the host did not start")
            # While it lives: from then on any gpuspy that starts on this machine, another test's too, may take them.
            rings = [path for path in SHARED.glob(f"gpuspy.{log.pid()}.*") if path not in before]
            self.assertEqual(len(rings), 1)
            os.kill(host.pid, signal.SIGKILL)
            host.wait(timeout=harness.TIMEOUT_S)
        return folder, log, rings[0]

    def assert_taken(self, folder, log, ring):
        counted.wait_until(self, lambda: not ring.exists(), "nobody took the rings")
        content = (folder / "trace.bin").read_bytes()
        report = harness.read_report(folder / "trace.bin")
        self.assertTrue(report["process"]["salvaged"])
        self.assertGreaterEqual(report["launches"]["host"], log.launches())
        self.assertEqual((folder / "trace.bin").read_bytes(), content, "the report did it, not the process before")

    def test_by_the_next_recording(self):
        folder, log, ring = self.kill_one()
        self.assert_complete(self.recorded("launch_runtime"), 12)
        self.assert_taken(folder, log, ring)

    def test_by_gpuspy_run(self):
        folder, log, ring = self.kill_one()
        self.run_command([RUN, "--", "true"], preload=False)
        self.assert_taken(folder, log, ring)

    def test_by_a_report_of_another_trace(self):
        other = self.run_host("launch_runtime")
        folder, log, ring = self.kill_one()
        other.report()
        self.assert_taken(folder, log, ring)


class OlderRings(harness.TestCase):
    """What another version of gpuspy left, whose rings nobody reads any more."""

    def setUp(self):
        private = harness.private_shared_memory(self)
        self.shared, self.there = private.__enter__()
        self.addCleanup(private.__exit__, None, None, None)
        self.folder = self.new_folder()

    def leave_ring(self, version):
        """Of a process that is gone: as each layout so far begins (collector/abi/ring_layout.hpp)."""
        gone = subprocess.Popen(["true"])
        gone.wait()
        nonce = 0x1234567 + version
        path = self.shared / f"gpuspy.{gone.pid}.{nonce:016x}"
        header = b"GSPYRNG1" + struct.pack("<IIQI", version, 4096, nonce, gone.pid)
        path.write_bytes(header + bytes(8192 - len(header)))
        return path

    def said_by(self, *command, preload=False):
        process = subprocess.run(self.there(self.folder, *command), env=harness.environment(preload), capture_output=True,
                                 timeout=harness.TIMEOUT_S, check=True)
        return process.stderr

    def test_are_removed_and_said(self):
        newer = self.leave_ring(1000)
        said = b"8192 bytes of rings that dead processes of an older gpuspy left in /dev/shm were removed unread\n"
        ring = self.leave_ring(1)
        self.assertEqual(self.said_by(RUN, "-q", "--", harness.HOSTS / "launch_runtime"), b"gpuspy-run: " + said)
        self.assertFalse(ring.exists())
        ring = self.leave_ring(1)
        self.assertEqual(self.said_by(harness.REPORT, self.folder / "trace.bin"), b"gpuspy-report: " + said)
        self.assertFalse(ring.exists())
        self.assertTrue(newer.exists(), "a newer version's own programs come for it")

    def test_a_host_leaves_them(self):
        """It could not say so: its standard error is its own."""
        ring = self.leave_ring(1)
        self.assertEqual(self.said_by(harness.HOSTS / "launch_runtime", preload=True), b"")
        self.assertTrue((self.folder / "trace.bin").exists())
        self.assertTrue(ring.exists())


class Late(harness.TestCase):
    def test_calls_of_exit_handlers_are_counted(self):
        """The handler was registered before the recording began, so it runs after the recording's end."""
        for timing in (0, 1):  # CUPTI tells of the same calls again, which counts none twice
            with self.subTest(device_timing=timing):
                folder = self.new_folder()
                log = counted.Log(folder / "log")
                host = subprocess.run([harness.HOSTS / "counted", log.path, "1", "late", "0", "50"], cwd=folder,
                                      check=False, timeout=harness.TIMEOUT_S,
                                      env=harness.environment(True, GPUSPY_DEVICE_TIMING=timing))
                self.assertEqual((host.returncode, log.launches()), (0, 57))
                launches = harness.read_report(folder / "trace.bin")["launches"]
                self.assertEqual(launches["host"], 50)
                # Of each launch: the runtime's call, the driver's, the library that it loads, and the kernel's name.
                self.assertEqual(launches["dropped"]["after_end"], 7 * 4)
                self.assertFalse(launches["complete"])


class Withheld(harness.TestCase):
    def test_records_that_had_not_come_back_are_counted(self):
        """Kernels that take a minute: each launch is one without a record, by number."""
        folder = self.new_folder()
        log = counted.Log(folder / "log")
        with subprocess.Popen([harness.HOSTS / "counted", log.path, "2", "run", "0", "300"], cwd=folder,
                              env=harness.environment(True, SIM_KERNEL_NS=60_000_000_000, **SETTINGS)) as host:
            counted.wait_until(self, lambda: log.launches() == 600, "the host did not launch")
            os.kill(host.pid, signal.SIGKILL)
            host.wait(timeout=harness.TIMEOUT_S)
        launches = harness.read_report(folder / "trace.bin")["launches"]
        self.assertEqual((launches["host"], launches["expected"]), (600, 600))
        self.assertEqual((launches["device_records"], launches["not_returned"]), (0, 600))
        self.assertEqual((launches["unmatched_launches"], launches["complete"]), (0, False))


if __name__ == "__main__":
    unittest.main()
