"""Calls on memory, streams, events, contexts and device code are recorded with the arguments that they are kept with."""

import unittest

import harness


def handles(output):
    return dict(line.split() for line in output.decode().splitlines() if " 0x" in line)


class Calls(harness.TestCase):
    def setUp(self):
        self.run_made = self.run_host("calls")
        self.assertEqual((self.run_made.status, self.run_made.stderr), (0, b""), self.run_made.stdout)
        self.handles = handles(self.run_made.stdout)
        self.listed = self.run_made.listed_calls()

    def assert_call(self, name, text):
        self.assertTrue(any(f" {name}({text}" in line for line in self.listed), [l for l in self.listed if name in l])

    def test_memory(self):
        known = self.handles
        self.assert_call("cudaMalloc", f"devPtr={known['memory']}, size=4096) = 0")
        self.assert_call("cudaMallocAsync", f"devPtr={known['pooled']}, size=512, stream=0x0) = 0")
        self.assert_call("cudaHostAlloc", f"pHost={known['pinned']}, size=64) = 0")
        self.assert_call("cudaFree", f"devPtr={known['memory']}) = 0")
        self.assert_call("cudaFreeHost", f"ptr={known['pinned']}) = 0")
        self.assert_call("cudaFreeAsync", f"devPtr={known['pooled']}, stream=0x0) = 0")

    def test_a_pointer_that_was_not_written_is_not_read(self):
        self.assert_call("cudaMalloc", "devPtr=0x0, size=16) = 1")

    def test_streams_and_events(self):
        stream, event = self.handles["stream"], self.handles["event"]
        self.assert_call("cudaStreamCreate", f"pStream={stream}) = 0")
        self.assert_call("cudaEventRecord", f"event={event}, stream={stream}) = 0")
        self.assert_call("cudaStreamWaitEvent", f"event={event}, stream={stream}) = 0")

    def test_device_code_and_contexts(self):
        self.assertEqual(sum(" cuModuleLoadData(" in line for line in self.listed), 1)
        self.assert_call("cuCtxCreate_v2", ") = 101")

    def test_each_call_once(self):
        counts = harness.call_counts(self.run_made.report())
        self.assertEqual({name: counts[name] for name in ("cudaMalloc", "cudaFree", "cudaEventRecord", "cudaStreamDestroy")},
                         {"cudaMalloc": 2, "cudaFree": 1, "cudaEventRecord": 1, "cudaStreamDestroy": 1})


class NothingRuns(harness.TestCase):
    def test_what_executes_nothing_leaves_no_trace(self):
        run = self.run_host("calls", "orders")
        self.assertEqual((run.status, run.stderr, run.traces()), (0, b"", []))


if __name__ == "__main__":
    unittest.main()
