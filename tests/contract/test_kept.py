"""What is kept of a call: each kind of argument that abi::ApiEntry::fields knows, by functions that stand for the vendors'."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import harness

LIBRARY = """
#include <stddef.h>
struct identifier { char bytes[128]; };
int cufftPlanMany(int *plan, int rank, int *n, int *a, int b, int c, int *d, int e, int f, int type, int batch) { *plan = -42; return rank < 0; }
int cudnnSetConvolutionNdDescriptor(void *d, int length, const int *pad, const int *stride, const int *dilation, int mode, int type) { return 0; }
int cublasLtMatmulDescSetAttribute(void *d, int attribute, const void *bytes, size_t count) { return 0; }
int ncclCommInitRank(void **communicator, int ranks, struct identifier id, int rank) { *communicator = (void *)0x5000; return 7; }
int cudaMallocAsync_ptsz(void **address, size_t bytes, void *stream) { *address = (void *)0x7000; return 0; }
int cuMemAlloc(unsigned *address, unsigned bytes) { *address = 0x800; return 0; }
int cutensorPermute(void *h, void *plan, void *a, void *b, void *c, void *stream) { return 0; }
"""
HOST = """
#include <stdio.h>
struct identifier { char bytes[128]; };
int cufftPlanMany(int *, int, int *, int *, int, int, int *, int, int, int, int);
int cudnnSetConvolutionNdDescriptor(void *, int, const int *, const int *, const int *, int, int);
int cublasLtMatmulDescSetAttribute(void *, int, const void *, unsigned long);
int ncclCommInitRank(void **, int, struct identifier, int);
int cudaMallocAsync_ptsz(void **, unsigned long, void *);
int cuMemAlloc(unsigned *, unsigned long);  /* Takes 32 bits: the rest of the register may hold anything. */
int cutensorPermute(void *, void *, void *, void *, void *, void *);
extern int curandGenerateSeeds(void *) __attribute__((weak));
int main(void) {
    int plan = 0, n[] = {4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21};
    cufftPlanMany(&plan, 3, n, n, 0, 0, n, 0, 0, 41, 16);
    cufftPlanMany(&plan, 18, n, n, 0, 0, n, 0, 0, 41, 16);
    cufftPlanMany(&plan, -1, n, n, 0, 0, n, 0, 0, 41, 16);
    cudnnSetConvolutionNdDescriptor((void *)0x10, 2, n, n + 2, n + 4, 1, -1);
    unsigned long bytes[] = {0x1111, 0x2222, 0x3333};
    cublasLtMatmulDescSetAttribute((void *)0x10, 3, bytes, 8);
    cublasLtMatmulDescSetAttribute((void *)0x10, 3, bytes, 24);
    void *handle = 0;
    struct identifier id = {"x"};
    ncclCommInitRank(&handle, 8, id, 5);
    cudaMallocAsync_ptsz(&handle, 64, 0);
    cudaMallocAsync_ptsz(&handle, 64, (void *)0x90);
    unsigned address[] = {0, 0xffffffff};
    cuMemAlloc(address, 0xdeadbeef00000010UL);
    cutensorPermute(0, (void *)0x20, 0, 0, 0, (void *)0x80);
    printf("%d", curandGenerateSeeds ? curandGenerateSeeds(0) : -1);
    return 0;
}
"""
EXPECTED = [
    ("cufftPlanMany", "plan=-42, rank=3, n=[4 5 6], type=41, batch=16", 0),
    ("cufftPlanMany", "plan=-42, rank=18, n=[4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19], type=41, batch=16", 0),
    # What a call that failed leaves behind its pointers is not read.
    ("cufftPlanMany", "plan=0, rank=-1, n=[], type=41, batch=16", 1),
    ("cudnnSetConvolutionNdDescriptor",
     "convDesc=0x10, arrayLength=2, padA=[4 5], filterStrideA=[6 7], dilationA=[8 9], mode=1, computeType=-1", 0),
    ("cublasLtMatmulDescSetAttribute", "matmulDesc=0x10, attr=3, buf=[0x1111]", 0),
    ("cublasLtMatmulDescSetAttribute", "matmulDesc=0x10, attr=3, buf=[0x1111 0x2222]", 0),
    # ncclInProgress is no failure: the communicator is there.
    ("ncclCommInitRank", "comm=0x5000, nranks=8, rank=5", 0),
    # Stream 0 of this form is the thread's own.
    ("cudaMallocAsync_ptsz", "devPtr=0x7000, size=64, stream=0x2", 0),
    ("cudaMallocAsync_ptsz", "devPtr=0x7000, size=64, stream=0x90", 0),
    # Addresses of CUDA 3.1 have 32 bits.
    ("cuMemAlloc", "dptr=2048, bytesize=16", 0),
    ("cutensorPermute", "plan=0x20, stream=0x80", 0),
]
CURAND_STATUS_NOT_INITIALIZED = 101


class Kept(unittest.TestCase):
    def test_each_kind_of_argument(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "library.c").write_text(LIBRARY, encoding="utf-8")
            (folder / "host.c").write_text(HOST, encoding="utf-8")
            subprocess.run(["cc", "-w", "-shared", "-fPIC", "-o", folder / "libkept.so", folder / "library.c"], check=True, timeout=60)
            subprocess.run(["cc", "-w", "-o", folder / "host", folder / "host.c", "-L", folder, "-lkept", f"-Wl,-rpath,{folder}"],
                           check=True, timeout=60)
            environment = {**os.environ, "GPUSPY_OUTPUT": str(folder / "trace.bin"), "GPUSPY_DEVICE_TIMING": "0",
                           "LD_PRELOAD": str(harness.PRELOAD)}
            run = subprocess.run([folder / "host"], env=environment, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            # Nothing provides it: the API's own word for that.
            self.assertEqual(run.stdout, str(CURAND_STATUS_NOT_INITIALIZED))
            listed = subprocess.run([harness.BUILD / "bin" / "gpuspy-report", "--format", "calls", folder / "trace.bin"],
                                    capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((listed.returncode, listed.stderr), (0, ""))
        calls = re.findall(r" (\w+)\((.*)\) = (-?\d+)", listed.stdout)
        self.assertEqual([(call, arguments, int(status)) for call, arguments, status in calls], EXPECTED)


if __name__ == "__main__":
    unittest.main()
