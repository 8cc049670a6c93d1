"""The SQLite export gives by SQL what the report says, to the nanosecond, of traces that were recorded on a GPU."""

import contextlib
import sqlite3
import unittest

import harness
import nsys_queries

TRACES = ("h200_resnet_train", "h200_graph_resnet_infer", "h200_nccl_alone", "h200_two_streams", "h200_cupy_arrays",
          "h200_small_ops_host_only", "synthetic")
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


def public(name):
    return name[2:] if name.startswith("__cuda") else name


class NsysSqlite(harness.TestCase):
    def each(self):
        for name in TRACES:
            trace = harness.GOLDEN / f"{name}.bin"
            with self.subTest(trace=name):
                path = self.export("nsys-sqlite", trace, "trace.sqlite")
                with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
                    self.assertEqual(database.execute("pragma integrity_check").fetchall(), [("ok",)])
                    yield trace, database

    def test_kernels(self):
        for trace, database in self.each():
            for column, form in (("demangledName", "full"), ("shortName", "base"), ("mangledName", "mangled")):
                rows = harness.report_json(trace, "--view", "kernels.kernels", "--names", form)
                expected = summed(rows["views"]["kernels"]["kernels"]["rows"], "name", "count", "total_ns")
                found = database.execute(nsys_queries.KERNELS.format(name=column)).fetchall()
                self.assertEqual({name: (count, total) for name, count, total, _, _ in found}, expected)

    def test_calls(self):
        for trace, database in self.each():
            rows = [{**row, "name": public(row["name"])} for row in harness.table(trace, "calls.calls")]
            found = database.execute(nsys_queries.CALLS).fetchall()
            self.assertEqual({name: (count, total) for name, count, total, _ in found},
                             summed(rows, "name", "count", "total_ns"))

    def test_the_runtimes_own_driver_calls_are_not_counted_twice(self):
        path = self.export("nsys-sqlite", harness.GOLDEN / "h200_small_ops.bin", "trace.sqlite")
        with contextlib.closing(sqlite3.connect(path)) as database:
            nested = {name: (count, inside) for name, count, _, inside in database.execute(nsys_queries.CALLS)}
            self.assertEqual(nested["cudaLaunchKernel"], (21064, 0))
            self.assertEqual(nested["cuLaunchKernel"], (21064, 21064))
            self.assertEqual(nested["cuLibraryLoadData"], (2, 0))

    def test_copies_and_sets(self):
        for trace, database in self.each():
            found = database.execute(nsys_queries.COPIES).fetchall() + database.execute(nsys_queries.SETS).fetchall()
            expected = summed(harness.report_json(trace)["copies"], "direction", "timed", "time_ns", "bytes")
            self.assertEqual({DIRECTIONS[label]: (count, total, size) for label, count, total, size in found},
                             {direction: row for direction, row in expected.items() if row[0] != 0})

    def test_executions(self):
        for trace, database in self.each():
            self.assertEqual(database.execute(nsys_queries.DUPLICATES).fetchall(), [])
            report = harness.report_json(trace)
            kernels, linked, calls, total, early = database.execute(nsys_queries.EXECUTIONS).fetchone()
            self.assertEqual(kernels, report["launches"]["device_records"] - report["launches"]["untimed_records"])
            self.assertEqual(kernels - linked, report["launches"]["unmatched_records"])
            self.assertLessEqual(calls, report["launches"]["host"])
            self.assertEqual(total or 0, report["gpu"]["kernel_time_ns"])
            self.assertEqual(early or 0, 0)

    def test_synchronisation(self):
        for trace, database in self.each():
            found = {label: (count, total) for label, count, total in database.execute(nsys_queries.SYNCS)}
            calls = summed((row for row in harness.table(trace, "calls.calls") if row["outermost"] == row["count"]),
                           "name", "count", "total_ns")
            if "cudaStreamSynchronize" in calls:
                self.assertEqual(found["Stream sync"], calls["cudaStreamSynchronize"])
            if "cudaDeviceSynchronize" in calls:
                self.assertEqual(found["Context sync"], calls["cudaDeviceSynchronize"])

    def test_about(self):
        path = self.export("nsys-sqlite", harness.GOLDEN / "h200_resnet_train.bin", "trace.sqlite")
        with contextlib.closing(sqlite3.connect(path)) as database:
            gpu = database.execute("select g.name, smCount, computeMajor, g.uuid from TARGET_INFO_GPU g join "
                                   "TARGET_INFO_CUDA_DEVICE c on c.gpuId = g.id").fetchone()
            self.assertEqual(gpu[:3], ("NVIDIA H200", 132, 9))
            self.assertRegex(gpu[3], "^GPU-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")
            process = harness.report_json(harness.GOLDEN / "h200_resnet_train.bin")["process"]
            self.assertEqual(database.execute("select distinct globalTid / 0x1000000 % 0x1000000 from "
                                              "CUPTI_ACTIVITY_KIND_RUNTIME").fetchall(), [(process["pid"],)])

    def test_what_is_missing_is_said(self):
        path = self.export("nsys-sqlite", harness.GOLDEN / "h200_small_ops_host_only.bin", "trace.sqlite")
        with contextlib.closing(sqlite3.connect(path)) as database:
            lines = [text for (text,) in database.execute("select text from DIAGNOSTIC_EVENT where severity = 2")]
            self.assertEqual(lines, harness.report_json(harness.GOLDEN / "h200_small_ops_host_only.bin")
                             ["launches"]["reasons"])
            self.assertNotEqual(lines, [])


if __name__ == "__main__":
    unittest.main()
