"""Tools that read Nsight Systems' export read ours: nsys-ai, and the SQL that nsys2prv brings."""

import contextlib
import sqlite3
import unittest

import harness

harness.with_tools()

import duckdb  # noqa: E402
from nsys_ai.profile import Profile  # noqa: E402


def refuse(*_arguments, **_options):
    raise duckdb.Error("not in this test")


# nsys-ai would let DuckDB fetch an extension that reads SQLite; without DuckDB it uses Python's own sqlite3.
duckdb.connect = refuse

TRACE = harness.GOLDEN / "h200_resnet_train.bin"


class Tools(harness.TestCase):
    def setUp(self):
        self.path = self.export("nsys-sqlite", TRACE, "trace.sqlite")
        self.gpu = harness.report_json(TRACE)["gpu"]

    def test_nsys_ai(self):
        profile = Profile(str(self.path), backend="sqlite", ingest_policy="sqlite")
        self.addCleanup(profile.close)
        self.assertEqual(profile.schema.missing_required_columns(), [])
        self.assertEqual(profile.meta.kernel_count, self.gpu["kernels"])
        self.assertEqual(profile.meta.gpu_info[0].name, "NVIDIA H200")
        rows = profile.aggregate_kernels(0)
        self.assertEqual(sum(row["total_ns"] for row in rows), self.gpu["kernel_time_ns"])
        expected = harness.table(TRACE, "kernels.kernels")[0]
        self.assertEqual((rows[0]["demangled"], rows[0]["count"]), (expected["name"], expected["count"]))

    def test_nsys2prv(self):
        scripts = harness.TOOLS / "nsys2prv" / "scripts"
        with contextlib.closing(sqlite3.connect(self.path)) as database:
            for name, count, total in (("kernels", self.gpu["kernels"], self.gpu["kernel_time_ns"]),
                                       ("memcpy", self.gpu["copies"], self.gpu["copy_time_ns"]),
                                       ("memset", self.gpu["sets"], self.gpu["set_time_ns"])):
                rows = database.execute((scripts / f"{name}.sql").read_text()).fetchall()
                self.assertEqual((len(rows), sum(row[1] for row in rows)), (count, total), name)

    def test_nsys2prv_reads_ranges(self):
        scripts = harness.TOOLS / "nsys2prv" / "scripts"
        with contextlib.closing(sqlite3.connect(self.export("nsys-sqlite", self.scripted("ranges"), "trace.sqlite"))) as database:
            pushed = database.execute((scripts / "nvtx_pushpop_simple.sql").read_text()).fetchall()
            started = database.execute((scripts / "nvtx_startend_trace.sql").read_text()).fetchall()
        self.assertEqual({row[3]: row[2] for row in pushed if row[3] != ":waiting"},
                         {":training": 35_000, ":step": 20_100, "loader:stage": 22_050})
        self.assertEqual({row[3]: row[2] for row in started}, {"request 7": 21_500, "request 8": 23_010})


if __name__ == "__main__":
    unittest.main()
