"""The form that readers of torch.profiler's files expect, on traces of many kinds."""

import collections
import gzip
import json
import re
import unittest

import harness

GPU = {"kernel", "gpu_memcpy", "gpu_memset"}
INT64 = 2**63


def no_constant(name):
    raise ValueError(f"{name} is no JSON")


def integers(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from integers(item)
    elif isinstance(value, int):
        yield value


class Form(harness.TestCase):
    def load(self, trace):
        return json.loads(self.export("kineto", trace, "trace.json").read_bytes().decode("utf-8"), parse_constant=no_constant)

    def test_varied_traces(self):
        for trace in harness.VARIED:
            with self.subTest(trace=trace.stem):
                self.check(self.load(trace), harness.report_json(trace)["gpu"])

    def check(self, trace, gpu):
        rows = trace["traceEvents"]
        self.assertTrue(all(-INT64 <= value < INT64 for value in integers(trace)))
        slices = [row for row in rows if row["ph"] == "X"]
        self.assertTrue(all({"name", "cat", "pid", "tid", "ts", "dur"} <= row.keys() and row["dur"] >= 0 for row in slices))
        device = [row for row in slices if row["cat"] in GPU]
        host = [row for row in slices if row["cat"] not in GPU]
        self.assertEqual({row["cat"] for row in host} - {"cuda_runtime", "cuda_driver", "cpu_op"}, set())
        # As many as the report has, as long as it says.
        for category, count, time_ns in (("kernel", "kernels", "kernel_time_ns"), ("gpu_memcpy", "copies", "copy_time_ns"),
                                         ("gpu_memset", "sets", "set_time_ns")):
            of_kind = [row for row in device if row["cat"] == category]
            self.assertEqual(len(of_kind), gpu[count])
            self.assertEqual(round(sum(row["dur"] for row in of_kind) * 1000), gpu[time_ns] or 0)
        # A stream on a host row, or two rows of one correlation id, and readers count wrong.
        self.assertFalse(any("stream" in row["args"] for row in host))
        self.assertTrue(all(row["args"]["stream"] >= 0 for row in device))
        ids = collections.Counter(row["args"]["correlation"] for row in host if "correlation" in row["args"])
        self.assertEqual(set(ids.values()) - {1}, set())
        self.assertNotIn(0, ids)
        self.check_arrows(rows, device, ids)
        self.check_tracks(device)

    def check_arrows(self, rows, device, ids):
        begins = {row["id"]: row for row in rows if row["ph"] == "s"}
        ends = {row["id"]: row for row in rows if row["ph"] == "f"}
        self.assertEqual(begins.keys(), ends.keys())
        linked = [row for row in device if row["args"]["correlation"] in ids]
        self.assertEqual(len(begins), len(linked))
        self.assertEqual(sorted((row["pid"], row["tid"], row["ts"]) for row in ends.values()),
                         sorted((row["pid"], row["tid"], row["ts"]) for row in linked))

    def check_tracks(self, device):
        tracks = collections.defaultdict(list)
        for row in device:
            tracks[row["pid"], row["tid"]].append((round(row["ts"] * 1000), round(row["dur"] * 1000)))
        for track in tracks.values():
            for (ts, dur), (following, _) in zip(track, track[1:]):
                self.assertLessEqual(ts + dur, following)

    def test_calls_are_the_outermost_of_the_runtime_and_the_driver(self):
        trace = harness.GOLDEN / "h200_two_streams.bin"
        rows = collections.Counter(row["name"] for row in self.load(trace)["traceEvents"]
                                   if row.get("cat") in ("cuda_runtime", "cuda_driver"))
        calls = {row["name"]: row for row in harness.table(trace, "calls.calls")}
        self.assertEqual(rows["cudaLaunchKernel"], calls["__cudaLaunchKernel"]["count"])
        self.assertEqual(rows["cuLaunchKernelEx"], calls["cuLaunchKernelEx"]["count"])  # cuBLAS, without the runtime.
        self.assertNotIn("cuLaunchKernel", rows)  # Each inside a call of the runtime.
        self.assertEqual(calls["cuLaunchKernel"]["count"], 45)

    def test_library_calls_stand_beside_them(self):
        trace = harness.GOLDEN / "h200_resnet_train.bin"
        rows = collections.Counter(row["name"] for row in self.load(trace)["traceEvents"] if row.get("cat") == "cpu_op")
        for row in harness.table(trace, "calls.library_calls"):
            self.assertGreaterEqual(rows[row["name"]], row["count"])
        self.assertGreater(len(rows), 3)

    def test_names_of_copies(self):
        names = {row["name"] for row in self.load(harness.GOLDEN / "h200_resnet_train.bin")["traceEvents"]
                 if row.get("cat") in ("gpu_memcpy", "gpu_memset")}
        for name in names:
            self.assertRegex(name, re.compile(r"^(Memcpy (HtoD|DtoH|DtoD) \(\w+ -> \w+\)|Memset \(\w+\))$"))
        self.assertIn("Memcpy HtoD (Pageable -> Device)", names)

    def test_compressed_by_name(self):
        trace = harness.GOLDEN / "h200_two_streams.bin"
        plain = self.export("kineto", trace, "trace.json").read_bytes()
        self.assertEqual(gzip.decompress(self.export("kineto", trace, "trace.json.gz").read_bytes()), plain)


if __name__ == "__main__":
    unittest.main()
