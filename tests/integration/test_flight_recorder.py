"""GPUSPY_LAST: the last part of a recording within a fixed size, whenever the process ends."""

import os
import random
import signal
import subprocess
import time
import unittest

import counted
import harness

RUN = harness.BUILD / "bin" / "gpuspy-run"
SIZE = 4 << 20
ROUNDS = 4
# A launch each 0.1 ms at most, and rings for seconds of them: none is dropped, however slow the machine is.
SLOW = {"GPUSPY_RING_KIB": 16384, "COUNTED_PAUSE_EVERY": 1}
# As fast as it can, up to so many launches that a ring holds them all: none is dropped, even if nothing drained it.
FAST = {"GPUSPY_RING_KIB": 65536, "COUNTED_PAUSE_EVERY": 64}
FAST_LAUNCHES = 300_000  # 186 bytes each, of 64 MiB.


class FlightRecorder(harness.TestCase):
    def start(self, last, threads, how="run", most=100_000_000, folder=None, **variables):
        folder = folder or self.new_folder()
        log = counted.Log(folder / "log")
        host = subprocess.Popen([harness.HOSTS / "counted", log.path, str(threads), how, "0", str(most)], cwd=folder,
                                env=harness.environment(True, GPUSPY_LAST=last, **variables))
        return folder, log, host

    @staticmethod
    def bytes_on_disk(folder):
        total = 0
        for path in folder.iterdir():
            try:
                total += path.stat().st_size if path.name.startswith("trace") else 0
            except FileNotFoundError:
                pass  # Renamed meanwhile: then the other name has it.
        return total

    def assert_last_launches(self, folder, log):
        """What is kept are the last launches of each thread, without a gap, and what came before is stated."""
        report = harness.read_report(folder / "trace.bin")
        launches = report["launches"]
        self.assertEqual((launches["unmatched_launches"], launches["unmatched_records"]), (0, 0), launches["reasons"])
        kept = report["process"]["kept"]
        listed = counted.listed_launches(folder / "trace.bin")
        total = 0
        in_progress = 0
        for tid, (begun, done) in log.threads().items():
            found = listed[tid]
            for before, after in zip(found, found[1:]):
                self.assertIn(after - before, (8, 8 * (1 - counted.KERNELS)), f"thread {tid}")
            # The last one is number done - 1, or the one that the thread was in: its place in the array says so.
            first = min(min(addresses) for addresses in listed.values())
            self.assertIn((found[-1] - first) // 8, {(number - 1) % counted.KERNELS for number in (done, begun)})
            total += len(found)
            in_progress += begun - done
        # Of a launch in progress the driver's call may have returned, and the runtime's around it not.
        self.assertIn(launches["host"] - total, range(in_progress + 1))
        self.assertGreater(kept["dropped_calls"], 0)
        self.assertGreater(kept["dropped_device_records"], 0)
        self.assertGreater(kept["dropped_blocks"], 0)
        return report, total

    def test_size(self):
        """As fast as it can, killed at random moments; the files are measured while it runs."""
        chance = random.Random(7)
        for number in range(2):
            with self.subTest(round=number):
                folder, log, host = self.start("4M", 2, most=FAST_LAUNCHES, **FAST)
                try:
                    exchanged = False
                    deadline = time.monotonic() + 4 * harness.TIMEOUT_S
                    first = None
                    end = None
                    while end is None or time.monotonic() < end:
                        self.assertLess(time.monotonic(), deadline, "no exchange came")
                        self.assertIsNone(host.poll())
                        self.assertLessEqual(self.bytes_on_disk(folder), SIZE)
                        trace = folder / "trace.bin"
                        inode = trace.stat().st_ino if trace.exists() else None
                        first = first or inode
                        exchanged = exchanged or inode != first
                        if exchanged and end is None:
                            end = time.monotonic() + chance.uniform(0, 0.5)
                        time.sleep(0.002)
                finally:
                    host.kill()
                    host.wait(timeout=harness.TIMEOUT_S)
                self.assertTrue((folder / "trace.bin").exists())
                report, _ = self.assert_last_launches(folder, log)
                self.assertEqual(report["launches"]["dropped"], {})
                self.assertEqual(report["reading"]["bad_blocks"], 0)
                self.assertEqual(report["process"]["kept"]["limit_bytes"], SIZE)
                self.assertFalse((folder / "trace.bin.next").exists(), "a dead process's successor is removed")

    def test_time_at_random_moments(self):
        chance = random.Random(11)
        lengths_ns = []
        for number in range(ROUNDS):
            with self.subTest(round=number):
                folder, log, host = self.start("1s", 2, **SLOW)
                try:
                    time.sleep(2.2 + chance.uniform(0, 0.4))
                    self.assertIsNone(host.poll())
                finally:
                    os.kill(host.pid, signal.SIGKILL)
                    host.wait(timeout=harness.TIMEOUT_S)
                report = harness.read_report(folder / "trace.bin")
                if "kept" not in report["process"]:
                    continue  # The machine was so slow that less than two seconds were recorded.
                report, _ = self.assert_last_launches(folder, log)
                kept = report["process"]["kept"]
                self.assertGreaterEqual(kept["length_ns"], 1_000_000_000)
                lengths_ns.append(kept["length_ns"])
                self.assertEqual((kept["limit_ns"], kept["limit_bytes"]), (1_000_000_000, 1 << 30))
                self.assertLess(kept["from_realtime_ns"], kept["to_realtime_ns"])
        self.assertGreater(len(lengths_ns), 0, "no round recorded long enough for an exchange")
        # More than twice the time only where the drain thread was late; without an exchange it would be in every round.
        self.assertLessEqual(min(lengths_ns), 2_000_000_000)

    def test_something_else_where_the_next_part_would_be(self):
        """The next part has another name, so what is kept is the time that was asked for."""
        place = self.new_folder()
        (place / "trace.bin.next").mkdir()
        (place / "trace.bin.next.1").write_text("somebody's")
        folder, log, host = self.start("1s", 1, folder=place, **SLOW)
        try:
            counted.wait_until(self, (place / "trace.bin").exists, "no trace came")
            first = (place / "trace.bin").stat().st_ino
            counted.wait_until(self, lambda: (place / "trace.bin").stat().st_ino != first, "no exchange came")
        finally:
            host.kill()
            host.wait(timeout=harness.TIMEOUT_S)
        self.assert_last_launches(folder, log)
        self.assertEqual((place / "trace.bin.next.1").read_text(), "somebody's")
        self.assertEqual(sorted(path.name for path in place.iterdir()),
                         ["log", "trace.bin", "trace.bin.next", "trace.bin.next.1"])

    def test_no_name_for_the_next_part(self):
        """Said once; all is kept, which is more than what was asked for."""
        place = self.new_folder()
        for name in ("next", *(f"next.{number}" for number in range(1, 10))):
            (place / f"trace.bin.{name}").mkdir()
        log = counted.Log(place / "log")
        command = [harness.HOSTS / "counted", log.path, "1", "run", "0", "100000000"]
        with subprocess.Popen(command, cwd=place, stderr=subprocess.PIPE,
                              env=harness.environment(True, GPUSPY_LAST="1s", **SLOW)) as host:
            said = host.stderr.readline().decode()
            host.kill()
            rest = host.stderr.read()
        self.assertEqual(rest, b"")
        self.assertRegex(said, r"^gpuspy: the next part of .*/trace\.bin \(.*/trace\.bin\.next\) cannot be begun: File exists; until it "
                               r"can, all is kept, and beyond 1024 MiB nothing\n$")
        self.assertNotIn("kept", harness.read_report(place / "trace.bin")["process"])

    def test_nothing_is_dropped_below_the_limit(self):
        folder, log, host = self.start("1h", 2, how="done", most=200)
        self.assertEqual(host.wait(timeout=harness.TIMEOUT_S), 0)
        report = harness.read_report(folder / "trace.bin")
        self.assert_complete(report, 400)
        self.assertNotIn("kept", report["process"])
        self.assertEqual(sorted(path.name for path in folder.iterdir()), ["log", "trace.bin"])

    def test_clean_end_of_a_cut_recording_is_complete(self):
        """Names, owners and clocks of the kept part are whole: what was cut is no reason to call it incomplete."""
        folder, log, host = self.start("1s", 1, how="done", most=25_000, **SLOW)
        self.assertEqual(host.wait(timeout=4 * harness.TIMEOUT_S), 0)
        report, total = self.assert_last_launches(folder, log)
        self.assertLess(total, 25_000)
        self.assertTrue(report["launches"]["complete"], report["launches"]["reasons"])
        self.assertTrue(report["process"]["ended_cleanly"])
        names = harness.kernel_counts(report)
        self.assertEqual(set(names), {f"_Z4k{number:03d}v" for number in range(counted.KERNELS)})
        # Owned by who launched them; of those that were launched before the cut that is not in the file.
        unknown = sum(kernel["count"] for kernel in report["kernels"] if kernel["owner"] != "counted")
        self.assertEqual(unknown, report["process"]["kept"]["launched_before"])
        text = subprocess.run([harness.REPORT, folder / "trace.bin"], capture_output=True, text=True, check=True).stdout
        self.assertRegex(" ".join(text.split()), r"kept the last [\d.]+ s of the recording, from 20\d\d-.* to 20\d\d-")
        self.assertIn(f"{report['process']['kept']['dropped_calls']} calls", " ".join(text.split()))

    def test_graph_from_before_the_cut(self):
        """Its nodes, and who launched what was captured, are said again: the owner of a replayed kernel is whose it was."""
        folder = self.new_folder()
        log = folder / "log"
        with subprocess.Popen([harness.HOSTS / "graph_replays", log], cwd=folder,
                              env=harness.environment(True, GPUSPY_LAST="1s")) as host:
            try:
                counted.wait_until(self, lambda: log.exists() and log.stat().st_size > 0, "the host did not start")
                time.sleep(2.5)
                self.assertIsNone(host.poll())
            finally:
                host.kill()
                host.wait(timeout=harness.TIMEOUT_S)
        report = harness.read_report(folder / "trace.bin")
        self.assertGreater(report["process"]["kept"]["dropped_calls"], 0)
        launches = report["launches"]
        self.assertEqual((launches["captured"], launches["unknown_graphs"]), (0, 0))
        self.assertEqual(launches["graph_nodes"], 2 * launches["graph_launches"])
        self.assertEqual((launches["unmatched_launches"], launches["unmatched_records"]), (0, 0), launches["reasons"])
        counts = {}
        for kernel in report["kernels"]:
            if kernel["owner"] != "unknown":  # Launched before the cut.
                counts.setdefault(kernel["owner"], set()).add(kernel["mangled"])
        self.assertEqual(counts["graph_replays"], {"_Z3ownv"})
        self.assertEqual(len(counts["cublas"]), 1)
        self.assertEqual(len(counts), 2, counts)

    def test_gpuspy_run(self):
        run = self.run_command([RUN, "--last", "30s,8M", "--", harness.HOSTS / "launch_runtime"], preload=False)
        self.assertEqual(run.status, 0, run.stderr)
        self.assert_complete(run.report(), 12)

    def test_wrong_limits(self):
        run = self.run_command([RUN, "--last", "30", "--", harness.HOSTS / "launch_runtime"], preload=False)
        self.assertEqual((run.status, len(run.stderr.splitlines()), run.traces()), (125, 1, []))
        self.assertIn(b"--last 30 is not a time", run.stderr)
        for last, said in (("some", b"GPUSPY_LAST=some is not a time (30s, 10min, 2h; 1s to 168h), a size (256M, 2G; 4M to 1024G), "
                                    b"or both (30s,256M)"),
                           ("1s,1M", b"GPUSPY_LAST=1s,1M is out of range: a size is from 4M to 1024G"),
                           ("8d", b"GPUSPY_LAST=8d is not a time"),
                           ("169h", b"GPUSPY_LAST=169h is out of range: a time is from 1s to 168h")):
            with self.subTest(last=last):
                run = self.run_host("launch_runtime", GPUSPY_LAST=last)
                self.assertEqual((run.status, len(run.stderr.splitlines())), (0, 1))
                self.assertIn(said, run.stderr)
                self.assertIn(b"; everything is kept", run.stderr)
                self.assert_complete(run.report(), 12)
                # gpuspy-run knows before anything runs.
                for words in (["--"], ["sweep", "--param", "n=1", "--"]):
                    run = self.run_command([RUN, *words, harness.HOSTS / "launch_runtime", "{n}"], preload=False, GPUSPY_LAST=last)
                    self.assertEqual((run.status, run.stdout, list(run.folder.iterdir())), (125, b"", []))
                    self.assertEqual((len(run.stderr.splitlines()), said in run.stderr), (1, True), run.stderr)
        # The option is what counts where both are there.
        run = self.run_command([RUN, "--last", "1s", "--", harness.HOSTS / "launch_runtime"], preload=False, GPUSPY_LAST="some")
        self.assertEqual(run.status, 0, run.stderr)


if __name__ == "__main__":
    unittest.main()
