"""gpuspy-run around real hosts: its own library, the command's status, the end that the host could not write itself."""

import signal
import unittest

import harness

RUN = harness.BUILD / "bin" / "gpuspy-run"


class GpuspyRun(harness.TestCase):
    def spied(self, *command, options=(), **variables):
        return self.run_command([RUN, *options, "--", *command], preload=False, **variables)

    def test_records_without_any_setting(self):
        run = self.spied(harness.HOSTS / "launch_runtime")
        self.assertEqual((run.status, run.stdout, run.stderr), (0, b"launched 12\n", b""))
        self.assert_complete(run.report(), 12)

    def test_status_is_the_commands(self):
        for how, status in (("return", 7), ("_exit", 7), ("abort", 128 + signal.SIGABRT), ("kill", 128 + signal.SIGKILL),
                            ("segfault", 128 + signal.SIGSEGV)):
            with self.subTest(how=how):
                run = self.spied(harness.HOSTS / "exits", how)
                self.assertEqual((run.status, run.stdout), (status, b"launched 5\n"))
                report = run.report()
                self.assertEqual(report["launches"]["host"], 5)
                self.assertIsNotNone(report["process"]["wait_status"])

    def test_output_file(self):
        run = self.spied(harness.HOSTS / "launch_runtime", options=("-o", "trace.elsewhere.bin"))
        self.assertEqual([path.name for path in run.traces()], ["trace.elsewhere.bin"])
        self.assert_complete(run.report(), 12)

    def test_command_without_cuda(self):
        run = self.spied("true")
        self.assertEqual((run.status, run.stdout, list(run.folder.iterdir())), (0, b"", []))

    def test_no_such_command(self):
        run = self.spied("/no/such/command")
        self.assertEqual((run.status, run.stdout, len(run.stderr.splitlines())), (127, b"", 1))

    def test_processes_of_one_run(self):
        """Two processes that use CUDA: one trace each."""
        host = harness.HOSTS / "launch_runtime"
        run = self.spied("sh", "-c", f"'{host}' & '{host}'; wait")
        self.assertEqual((run.status, run.stdout), (0, b"launched 12\n" * 2))
        self.assertEqual([report["launches"]["host"] for report in run.reports()], [12, 12])

    def test_an_older_trace_is_kept(self):
        host = harness.HOSTS / "launch_runtime"
        run = self.spied("sh", "-c", f"'{RUN}' -- '{host}' && '{RUN}' -- '{host}'")
        self.assertEqual(run.status, 0, run.stderr)
        names = [path.name for path in run.traces()]
        self.assertEqual(len(names), 2, names)


if __name__ == "__main__":
    unittest.main()
