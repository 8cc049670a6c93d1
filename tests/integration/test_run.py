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
        self.assertEqual((run.status, run.stdout), (0, b"launched 12\n"))
        self.assertRegex(run.stderr, rb"^gpuspy-run: wrote trace\.bin \([0-9.]+ [KM]?i?B\)\n$")
        self.assert_complete(run.report(), 12)

    def test_quiet(self):
        run = self.spied(harness.HOSTS / "launch_runtime", options=["--quiet"])
        self.assertEqual((run.status, run.stdout, run.stderr), (0, b"launched 12\n", b""))
        self.assert_complete(run.report(), 12)

    def test_disabled(self):
        run = self.spied(harness.HOSTS / "launch_runtime", GPUSPY_DISABLE=1)
        self.assertEqual((run.status, run.stdout, run.traces()), (0, b"launched 12\n", []))
        self.assertEqual(len(run.stderr.splitlines()), 1)

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

    def launches(self, run):
        return sorted(report["launches"]["host"] for report in run.reports())

    def test_no_children_by_fork(self):
        """The host forks first, and both processes launch: 4 the child, 6 the parent."""
        forks = harness.HOSTS / "forks"
        self.assertEqual(self.launches(self.spied(forks, "late")), [4, 6])
        self.assertEqual(self.launches(self.spied(forks, "late", options=["--follow"])), [4, 6])
        self.assertEqual(self.launches(self.spied(forks, "late", options=["--no-children"])), [6])
        self.assertEqual(self.launches(self.spied(forks, "child", options=["--no-children"])), [])
        # A child of a process that records already: its failed launch is recorded nowhere.
        self.assertEqual(self.launches(self.spied(forks, "plain", options=["--no-children"])), [5])
        self.assertEqual(len(self.spied(forks, "both").traces()), 2)
        self.assertEqual(self.launches(self.spied(forks, "both", options=["--no-children"])), [5])

    def test_no_children_by_exec(self):
        host = harness.HOSTS / "launch_runtime"
        run = self.spied("sh", "-c", f"'{host}'; '{host}'; exec '{host}'", options=["--no-children"])
        self.assertEqual((run.status, run.stdout), (0, b"launched 12\n" * 3))
        self.assertEqual(self.launches(run), [12])

    def test_a_run_inside_one_without_children_records_its_own(self):
        host = harness.HOSTS / "launch_runtime"
        run = self.spied("sh", "-c", f"'{host}'; '{RUN}' -o inner.bin -- '{host}'", options=["--no-children"])
        self.assertEqual(run.status, 0)
        self.assertEqual((run.traces(), (run.folder / "inner.bin").exists()), ([], True))

    def test_an_older_trace_is_kept(self):
        host = harness.HOSTS / "launch_runtime"
        run = self.spied("sh", "-c", f"'{RUN}' -- '{host}' && '{RUN}' -- '{host}'")
        self.assertEqual(run.status, 0, run.stderr)
        names = [path.name for path in run.traces()]
        self.assertEqual(len(names), 2, names)


if __name__ == "__main__":
    unittest.main()
