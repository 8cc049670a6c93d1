"""gpuspy-run sweep: each setting is run and recorded, failures do not end it, a signal does, and the traces are compared."""

import json
import os
import shutil
import signal
import subprocess
import time
import unittest

import harness

RUN = harness.BUILD / "bin" / "gpuspy-run"
OVERLAP = harness.BUILD / "bin" / "examples" / "overlap"
LAUNCHES = harness.HOSTS / "launch_runtime"


class Sweep(harness.TestCase):
    def sweep(self, *words, folder=None, **variables):
        folder = folder or self.new_folder()
        process = subprocess.run([str(word) for word in (RUN, "sweep", *words)], cwd=folder, text=True,
                                 env=harness.environment(False, **variables), capture_output=True,
                                 stdin=subprocess.DEVNULL, timeout=harness.TIMEOUT_S, check=False)
        return harness.Run(folder, process)

    def traces_of(self, run, folder="gpuspy-sweep"):
        return sorted(path.name for path in (run.folder / folder).iterdir())

    def compare(self, run, names, *options):
        process = subprocess.run([harness.REPORT, "compare", "--format", "json", *options, *names], text=True,
                                 cwd=run.folder / "gpuspy-sweep", capture_output=True, check=False)
        self.assertEqual(process.returncode, 0, process.stderr)
        return json.loads(process.stdout)["views"]["compare"]

    def test_two_settings(self):
        """overlap launches 4 kernels an iteration."""
        run = self.sweep("--param", "iterations=2,8", "--images", "{iterations}*10", "--", OVERLAP, "{iterations}")
        self.assertEqual(run.status, 0, run.stderr)
        names = ["01_iterations=2.bin", "02_iterations=8.bin"]
        self.assertEqual(self.traces_of(run), names)
        launches = [harness.read_report(run.folder / "gpuspy-sweep" / name)["launches"]["host"] for name in names]
        self.assertEqual(launches, [8, 32])
        self.assertIn("iterations=2: 1 of 1 runs recorded\n", run.stdout)
        self.assertRegex(run.stdout, r"\n  +iterations=2 +iterations=8 +ratio +best\n")
        self.assertRegex(run.stdout, r"\n  launches +8 +32 +4\.00 +iterations=2\n")
        self.assertRegex(run.stdout, r"\n  launches per image +0\.40 +0\.40 +1\.00 +-\n")
        self.assertIn("\nSaturation  (", run.stdout)
        self.assertRegex(run.stdout, r"\n  iterations=\d .* 100\.0 .* #{30}\n")
        self.assertEqual(run.stderr.splitlines()[0], "gpuspy-run: 1 of 2: iterations=2")

    def test_a_page(self):
        run = self.sweep("-q", "--param", "iterations=2,8", "--images", "{iterations}*10", "--html", "sweep.html", "--", OVERLAP,
                         "{iterations}")
        self.assertEqual((run.status, run.stderr), (0, ""))
        self.assertRegex(run.stdout, r"\n  launches +8 +32 +4\.00 +iterations=2\n")
        page = (run.folder / "sweep.html").read_text()
        data = json.loads(page.split('id="data">')[1].split("</script")[0])
        self.assertEqual(data["title"], "iterations=2, iterations=8")
        tables = data["views"]["views"]["compare"]
        launches = [row for row in tables["measures"]["rows"] if row["measure"] == "launches"]
        self.assertEqual([(row["value_1"], row["value_2"], row["best"]) for row in launches], [(8, 32, "iterations=2")])
        self.assertEqual([row["trace"] for row in tables["curve"]["rows"]], ["iterations=2", "iterations=8"])

    def test_a_page_that_cannot_be(self):
        """Said before anything runs."""
        for page, said in (("none/sweep.html", "there is no directory"), (".", "is a directory"),
                           ("/proc/sweep.html", "--html /proc/sweep.html: cannot be written: "),
                           ("", "the name of the file is empty"), ("-", "standard output is not for traces")):
            run = self.sweep("--param", "n=1", "--html", page, "--", "sh", "-c", "echo ran {n}")
            self.assertEqual((run.status, run.stdout, len(run.stderr.splitlines())), (125, "", 1), run.stderr)
            self.assertIn(said, run.stderr)
            self.assertEqual(list(run.folder.iterdir()), [])

    def test_a_page_in_the_folder(self):
        run = self.sweep("-q", "-o", "here", "--param", "n=2", "--html", "here/page.html", "--", OVERLAP, "{n}")
        self.assertEqual((run.status, run.stderr), (0, ""))
        self.assertEqual(self.traces_of(run, "here"), ["01_n=2.bin", "page.html"])

    def test_nothing_can_be_recorded(self):
        """What was not there before is not there behind: nothing ran."""
        folder = self.new_folder()
        installation = folder / "bin"
        installation.mkdir()
        for name in ("gpuspy-run", "gpuspy-report"):
            shutil.copy(RUN.parent / name, installation)
        process = subprocess.run([installation / "gpuspy-run", "sweep", "--param", "n=1", "--", "true", "{n}"], cwd=folder, text=True,
                                 env=harness.environment(False), capture_output=True, check=False)
        self.assertEqual((process.returncode, process.stdout), (125, ""))
        self.assertIn("libgpuspy.so is in none of", process.stderr)
        self.assertEqual([path.name for path in folder.iterdir()], ["bin"])

    def test_product_and_repeats(self):
        run = self.sweep("-q", "--param", "a=1,2", "--param", "b=3", "--repeat", "2", "-o", "here", "--", "sh", "-c",
                         f"'{OVERLAP}' {{a}} && echo ran {{a}} {{b}} {{{{}}}}")
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual(self.traces_of(run, "here"), ["01_a=1_b=3.run1.bin", "01_a=1_b=3.run2.bin",
                                                       "02_a=2_b=3.run1.bin", "02_a=2_b=3.run2.bin"])
        ran = [line for line in run.stdout.splitlines() if line.startswith("ran")]
        self.assertEqual(ran, ["ran 1 3 {}", "ran 2 3 {}"] * 2)
        self.assertIn("(medians; ratios are to the first)", run.stdout)
        self.assertEqual(run.stderr, "")

    def test_a_setting_that_fails(self):
        run = self.sweep("--param", "n=1,2,3", "--", "sh", "-c", f"'{OVERLAP}' {{n}}; test {{n}} != 2")
        self.assertEqual(run.status, 1, run.stderr)
        self.assertIn("n=2: 0 of 1 runs recorded; failed: exit status 1; its trace is kept, and not compared\n",
                      run.stdout)
        self.assertRegex(run.stdout, r"\n  +n=1 +n=3 +ratio")
        self.assertEqual(len(self.traces_of(run)), 3)

    def test_no_setting_uses_the_gpu(self):
        run = self.sweep("--param", "n=1,2", "--", "true", "{n}")
        self.assertEqual(run.status, 1)
        self.assertIn("n=1: 0 of 1 runs recorded; failed: left no trace\n", run.stdout)
        self.assertIn("there is nothing to compare", run.stderr)

    def test_nothing_is_overwritten(self):
        folder = self.new_folder()
        for expected in ("gpuspy-sweep", "gpuspy-sweep.1", "gpuspy-sweep.2"):
            run = self.sweep("-q", "--param", "n=1", "--", OVERLAP, "{n}", folder=folder)
            self.assertEqual((run.status, self.traces_of(run, expected)), (0, ["01_n=1.bin"]), run.stderr)
        run = self.sweep("-o", "gpuspy-sweep", "--param", "n=1", "--", OVERLAP, "{n}", folder=folder)
        self.assertEqual(run.status, 125)
        self.assertIn("is there already", run.stderr)

    def test_interrupted(self):
        """What was recorded until then is compared; the settings behind are not run."""
        folder = self.new_folder()
        script = f"'{OVERLAP}' {{n}}; if [ {{n}} = 2 ]; then echo waits > waits; exec sleep 20; fi"
        process = subprocess.Popen([RUN, "sweep", "--param", "n=1,2,3", "--", "sh", "-c", script], cwd=folder,
                                   env=harness.environment(False), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   stdin=subprocess.DEVNULL, text=True, start_new_session=True)
        deadline = time.monotonic() + harness.TIMEOUT_S
        while not (folder / "waits").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)  # As a terminal does.
        stdout, stderr = process.communicate(timeout=harness.TIMEOUT_S)
        self.assertEqual(process.returncode, 128 + signal.SIGINT, stderr)
        self.assertIn("n=1: 1 of 1 runs recorded\n", stdout)
        self.assertIn("n=2: 0 of 1 runs recorded; failed: interrupted\n", stdout)
        self.assertIn("n=3: 0 of 1 runs recorded\n", stdout)
        self.assertIn("\nSide by side", stdout)

    def test_usage(self):
        for words, said in (
                ((), "--param is required"),
                (("--param", "n"), "say NAME=VALUE"),
                (("--param", "n=1", "--param", "n=2", "--", "true", "{n}"), "is given twice"),
                (("--param", "n=1"), "no command to run"),
                (("--param", "n=1", "--nonsense"), "--nonsense"),
                (("--param", "n=1", "--", "true"), "{n} is nowhere in the command"),
                (("--param", "n=1", "--", "true", "{m}"), "there is no parameter {m}; there are: {n}"),
                (("--param", "n=1", "--images", "{n}x", "--", "true", "{n}"), "is no number of images"),
                (("-o", "", "--param", "n=1", "--", "true", "{n}"), "--output: the name of the file is empty"),
                (("-o", "-", "--param", "n=1", "--", "true", "{n}"), "standard output is not for traces"),
                (("--images", "", "--param", "n=1", "--", "true", "{n}"), "--images: its value is empty"),
                (("--param", "n=1", "--repeat", "0", "--", "true", "{n}"), "--repeat")):
            with self.subTest(words=words):
                run = self.sweep(*words)
                self.assertEqual((run.status, run.stdout, len(run.stderr.splitlines())), (125, "", 1), run.stderr)
                self.assertIn(said, run.stderr)
                self.assertEqual(list(run.folder.iterdir()), [])

    def test_no_such_command(self):
        run = self.sweep("--param", "n=1,2", "--", "/no/such/command", "{n}")
        self.assertEqual(run.status, 127)
        self.assertEqual(run.stderr.count("cannot run"), 1)
        self.assertEqual(list(run.folder.iterdir()), [])

    def test_a_program_named_sweep(self):
        run = self.run_command(["sh", "-c", f"printf '#!/bin/sh\\nexec \"{LAUNCHES}\"\\n' > sweep; chmod +x sweep; "
                                            f"PATH=.:$PATH exec '{RUN}' -- sweep"], preload=False)
        self.assertEqual((run.status, run.stdout), (0, b"launched 12\n"), run.stderr)


if __name__ == "__main__":
    unittest.main()
