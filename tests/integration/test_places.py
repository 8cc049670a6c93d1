"""Calls from destructors of threads, handlers of atexit, constructors before ours and destructors after ours."""

import unittest

import harness

EARLY = harness.HOSTS / "libplaces_early.so"


class Places(harness.TestCase):
    def calls(self, *arguments, also=None, **variables):
        """What is recorded by function, and what is lost. The program's output is the same without gpuspy."""
        others = [] if also is None else [str(also)]
        bare = self.run_host("places", *arguments, preload=False, LD_PRELOAD=":".join(others), **variables)
        run = self.run_host("places", *arguments, LD_PRELOAD=":".join([str(harness.PRELOAD), *others]), **variables)
        self.assertEqual((bare.status, bare.stdout, bare.stderr), (0, b"called\n", b""))
        self.assertEqual((run.status, run.stdout, run.stderr), (bare.status, bare.stdout, bare.stderr))
        report = run.report()
        counts = harness.call_counts(report)
        self.assertTrue(report["process"]["ended_cleanly"])
        return counts.get("cublasSaxpy_v2", 0), counts["cublasSscal_v2"], report["launches"]["dropped"]

    def test_destructors_of_threads(self):
        """Of thread_local objects, and of keys in every round of the C library's: after ours has given the ring back."""
        self.assertEqual(self.calls("destructors", 500, GPUSPY_RING_KIB=16), (500 * 7, 1, {"after_end": 1}))

    def test_more_such_threads_than_there_can_be_rings(self):
        """Each of them takes a ring that it does not give back."""
        saxpy, _, dropped = self.calls("destructors", 6000, GPUSPY_RING_KIB=16)
        self.assertEqual(dropped.pop("after_end"), 1)  # of main's own destructors
        self.assertEqual(saxpy + sum(dropped.values()), 6000 * 7)
        # When none is taken back, 4,096 rings are enough for 28,700 calls. A drain thread that does not come to run may cost some too.
        self.assertGreater(saxpy, 5 * 6000)

    def test_handlers_of_exit(self):
        """What was registered after the first call runs before our flush, and is recorded; what runs later goes through, and is counted."""
        self.assertEqual(self.calls("exits"), (0, 2, {"after_end": 2}))

    def test_constructor_before_ours_and_destructor_after_ours(self):
        """The recording begins in that constructor: every handler of the program's runs before the end of it."""
        saxpy, sscal, dropped = self.calls("exits", also=EARLY)
        self.assertEqual((saxpy, dropped), (2, {}))
        self.assertIn(sscal, (3, 4))  # With the library's own destructor, where the loader runs it before ours.


if __name__ == "__main__":
    unittest.main()
