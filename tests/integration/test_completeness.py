"""The completeness check is itself checked: what CUPTI does wrong is said, and only that."""

import unittest

import harness


class Completeness(harness.TestCase):
    def test_withheld_record_is_an_unmatched_launch(self):
        report = self.recorded("launch_runtime", SIM_CUPTI_WITHHOLD=4)
        self.assert_launches(report, host=12, expected=12, device_records=11, unmatched_launches=1, unmatched_records=0,
                             complete=False)

    def test_invented_record_is_an_unmatched_record(self):
        report = self.recorded("launch_runtime", SIM_CUPTI_INVENT=4)
        self.assert_launches(report, host=12, expected=12, device_records=13, unmatched_launches=0, unmatched_records=1,
                             complete=False)

    def test_both_are_both(self):
        """One lost and one invented: the counts agree, and it is still not complete."""
        report = self.recorded("launch_runtime", SIM_CUPTI_WITHHOLD=4, SIM_CUPTI_INVENT=7)
        self.assert_launches(report, host=12, expected=12, device_records=12, unmatched_launches=1, unmatched_records=1,
                             complete=False)

    def test_withheld_graph_node(self):
        report = self.recorded("graphs", "child", SIM_CUPTI_WITHHOLD=5)
        self.assert_launches(report, expected=21, device_records=20, unmatched_launches=1, complete=False)

    def test_dropped_records_have_their_cause(self):
        report = self.recorded("launch_runtime", SIM_CUPTI_DROP=3)
        launches = report["launches"]
        self.assertEqual(launches["device_records"], 9)
        self.assertEqual(sum(launches["dropped"].values()), 3, launches)
        self.assertFalse(launches["complete"] and not launches["dropped"])

    def test_record_without_time_counts_but_not_as_time(self):
        report = self.recorded("launch_runtime", SIM_CLOCK="manual", SIM_CUPTI_ZERO_TIME=2)
        self.assert_launches(report, host=12, expected=12, device_records=12, untimed_records=1)
        self.assertEqual(report["gpu"]["kernel_time_ns"], 11 * 1000)

    def test_absurd_time_counts_but_not_as_time(self):
        report = self.recorded("launch_runtime", SIM_CLOCK="manual", SIM_CUPTI_ABSURD=2)
        self.assert_launches(report, host=12, expected=12, device_records=12, untimed_records=1)
        self.assertEqual(report["gpu"]["kernel_time_ns"], 11 * 1000)


class WithoutDeviceTimes(harness.TestCase):
    def host_only(self, report, launches):
        self.assertFalse(report["launches"]["device_times"])
        self.assertIsNone(report["gpu"]["time_ns"])
        self.assertIsNone(report["gpu"]["utilisation"])
        self.assertFalse(report["launches"]["complete"])
        self.assert_launches(report, host=launches, device_records=0)
        self.assert_kernels(report, _Z3addPfS_=5, _Z5scalePff=7)

    def test_another_tool_has_subscribed(self):
        run = self.run_host("launch_runtime", SIM_CUPTI_SUBSCRIBE_ERROR=39)
        self.assertEqual(run.status, 0)
        report = run.report()
        self.host_only(report, 12)
        self.assertIn("subscriber is taken", " ".join(report["process"]["notices"]))

    def test_cupti_refuses(self):
        for fault in ({"SIM_CUPTI_SUBSCRIBE_ERROR": 35}, {"SIM_CUPTI_REGISTER_ERROR": 35}):
            with self.subTest(fault=fault):
                run = self.run_host("launch_runtime", **fault)
                self.assertEqual((run.status, run.stdout), (0, b"launched 12\n"))
                self.host_only(run.report(), 12)

    def test_switched_off(self):
        self.host_only(self.recorded("launch_runtime", GPUSPY_DEVICE_TIMING=0), 12)

    def test_hanging_flush_ends(self):
        """CUPTI that does not come back from a flush does not keep the host for long."""
        run = self.run_host("launch_runtime", SIM_CUPTI_HANG_FLUSH=20_000)
        self.assertEqual((run.status, run.stdout), (0, b"launched 12\n"))
        self.assertEqual(run.report()["launches"]["host"], 12)


if __name__ == "__main__":
    unittest.main()
