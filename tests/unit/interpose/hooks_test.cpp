#include "interpose/table/hooks.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <set>
#include <string>

namespace {

using gpuspy::abi::ApiClass;
using gpuspy::abi::ApiLevel;
using gpuspy::hook::find_hook;
using gpuspy::hook::HookId;
using gpuspy::hook::index_of;
using gpuspy::hook::kApiTable;
using gpuspy::hook::kHookCount;

const gpuspy::abi::ApiEntry& row(HookId id) {
    return kApiTable[index_of(id)];
}

}  // namespace

TEST_CASE("every name of the table leads to its own row") {
    for (std::size_t i = 0; i < kHookCount; ++i) {
        CAPTURE(kApiTable[i].name);
        CHECK(index_of(find_hook(kApiTable[i].name)) == i);
    }
}

TEST_CASE("names that only resemble those of the table lead nowhere") {
    for (const char* name : {"", "c", "cu", "cuLaunchKerne", "cuLaunchKernel_", "cuLaunchKernel_ptsz_v2",
                             "CuLaunchKernel", "_cudaLaunchKernel", "malloc", "zzz", "__cudaRegisterFatBinary"}) {
        CAPTURE(name);
        CHECK(find_hook(name) == HookId::kCount);
    }
}

TEST_CASE("a row says what its call is") {
    CHECK(std::string(row(HookId::__cudaLaunchKernel).library) == "runtime");
    CHECK(row(HookId::__cudaLaunchKernel).api_class == static_cast<std::uint8_t>(ApiClass::kLaunch));
    CHECK(row(HookId::cuLaunchKernelEx_ptsz).level == static_cast<std::uint8_t>(ApiLevel::kDriver));
    CHECK(row(HookId::cuGraphLaunch).api_class == static_cast<std::uint8_t>(ApiClass::kGraphLaunch));
    CHECK(std::string(row(HookId::cudnnBackendExecute).library) == "cudnn");
    CHECK(std::string(row(HookId::cublasGemmEx).library) == "cublas");
    CHECK(std::string(row(HookId::cublasLtMatmul).library) == "cublaslt");
}

TEST_CASE("blocking copies and waits count as synchronisation, asynchronous copies do not") {
    const auto is_blocking = [](HookId id) { return (row(id).attributes & gpuspy::abi::kApiBlocking) != 0; };
    CHECK(is_blocking(HookId::cudaMemcpy));
    CHECK(is_blocking(HookId::cuMemcpyDtoH_v2));
    CHECK(is_blocking(HookId::cuStreamSynchronize_ptsz));
    CHECK(is_blocking(HookId::cudaEventSynchronize));
    CHECK(is_blocking(HookId::cuCtxSynchronize_v2));
    CHECK_FALSE(is_blocking(HookId::cudaMemcpyAsync));
    CHECK_FALSE(is_blocking(HookId::cuMemcpyDtoHAsync_v2));
    CHECK_FALSE(is_blocking(HookId::cudaLaunchKernel));
    CHECK_FALSE(is_blocking(HookId::cuMemsetD8_v2));
}

TEST_CASE("every launch function that cudart 13 exports is in the table") {
    for (const char* name :
         {"__cudaLaunchKernel", "__cudaLaunchKernel_ptsz", "cudaLaunchKernel", "cudaLaunchKernel_ptsz",
          "cudaLaunchKernelExC", "cudaLaunchKernelExC_ptsz", "cudaLaunchCooperativeKernel",
          "cudaLaunchCooperativeKernel_ptsz", "cudaGraphLaunch", "cudaGraphLaunch_ptsz"}) {
        CAPTURE(name);
        CHECK(find_hook(name) != HookId::kCount);
    }
}
