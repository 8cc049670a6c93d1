"""A thread that is cancelled in a wait: it ends as without gpuspy, and everything else is recorded."""

import unittest

import harness

# What each wait is at the driver's level.
WAITS = {"cudaStreamSynchronize": "cuStreamSynchronize", "cudaEventSynchronize": "cuEventSynchronize",
         "cudaDeviceSynchronize": "cuCtxSynchronize_v2", "cudaMemcpy": "cuMemcpyDtoH_v2",
         "cuStreamSynchronize": None, "cuEventSynchronize": None, "cuCtxSynchronize": None, "cuMemcpyDtoH_v2": None}


class Cancels(harness.TestCase):
    def test_each_wait(self):
        for wait, inner in WAITS.items():
            with self.subTest(wait=wait):
                bare = self.run_host("cancels", wait, preload=False)
                run = self.run_host("cancels", wait)
                self.assertEqual((bare.status, bare.stdout), (0, b"cancelled: yes\n"))
                self.assertEqual((run.status, run.stdout, run.stderr), (bare.status, bare.stdout, bare.stderr))
                report = run.report()
                calls = harness.call_counts(report)
                self.assertEqual((report["launches"]["host"], report["launches"]["dropped"]), (3, {}))
                # The wait for the short kernel; the other one has no end.
                self.assertEqual(calls[wait], 1)
                if inner is not None:
                    self.assertEqual(calls[inner], 1)
                self.assertTrue(report["process"]["ended_cleanly"])


if __name__ == "__main__":
    unittest.main()
