"""The SQLite export gives by SQL what the report says, to the nanosecond, of traces that were recorded on a GPU."""

import contextlib
import pathlib
import re
import sqlite3
import tempfile
import unittest

import harness
import nsys_queries

TRACES = ("h200_resnet_train", "h200_graph_resnet_infer", "h200_nccl_alone", "h200_two_streams", "h200_cupy_arrays",
          "h200_small_ops", "h200_small_ops_host_only", "h200_launches_static_ptds", "synthetic")
DIRECTIONS = {"Host-to-Device": "HtoD", "Device-to-Host": "DtoH", "Device-to-Device": "DtoD", "Peer-to-Peer": "PtoP",
              "Host-to-Host": "HtoH", "memset": "memset"}


def summed(rows, key, *columns):
    """{key: sums of the columns}; what is not known adds nothing."""
    sums = {}
    for row in rows:
        values = sums.setdefault(row[key], [0] * len(columns))
        for at, column in enumerate(columns):
            values[at] += row[column] or 0
    return {name: tuple(values) for name, values in sums.items()}


def trace_of(name):
    return harness.GOLDEN / f"{name}.bin"


def public(name):
    """As CUPTI's users know it: without what a program's per-thread default stream adds."""
    return re.sub("_pt(sz|ds)$", "", name[2:] if name.startswith("__") else name)


class NsysSqlite(harness.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="gpuspy-export-")
        cls.addClassCleanup(cls.folder.cleanup)
        for name in TRACES:
            process = harness.report("export", "--to", "nsys-sqlite", "-o", cls.path_of(name), trace_of(name))
            if (process.returncode, process.stderr) != (0, b""):
                raise AssertionError(process)

    @classmethod
    def path_of(cls, name):
        return pathlib.Path(cls.folder.name) / f"{name}.sqlite"

    def rows(self, name, query):
        with contextlib.closing(sqlite3.connect(f"file:{self.path_of(name)}?mode=ro", uri=True)) as database:
            return database.execute(query).fetchall()

    def of_each(self, check):
        for name in TRACES:
            with self.subTest(trace=name):
                check(name)

    def test_files_are_whole(self):
        self.of_each(lambda name: self.assertEqual(self.rows(name, "pragma integrity_check"), [("ok",)]))

    def test_kernels(self):
        def check(name):
            for column, form in (("demangledName", "full"), ("shortName", "base"), ("mangledName", "mangled")):
                rows = harness.report_json(trace_of(name), "--view", "kernels.kernels", "--names", form)
                expected = summed(rows["views"]["kernels"]["kernels"]["rows"], "name", "count", "total_ns")
                found = self.rows(name, nsys_queries.KERNELS.format(name=column))
                self.assertEqual({kernel: (count, total) for kernel, count, total, _, _ in found}, expected)

        self.of_each(check)

    def test_calls(self):
        def check(name):
            rows = [{**row, "name": public(row["name"])} for row in harness.table(trace_of(name), "calls.calls")]
            found = self.rows(name, nsys_queries.CALLS)
            self.assertEqual({call: (count, total) for call, count, total, _ in found},
                             summed(rows, "name", "count", "total_ns"))

        self.of_each(check)

    def test_the_runtimes_own_driver_calls_are_not_counted_twice(self):
        nested = {call: (count, inside) for call, count, _, inside in self.rows("h200_small_ops", nsys_queries.CALLS)}
        self.assertEqual(nested["cudaLaunchKernel"], (21064, 0))
        self.assertEqual(nested["cuLaunchKernel"], (21064, 21064))
        self.assertEqual(nested["cuLibraryLoadData"], (2, 0))

    def test_copies_and_sets(self):
        def check(name):
            found = self.rows(name, nsys_queries.COPIES) + self.rows(name, nsys_queries.SETS)
            expected = summed(harness.report_json(trace_of(name))["copies"], "direction", "timed", "time_ns", "bytes")
            self.assertEqual({DIRECTIONS[label]: (count, total, size) for label, count, total, size in found},
                             {direction: row for direction, row in expected.items() if row[0] != 0})

        self.of_each(check)

    def test_executions(self):
        def check(name):
            self.assertEqual(self.rows(name, nsys_queries.DUPLICATES), [])
            report = harness.report_json(trace_of(name))
            [(kernels, linked, calls, total, early)] = self.rows(name, nsys_queries.EXECUTIONS)
            self.assertEqual(kernels, report["launches"]["device_records"] - report["launches"]["untimed_records"])
            self.assertEqual(kernels - linked, report["launches"]["unmatched_records"])
            self.assertLessEqual(calls, report["launches"]["host"])
            self.assertEqual(total or 0, report["gpu"]["kernel_time_ns"] or 0)
            self.assertEqual(early or 0, 0)

        self.of_each(check)

    def test_synchronisation(self):
        """In these traces no call waits but these, and those of the driver inside them."""
        for name in ("h200_resnet_train", "h200_small_ops"):
            calls = summed(harness.table(trace_of(name), "calls.calls"), "name", "count", "total_ns")
            self.assertEqual({label: (count, total) for label, count, total in self.rows(name, nsys_queries.SYNCS)},
                             {"Stream sync": calls["cudaStreamSynchronize"],
                              "Context sync": calls["cudaDeviceSynchronize"]})

    def test_about(self):
        [(name, sm_count, major, uuid)] = self.rows(
            "h200_resnet_train", "select g.name, smCount, computeMajor, g.uuid from TARGET_INFO_GPU g "
            "join TARGET_INFO_CUDA_DEVICE c on c.gpuId = g.id")
        self.assertEqual((name, sm_count, major), ("NVIDIA H200", 132, 9))
        self.assertRegex(uuid, "^GPU-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")
        process = harness.report_json(trace_of("h200_resnet_train"))["process"]
        self.assertEqual(self.rows("h200_resnet_train", "select distinct globalTid / 0x1000000 % 0x1000000 from "
                                   "CUPTI_ACTIVITY_KIND_RUNTIME"), [(process["pid"],)])

    def test_names_are_those_of_the_other_kinds(self):
        names = {name for (name,) in self.rows("h200_launches_static_ptds", "select value from StringIds")}
        self.assertIn("cuLaunchKernelEx", names)
        self.assertEqual({name for name in names if re.match("__cu|cu.*_pt(sz|ds)$", name)}, set())

    def test_records_without_a_time_are_said(self):
        path = self.new_folder() / "untimed.sqlite"
        self.assertEqual(harness.report("export", "--to", "nsys-sqlite", "-o", path, self.scripted("untimed")).returncode, 0)
        with contextlib.closing(sqlite3.connect(path)) as database:
            lines = database.execute("select text from DIAGNOSTIC_EVENT where severity = 2").fetchall()
        self.assertIn(("1 device record without a usable time is left out",), lines)

    def test_what_is_missing_is_said(self):
        name = "h200_small_ops_host_only"
        lines = [text for (text,) in self.rows(name, "select text from DIAGNOSTIC_EVENT where severity = 2")]
        self.assertEqual(lines, harness.report_json(trace_of(name))["launches"]["reasons"])
        self.assertNotEqual(lines, [])


if __name__ == "__main__":
    unittest.main()
