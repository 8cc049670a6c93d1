"""A trace says which process of which run it is of, and nothing that is nobody's business."""

import unittest

import harness


class Ranks(harness.TestCase):
    def test_rank_of_each_launcher(self):
        for name in ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"):
            with self.subTest(variable=name):
                self.assertEqual(self.recorded("launch_runtime", **{name: 3})["process"]["rank"], 3)

    def test_rank_that_is_none(self):
        for value in ("", "three", "-1"):
            with self.subTest(value=value):
                self.assertIsNone(self.recorded("launch_runtime", RANK=value)["process"]["rank"])
        self.assertIsNone(self.recorded("launch_runtime")["process"]["rank"])


class Secrets(harness.TestCase):
    def test_only_variables_of_the_list_are_kept(self):
        run = self.run_host("launch_runtime", AWS_SECRET_ACCESS_KEY="hush-hush", HF_TOKEN="hush-hush",
                            CUDA_VISIBLE_DEVICES="0")
        environment = run.report()["process"]["environment"]
        self.assertIn("CUDA_VISIBLE_DEVICES=0", environment)
        self.assertNotIn("hush-hush", " ".join(environment))
        self.assertNotIn(b"hush-hush", run.traces()[0].read_bytes())


if __name__ == "__main__":
    unittest.main()
