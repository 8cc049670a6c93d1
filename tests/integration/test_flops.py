"""FLOPs of library calls whose work is behind their pointers or in what was described before, recorded by the hooks."""

import unittest

import harness


class Flops(harness.TestCase):
    def rows_of(self, table, **variables):
        """Rows of a table of view flops, and the run that they are of."""
        run = self.run_host("flops", **variables)
        self.assertEqual((run.status, run.stderr), (0, b""))
        [trace] = run.traces()
        return harness.read_view(trace, f"flops.{table}"), run

    def test_known_work(self):
        rows, _ = self.rows_of("operations")
        flops = {(row["name"], row["operation"], row["type"]): row["flops"] for row in rows}
        self.assertEqual(flops, {
            # The kernels' names say that both are FP32.
            ("cublasSgemm_v2", "matrix multiply", "FP32"): 2 * 8**3 + 2 * 16**3,
            ("cublasGemmGroupedBatchedEx", "matrix multiply", "FP16"): 2 * (2 * 6000 + 3 * 125),
            # Two layers in both directions: 4 x 64 x (32 + 64) weights, then 4 x 64 x (128 + 64); 83 steps.
            ("cudnnRNNForward", "matrix multiply", "FP16"): 2 * 83 * 2 * 4 * 64 * (96 + 192),
            # Each plan is of its own graph, though all were asked about before. 20 products in one graph are taken for attention.
            ("cudnnBackendExecute", "attention backward", "FP16"): 20 * 2 * 4 * 8 * 2,
            ("cudnnBackendExecute", "matrix multiply", "FP64"): 2 * 4 * 8 * 2,
            # Causal: half of 2 x 2 x 16 x 16 x (8 + 8).
            ("cudnnBackendExecute", "attention forward", "FP16"): 8192,
        })

    def test_more_operations_than_are_recorded_are_not_covered(self):
        rows, _ = self.rows_of("unknown")
        self.assertEqual([(row["name"], row["executions"], row["cause"]) for row in rows],
                         [("cudnnBackendExecute", 1, "an argument that is needed is not recorded")])

    def test_a_handle_s_math_mode(self):
        """Without kernels' names the mode alone says what may run."""
        rows, run = self.rows_of("operations", GPUSPY_DEVICE_TIMING="0")
        flops = {row["type"]: row["flops"] for row in rows if row["name"] == "cublasSgemm_v2"}
        self.assertEqual(flops, {"FP32": 2 * 8**3, "FP32 or TF32": 2 * 16**3})
        self.assertTrue(any("cublasSetMathMode(" in line and "mode=3)" in line for line in run.listed_calls()))


if __name__ == "__main__":
    unittest.main()
