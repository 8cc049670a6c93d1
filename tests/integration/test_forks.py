"""Fork: each process that uses CUDA has one valid trace of its own, the others have none."""

import unittest

import harness


class Forks(harness.TestCase):
    def launches(self, run):
        return sorted(report["launches"]["host"] for report in run.reports())

    def test_child_that_does_nothing(self):
        run = self.run_host("forks", "plain")
        self.assertEqual([path.name for path in run.traces()], ["trace.bin"])
        self.assert_complete(run.report(), 5)

    def test_children_alone(self):
        run = self.run_host("forks", "child")
        self.assertEqual(self.launches(run), [4, 5])
        for report in run.reports():
            self.assertTrue(report["launches"]["complete"], report["launches"])

    def test_child_after_the_parent_used_cuda(self):
        """CUDA does not work there; the child's failed call is not in the parent's trace."""
        run = self.run_host("forks", "both")
        parents = [report for report in run.reports() if report["launches"]["expected"] == 5]
        self.assertEqual(len(parents), 1)
        self.assert_complete(parents[0], 5)
        children = [report for report in run.reports() if report["launches"]["expected"] == 0]
        self.assertEqual([report["launches"]["failed"] for report in children], [1] * len(children))
        self.assertEqual(len(run.traces()), 1 + len(children))

    def test_child_of_a_parent_that_holds_a_lock_of_the_c_library(self):
        for preload in (False, True):
            run = self.run_host("fork_while_registering", preload=preload)
            self.assertEqual((run.status, run.stdout, run.stderr), (0, b"40 children ended\n", b""))

    def test_parent_that_uses_cuda_late(self):
        run = self.run_host("forks", "late")
        self.assertEqual(self.launches(run), [4, 6])
        kernels = sorted(tuple(harness.kernel_counts(report).items()) for report in run.reports())
        self.assertEqual(kernels, [(("_Z5childv", 4),), (("_Z6parentv", 6),)])


if __name__ == "__main__":
    unittest.main()
