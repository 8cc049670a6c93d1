"""The written hook tables as text, without the vendor's headers: what must hold of every row, and where well-known functions have
their arguments (vendor's documentation, counted by hand)."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLES = ROOT / "interpose" / "table"
sys.path.insert(0, str(ROOT / "scripts" / "hook_tables"))

# pylint: disable=wrong-import-position
import make  # noqa: E402
from prototypes import Parameter, Prototype  # noqa: E402

CALL = re.compile(r'^CALL\((\w+), (\w+), (\w+), (\d+), "(.*)"\)$', re.MULTILINE)
FIELDS = {
    "cublasGemmEx": "h:0p transa:1i transb:2i m:3i n:4i k:5i Atype:8i Btype:11i Ctype:15i computeType:17i",
    # Declared for C++ alone.
    "cublasHgemm": "transa:1i transb:2i m:3i n:4i k:5i",
    "cublasHgemmBatched": "transa:1i transb:2i m:3i n:4i k:5i batchCount:14i",
    "cublasHgemmStridedBatched_64": "transa:1i transb:2i m:3l n:4l k:5l batchCount:17l",
    "cublasLtMatmul": "computeDesc:1p Adesc:4p Bdesc:6p Cdesc:9p Ddesc:11p stream:15s",
    "cudnnSetConvolutionNdDescriptor":
        "convDesc:0p arrayLength:1i padA:2@1i filterStrideA:3@1i dilationA:4@1i mode:5i computeType:6i",
    # What each execution sets anew (CUDNN_ATTR_VARIANT_PACK_*) is not recorded.
    "cudnnBackendSetAttribute":
        "descriptor:0p _:1!1000-1012 attributeName:1i attributeType:2i count:3l arrayOfElements:4B3,2",
    # Only the results of heuristics (CUDNN_ATTR_ENGINEHEUR_RESULTS), as many as were asked for.
    "cudnnBackendGetAttribute": "descriptor:0p _:1=202 attributeName:1i attributeType:2i arrayOfElements:5B3,2",
    # Sums over the groups: sizes are arrays, as many as there are groups.
    "cublasGemmGroupedBatchedEx": "h:0p Atype:8i computeType:19i mnk:3x4x5x18@17i mk:3x5x18@17i kn:5x4x18@17i mn:3x4x18@17i",
    "cublasDgemmGroupedBatched_64": "group_count:14l mnk:3x4x5x15@14l mk:3x5x15@14l kn:5x4x15@14l mn:3x4x15@14l",
    "cudnnSetRNNDescriptor_v8":
        "rnn:0p cell:2i dir:4i skip:5i dataType:6i mathType:8i input:9i hidden:10i proj:11i layers:12i",
    "cudnnSetRNNDataDescriptor": "rnnDataDesc:0p dataType:1i maxSeqLength:3i batchSize:4i vectorSize:5i steps:6x@4i",
    "cudnnRNNForwardInference": "rnn:1p seqLength:2i xDesc:3@2l wDesc:9p",
    "cublasCreate_v2": "h:0*",
    "cufftPlanMany": "plan:0% rank:1i n:2@1i type:9i batch:10i",
    "cufftXtMakePlanMany": "plan:0i rank:1i n:2@1l batch:11l",
    # The identifier before the rank is 128 bytes in memory and takes no register.
    "ncclCommInitRank": "comm:0* nranks:1i rank:2i",
    "ncclCommInitRankScalable": "newcomm:0* nranks:1i myrank:2i",
    "ncclMemAlloc": "ptr:0* size:1w",
    # CUDA 13 gave the name other arguments: the stream is the fourth or the fifth.
    "cudaMemPrefetchAsync": "count:1w",
    "cudaMemPrefetchAsync_v2": "count:1w stream:4s",
    # The handle that is opened is a struct in memory: no word.
    "cuIpcOpenMemHandle_v2": "pdptr:0*",
    "cutensorPermute": "plan:1p stream:5s",  # const cudaStream_t
}
# Functions whose names look like those of functions that are left out.
HOOKED = """cudaIpcOpenMemHandle cudaIpcCloseMemHandle cudaStreamBeginCaptureToGraph cudaLaunchCooperativeKernelMultiDevice
    cuMemBatchDecompressAsync cuGreenCtxStreamCreate cusparseCreateIdentityPermutation cusolverRfSetupDevice pncclCommInitRank
    pncclGroupEnd cublasHgemm_64 cublasHgemmBatched_64 cublasHSHgemvBatched cublasTSSgemvStridedBatched_64""".split()
LEFT_OUT = """cudaStreamQuery cudaEventQuery cudaGetDevice cuMemGetInfo_v2 cusparseCopyMatDescr cusparseCreateCsr cusolverRfSetAlgs
    cudnnBackendCreateDescriptor cublasSetStream_v2""".split()


def rows():
    """name -> (class, attributes, fields)"""
    found = {}
    for path in sorted(TABLES.glob("*.def")):
        for name, api_class, attributes, _, fields in CALL.findall(path.read_text(encoding="utf-8")):
            found[name] = (api_class, attributes, fields)
    return found


class Tables(unittest.TestCase):
    def test_places_of_arguments(self):
        found = rows()
        for name, fields in FIELDS.items():
            with self.subTest(name=name):
                self.assertEqual(found[name][2], fields)

    def test_what_is_hooked(self):
        found = rows()
        self.assertEqual([name for name in HOOKED if name not in found], [])
        self.assertEqual([name for name in LEFT_OUT if name in found], [])

    def test_libraries(self):
        """What the analysis takes for the name of a library, whether a trace has it or not."""
        hooked = re.findall(r'^#define GPUSPY_LIBRARY "(\w+)"$', (TABLES / "all.def").read_text(encoding="utf-8"), re.MULTILINE)
        known = (ROOT / "collector" / "abi" / "libraries.hpp").read_text(encoding="utf-8").split("kLibraries[]")[1]
        self.assertGreater(len(hooked), 10)
        self.assertEqual(re.findall(r'"(\w+)"', known), hooked)

    def test_what_is_ordered_by_a_stream_waits_for_nothing(self):
        blocking = {name for name, (_, attributes, _) in rows().items() if attributes == "kApiBlocking"}
        self.assertLessEqual({"cudaMalloc", "cuMemFree_v2", "cuMemFreeHost", "cusparseXcsrsv2_zeroPivot"}, blocking)
        self.assertEqual([name for name in blocking if "Async" in name], [])

    def test_arguments_that_do_not_fit_are_an_error(self):
        many = tuple(Parameter(f"argument_of_a_long_name_{i}", "int", "I", 32, True, False) for i in range(5))
        with self.assertRaisesRegex(SystemExit, "manyOfThem.*96"):
            make.describe_fields(Prototype("manyOfThem", "int", many), r"argument\w+")


if __name__ == "__main__":
    unittest.main()
