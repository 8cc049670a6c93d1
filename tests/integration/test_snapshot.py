"""gpuspy-run snapshot: a copy of the trace of a process that goes on."""

import os
import pathlib
import resource
import signal
import stat
import subprocess
import unittest

import counted
import harness

RUN = harness.BUILD / "bin" / "gpuspy-run"


class Snapshot(harness.TestCase):
    def setUp(self):
        self.folder = self.new_folder()
        self.log = counted.Log(self.folder / "log")

    def start(self, most=300, preload=True, **variables):
        host = subprocess.Popen([harness.HOSTS / "counted", self.log.path, "2", "run", "0", str(most)], cwd=self.folder,
                                env=harness.environment(preload, **variables))
        self.addCleanup(host.wait)
        self.addCleanup(host.kill)
        counted.wait_until(self, lambda: self.log.launches() == 2 * most, "the host did not launch")
        return host

    def snapshot(self, *words):
        return subprocess.run([RUN, "snapshot", *[str(word) for word in words]], cwd=self.folder, capture_output=True,
                              text=True, env=harness.environment(False), timeout=harness.TIMEOUT_S, check=False)

    def refused(self, *words, status=1):
        process = self.snapshot(*words)
        self.assertEqual((process.returncode, process.stdout, len(process.stderr.splitlines())), (status, "", 1),
                         process.stderr)
        return process.stderr

    def test_holds_all_that_came_before_it(self):
        host = self.start(GPUSPY_DRAIN_MS=1000)
        process = self.snapshot(host.pid, "-o", "copy.bin")
        self.assertEqual((process.returncode, process.stdout), (0, ""), process.stderr)
        self.assertRegex(process.stderr, r"^gpuspy-run: wrote copy\.bin \([0-9.]+ [KM]?i?B\) of process \d+: the [\d.]+ s and "
                                         r"\d+ blocks that .*/trace\.bin holds so far\n$")
        self.assertIsNone(host.poll())
        report = harness.read_report(self.folder / "copy.bin")
        launches = report["launches"]
        self.assertEqual((launches["host"], launches["expected"]), (600, 600))
        self.assertEqual(launches["matched"] + launches["not_returned"], 600)
        self.assertEqual((launches["unmatched_launches"], launches["unmatched_records"]), (0, 0))
        self.assertIn("a snapshot: the process went on", report["process"]["end"])
        self.assertEqual(stat.S_IMODE((self.folder / "copy.bin").stat().st_mode), 0o600)

    def test_not_where_the_next_part_is_written(self):
        host = self.start(GPUSPY_LAST="1s")
        for name in ("trace.bin.next", "./trace.bin.next", self.folder / "trace.bin.next", "trace.bin.next.9"):
            self.assertIn("is where a flight recorder writes its next part", self.refused(host.pid, "-o", name))

    def test_what_it_says_harms_no_terminal(self):
        self.assertEqual(self.refused("\x1b[31mred\x07", status=125).count("?"), 2)

    def test_rings_of_the_dead_process_are_its_traces(self):
        """A report of the copy must not empty the process's rings into the copy."""
        host = self.start(GPUSPY_DRAIN_MS=1000)
        self.assertEqual(self.snapshot(host.pid, "-o", "copy.bin").returncode, 0)
        copy = (self.folder / "copy.bin").read_bytes()
        os.kill(host.pid, signal.SIGKILL)
        host.wait(timeout=harness.TIMEOUT_S)
        harness.read_report(self.folder / "copy.bin")
        self.assertEqual((self.folder / "copy.bin").read_bytes(), copy)
        self.assertEqual(harness.read_report(self.folder / "trace.bin")["launches"]["host"], 600)

    def test_is_no_trace_of_the_run(self):
        """Beside the trace, and of a name as another process's of the run would have."""
        command = [RUN, "-o", "trace.bin", "--", harness.HOSTS / "counted", self.log.path, "1", "run", "0", "300"]
        with subprocess.Popen([str(word) for word in command], cwd=self.folder, stderr=subprocess.PIPE, text=True,
                              env=harness.environment(False)) as run:
            try:
                counted.wait_until(self, lambda: self.log.launches() == 300, "the host did not launch")
                self.assertEqual(self.snapshot(self.log.pid(), "-o", "trace.copy.bin").returncode, 0)
                copy = (self.folder / "trace.copy.bin").read_bytes()
            finally:
                os.kill(self.log.pid(), signal.SIGKILL)
            _, said = run.communicate(timeout=harness.TIMEOUT_S)
        self.assertRegex(said, r"^gpuspy-run: wrote trace\.bin \([^()]*\)\n$")
        self.assertEqual((self.folder / "trace.copy.bin").read_bytes(), copy)
        end = harness.read_report(self.folder / "trace.copy.bin")["process"]["end"]
        self.assertEqual(end, "a snapshot: the process went on")
        self.assertIn("by signal 9", harness.read_report(self.folder / "trace.bin")["process"]["end"])

    def test_of_a_flight_recorder(self):
        host = self.start(GPUSPY_LAST="1s")
        self.assertEqual(self.snapshot(host.pid, "-o", "copy.bin").returncode, 0)
        self.assertEqual(harness.read_report(self.folder / "copy.bin")["reading"]["bad_blocks"], 0)

    def test_what_stands_there_is_not_lost(self):
        host = self.start()
        for _ in range(3):
            self.assertEqual(self.snapshot(host.pid).returncode, 0)
        names = sorted(path.name for path in self.folder.glob("snapshot.*"))
        first = f"snapshot.{host.pid}.bin"
        self.assertEqual(names, [first, f"{first}.old", f"{first}.old.1"])
        (self.folder / "letter").write_text("dear")
        self.assertIn("a file that is not a trace stands there", self.refused(host.pid, "-o", "letter"))
        self.assertEqual((self.folder / "letter").read_text(), "dear")
        (self.folder / "link").symlink_to("letter")
        self.assertIn("symbolic link", self.refused(host.pid, "-o", "link"))
        self.assertIn("no directory", self.refused(host.pid, "-o", "nowhere/copy.bin"))
        # Its own trace, which it holds: another name.
        self.assertEqual(self.snapshot(host.pid, "-o", "trace.bin").returncode, 0)
        self.assertEqual(len(list(self.folder.glob("trace.*.bin"))), 1)

    def test_processes_that_cannot_be_asked(self):
        self.assertIn("there is no process 4194304", self.refused(4194304))
        self.assertIn("is not recorded by gpuspy", self.refused(os.getpid()))
        self.assertIn("is no process", self.refused(0, status=125))
        self.assertIn("see gpuspy-run snapshot --help", self.refused("x", status=125))
        self.assertIn("see gpuspy-run snapshot --help", self.refused(status=125))

    def test_names_of_copies(self):
        host = self.start()
        self.assertIn("the name of the file is empty", self.refused(host.pid, "-o", "", status=125))
        self.assertIn("standard output is not for traces", self.refused(host.pid, "-o", "-", status=125))

    def test_limit_on_the_size_of_files(self):
        """SIGXFSZ would end gpuspy-run without a word, with half a copy there."""
        host = self.start()
        limit = 4096
        process = subprocess.run([RUN, "snapshot", str(host.pid), "-o", "copy.bin"], cwd=self.folder, capture_output=True, text=True,
                                 env=harness.environment(False), timeout=harness.TIMEOUT_S, check=False,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assertEqual((process.returncode, process.stderr),
                         (1, f"gpuspy-run: cannot write {self.folder}/copy.bin: File too large\n"))
        self.assertFalse((self.folder / "copy.bin").exists())

    def test_process_in_a_namespace_of_pids(self):
        """It has another pid there, which names its rings."""
        if subprocess.run(["unshare", "-p", "-f", "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("a namespace of pids needs privileges")
        unshare = subprocess.Popen(["unshare", "-p", "-f", "--kill-child", "sleep", "60"])
        self.addCleanup(unshare.wait)
        self.addCleanup(unshare.kill)
        children = pathlib.Path(f"/proc/{unshare.pid}/task/{unshare.pid}/children")
        counted.wait_until(self, lambda: children.read_text().split(), "no child")
        (pid,) = children.read_text().split()
        self.assertIn(f"process {pid} is in a pid namespace of its own (a container), as process 1: run gpuspy-run snapshot 1 in it",
                      self.refused(pid))

    def test_process_that_does_not_answer(self):
        host = self.start()
        os.kill(host.pid, signal.SIGSTOP)
        try:
            self.assertIn(f"process {host.pid} did not answer within 2 s", self.refused(host.pid))
        finally:
            os.kill(host.pid, signal.SIGCONT)
        self.assertEqual(list(self.folder.glob("snapshot.*")), [])
        self.assertEqual(self.snapshot(host.pid).returncode, 0)

    def test_process_of_another_user(self):
        if os.geteuid() != 0:
            self.assertIn("is another user's", self.refused(1))
            return
        nobody = 65534
        sleeper = subprocess.Popen(["sleep", "60"], user=nobody)
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        self.assertIn(f"process {sleeper.pid} is another user's", self.refused(sleeper.pid))


if __name__ == "__main__":
    unittest.main()
