// Two streams whose kernels run at the same time: the GPU time of the report is near twice its busy time.
#include "examples/cuda/support.hpp"

namespace {

constexpr int kCount = 1 << 10;
constexpr long long kSpinCycles = 1'000'000;
constexpr char kUsage[] = "overlap [ITERATIONS (20)]";

}  // namespace

int main(int argc, char** argv) {
    const int iterations = examples::argument(argc, argv, 1, 20, 10'000, kUsage);

    const examples::Kernels kernels;
    examples::Vectors vectors(kCount);
    cudaStream_t left = nullptr;
    cudaStream_t right = nullptr;
    EXAMPLE_CHECK(cudaStreamCreateWithFlags(&left, cudaStreamNonBlocking));
    EXAMPLE_CHECK(cudaStreamCreateWithFlags(&right, cudaStreamNonBlocking));
    vectors.upload(0, kCount / 2, left);
    vectors.upload(kCount / 2, kCount, right);
    for (int i = 0; i < iterations; ++i) {
        kernels.spin(kSpinCycles, left);
        kernels.spin(kSpinCycles, right);
        vectors.accumulate(kernels, 0, kCount / 2, left);
        vectors.accumulate(kernels, kCount / 2, kCount, right);
    }
    EXAMPLE_CHECK(cudaStreamSynchronize(left));
    vectors.download(right);
    EXAMPLE_CHECK(cudaStreamSynchronize(right));
    EXAMPLE_CHECK(cudaStreamDestroy(left));
    EXAMPLE_CHECK(cudaStreamDestroy(right));
    constexpr int kKernelsPerIteration = 4;
    return examples::finish("overlap", iterations * kKernelsPerIteration, vectors, iterations);
}
