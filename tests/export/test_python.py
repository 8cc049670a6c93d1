"""The package gpuspy without anything beside it."""

import gc
import sys
import unittest
import warnings

import harness
from python_package import gpuspy

TRACE = harness.GOLDEN / "h200_two_streams.bin"


class Package(harness.TestCase):
    def test_every_table_has_a_method_and_a_stream(self):
        trace = gpuspy.open(TRACE)
        self.assertIn("kernels", trace.tables())
        self.assertIn("launches", trace.tables())
        for name, about in trace.tables().items():
            table = getattr(trace, name)()
            self.assertIn("arrow_array_stream", repr(table.__arrow_c_stream__()))
            self.assertIn(about[1:], getattr(gpuspy.Trace, name).__doc__)

    def test_streams_that_nobody_reads_end_with_their_capsules(self):
        trace = gpuspy.open(TRACE)
        table = trace.kernels()
        del trace
        gc.collect()
        for _ in range(3):
            table.__arrow_c_stream__()

    def test_errors_are_one_line(self):
        trace = gpuspy.open(TRACE)
        for call, said in ((lambda: gpuspy.open("/nowhere/trace.bin"), "/nowhere/trace.bin: cannot be opened: "),
                           (lambda: gpuspy.open(harness.GOLDEN), "it is a directory"),
                           (lambda: gpuspy.open(harness.SOURCE / "README.md"), "is not a gpuspy trace"),
                           (lambda: gpuspy.open("a\0b"), "zero byte"),
                           (lambda: trace.table("none"), 'there is no table "none"; there are: calls, '),
                           (lambda: trace.view("none"), 'there is no view "none"; there are: kernels, '),
                           (lambda: trace.view("calls"), "view calls has several tables; say one: calls."),
                           (lambda: trace.view("calls.none"), 'view calls has no table "none"; there are: calls, '),
                           (lambda: trace.view("kernels", names="short"), 'no names "short"; there are: full, ')):
            with self.assertRaises(gpuspy.Error) as caught:
                call()
            self.assertIn(said, str(caught.exception))
            self.assertEqual(len(str(caught.exception).splitlines()), 1)

    def test_a_trace_that_is_partly_readable_is_read_with_a_warning(self):
        cut = self.new_folder() / "cut.bin"
        cut.write_bytes(TRACE.read_bytes()[:-100])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            trace = gpuspy.open(cut)
        self.assertEqual(len(caught), 1)
        self.assertIn("partly readable", str(caught[0].message))
        self.assertEqual(trace.partial, str(caught[0].message))
        self.assertIsNone(gpuspy.open(TRACE).partial)

    def test_without_pyarrow_it_says_so(self):
        hidden = sys.modules.get("pyarrow")
        sys.modules["pyarrow"] = None
        self.addCleanup(lambda: sys.modules.pop("pyarrow") if hidden is None else sys.modules.update(pyarrow=hidden))
        folder = self.new_folder()
        with self.assertRaisesRegex(gpuspy.Error, "pip install pyarrow"):
            gpuspy.open(TRACE).to_parquet(folder)
        self.assertEqual(list(folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
