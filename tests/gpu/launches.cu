// Launches a number of kernels that it knows, by every way that a program built with nvcc has, and says how many.
//
// Built four times: cudart shared and static, default stream legacy and per thread; and as often with CUDA 11.8 and 12.4
// (build_old_cuda.sh), where <<<>>> is another function of the runtime. Standard output:
//     refused with ERROR
//     kernels N checksum C ok
// where N is what a profiler must find on the device.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr int kValues = 1024;
constexpr int kBlock = 256;
constexpr int kThreads = 4;
constexpr int kLaunchesPerThread = 500;
constexpr int kGraphNodes = 50;
constexpr int kReplays = 20;
constexpr int kExtendedLaunches = 30;
constexpr int kCooperativeLaunches = 10;
constexpr int kDirectLaunches = 25;

void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        std::fprintf(stderr, "launches: %s: %s\n", what, cudaGetErrorString(status));
        std::exit(1);
    }
}
#define CHECK(call) check((call), #call)

__global__ void add_one(unsigned* values) {
    values[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

template <int kTimes>
__global__ void add_times(unsigned* values) {
    for (int i = 0; i < kTimes; ++i) {
        values[blockIdx.x * blockDim.x + threadIdx.x] += 1;
    }
}

__global__ void add_then_meet(unsigned* values) {
    values[blockIdx.x * blockDim.x + threadIdx.x] += 1;
    cooperative_groups::this_grid().sync();
}

// What the launches so far must have added to each value, and how many kernels they were.
struct Expected {
    unsigned sum = 0;
    int kernels = 0;
    void add(int kernels_more, unsigned each = 1) {
        kernels += kernels_more;
        sum += static_cast<unsigned>(kernels_more) * each;
    }
};

// The default stream from several threads: with the per-thread default stream these are as many streams, so each thread
// has values of its own.
void launch_from_threads(unsigned* values, Expected& expected) {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([slice = values + thread * kBlock] {
            for (int i = 0; i < kLaunchesPerThread; ++i) {
                add_one<<<1, kBlock>>>(slice);
            }
            CHECK(cudaGetLastError());
            CHECK(cudaStreamSynchronize(nullptr));
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    expected.sum += kLaunchesPerThread;
    expected.kernels += kThreads * kLaunchesPerThread;
}

void replay_graph(unsigned* values, cudaStream_t stream, Expected& expected) {
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < kGraphNodes; ++i) {
        add_times<3><<<kValues / kBlock, kBlock, 0, stream>>>(values);
    }
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t exec = nullptr;
    CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < kReplays; ++i) {
        CHECK(cudaGraphLaunch(exec, stream));
    }
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    expected.add(kGraphNodes * kReplays, 3);
}

void launch_extended(unsigned* values, cudaStream_t stream, Expected& expected) {
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(kValues / kBlock);
    config.blockDim = dim3(kBlock);
    config.stream = stream;
    for (int i = 0; i < kExtendedLaunches; ++i) {
        CHECK(cudaLaunchKernelEx(&config, add_times<2>, values));
    }
    expected.add(kExtendedLaunches, 2);
}

void launch_cooperative(unsigned* values, cudaStream_t stream, Expected& expected) {
    void* arguments[] = {&values};
    for (int i = 0; i < kCooperativeLaunches; ++i) {
        CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(add_then_meet), dim3(kValues / kBlock), dim3(kBlock),
                                          arguments, 0, stream));
    }
    expected.add(kCooperativeLaunches);
}

// The function that <<<>>> was up to CUDA 12, called by name, with an asynchronous copy and a set before each launch.
void launch_directly(unsigned* values, cudaStream_t stream, Expected& expected) {
    unsigned* scratch = nullptr;
    CHECK(cudaMalloc(&scratch, kValues * sizeof(unsigned)));
    void* arguments[] = {&values};
    for (int i = 0; i < kDirectLaunches; ++i) {
        CHECK(cudaMemsetAsync(scratch, i, kValues * sizeof(unsigned), stream));
        CHECK(cudaMemcpyAsync(scratch, values, kValues * sizeof(unsigned), cudaMemcpyDeviceToDevice, stream));
        CHECK(cudaLaunchKernel(reinterpret_cast<void*>(add_one), dim3(kValues / kBlock), dim3(kBlock), arguments, 0,
                               stream));
    }
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFree(scratch));
    expected.add(kDirectLaunches);
}

// A launch that fails reaches no device: it must be counted as failed, and leave its error to the program.
void launch_that_fails(unsigned* values) {
    add_one<<<1, 4096>>>(values);
    const cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess || cudaGetLastError() != cudaSuccess) {
        std::fprintf(stderr, "launches: a block of 4,096 threads was not refused once\n");
        std::exit(1);
    }
    // Compared with the output of a run without gpuspy: which error it is differs between drivers.
    std::printf("refused with %s\n", cudaGetErrorName(error));
}

}  // namespace

int main() {
    unsigned* values = nullptr;
    CHECK(cudaMalloc(&values, kValues * sizeof(unsigned)));
    CHECK(cudaMemset(values, 0, kValues * sizeof(unsigned)));
    CHECK(cudaDeviceSynchronize());
    cudaStream_t first = nullptr;
    cudaStream_t second = nullptr;
    CHECK(cudaStreamCreate(&first));
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));

    Expected expected;
    launch_from_threads(values, expected);
    launch_that_fails(values);
    replay_graph(values, first, expected);
    launch_extended(values, second, expected);
    CHECK(cudaStreamSynchronize(second));
    launch_cooperative(values, first, expected);
    CHECK(cudaStreamSynchronize(first));
    launch_directly(values, first, expected);

    std::vector<unsigned> host(kValues);
    CHECK(cudaMemcpy(host.data(), values, kValues * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CHECK(cudaStreamDestroy(first));
    CHECK(cudaStreamDestroy(second));
    CHECK(cudaFree(values));
    unsigned long checksum = 0;
    bool right = true;
    for (unsigned value : host) {
        checksum += value;
        right = right && value == expected.sum;
    }
    std::printf("kernels %d checksum %lu %s\n", expected.kernels, checksum, right ? "ok" : "WRONG");
    return right ? 0 : 1;
}
