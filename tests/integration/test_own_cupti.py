"""A host that uses CUPTI itself gets all that it would get alone; gpuspy steps back, names it, and is never half."""

import unittest

import harness


class OwnCupti(harness.TestCase):
    def both(self, how):
        bare = self.run_host("own_cupti", how, preload=False)
        spied = self.run_host("own_cupti", how)
        self.assertEqual((spied.status, spied.stdout, spied.stderr), (bare.status, bare.stdout, bare.stderr))
        return bare, spied.report()

    def assert_stepped_back(self, report, launches):
        self.assertEqual(report["launches"]["host"], launches)
        self.assertFalse(report["launches"]["complete"])
        self.assertEqual(report["launches"]["unmatched_records"], 0, report["launches"])
        self.assertEqual(report["launches"]["unmatched_launches"], 0, report["launches"])
        self.assertIn("CUPTI", " ".join(report["process"]["notices"]))

    def test_before_the_first_launch(self):
        bare, report = self.both("first")
        self.assertEqual(bare.stdout, b"kernels 5, others 0, callbacks 5\n")
        self.assert_stepped_back(report, 5)
        self.assertEqual(report["launches"]["device_records"], 0)

    def test_activity_callbacks_alone_before_the_first_launch(self):
        bare, report = self.both("register")
        self.assertEqual(bare.stdout, b"kernels 5, others 0, callbacks 0\n")
        self.assert_stepped_back(report, 5)
        self.assertEqual(report["launches"]["device_records"], 0)

    def test_while_gpuspy_records(self):
        bare, report = self.both("later")
        self.assertEqual(bare.stdout, b"kernels 5, others 0, callbacks 0\n")
        self.assert_stepped_back(report, 8)
        self.assertEqual((report["launches"]["expected"], report["launches"]["device_records"]), (3, 3))

    def test_callbacks_while_gpuspy_records(self):
        bare, report = self.both("callbacks")
        self.assertEqual(bare.stdout, b"kernels 0, others 0, callbacks 5\n")
        self.assert_stepped_back(report, 8)
        self.assertEqual((report["launches"]["expected"], report["launches"]["device_records"]), (3, 3))


if __name__ == "__main__":
    unittest.main()
