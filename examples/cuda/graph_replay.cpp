// Captures kernels in a CUDA graph and replays it: one call launches them all, and the report still counts each.
#include "examples/cuda/support.hpp"

namespace {

constexpr int kCount = 1 << 10;
constexpr int kKernelsPerGraph = 50;
constexpr char kUsage[] = "graph_replay [REPLAYS (20)]";

cudaGraphExec_t capture(const examples::Kernels& kernels, const examples::Vectors& vectors, cudaStream_t stream) {
    EXAMPLE_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < kKernelsPerGraph; ++i) {
        vectors.accumulate(kernels, 0, kCount, stream);
    }
    cudaGraph_t graph = nullptr;
    EXAMPLE_CHECK(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t exec = nullptr;
    EXAMPLE_CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    EXAMPLE_CHECK(cudaGraphDestroy(graph));
    return exec;
}

}  // namespace

int main(int argc, char** argv) {
    const int replays = examples::argument(argc, argv, 1, 20, 2'000, kUsage);

    const examples::Kernels kernels;
    examples::Vectors vectors(kCount);
    cudaStream_t stream = nullptr;
    EXAMPLE_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    vectors.upload(0, kCount, stream);
    cudaGraphExec_t exec = capture(kernels, vectors, stream);
    for (int i = 0; i < replays; ++i) {
        EXAMPLE_CHECK(cudaGraphLaunch(exec, stream));
    }
    vectors.download(stream);
    EXAMPLE_CHECK(cudaStreamSynchronize(stream));
    EXAMPLE_CHECK(cudaGraphExecDestroy(exec));
    EXAMPLE_CHECK(cudaStreamDestroy(stream));
    return examples::finish("graph_replay", kKernelsPerGraph * replays, vectors, kKernelsPerGraph * replays);
}
