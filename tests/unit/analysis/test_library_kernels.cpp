// GPU time by owner: the call decides, a name only where there was none.
#include <catch2/catch.hpp>

#include "analysis/passes/library_by_name.hpp"
#include "analysis/passes/library_kernels.hpp"
#include "tests/unit/analysis/reading.hpp"
#include "tests/unit/analysis/scripts.hpp"

using namespace gpuspy;
using namespace gpuspy::test;
using analysis::KernelGroup;
using analysis::library_by_name;

TEST_CASE("names that tell a library", "[libraries]") {
    CHECK(library_by_name("_ZN5cudnn17bn_fw_inf_1C11_kernelEv") == "cudnn");
    CHECK(library_by_name("sm80_xmma_fprop_implicit_gemm_tf32f32_execute_kernel__5x_cudnn") == "cudnn");
    CHECK(library_by_name("volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1") == "cudnn");
    CHECK(library_by_name("_ZN3foo17wgrad_alg0_engineIfLi128EEEvi") == "cudnn");
    CHECK(library_by_name("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_execute_kernel__5x_cublas") ==
          "cublas");
    CHECK(library_by_name("ampere_sgemm_32x128_tn") == "cublas");
    CHECK(library_by_name("nvjet_tst_128x8_64x12_4x1_v_bz_TNT") == "cublaslt");
    CHECK(library_by_name("_ZN8cublasLt19splitKreduce_kernelILi32EEEvv") == "cublaslt");
    CHECK(library_by_name("_Z22ncclDevKernel_SendRecv24ncclDevKernelArgsStorageILm4096EE") == "nccl");
    CHECK(library_by_name("ncclKernel_AllReduce_RING_LL_Sum_float") == "nccl");
}

TEST_CASE("names that tell none", "[libraries]") {
    CHECK(library_by_name("_ZN2at6native29vectorized_elementwise_kernelILi4EEEvi").empty());
    CHECK(library_by_name("_ZN3cub17DeviceScanKernelEv").empty());
    CHECK(library_by_name("_ZN7cutlass7Kernel2I40cutlass_80_tensorop_s1688gemm_64x64_32x6EEvT_").empty());
    CHECK(library_by_name("_ZN2at6native60_distribution_elementwise_kernelI24curandStatePhilox4_32_10EEvi").empty());
    CHECK(library_by_name("gemm_fusion_dot").empty());
    CHECK(library_by_name("").empty());
}

namespace {

/// cuDNN launches "conv" twice and "pad", the app "own" and a kernel that is cuDNN's by its name, nobody knows who "lost".
TraceBuilder owners() {
    TraceBuilder trace = begun_trace();
    std::uint64_t correlation = 0;
    const auto work = [&](const char* name, std::uint64_t caller, bool in_cudnn, std::uint64_t duration) {
        const std::uint64_t at = kStart + 1000 * ++correlation;
        trace.call({.api = driver_launch(),
                    .begin = at + 10,
                    .end = at + 20,
                    .depth = in_cudnn ? 1U : 0U,
                    .correlation = correlation,
                    .caller = in_cudnn ? 0 : caller});
        if (in_cudnn) {
            trace.call({.api = cudnn("cudnnConvolutionForward"), .begin = at, .end = at + 30, .caller = caller});
        }
        trace.activity({.name = name, .start = on_device(at + 100), .duration = duration, .correlation = correlation});
    };
    work("conv", 0x1100, true, 300);
    work("conv", 0x1100, true, 200);
    work("pad", 0x1100, true, 100);
    work("own", 0x5100, false, 250);
    work("_ZN5cudnn4convEv", 0x5100, false, 100);
    work("lost", 0x9999'0000, false, 50);
    trace.end(kStart + 1'000'000);
    return trace;
}

}  // namespace

TEST_CASE("owners, and what their kernels' names tell where no library was called", "[libraries]") {
    TraceBuilder trace = owners();
    const auto model = timeline_of(trace);
    const auto found = analysis::library_kernels(*model, *model->timeline);
    REQUIRE(found.owners.size() == 4);
    CHECK(found.owners[0].library == "cudnn");
    CHECK(found.owners[0].by_name.empty());
    CHECK(found.owners[0].count == 3);
    CHECK(found.owners[0].kernels == 2);
    CHECK(found.owners[0].time_ns == 600);
    CHECK(found.owners[0].share_of_kernels == Approx(0.6));
    CHECK(found.owners[0].share_of_wall == Approx(600.0 / 1'000'000));
    CHECK(found.owners[1].owner == "app");
    CHECK(found.owners[1].by_name.empty());
    CHECK(found.owners[2].owner == "app");
    CHECK(found.owners[2].by_name == "cudnn");
    CHECK(found.owners[2].time_ns == 100);
    CHECK(found.owners[3].owner == "unknown");
}

TEST_CASE("libraries against the framework's own kernels", "[libraries]") {
    TraceBuilder trace = owners();
    const auto model = timeline_of(trace);
    const auto found = analysis::library_kernels(*model, *model->timeline);
    REQUIRE(found.groups.size() == 4);
    CHECK(found.groups[0].group == KernelGroup::kCudnn);
    CHECK(found.groups[0].time_ns == 600);
    CHECK(found.groups[1].group == KernelGroup::kOwn);
    CHECK(found.groups[1].time_ns == 250);
    CHECK(found.groups[2].group == KernelGroup::kCudnnByName);
    CHECK(found.groups[2].count == 1);
    CHECK(found.groups[3].group == KernelGroup::kUnknown);
    CHECK(found.groups[3].share_of_kernels == Approx(0.05));
}

TEST_CASE("the top kernels of each owner", "[libraries]") {
    TraceBuilder trace = owners();
    const auto model = timeline_of(trace);
    const auto found = analysis::library_kernels(*model, *model->timeline);
    REQUIRE(found.top.size() == 5);
    CHECK(found.top[0].mangled == "conv");
    CHECK(found.top[0].rank == 1);
    CHECK(found.top[0].count == 2);
    CHECK(found.top[0].share_of_owner == Approx(500.0 / 600));
    CHECK(found.top[0].share_of_kernels == Approx(0.5));
    CHECK(found.top[1].mangled == "pad");
    CHECK(found.top[1].rank == 2);
    CHECK(found.top[2].mangled == "own");
    CHECK(found.top[2].rank == 1);
    CHECK(found.top[3].by_name == "cudnn");
}
