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
int cudnnSetRNNDataDescriptor(void *d, int type, int layout, int longest, int batch, int size, const int *lengths, void *fill) { return type; }
int cublasDgemmGroupedBatched(void *h, int *ta, int *tb, int *m, int *n, int *k, void *al, void *a, int *lda, void *b, int *ldb, void *be, void *c,
    int *ldc, int groups, int *sizes) { return 0; }
int cudnnBackendGetAttribute(void *d, int name, int type, long asked, long *filled, void *elements) { if (filled) *filled = 1; return 0; }
int cudnnBackendSetAttribute(void *d, int name, int type, long count, void *elements) { return 0; }
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
int cudnnSetRNNDataDescriptor(void *, int, int, int, int, int, const int *, void *);
int cublasDgemmGroupedBatched(void *, int *, int *, int *, int *, int *, void *, void *, int *, void *, int *, void *, void *, int *, int, int *);
int cudnnBackendGetAttribute(void *, int, int, long, long *, void *);
int cudnnBackendSetAttribute(void *, int, int, long, void *);
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
    cudnnSetRNNDataDescriptor((void *)0x10, 0, 1, 9, 18, 32, n, 0);
    cudnnSetRNNDataDescriptor((void *)0x10, 3, 1, 9, 18, 32, n, 0);
    cudnnSetRNNDataDescriptor((void *)0x10, 0, 1, 9, 18, 32, 0, 0);
    int m[] = {10, 5}, products[] = {20, 5}, k[] = {30, 5}, sizes[] = {2, 3}, huge[] = {0x7fffffff, 0x7fffffff};
    cublasDgemmGroupedBatched(0, 0, 0, m, products, k, 0, 0, 0, 0, 0, 0, 0, 0, 2, sizes);
    cublasDgemmGroupedBatched(0, 0, 0, huge, huge, huge, 0, 0, 0, 0, 0, 0, 0, 0, 2, sizes);
    cublasDgemmGroupedBatched(0, 0, 0, m, products, k, 0, 0, 0, 0, 0, 0, 0, 0, 1 << 20, sizes);
    unsigned long configurations[] = {0x61, 0x62};
    long filled = 0;
    cudnnBackendGetAttribute((void *)0x10, 202, 15, 0, &filled, 0);
    cudnnBackendGetAttribute((void *)0x10, 202, 15, 2, &filled, configurations);
    cudnnBackendGetAttribute((void *)0x10, 1302, 3, 2, &filled, configurations);  /* Not what heuristics chose: not recorded. */
    unsigned long operations[30] = {0x71, 0x72};
    cudnnBackendSetAttribute((void *)0x10, 1002, 15, 2, operations);  /* A variant pack's: not recorded. */
    cudnnBackendSetAttribute((void *)0x10, 801, 15, 30, operations);
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
    # A sum over an array of any length (to 65,536); -1 where there is none.
    ("cudnnSetRNNDataDescriptor", "rnnDataDesc=0x10, dataType=0, maxSeqLength=9, batchSize=18, vectorSize=32, steps=225", 0),
    ("cudnnSetRNNDataDescriptor", "rnnDataDesc=0x10, dataType=3, maxSeqLength=9, batchSize=18, vectorSize=32, steps=-1", 3),
    ("cudnnSetRNNDataDescriptor", "rnnDataDesc=0x10, dataType=0, maxSeqLength=9, batchSize=18, vectorSize=32, steps=-1", 0),
    ("cublasDgemmGroupedBatched", "group_count=2, mnk=12375, mk=675, kn=1275, mn=475", 0),
    ("cublasDgemmGroupedBatched", "group_count=2, mnk=-1, mk=-1, kn=-1, mn=-1", 0),
    ("cublasDgemmGroupedBatched", f"group_count={1 << 20}, mnk=-1, mk=-1, kn=-1, mn=-1", 0),
    ("cudnnBackendGetAttribute", "descriptor=0x10, attributeName=202, attributeType=15, arrayOfElements=[]", 0),
    ("cudnnBackendGetAttribute", "descriptor=0x10, attributeName=202, attributeType=15, arrayOfElements=[97 98]", 0),
    # As many elements as fit beside the rest, and how many there are.
    ("cudnnBackendSetAttribute", "descriptor=0x10, attributeName=801, attributeType=15, count=30, arrayOfElements=["
     + " ".join(map(str, [0x71, 0x72] + [0] * 25)) + "]", 0),
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
