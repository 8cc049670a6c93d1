"""The suite on stand-ins (shell scripts for the program and for gpuspy-report): each check must be able to fail."""

import copy
import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import time
import unittest

import breadth
import compare
import measure
import suite
import tables
from runner import Machine

REPORT = {
    "launches": {
        "expected": 3,
        "device_records": 3,
        "unmatched_launches": 0,
        "unmatched_records": 0,
        "captured": 0,
        "failed": 1,
        "graph_nodes": 0,
        "complete": True,
    },
    "gpu": {"time_ns": 3000, "busy_ns": 2000, "concurrency": 1.5},
    "kernels": [{"name": "a", "mangled": "a", "count": 3, "time_ns": 3000, "library": "", "owner": "libapp.so"}],
}
HOST = 'echo "kernels 3 ok"; test -z "$LD_PRELOAD" || echo trace > trace.bin'


class OnStandIns(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.machine = Machine(self.root / "build", self.root / "work", 60)

    def script(self, name, text):
        path = self.root / "build" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n" + text + "\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def measured(self, host=HOST, **changes):
        report = copy.deepcopy(REPORT)
        for key, value in changes.items():
            section, field = key.split("__")
            report[section][field] = value
        (self.root / "report.json").write_text(json.dumps(report))
        self.script("bin/gpuspy-report", f'cat "{self.root}/report.json"')
        return measure.measure_program(self.machine, "program", [self.script("program", host)], failures=1)

    def assert_fault(self, row, text):
        self.assertTrue(any(text in fault for fault in row.faults), f"{text!r} is not in {row.faults}")

    def test_all_holds(self):
        row = self.measured()
        self.assertEqual(row.faults, [])
        self.assertEqual(row.known_kernels, 3)
        self.assertIn(
            "| program | 3 | 3 | 0 | 0 | 0 | 1 | 0 | 1 | yes | 0.003 | 1.50 | 3 | yes |", tables.launches_table([row])
        )

    def test_unmatched_and_incomplete(self):
        self.assert_fault(self.measured(launches__unmatched_launches=1), "unmatched_launches 1")
        self.assert_fault(self.measured(launches__unmatched_records=2), "unmatched_records 2")
        self.assert_fault(self.measured(launches__complete=False), "complete")

    def test_counts(self):
        self.assert_fault(self.measured(launches__device_records=2), "2 device records, the program launched 3")
        self.assert_fault(self.measured(launches__device_records=2), "counts add up to 3")
        self.assert_fault(self.measured(launches__failed=0), "0 failed launches, the program makes 1")
        self.assert_fault(self.measured(launches__expected=4), "4 launches expected on the device, 3 records")

    def test_a_report_without_device_times(self):
        changes = {"gpu__time_ns": None, "gpu__busy_ns": None, "gpu__concurrency": None}
        row = self.measured(launches__complete=False, launches__reasons=["host calls only"], **changes)
        self.assert_fault(row, "the report does not say complete: host calls only")
        row.report["kernels"][0]["time_ns"] = None
        row.comparison = compare.Comparison(compare.of_report(row.report), compare.of_profile({"kernels": {}}))
        cells = "| program | 3 | 3 | 0 | 0 | 0 | 1 | 0 | 1 | NO | - | - | 3 | NO |"
        self.assertIn(cells, tables.page({}, [row], [], 0, []))

    def test_a_report_that_lacks_a_field(self):
        (self.root / "report.json").write_text(json.dumps({"launches": {}, "gpu": {}, "kernels": []}))
        self.script("bin/gpuspy-report", f'cat "{self.root}/report.json"')
        row = measure.measure_program(self.machine, "program", [self.script("program", HOST)], failures=1)
        self.assert_fault(row, "the report has no launches.expected")
        self.assertIsNone(row.report)

    def test_host_output_and_status(self):
        self.assert_fault(self.measured(host=HOST + '; echo "$LD_PRELOAD"'), "output line 2")
        self.assert_fault(
            self.measured(host=HOST + '; test -z "$LD_PRELOAD" || echo more'), "2 lines of output with gpuspy"
        )
        self.assert_fault(self.measured(host=HOST + '; test -z "$LD_PRELOAD" || exit 3'), "with gpuspy: exit status 3")
        self.assert_fault(self.measured(host=HOST + "; exit 3"), "without gpuspy: exit status 3")

    def test_no_trace_and_a_report_that_fails(self):
        self.assert_fault(self.measured(host='echo "kernels 3"'), "no trace.bin")
        self.script("bin/gpuspy-report", "echo broken >&2; exit 4")
        row = measure.measure_program(self.machine, "other", [self.script("program", HOST)])
        self.assert_fault(row, "gpuspy-report: exit status 4: broken")

    def test_time_limit(self):
        outcome = self.machine.run(["sleep", "30"], "sleep", 0.2)
        self.assertIsNone(outcome.status)
        self.assertIn("time limit", outcome.fault())
        self.machine.deadline = 0
        self.assertEqual(self.machine.run(["true"], "late", 5).fault(), "ran into its time limit: no time left for it")

    def test_time_limit_of_a_process_that_left_the_group(self):
        self.machine.GRACE_S = 0.1
        start = time.monotonic()
        self.assertIsNone(self.machine.run(["sh", "-c", "setsid sleep 8 & exit 0"], "left", 0.2).status)
        self.assertLess(time.monotonic() - start, 6)

    def test_not_measured(self):
        row = self.measured(host="echo 'no framework' >&2; exit 77")
        self.assertEqual((row.not_measured, row.faults, row.report), ("no framework", [], None))
        self.assertEqual(row.verdict(), "not measured: no framework")
        self.assertIn("| not measured |", tables.launches_table([row])[-1])
        self.assertIn("- program: not measured: no framework", tables.page({}, [row], [], 0, []))
        self.assertFalse((self.machine.work / "program" / "gpuspy").exists())

    def test_not_measured_under_gpuspy_alone_is_a_fault(self):
        row = self.measured(host=HOST + '; test -z "$LD_PRELOAD" || exit 77')
        self.assert_fault(row, "with gpuspy: exit status 77")
        self.assertEqual(row.not_measured, "")

    def test_notes(self):
        row = self.measured(
            host=HOST + '; echo "sort not run: ImportError"; echo "sort: no cub" >&2; echo "fft not run: TypeError"'
            '; test -z "$LD_PRELOAD" || echo trace > trace.123.bin'
        )
        self.assertEqual(row.faults, [])
        notes = [
            "sort not run: ImportError: no cub",
            "fft not run: TypeError",
            "1 traces of further processes, not looked at: trace.123.bin",
        ]
        self.assertEqual(row.notes, notes)
        page = tables.page({}, [row], [], 0, [])
        self.assertTrue(all(f"- program: {note}" in page for note in notes), page)

    def workload(self, profile, **options):
        """A stand-in for a workload of Python: a shell script that writes `profile` when it is told to."""
        self.measured()
        (self.root / "profile.json").write_text(json.dumps(profile))
        text = f'{HOST}; test -z "$1" || cat "{self.root}/profile.json" > "$2"'
        report = json.loads((self.root / "report.json").read_text())
        report["launches"]["failed"] = 0
        (self.root / "report.json").write_text(json.dumps(report))
        return measure.measure_workload(self.machine, "sh", self.script("workload.py", text), **options)

    def test_comparison_with_the_profiler(self):
        self.assertEqual(self.workload({"kernels": {"a": [3, 3.0]}}).faults, [])
        self.assert_fault(self.workload({"kernels": {"a": [2, 3.0]}}), "1 kernels with another count")
        self.assert_fault(self.workload({"kernels": {"a": [3, 4.0]}}), "total kernel time is 0.75 times")

    def test_comparison_without_times_and_without_the_profiler(self):
        row = self.workload({"kernels": {"a": [3, 4.0]}}, compare_time=False)
        self.assertEqual((row.faults, row.comparison.time_ratio), ([], 0.75))
        self.assert_fault(self.workload({"kernels": {"a": [2, 4.0]}}, compare_time=False), "1 kernels with another")
        row = self.workload({"kernels": {"a": [2, 3.0]}}, profiled=False)
        self.assertEqual((row.faults, row.comparison), ([], None))

    def test_old_cuda(self):
        self.measured()
        name = "launches_cuda11_cupti11"
        self.assertIn("build_old_cuda.sh", breadth.measure_old_cuda(self.machine, name, "").not_measured)
        self.script("bin/gpu/launches_cuda11_shared_legacy", HOST + '; test -z "$GPUSPY_CUPTI" || echo "$GPUSPY_CUPTI"')
        self.assertIn("build_old_cuda.sh", breadth.measure_old_cuda(self.machine, name, "").not_measured)
        cupti = self.script("bin/gpu/cupti/libcupti.so.11.8", "")
        for wanted, output in (("launches_cuda11_shared_legacy", ""), (name, f"{cupti.resolve()}\n")):
            rows = list(breadth.rows(self.machine, "python3", lambda other, wanted=wanted: other == wanted, ""))
            self.assertEqual([(row.name, row.faults, row.known_kernels) for row in rows], [(wanted, [], 3)])
            stdout = self.machine.work / wanted / "gpuspy" / "stdout"
            self.assertEqual(stdout.read_text(), "kernels 3 ok\n" + output)

    def test_a_missing_framework(self):
        """Each workload says which one, whatever its import throws, and none of them is a failure."""
        for module in "torch jax cupy".split():
            (self.root / f"{module}.py").write_text("raise RuntimeError('is not\\nthere')")
        environment = {**os.environ, "PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": "1"}
        for workload in breadth.SCRIPTS:
            script = breadth.WORKLOADS / f"{workload.name}.py"
            process = subprocess.run(
                [sys.executable, script], cwd=self.root, env=environment, capture_output=True, text=True, timeout=60
            )
            self.assertEqual((process.returncode, process.stdout), (measure.NOT_MEASURED, ""), process.stderr)
            self.assertRegex(process.stderr, r"^no (torch|jax|cupy): RuntimeError: is not there\n$")

    def test_owners_in_a_graph(self):
        rows = [measure.Measured(name, copy.deepcopy(REPORT)) for name in ("resnet_infer", "graph_resnet_infer")]
        self.assertEqual(suite.compare_owners(rows), [])
        rows[1].report["kernels"][0]["library"] = "cudnn"
        self.assertEqual(
            suite.compare_owners(rows), ["a belongs to {'cudnn'} in the graph, to {''} when launched directly"]
        )


class Choice(unittest.TestCase):
    def test_groups(self):
        core = suite.choose(None, None)
        self.assertTrue({"small_ops", "launches_shared_legacy", "vector_add", "gpuspy_run", "ab"} <= core)
        self.assertEqual(core, suite.choose("core", None))
        self.assertEqual(suite.choose("breadth", None), set(breadth.NAMES))
        self.assertEqual(suite.choose("all", None), core | set(breadth.NAMES))
        self.assertEqual(core & set(breadth.NAMES), set())

    def test_only(self):
        self.assertEqual(suite.choose(None, ["ab", "jax_jit"]), {"ab", "jax_jit"})
        self.assertEqual(suite.choose("breadth", ["jax_jit"]), {"jax_jit"})
        for group, only in ((None, ["jax"]), ("core", ["jax_jit"]), (None, [])):
            self.assertEqual(suite.choose(group, only), set())


class Cost(unittest.TestCase):
    def test_median_spread_and_paired_ratio(self):
        samples = {"nothing": [10.0, 20.0, 10.0], "gpuspy": [12.0, 22.0, 11.0]}
        self.assertEqual(
            measure.summary(samples), [("nothing", 10.0, 10.0, 20.0, 1.0), ("gpuspy", 12.0, 11.0, 22.0, 1.1)]
        )

    def test_no_round(self):
        self.assertEqual(measure.summary({"nothing": [], "gpuspy": []}), [])


if __name__ == "__main__":
    unittest.main()
