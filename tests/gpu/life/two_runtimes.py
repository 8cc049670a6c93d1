"""PyTorch's runtime, and the one that Triton's or CuPy's or a toolkit's copy brings: two libcudart in one process."""

import ctypes
import glob
import os
import sys

import torch
import work

work.small(50)
torch.cuda.synchronize()


def mapped():
    with open("/proc/self/maps", encoding="utf-8") as file:
        return {os.path.realpath(line.split()[-1]) for line in file if "libcudart" in line}


first = mapped()
candidates = glob.glob("/usr/local/cuda*/targets/*/lib/libcudart.so.*") + glob.glob("/usr/local/cuda*/lib64/libcudart.so.*")
others = sorted({os.path.realpath(path) for path in candidates} - first)
if not others:
    sys.exit("no second libcudart on this machine")
second = ctypes.CDLL(others[0])
pointer = ctypes.c_void_p()
print(f"cudaMalloc {second.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(1 << 16))}")
for value in range(20):
    second.cudaMemset(pointer, ctypes.c_int(value), ctypes.c_size_t(1 << 16))
print(f"cudaDeviceSynchronize {second.cudaDeviceSynchronize()}")
print(f"cudaFree {second.cudaFree(pointer)}")
print(f"runtimes {len(mapped())}")
work.small(50)
torch.cuda.synchronize()
