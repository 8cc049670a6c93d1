"""Other libraries that are preloaded too, before gpuspy and after it: allocators, OpenMP runtimes, a heap profiler, sanitizers. What is not installed
is skipped, by name.
"""

import glob
import os
import shutil
import subprocess
import unittest

import harness

LIBRARIES = ("libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libgomp.so.1", "libomp.so.5", "libasan.so.8", "libtsan.so.2")


def find(name):
    return next(iter(glob.glob(f"/usr/lib/*/{name}") + glob.glob(f"/usr/lib/llvm-*/lib/{name}")), None)


class Preloads(harness.TestCase):
    def with_other(self, other, host, *arguments, **variables):
        """Without gpuspy, and with it on either side of the other library: the same. Gives the two reports."""
        bare = self.run_host(host, *arguments, preload=False, LD_PRELOAD=other, **variables)
        self.assertEqual(bare.status, 0, (bare.stdout, bare.stderr))
        reports = []
        for order in ((harness.PRELOAD, other), (other, harness.PRELOAD)):
            run = self.run_host(host, *arguments, LD_PRELOAD=":".join(str(path) for path in order), **variables)
            self.assertEqual((run.status, run.stdout, run.stderr), (bare.status, bare.stdout, bare.stderr), order)
            reports.append(run.report())
        return reports

    def test_each(self):
        missing = []
        for name in LIBRARIES:
            other = find(name)
            if other is None:
                missing.append(name)
                continue
            with self.subTest(library=name):
                # The first wants to come before everything; what the program itself does is not of interest.
                settings = {"ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0", "TSAN_OPTIONS": "report_bugs=0"}
                if "san" in name and not self.runs_alone(other, settings):
                    missing.append(name)
                    continue
                for report in self.with_other(other, "launch_runtime", **settings):
                    self.assert_complete(report, 12)
                for report in self.with_other(other, "threads", "waves", 3, 20, **settings):
                    self.assertEqual(harness.call_counts(report)["cublasSaxpy_v2"], 1 + 3 * 20 * 2)
                    self.assertEqual(report["launches"]["dropped"], {})
        if missing:
            print(f"not installed, or not for this machine: {', '.join(missing)}")

    def runs_alone(self, other, settings):
        return self.run_host("launch_runtime", preload=False, LD_PRELOAD=other, **settings).status == 0

    def test_forks_with_allocators(self):
        for name in LIBRARIES[:2]:
            other = find(name)
            if other is None:
                continue
            with self.subTest(library=name):
                for order in ((harness.PRELOAD, other), (other, harness.PRELOAD)):
                    run = self.run_host("processes", "busy", LD_PRELOAD=":".join(str(path) for path in order))
                    self.assertEqual((run.status, run.stdout, run.stderr), (0, b"100\n", b""))
                    self.assertEqual(len(run.traces()), 101)

    def test_heap_profiler(self):
        """heaptrack preloads its own library before what LD_PRELOAD names, and follows the program to its end."""
        if shutil.which("heaptrack") is None:
            self.skipTest("heaptrack is not installed")
        folder = self.new_folder()
        process = subprocess.run(["heaptrack", "-o", str(folder / "heap"), str(harness.HOSTS / "launch_runtime")], cwd=folder,
                                 env=harness.environment(True), stdin=subprocess.DEVNULL, capture_output=True,
                                 timeout=harness.TIMEOUT_S * 2, check=False)
        self.assertIn(b"launched 12\n", process.stdout)
        traces = sorted(path for path in folder.iterdir() if path.name.startswith("trace."))
        self.assertEqual(len(traces), 1, process.stderr)
        self.assert_complete(harness.read_report(traces[0]), 12)


class OutOfReach(harness.TestCase):
    """Programs into which nothing can be preloaded: gpuspy-run says why, and runs them all the same."""

    def assert_said(self, program, *words):
        folder = self.new_folder()
        process = subprocess.run([harness.BUILD / "bin" / "gpuspy-run", "--", program], cwd=folder, env=harness.environment(False),
                                 stdin=subprocess.DEVNULL, capture_output=True, timeout=harness.TIMEOUT_S, check=False)
        self.assertEqual((process.returncode, process.stdout), (3, b"ran\n"), process.stderr)
        text = process.stderr.decode()
        for word in words:
            self.assertIn(word, text)

    def test_address_sanitizer_as_a_library(self):
        """It ends a program that loads another library before it, unless it is told; then there is nothing to say but that CUDA is not used."""
        self.assert_said(self.compiled("gcc", "-fsanitize=address"), "no CUDA call was seen")

    def compiled(self, compiler, *options):
        if shutil.which(compiler) is None:
            self.skipTest(f"{compiler} is not installed")
        folder = self.new_folder()
        source = folder / "program.c"
        source.write_text('#include <stdio.h>\nint main(void) { puts("ran"); return 3; }\n', encoding="ascii")
        built = subprocess.run([compiler, *options, str(source), "-o", str(folder / "program")], capture_output=True,
                               timeout=harness.TIMEOUT_S, check=False)
        if built.returncode != 0:
            self.skipTest(f"{compiler} {' '.join(options)} does not work here")
        return folder / "program"

    def test_static(self):
        self.assert_said(self.compiled("gcc", "-static"), "static")

    def test_static_position_independent(self):
        self.assert_said(self.compiled("gcc", "-static-pie"), "static")

    def test_musl(self):
        self.assert_said(self.compiled("musl-gcc"), "musl")

    def test_setuid(self):
        program = self.compiled("gcc")
        if os.geteuid() != 0:
            self.skipTest("not root: cannot make a program setuid for another user")
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o4755)
        self.assert_said(program, "setuid")


if __name__ == "__main__":
    unittest.main()
