// Adds two vectors again and again, each stream a part of them: copies, kernels, events, synchronisation.
#include "examples/cuda/support.hpp"

namespace {

constexpr int kCount = 1 << 20;
constexpr char kUsage[] = "vector_add [ITERATIONS (100) [STREAMS (2)]]";

struct Lane {
    cudaStream_t stream = nullptr;
    cudaEvent_t done = nullptr;
    int begin = 0;
    int end = 0;
};

std::vector<Lane> make_lanes(int streams) {
    std::vector<Lane> lanes(static_cast<std::size_t>(streams));
    int begin = 0;
    for (int i = 0; i < streams; ++i) {
        Lane& lane = lanes[static_cast<std::size_t>(i)];
        EXAMPLE_CHECK(cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking));
        EXAMPLE_CHECK(cudaEventCreateWithFlags(&lane.done, cudaEventDisableTiming));
        lane.begin = begin;
        lane.end = begin + (kCount - begin) / (streams - i);
        begin = lane.end;
    }
    return lanes;
}

}  // namespace

int main(int argc, char** argv) {
    const int iterations = examples::argument(argc, argv, 1, 100, 10'000, kUsage);
    const int streams = examples::argument(argc, argv, 2, 2, 64, kUsage);

    const examples::Kernels kernels;
    examples::Vectors vectors(kCount);
    const std::vector<Lane> lanes = make_lanes(streams);
    for (const Lane& lane : lanes) {
        vectors.upload(lane.begin, lane.end, lane.stream);
    }
    for (int i = 0; i < iterations; ++i) {
        for (const Lane& lane : lanes) {
            vectors.accumulate(kernels, lane.begin, lane.end, lane.stream);
        }
    }
    // The first stream copies all of the result, so it waits for the others.
    const cudaStream_t last = lanes.front().stream;
    for (const Lane& lane : lanes) {
        EXAMPLE_CHECK(cudaEventRecord(lane.done, lane.stream));
        EXAMPLE_CHECK(cudaStreamWaitEvent(last, lane.done, 0));
    }
    vectors.download(last);
    EXAMPLE_CHECK(cudaStreamSynchronize(last));
    for (const Lane& lane : lanes) {
        EXAMPLE_CHECK(cudaEventDestroy(lane.done));
        EXAMPLE_CHECK(cudaStreamDestroy(lane.stream));
    }
    EXAMPLE_CHECK(cudaDeviceSynchronize());
    return examples::finish("vector_add", iterations * streams, vectors, iterations);
}
