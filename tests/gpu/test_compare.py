"""Known answers for compare.py: what it must call the same, and each difference that it must not miss."""

import unittest

import compare
from workloads import common

MANGLED = "_ZN2at6native13reduce_kernelILi512EEEvi"
DEMANGLED = "void at::native::reduce_kernel<512>(int)"


def report(*rows):
    return {"kernels": [{"name": name, "mangled": name, "count": count, "time_ns": time} for name, count, time in rows]}


def comparison(ours, theirs):
    return compare.Comparison(compare.of_report(report(*ours)), compare.of_profile({"kernels": theirs}))


class Names(unittest.TestCase):
    def test_mangled_names_are_demangled(self):
        self.assertEqual(compare.canonical(MANGLED), DEMANGLED)

    def test_other_names_stay(self):
        self.assertEqual(compare.canonical("sm90_xmma_fprop"), "sm90_xmma_fprop")
        self.assertEqual(compare.canonical("_Z"), "_Z")

    def test_the_mangled_name_wins_over_the_shown_one(self):
        row = {"name": "reduce_kernel<...>", "mangled": MANGLED, "count": 1, "time_ns": 5}
        self.assertEqual(compare.of_report({"kernels": [row]}).counts, {DEMANGLED: 1})


class Same(unittest.TestCase):
    def test_same_counts_and_times_within_five_percent(self):
        result = comparison([(MANGLED, 3, 1040), ("b", 1, 1000)], {DEMANGLED: [3, 1.0], "b": [1, 1.0]})
        self.assertTrue(result.same_kernels)
        self.assertTrue(result.same_time)
        self.assertAlmostEqual(result.time_ratio, 1.02)

    def test_rows_of_several_owners_are_added(self):
        result = comparison([("a", 3, 30), ("a", 4, 40)], {"a": [7, 0.07]})
        self.assertTrue(result.same_kernels and result.same_time)


class Different(unittest.TestCase):
    def test_one_launch_more_or_less(self):
        result = comparison([("a", 3, 1000), ("b", 2, 1000)], {"a": [4, 1.0], "b": [2, 1.0]})
        self.assertFalse(result.same_kernels)
        self.assertEqual(result.differences, [("a", 3, 4)])

    def test_a_kernel_that_one_side_lacks(self):
        result = comparison([("a", 3, 1000)], {"a": [3, 1.0], "b": [5, 0.0]})
        self.assertEqual(result.differences, [("b", 0, 5)])

    def test_times_further_apart_than_five_percent(self):
        self.assertFalse(comparison([("a", 1, 1051)], {"a": [1, 1.0]}).same_time)
        self.assertFalse(comparison([("a", 1, 949)], {"a": [1, 1.0]}).same_time)

    def test_nothing_on_both_sides_is_not_the_same(self):
        result = comparison([], {})
        self.assertFalse(result.same_kernels or result.same_time)


class Profile(unittest.TestCase):
    def test_only_device_activities_are_counted(self):
        trace = {
            "traceEvents": [
                {"ph": "X", "cat": "kernel", "name": "a", "dur": 1.5},
                {"ph": "X", "cat": "kernel", "name": "a", "dur": 2.5},
                {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "dur": 7.0},
                {"ph": "X", "cat": "gpu_user_annotation", "name": "Optimizer.step", "dur": 9.0},
                {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "dur": 9.0},
                {"ph": "M", "cat": "kernel", "name": "a"},
            ]
        }
        self.assertEqual(common.device_totals(trace), {"kernels": {"a": [2, 4.0]}, "copies": {"Memcpy HtoD": [1, 7.0]}})


if __name__ == "__main__":
    unittest.main()
