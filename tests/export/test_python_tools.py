"""pyarrow, pandas, polars and DuckDB read the package's tables, and find the report's numbers there."""

import unittest

import harness
from python_package import gpuspy

harness.with_tools()

import duckdb  # noqa: E402
import pandas  # noqa: E402
import polars  # noqa: E402
import pyarrow  # noqa: E402
import pyarrow.compute  # noqa: E402
import pyarrow.parquet  # noqa: E402

TRACE = harness.GOLDEN / "h200_resnet_train.bin"
GRAPHS = harness.GOLDEN / "h200_graph_resnet_infer.bin"


class Tools(harness.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.trace = gpuspy.open(TRACE)
        cls.report = harness.report_json(TRACE)

    def test_pyarrow(self):
        for name in self.trace.tables():
            table = pyarrow.table(self.trace.table(name))
            table.validate(full=True)
            if name != "ranges":
                self.assertGreater(table.num_rows, 0, name)
            self.assertEqual(table, pyarrow.table(self.trace.table(name)))
        kernels = pyarrow.table(self.trace.kernels())
        self.assertEqual(kernels.num_rows, self.report["gpu"]["kernels"])
        self.assertEqual(pyarrow.compute.sum(kernels["duration_ns"]).as_py(), self.report["gpu"]["kernel_time_ns"])
        self.assertEqual(kernels.schema.field("duration_ns").metadata, {b"unit": b"ns"})
        self.assertEqual(kernels.schema.field("graph_node").type, pyarrow.int64())
        self.assertEqual(kernels["graph_node"].null_count, kernels.num_rows)

    def test_ranges(self):
        rows = pyarrow.table(gpuspy.open(self.scripted("ranges")).ranges()).to_pylist()
        by_name = {row["name"]: row for row in rows}
        self.assertEqual(len(by_name), len(rows))
        self.assertEqual({name: (row["kind"], row["domain"], row["tid"], row["depth"], row["never_ended"])
                          for name, row in by_name.items()},
                         {"training": ("push_pop", None, 100, 0, False), "step": ("push_pop", None, 100, 1, False),
                          "stage": ("push_pop", "loader", 100, 0, False), "request 7": ("start_end", None, 100, None, False),
                          "request 8": ("start_end", None, 100, None, False), "here": ("mark", None, 100, None, False),
                          "waiting": ("push_pop", None, 101, 0, True)})
        self.assertEqual({name: row["duration_ns"] for name, row in by_name.items() if name != "waiting"},
                         {"training": 35_000, "step": 20_100, "stage": 22_050, "request 7": 21_500, "request 8": 23_010,
                          "here": 0})
        self.assertEqual(by_name["stage"]["begin_ns"] - by_name["step"]["begin_ns"], 50)

    def test_launches_and_kernels_agree(self):
        trace = gpuspy.open(GRAPHS)
        report = harness.report_json(GRAPHS)
        launches, kernels = pyarrow.table(trace.launches()).to_pandas(), pyarrow.table(trace.kernels()).to_pandas()
        self.assertEqual(len(launches), report["launches"]["host"])
        self.assertEqual(int(launches["captured"].sum()), report["launches"]["captured"])
        self.assertEqual(int(launches["kernels"].sum()), report["launches"]["device_records"])
        by_call = kernels.groupby("call")["duration_ns"].sum()
        with_kernels = launches[launches["kernels"] > 0].set_index("call")
        self.assertEqual(with_kernels["gpu_ns"].astype("int64").to_dict(), by_call.astype("int64").to_dict())

    def test_pandas(self):
        copies = self.trace.copies().to_pandas()
        self.assertIsInstance(copies, pandas.DataFrame)
        expected = {row["direction"]: row for row in self.report["copies"]}
        self.assertEqual(int(copies[copies["copy_kind"] == 1]["bytes"].sum()), expected["HtoD"]["bytes"])
        self.assertEqual(int(self.trace.sets().to_pandas()["duration_ns"].sum()), expected["memset"]["time_ns"])

    def test_polars(self):
        calls = polars.DataFrame(self.trace.calls())
        self.assertEqual(calls.height, sum(row["count"] for row in harness.table(TRACE, "calls.calls")))

    def test_duckdb(self):
        kernels = self.trace.kernels()  # noqa: F841  # pylint: disable=unused-variable
        rows = duckdb.sql("select name, count(*), sum(duration_ns)::bigint from kernels group by name").fetchall()
        expected = {}
        for row in harness.table(TRACE, "kernels.kernels"):
            count, total = expected.get(row["name"], (0, 0))
            expected[row["name"]] = (count + row["count"], total + row["total_ns"])
        self.assertEqual({name: (count, total) for name, count, total in rows}, expected)

    def test_views(self):
        for name in self.trace.views():
            tables = harness.report_json(TRACE, "--view", name)["views"][name]
            for table_name, expected in tables.items():
                table = pyarrow.table(self.trace.view(f"{name}.{table_name}"))
                self.assertEqual(table.column_names, [column["name"] for column in expected["columns"]])
                self.assertEqual(table.to_pylist(), expected["rows"], f"{name}.{table_name}")

    def test_to_parquet(self):
        folder = self.new_folder() / "tables"
        paths = self.trace.to_parquet(folder)
        self.assertEqual(sorted(path.name for path in folder.iterdir()),
                         sorted(f"{name}.parquet" for name in self.trace.tables()))
        for name, path in zip(self.trace.tables(), paths):
            self.assertEqual(pyarrow.parquet.read_table(path), pyarrow.table(self.trace.table(name)))

    def test_tables_live_without_their_trace(self):
        table = gpuspy.open(TRACE).threads()
        self.assertEqual(pyarrow.table(table).num_rows, len(harness.table(TRACE, "calls.threads")))


if __name__ == "__main__":
    unittest.main()
