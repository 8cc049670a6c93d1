"""HolisticTraceAnalysis, on our exports, finds the numbers of our report."""

import logging
import os
import re
import unittest

import harness

if __name__ == "__main__":
    harness.with_tools()

# Else it cuts times to whole microseconds.
os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"
# pylint: disable=wrong-import-position
from hta.trace_analysis import TraceAnalysis  # noqa: E402

logging.disable(logging.WARNING)

TRACES = ("h200_resnet_train", "h200_graph_resnet_infer", "h200_two_streams")
NS = 1e-3  # In HTA's microseconds.
# Spans are measured in the host's clock, into which ours converts; durations are the device's in both.
CLOCKS = 1e-4


class Numbers(harness.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.loaded = {}

    def analysis(self, name):
        if name not in self.loaded:
            path = self.export("kineto", harness.GOLDEN / f"{name}.bin", f"{name}.json.gz")
            self.loaded[name] = TraceAnalysis(trace_files={0: str(path)})
        return self.loaded[name]

    def each_trace(self, check):
        for name in TRACES:
            with self.subTest(trace=name):
                check(self.analysis(name), harness.GOLDEN / f"{name}.bin")

    def test_kernel_breakdown(self):
        def check(hta, trace):
            _, rows = hta.get_gpu_kernel_breakdown(visualize=False, duration_ratio=1.0, num_kernels=10**6)
            theirs = {row["name"]: row for _, row in rows.iterrows() if row["kernel_type"] != "MEMORY"}
            ours = {}
            for row in harness.table(trace, "kernels.kernels"):
                kernel = ours.setdefault(row["name"], {"sum": 0, "count": 0, "min": row["min_ns"], "max": row["max_ns"]})
                kernel["sum"] += row["total_ns"]
                kernel["count"] += row["count"]
                kernel["min"] = min(kernel["min"], row["min_ns"])
                kernel["max"] = max(kernel["max"], row["max_ns"])
            self.assertGreater(len(ours), 4)
            self.assertEqual(sorted(theirs), sorted(ours))
            for name, kernel in ours.items():
                self.assertAlmostEqual(theirs[name]["sum (us)"], kernel["sum"] * NS, delta=NS)
                self.assertAlmostEqual(theirs[name]["mean (us)"], kernel["sum"] * NS / kernel["count"], delta=NS)
                self.assertAlmostEqual(theirs[name]["min (us)"], kernel["min"] * NS, delta=NS)
                self.assertAlmostEqual(theirs[name]["max (us)"], kernel["max"] * NS, delta=NS)

        self.each_trace(check)

    def test_idle_time(self):
        def check(hta, trace):
            busy_us = harness.report_json(trace)["gpu"]["busy_ns"] * NS
            [row] = hta.get_temporal_breakdown(visualize=False).to_dict("records")
            span_us = row["kernel_time(us)"]
            self.assertAlmostEqual(span_us - row["idle_time(us)"], busy_us, delta=busy_us * CLOCKS)
            self.assertGreater(row["idle_time(us)"], busy_us)  # So that this compares something.
            # By cause, on each stream: what is between its first begin and its last end and runs nothing.
            causes, _ = hta.get_idle_time_breakdown(ranks=[0], visualize=False)
            rows = hta.t.get_trace(0)
            for stream, device in rows[rows["stream"].ne(-1)].groupby("stream"):
                # Not its column "end", which it leaves behind when it moves "ts".
                idle_us = (device["ts"] + device["dur"]).max() - device["ts"].min() - device["dur"].sum()
                found_us = causes[causes["stream"].eq(stream)]["idle_time"].sum()
                self.assertAlmostEqual(found_us, idle_us, delta=0.02 + idle_us * CLOCKS)  # It rounds to 10 ns.
            if trace.stem != "h200_graph_resnet_infer":  # Which was mostly waiting for the captures.
                self.assertIn("kernel_wait", set(causes["idle_category"]))

        self.each_trace(check)

    def test_launches(self):
        def check(hta, trace):
            launches = hta.get_cuda_kernel_launch_stats(ranks=[0], visualize=False)[0]
            calls = harness.table(trace, "calls.calls")
            names = ("__cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemsetAsync")
            ours = [row for row in calls if row["name"] in names]
            self.assertEqual({row["count"] for row in ours}, {row["outermost"] for row in ours})
            captured = harness.report_json(trace)["launches"]["captured"]
            count = sum(row["count"] for row in ours)
            if captured == 0:
                self.assertEqual(len(launches), count)
                self.assertAlmostEqual(launches["cpu_duration"].sum(), sum(row["total_ns"] for row in ours) * NS, delta=1)
            else:  # What was captured launched nothing by itself.
                self.assertGreater(len(launches), 0)
                self.assertLess(len(launches), count)
            self.assertEqual(launches["correlation"].nunique(), len(launches))
            self.assertTrue((launches["launch_delay"] >= 0).all())

        self.each_trace(check)

    def test_queues(self):
        """It insists that each launch it knows has one record."""
        def check(hta, _):
            [queues] = hta.get_queue_length_time_series(ranks=[0]).values()
            self.assertTrue((queues["queue_length"] >= -1).all())
            self.assertGreater(queues["queue_length"].max(), 0)

        self.each_trace(check)

    def test_memory_bandwidth(self):
        def check(hta, trace):
            copies = {("Memset" if row["direction"] == "memset" else f"Memcpy {row['direction']}"): row
                      for row in harness.report_json(trace)["copies"]}
            self.assertGreater(len(copies), 1)
            summary = hta.get_memory_bw_summary(ranks=[0])["memory_bw_gbps"]
            rows = hta.t.get_trace(0).copy()
            hta.t.symbol_table.add_symbols_to_trace_df(rows, "name")
            for name, row in copies.items():
                self.assertEqual(summary.loc[(0, name)]["count"], row["count"])
                of_name = rows[rows["stream"].ne(-1) & rows["name"].str.startswith(name)]
                self.assertEqual(of_name["bytes"].sum(), row["bytes"])
                gb_per_s = of_name["bytes"].sum() / (of_name["dur"].sum() / NS)
                self.assertAlmostEqual(gb_per_s, row["gb_per_s"], delta=row["gb_per_s"] * 1e-6)
                # Its own column is each row's bytes over its duration.
                moved = (of_name["memory_bw_gbps"] * of_name["dur"] / NS).sum()
                self.assertAlmostEqual(moved, row["bytes"], delta=row["bytes"] * 1e-6)

        self.each_trace(check)


class Ranges(harness.TestCase):
    def test_ranges_change_no_number(self):
        def numbers(what):
            hta = TraceAnalysis(trace_files={0: str(self.export("kineto", self.scripted(what), f"{what}.json"))})
            _, kernels = hta.get_gpu_kernel_breakdown(visualize=False)
            causes, _ = hta.get_idle_time_breakdown(ranks=[0], visualize=False)
            launches = hta.get_cuda_kernel_launch_stats(ranks=[0], visualize=False)[0]
            return [rows.round(6).to_dict("records") for rows in (
                kernels, hta.get_temporal_breakdown(visualize=False), causes,
                launches[["cpu_duration", "gpu_duration", "launch_delay"]])]

        plain = numbers("plain")
        self.assertEqual(numbers("ranges"), plain)
        self.assertEqual(len(plain[3]), 20)


class Ranks(harness.TestCase):
    def test_a_rank_is_written_so_that_it_is_found(self):
        path = self.export("kineto", harness.GOLDEN / "h200_nccl_alone.bin", "trace.json")
        with path.open(encoding="utf-8") as file:
            found = [re.search(r'"rank":\s+(\d+)', line) for line in file]
        rank = harness.report_json(harness.GOLDEN / "h200_nccl_alone.bin")["process"].get("rank", -1)
        self.assertEqual([match[1] for match in found if match], [str(rank)] if rank is not None and rank >= 0 else [])


if __name__ == "__main__":
    unittest.main()
