"""Kernels of cuDNN, cuBLAS and cuBLASLt belong to the library whose call launched them."""

import re
import unittest

import harness

OWN = "_Z10own_kernelv"


class Libraries(harness.TestCase):
    def setUp(self):
        self.run_made = self.run_host("libraries")
        self.assertEqual((self.run_made.status, self.run_made.stderr), (0, b""))
        self.report = self.run_made.report()

    def test_all_kernels_are_there(self):
        self.assert_complete(self.report, 20)

    def test_library_by_enclosing_call(self):
        by_library = {}
        for kernel in self.report["kernels"]:
            by_library[kernel["library"]] = by_library.get(kernel["library"], 0) + kernel["count"]
        # cublasGemmEx and cublasGemmStridedBatchedEx call cublasLtMatmul: what that launches is the inner library's.
        self.assertEqual(by_library[None], 2)
        self.assertEqual(by_library["cudnn"], 6 + 1 + 1 + 2 + 2)
        self.assertEqual(by_library.get("cublas", 0) + by_library.get("cublaslt", 0), 6)
        owners = {kernel["mangled"]: kernel["owner"] for kernel in self.report["kernels"]}
        self.assertEqual(owners[OWN], "libraries")

    def test_names(self):
        counts = harness.kernel_counts(self.report)
        self.assertEqual(counts["implicit_convolve_sgemm"], 3)
        self.assertEqual(counts["_ZN5cudnn6detail17wgrad_alg0_engineIfEEv"], 1)
        self.assertEqual(counts["nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NNT"], 4)
        self.assertEqual(counts[OWN], 2)

    def test_a_call_that_forwards_to_the_same_name_is_one_call(self):
        """libcudnn.so.9 finds the same names in its sub-libraries: one call of the program is one call of the report."""
        calls = harness.call_counts(self.report)
        self.assertEqual(calls["cudnnConvolutionForward"], 3)
        self.assertEqual(calls["cudnnConvolutionBackwardFilter"], 1)
        self.assertEqual(calls["cudnnBatchNormalizationForwardTrainingEx"], 1)
        self.assertEqual(calls["cudnnBackendExecute"], 2)
        self.assertEqual(calls["cublasGemmEx"], 2)
        self.assertEqual(calls["cublasLtMatmul"], 4)

    def test_arguments_are_kept(self):
        """What FLOPs need, by the vendor's names of the arguments: 8 x 8 x 8 in the program."""
        listed = self.run_made.listed_calls()
        products = [line for line in listed if " cublasSgemm_v2(" in line]
        self.assertEqual(len(products), 1)
        self.assertRegex(products[0], r"cublasSgemm_v2\(h=0x[0-9a-f]+, transa=0, transb=0, m=8, n=8, k=8\) = 0")
        mixed = [line for line in listed if " cublasGemmEx(" in line]
        # CUDA_R_16BF is 14 (library_types.h), CUBLAS_COMPUTE_32F is 68 (cublas_api.h).
        self.assertTrue(all("m=8, n=8, k=8, Atype=14, Btype=14, Ctype=14, computeType=68)" in line for line in mixed), mixed)
        self.assertEqual(len(mixed), 2)

    def test_descriptions_are_kept(self):
        """The attributes that a plan is built from, by their types; not those that each execution sets anew."""
        listed = [line.split("cudnnBackend", 1)[1] for line in self.run_made.listed_calls() if " cudnnBackend" in line]
        attributes = [line.split("  <-")[0] for line in listed if line.startswith("SetAttribute(")]
        self.assertEqual([re.sub("descriptor=0x[0-9a-f]+, ", "", line) for line in attributes], [
            "SetAttribute(attributeName=902, attributeType=3, count=4, arrayOfElements=[32 3 224 224]) = 0",
            "SetAttribute(attributeName=901, attributeType=1, count=1, arrayOfElements=[2]) = 0",
            "SetAttribute(attributeName=907, attributeType=2, count=1, arrayOfElements=[1]) = 0",
        ])

    def test_failed_library_call(self):
        failed = {call["name"]: call["failed"] for call in self.report["calls"]}
        self.assertEqual(failed["cudnnBackendExecute"], 1)
        self.assertEqual(failed["cudnnConvolutionForward"], 0)


if __name__ == "__main__":
    unittest.main()
