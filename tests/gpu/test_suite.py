"""The suite on stand-ins (shell scripts for the program and for gpuspy-report): each check must be able to fail."""

import copy
import json
import pathlib
import stat
import tempfile
import unittest

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

    def test_owners_in_a_graph(self):
        rows = [measure.Measured(name, copy.deepcopy(REPORT)) for name in ("resnet_infer", "graph_resnet_infer")]
        self.assertEqual(suite.compare_owners(rows), [])
        rows[1].report["kernels"][0]["library"] = "cudnn"
        self.assertEqual(
            suite.compare_owners(rows), ["a belongs to {'cudnn'} in the graph, to {''} when launched directly"]
        )


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
