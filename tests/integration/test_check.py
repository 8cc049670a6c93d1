"""gpuspy-run --check: what it says of a program is what happens when the program is recorded."""

import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import unittest

import harness

RUN = harness.BUILD / "bin" / "gpuspy-run"


class Check(harness.TestCase):
    def check(self, program, status=0, **variables):
        """The lines, as pairs of label and text; the last one whole."""
        run = self.run_command([RUN, "--check", program], preload=False, **variables)
        self.assertEqual((run.status, run.stderr), (status, b""), run.stdout)
        self.assertEqual(list(run.folder.iterdir()), [])
        lines = run.stdout.decode().splitlines()
        return [(line[:12].strip(), line[13:]) for line in lines[:-1]], lines[-1]

    def texts(self, label, lines):
        return [text for found, text in lines if found == label]

    def cupti_used(self, host):
        """The libcupti that the loader loads while the host is recorded."""
        run = self.run_host(host, LD_DEBUG="files")
        self.assertEqual(run.status, 0)
        return re.findall(r"calling init: (\S*libcupti\S*)", run.stderr.decode())

    def test_the_libcupti_named_is_the_one_used(self):
        for host in ("launch_runtime", "cuda12", "launch_driver", "launch_static"):
            with self.subTest(host=host):
                lines, verdict = self.check(harness.HOSTS / host)
                self.assertEqual(verdict, "will be recorded")
                named = self.texts("CUPTI", lines)[0].split(",")[0]
                self.assertEqual(self.cupti_used(host), [named])

    def test_how_hosts_are_linked(self):
        cudart = f"libcudart.so.13 => {harness.SIMULATED}/libcudart.so.13"
        lines, _ = self.check(harness.HOSTS / "launch_runtime")
        self.assertEqual(self.texts("needs", lines), [cudart])
        lines, _ = self.check(harness.HOSTS / "launch_driver")
        self.assertEqual(self.texts("needs", lines), [f"libcuda.so.1 => {harness.SIMULATED}/libcuda.so.1"])
        lines, _ = self.check(harness.HOSTS / "launch_static")
        self.assertEqual(self.texts("needs", lines), [])
        self.assertEqual(self.texts("has inside", lines),
                         [f"cudart, linked statically into {harness.HOSTS / 'launch_static'}"])
        lines, _ = self.check(harness.HOSTS / "libraries")
        self.assertEqual(len(self.texts("needs", lines)), 4)

    def test_a_library_that_is_missing(self):
        host = harness.HOSTS / "owners"
        _, verdict = self.check(host, status=1, LD_LIBRARY_PATH=harness.SIMULATED)
        self.assertEqual(verdict, f"will not be recorded: {host} cannot start: libplugin.so, which {host} needs, was not "
                                  "found; install it or set LD_LIBRARY_PATH")

    def test_python(self):
        program = shutil.which("python3", path="/usr/bin:/bin")
        if program is None:
            self.skipTest("no /usr/bin/python3")
        lines, verdict = self.check(program)
        self.assertEqual((len(self.texts("Python", lines)), verdict), (1, "will be recorded, if it uses CUDA"))

    def test_python_by_a_script(self):
        folder = self.new_folder()
        script = folder / "train"
        script.write_text(f"#!{os.path.realpath(sys.executable)}\n")
        script.chmod(0o755)
        lines, _ = self.check(script)
        self.assertEqual(self.texts("script", lines), [str(script)])
        self.assertEqual(len(self.texts("Python", lines)), 1)

    def test_a_script_without_a_first_line(self):
        """execvp gives it to /bin/sh; and so it is recorded."""
        script = self.new_folder() / "train"
        script.write_text(f"'{harness.HOSTS / 'launch_runtime'}'\n")
        script.chmod(0o755)
        lines, _ = self.check(script)
        self.assertEqual((self.texts("script", lines), self.texts("program", lines)), ([str(script)], ["/bin/sh"]))
        run = self.run_command([RUN, "--", script], preload=False)
        self.assertEqual(run.status, 0)
        self.assert_complete(run.report(), 12)

    def test_setuid(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make another user's program setuid")
        folder = self.new_folder()
        program = folder / "host"
        shutil.copy(harness.HOSTS / "plain", program)
        os.chown(program, 65534, 65534)
        program.chmod(0o755 | stat.S_ISUID)
        if os.statvfs(folder).f_flag & os.ST_NOSUID:
            self.skipTest("the folder's file system knows no setuid")
        _, verdict = self.check(program, status=1)
        self.assertRegex(verdict, "^will not be recorded: .*/host is setuid: ")

    def test_no_such_program(self):
        run = self.run_command([RUN, "--check", "no-such-program"], preload=False)
        self.assertEqual((run.status, run.stdout), (127, b""))
        self.assertEqual(run.stderr, b"gpuspy-run: no-such-program: no such program, by path or in PATH\n")

    def test_every_library_of_the_loader_is_found(self):
        """Programs of the system with many libraries: what ldd finds is not called missing."""
        for program in ("/usr/bin/cmake", "/usr/bin/git", "/usr/bin/g++"):
            if pathlib.Path(program).exists() and shutil.which("ldd"):
                listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
                self.assertFalse(re.search("not found", listed))
                self.check(program)


if __name__ == "__main__":
    unittest.main()
