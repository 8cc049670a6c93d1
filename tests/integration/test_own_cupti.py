"""A host that uses CUPTI itself gets all that it would get alone, and gpuspy's report is complete too."""

import unittest

import harness

BEFORE, WATCHED, BETWEEN = "_Z6beforev", "_Z7watchedv", "_Z7betweenv"


class Shared(harness.TestCase):
    SESSIONS = [f"session: {WATCHED} 5 calls 5"] * 3

    def both(self, mode, expected, host="own_cupti", **variables):
        """The host's output, which is `expected` and the same without gpuspy; gpuspy's report."""
        bare = self.run_host(host, mode, preload=False, **variables)
        spied = self.run_host(host, mode, **variables)
        self.assertEqual((bare.status, bare.stdout.decode().splitlines(), bare.stderr), (0, expected, b""))
        self.assertEqual((spied.status, spied.stdout, spied.stderr), (0, bare.stdout, b""))
        return spied.report()

    def both_of_kinds(self, mode, expected):
        return self.both(mode, expected, host="own_cupti_kinds")

    def assert_all_recorded(self, report, **kernels):
        launches = sum(kernels.values())
        self.assert_complete(report, launches)
        self.assert_kernels(report, **kernels)
        for kernel in report["kernels"]:
            self.assertEqual(kernel.get("untimed", 0), 0, kernel)

    def test_before_the_first_launch(self):
        report = self.both("first", [f"records: {WATCHED} 5", "callbacks: entered 5, words 5, state 1 (0)"])
        self.assert_all_recorded(report, **{WATCHED: 5})

    def test_records_alone_before_the_first_launch(self):
        report = self.both("records_alone", [f"records: {WATCHED} 5"])
        self.assert_all_recorded(report, **{WATCHED: 5})

    def test_sessions_while_gpuspy_records(self):
        report = self.both("sessions", self.SESSIONS)
        self.assert_all_recorded(report, **{BEFORE: 3, WATCHED: 15, BETWEEN: 12})
        self.assertEqual(harness.copies(report), {"HtoD": (3, 768)})

    def test_kinds_that_the_host_did_not_ask_for(self):
        report = self.both_of_kinds("copies_only", ["records: kind 1 1"])
        self.assert_all_recorded(report, **{BEFORE: 3, WATCHED: 5, BETWEEN: 4})

    def test_more_than_one_buffer(self):
        report = self.both("many", ["early buffers: some", f"records: {WATCHED} 2000"])
        self.assert_all_recorded(report, **{BEFORE: 3, WATCHED: 2000, BETWEEN: 4})

    def test_launches_between_the_end_of_a_session_and_its_flush(self):
        report = self.both("late", [f"records: {WATCHED} 5"])
        self.assert_all_recorded(report, **{BEFORE: 3, WATCHED: 5, BETWEEN: 4})

    def test_cupti_that_is_ended_by_the_last_call(self):
        """What came back before is in the trace, though no device call opens CUPTI anew."""
        report = self.both("ended_at_the_end", [f"records: {WATCHED} 5"])
        self.assert_all_recorded(report, **{BEFORE: 3, WATCHED: 5})

    def test_attributes(self):
        report = self.both("attributes", ["per thread: 1", "per thread: 0", "per thread: 0", "per thread: 1",
                                          "nothing to set: 1"])
        self.assert_all_recorded(report, **{BEFORE: 3, BETWEEN: 4})

    def test_callbacks(self):
        report = self.both("callbacks", [
            "none yet: entered 0, words 0, state 0 (0)", "on: entered 5, words 5, state 1 (0)",
            "off: entered 0, words 0, state 0 (0)", "domain: called for all",
            "domain off: entered 0, words 0, state 0 (0)", "second cuptiSubscribe: 39", "unsubscribed: entered 0",
            "cuptiUnsubscribe again: 1"])
        self.assert_all_recorded(report, **{BEFORE: 3, WATCHED: 7, BETWEEN: 12})

    def test_clock_of_the_hosts(self):
        report = self.both("clock_of_its_own", [f"session: {WATCHED} 5"] * 2)
        self.assert_all_recorded(report, **{BEFORE: 3, WATCHED: 10, BETWEEN: 8})
        times = {kernel["mangled"]: kernel["time_ns"] / kernel["count"] for kernel in report["kernels"]}
        # A clock of five units a nanosecond: taken for nanoseconds they would be five times as long. Readings on a loaded machine have
        # an error of some 100 ns.
        self.assertEqual(times[BEFORE], 1000)
        self.assertAlmostEqual(times[WATCHED], 3000, delta=1000)
        self.assertAlmostEqual(times[BETWEEN], 1000, delta=1000)

    def test_clock_is_registered_with_cupti_once(self):
        report = self.both("clock_twice", [])
        self.assert_all_recorded(report, **{BEFORE: 3, BETWEEN: 4})

    def test_finalize_in_a_callback(self):
        report = self.both("finalize", [f"session: {WATCHED} 5"] * 2)
        launches = report["launches"]
        # The launch in whose callback CUPTI ends has no record, each time; the others are opened anew for.
        self.assertEqual(launches["host"], 3 + 10 + 10)
        self.assertEqual(launches["unmatched_records"], 0, launches)
        self.assertEqual(launches["device_records"] + launches["unmatched_launches"] + launches["untimed"],
                         launches["host"], launches)
        self.assertGreaterEqual(launches["device_records"], 3 + 10 + 8)
        self.assertIn("called cuptiFinalize", " ".join(report["process"]["notices"]))

    def test_kernels_one_by_one(self):
        report = self.both_of_kinds("one_by_one", [f"records: {WATCHED} 5"])
        self.assert_all_recorded(report, **{BEFORE: 3, WATCHED: 5, BETWEEN: 4})

    def test_dropped_records_are_told_to_both(self):
        report = self.both("dropped", ["dropped 2", f"records: {WATCHED} 3"], SIM_CUPTI_DROP=2)
        self.assertEqual(report["launches"]["dropped"], {"cupti_dropped": 2})

    def test_calls_of_the_driver_by_gpuspys_own_threads(self):
        """They ask for the devices' names and more, and the host sees no record of it."""
        report = self.both("calls_of_others", [f"records: {WATCHED} 5 calls 5"])
        self.assert_all_recorded(report, **{WATCHED: 5})

    def test_periodic_flush_of_the_hosts(self):
        report = self.both("flush_period", [])
        self.assert_all_recorded(report, **{BEFORE: 3, BETWEEN: 4})

    def test_host_that_flushes_after_gpuspy_has_ended(self):
        report = self.both("flushed_at_exit", [f"at exit: {WATCHED} 5"])
        self.assert_all_recorded(report, **{BEFORE: 3, WATCHED: 5})

    def test_host_whose_callbacks_are_gone_at_exit(self):
        report = self.both("gone_at_exit", [])
        self.assert_all_recorded(report, **{BEFORE: 3, WATCHED: 5})

    def storm(self, **variables):
        report = self.both("storm", ["watched 100"], **variables)
        self.assert_launches(report, host=3 + 4 * 2000 + 100, expected=3 + 4 * 2000 + 100,
                             device_records=3 + 4 * 2000 + 100)
        self.assert_kernels(report, **{BEFORE: 3, WATCHED: 100, BETWEEN: 8000})

    def test_sessions_while_other_threads_launch(self):
        """Kernels that run when a session begins lose their times (said), never their records."""
        self.storm()

    def test_sessions_while_other_threads_stand_still_in_cupti(self):
        """A thread stops between the request for a buffer and its use, or before it gives one back, while a session begins or ends."""
        self.storm(SIM_CUPTI_SLOW_BUFFERS=2000)

    def test_another_copy_of_cupti(self):
        """It is refused as long as ours is attached: ours lets go, and says from when on there are no device times."""
        report = self.both("another_copy", ["cuptiSubscribe: 0", "cuptiEnableCallback: 0", "entered 5"])
        self.assert_gave_way(report, 8, "took another copy of CUPTI")

    def test_kinds_for_one_context(self):
        """The session goes on until the last context's kind is off, or the kind of all."""
        report = self.both_of_kinds("contexts", [f"one of two off: {WATCHED} 10", f"both off: {WATCHED} 5", "later:",
                                                 f"all but one: {WATCHED} 5", f"all off: {WATCHED} 1", "later:"])
        self.assert_all_recorded(report, **{BEFORE: 3, WATCHED: 21, BETWEEN: 4000})

    def test_kinds_for_more_contexts_than_are_counted(self):
        report = self.both_of_kinds("many_contexts", [f"records: {WATCHED} 5"])
        self.assert_all_recorded(report, **{WATCHED: 5})

    def test_records_of_one_function(self):
        report = self.both_of_kinds("one_function", ["records: calls 5", "later:"])
        self.assert_all_recorded(report, **{WATCHED: 5, BETWEEN: 2000})

    def test_deprecated_flush(self):
        report = self.both_of_kinds("old_flush", [f"records: {WATCHED} 5", "later:"])
        self.assert_all_recorded(report, **{BEFORE: 3, WATCHED: 5, BETWEEN: 2000})

    def assert_gave_way(self, report, launches, because):
        """Device times ended after the first three launches, and the report says why."""
        self.assertEqual((report["launches"]["host"], report["launches"]["device_records"]), (launches, 3))
        self.assertEqual(report["launches"]["unmatched_launches"], 0)
        self.assertFalse(report["launches"]["complete"])
        self.assertIn(because, " ".join(report["process"]["notices"]))

    def test_kind_that_excludes_ours(self):
        """What the host would get alone it gets; gpuspy gives way, and says so."""
        report = self.both_of_kinds("exclusive_kind", ["cuptiActivityEnable: 0", "and kernels: 14", "records:"])
        self.assert_gave_way(report, 12, "enabled activity kind 30, which excludes")

    def test_kind_that_the_hosts_own_exclude(self):
        report = self.both_of_kinds("excludes_itself", ["cuptiActivityEnable: 14", f"records: {WATCHED} 5"])
        self.assert_all_recorded(report, **{BEFORE: 3, WATCHED: 5, BETWEEN: 4})

    def test_graphs_as_a_whole(self):
        report = self.both_of_kinds("whole_graphs", ["records:"])
        self.assert_all_recorded(report, **{BEFORE: 3, WATCHED: 5, BETWEEN: 4})
        self.assertIn("traced CUDA graphs as a whole", " ".join(report["process"]["notices"]))

    def test_second_set_of_activity_functions(self):
        """They exclude the first one, which gpuspy uses."""
        report = self.both_of_kinds("newer_functions", ["registered: 0", "enabled: 0", "disabled: 0", f"records: {WATCHED} 5"])
        self.assert_gave_way(report, 12, "cuptiActivityRegisterCallbacks_v2")

    def test_newer_form_of_a_subscription(self):
        report = self.both("newer_subscription", ["cuptiSubscribe_v2: 0", "entered 5"])
        self.assert_gave_way(report, 8, "newer form of cuptiSubscribe_v2")

    def test_what_cupti_refuses_is_refused(self):
        report = self.both("refused", ["no callbacks: 1", "no kind: 21", "no handle: 1", "not its handle: 1",
                                       "no handle to enable: 1", "no handle to ask: 1"])
        self.assert_all_recorded(report, **{BEFORE: 3, BETWEEN: 4})

    def test_device_timing_off_leaves_cupti_alone(self):
        run = self.run_host("own_cupti", "sessions", GPUSPY_DEVICE_TIMING=0)
        self.assertEqual(run.stdout.decode().splitlines(), self.SESSIONS)
        self.assertEqual(run.report()["launches"]["host"], 30)

    def test_subscriber_that_is_taken_out_of_sight(self):
        report = self.recorded("exits", "return", status=7, SIM_CUPTI_SUBSCRIBE_ERROR=39, CUDA_INJECTION64_PATH="libtool.so")
        self.assertEqual(report["launches"]["host"], 5)
        self.assertFalse(report["launches"]["complete"])
        self.assertIn("held by libtool.so", " ".join(report["process"]["notices"]))


if __name__ == "__main__":
    unittest.main()
