// Captures a launch of its own and one of cuBLAS's at its beginning, then replays the graph until it is ended: graph_replays LOG.
// One byte goes to LOG after each replay.
#include <cublas_v2.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "tests/hosts/host.hpp"

namespace {
constexpr host::Kernel kOwn{"_Z3ownv"};
}

int main(int argc, char** argv) {
    if (argc < 2) {
        return 2;
    }
    const int log = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    host::register_kernels({&kOwn});
    cudaStream_t stream = nullptr;
    host::must("cudaStreamCreateWithFlags", cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    cublasHandle_t handle = nullptr;
    host::must("cublasCreate", cublasCreate(&handle));
    host::must("cublasSetStream", cublasSetStream(handle, stream));
    const float one = 1;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    host::must("cudaStreamBeginCapture", cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    host::must("launch", host::launch(kOwn, stream));
    host::must("cublasSgemm",
               cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, nullptr, 8, nullptr, 8, &one, nullptr, 8));
    host::must("cudaStreamEndCapture", cudaStreamEndCapture(stream, &graph));
    host::must("cudaGraphInstantiate", cudaGraphInstantiate(&exec, graph, 0));
    for (;;) {
        host::must("cudaGraphLaunch", cudaGraphLaunch(exec, stream));
        host::must("cudaStreamSynchronize", cudaStreamSynchronize(stream));
        if (write(log, ".", 1) != 1) {
            return 4;
        }
        const timespec pause{0, 1'000'000};
        nanosleep(&pause, nullptr);
    }
}
