// The libraries whose calls are hooked, as ApiEntry::library names them. interpose/table/all.def is where they come from;
// tests/contract/test_tables.py compares the two.
#pragma once

namespace gpuspy::abi {

inline constexpr const char* kLibraries[] = {"driver",   "runtime", "cudnn",    "cublas",   "cublaslt",
                                             "cufft",    "curand",  "cusolver", "cusparse", "cusparselt",
                                             "cutensor", "nccl",    "cupti"};

}  // namespace gpuspy::abi
