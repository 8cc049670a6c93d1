"""In programs without CUDA there is no file, no thread, no output, no ring."""

import os
import pathlib
import subprocess
import unittest

import harness


def rings(pid):
    """Rings of a process: other tests run beside this one."""
    return [path.name for path in pathlib.Path("/dev/shm").glob(f"gpuspy.{pid}.*")]


class Inert(harness.TestCase):
    def test_plain_program_while_it_runs(self):
        folder = self.new_folder()
        with subprocess.Popen([harness.HOSTS / "plain", "wait"], cwd=folder, env=harness.environment(True),
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            first = process.stdout.readline()
            self.assertEqual(first, b"threads: 1\n")
            self.assertEqual(len(os.listdir(f"/proc/{process.pid}/task")), 1)
            self.assertEqual(rings(process.pid), [])
            mapped = pathlib.Path(f"/proc/{process.pid}/maps").read_text(encoding="ascii")
            self.assertIn("libgpuspy.so", mapped)
            _, errors = process.communicate(b"\n", timeout=harness.TIMEOUT_S)
        self.assertEqual((process.returncode, errors), (0, b""))
        self.assertEqual(list(folder.iterdir()), [])

    def test_program_with_a_sanitizer_linked_in(self):
        run = self.run_host("sanitized")
        self.assertEqual((run.status, run.stdout, run.stderr), (0, b"4\n", b""))
        self.assertEqual(list(run.folder.iterdir()), [])

    def test_probing_for_cuda_finds_none(self):
        run = self.run_host("probe")
        self.assertIn(b"cuInit: null", run.stdout)
        self.assertIn(b"cudaLaunchKernel: null", run.stdout)
        self.assertEqual(list(run.folder.iterdir()), [])

    def test_weak_reference_says_no_driver(self):
        """Its address cannot be hidden; its answer is that there is no driver (or not initialised)."""
        run = self.run_host("weak")
        self.assertEqual(run.status, 0)
        name, answer = run.stdout.decode().strip().split(": ")
        self.assertEqual(name, "cuCtxSynchronize")
        self.assertIn(answer, ("3", "35", "100", "999", "34", "null"))
        self.assertEqual((run.stderr, list(run.folder.iterdir())), (b"", []))

    def test_everyday_programs(self):
        commands = [["true"], ["sh", "-c", "echo one; false || echo two >&2; exit 3"], ["ls", "/"],
                    ["python3", "-c", "import ctypes, json, subprocess, sys; sys.exit(len(sys.argv))"],
                    ["grep", "-c", "root", "/etc/passwd"]]
        for command in commands:
            with self.subTest(command=command):
                bare = self.run_command(command, preload=False)
                spied = self.run_command(command)
                self.assertEqual((spied.status, spied.stdout, spied.stderr), (bare.status, bare.stdout, bare.stderr))
                self.assertEqual(list(spied.folder.iterdir()), [])

    def test_bound_at_once(self):
        run = self.run_command(["true"], LD_BIND_NOW=1)
        self.assertEqual((run.status, run.stdout, run.stderr), (0, b"", b""))

    def test_hooks_that_are_off_make_no_system_call(self):
        bare = self.run_host("quiet", preload=False)
        if bare.status == harness.SKIPPED:
            self.skipTest("no seccomp")
        self.assertEqual((bare.status, bare.stdout), (0, b"quiet\n"))
        for variable, value in (("GPUSPY_DISABLE", 1), ("GPUSPY_ONLY_PID", 1)):
            with self.subTest(variable=variable):
                spied = self.run_host("quiet", **{variable: value})
                self.assertEqual((spied.status, spied.stdout, spied.stderr), (0, b"quiet\n", b""))

    def test_no_ring_is_left(self):
        report = self.recorded("launch_runtime")
        self.assertEqual(rings(report["process"]["pid"]), [])


if __name__ == "__main__":
    unittest.main()
