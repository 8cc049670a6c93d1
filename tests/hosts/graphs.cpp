// Graphs: graphs replay | child | update | manual | disable | broken | foreign_end |
//     switched_then_destroyed
#include <cstring>

#include "tests/hosts/host.hpp"

namespace {

constexpr host::Kernel kFirst{"_Z5firstv"};
constexpr host::Kernel kSecond{"_Z6secondv"};
constexpr host::Kernel kThird{"_Z5thirdv"};

cudaStream_t make_stream() {
    cudaStream_t stream = nullptr;
    host::must("cudaStreamCreateWithFlags", cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

/// first, second, second: three kernels, one after another.
cudaGraph_t capture_chain(cudaStream_t stream) {
    cudaGraph_t graph = nullptr;
    host::must("cudaStreamBeginCapture", cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    host::must("launch", host::launch(kFirst, stream));
    host::must("launch", host::launch(kSecond, stream));
    host::must("launch", host::launch(kSecond, stream));
    host::must("cudaStreamEndCapture", cudaStreamEndCapture(stream, &graph));
    return graph;
}

/// A fork over two streams, a set and a copy: kernels first, second || third, third; one memset, one memcpy.
cudaGraph_t capture_fork(cudaStream_t stream, cudaStream_t other, void* memory) {
    cudaGraph_t graph = nullptr;
    cudaEvent_t forked = nullptr;
    cudaEvent_t joined = nullptr;
    host::must("cudaEventCreateWithFlags", cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
    host::must("cudaEventCreateWithFlags", cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
    host::must("cudaStreamBeginCapture", cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    host::must("cudaMemsetAsync", cudaMemsetAsync(memory, 0, 256, stream));
    host::must("launch", host::launch(kFirst, stream));
    host::must("cudaEventRecord", cudaEventRecord(forked, stream));
    host::must("cudaStreamWaitEvent", cudaStreamWaitEvent(other, forked, 0));
    host::must("launch", host::launch(kThird, other));
    host::must("launch", host::launch(kThird, other));
    host::must("cudaEventRecord", cudaEventRecord(joined, other));
    host::must("launch", host::launch(kSecond, stream));
    host::must("cudaStreamWaitEvent", cudaStreamWaitEvent(stream, joined, 0));
    host::must("cudaMemcpyAsync",
               cudaMemcpyAsync(static_cast<char*>(memory) + 256, memory, 128, cudaMemcpyDeviceToDevice, stream));
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    host::must("cudaStreamIsCapturing", cudaStreamIsCapturing(other, &status));
    std::printf("other stream: %d\n", static_cast<int>(status));
    host::must("cudaStreamEndCapture", cudaStreamEndCapture(stream, &graph));
    return graph;
}

cudaGraphExec_t instantiate(cudaGraph_t graph) {
    cudaGraphExec_t exec = nullptr;
    host::must("cudaGraphInstantiate", cudaGraphInstantiate(&exec, graph, 0));
    return exec;
}

void launch_graph(cudaGraphExec_t exec, cudaStream_t stream, int times) {
    for (int i = 0; i < times; ++i) {
        host::must("cudaGraphLaunch", cudaGraphLaunch(exec, stream));
    }
    host::must("cudaStreamSynchronize", cudaStreamSynchronize(stream));
}

void say_nodes(cudaGraph_t graph) {
    std::size_t count = 0;
    host::must("cudaGraphGetNodes", cudaGraphGetNodes(graph, nullptr, &count));
    std::printf("nodes: %zu\n", count);
}

void replay(cudaStream_t stream) {
    void* memory = nullptr;
    host::must("cudaMalloc", cudaMalloc(&memory, 4096));
    const cudaGraph_t chain = capture_chain(stream);
    say_nodes(chain);
    launch_graph(instantiate(chain), stream, 5);
    const cudaGraph_t fork = capture_fork(stream, make_stream(), memory);
    say_nodes(fork);
    launch_graph(instantiate(fork), stream, 2);
    host::must("launch", host::launch(kFirst, stream));
    host::must("cudaStreamSynchronize", cudaStreamSynchronize(stream));
}

void child(cudaStream_t stream) {
    const cudaGraph_t inner = capture_chain(stream);
    cudaGraph_t outer = nullptr;
    cudaGraphNode_t nodes[3];
    host::must("cudaGraphCreate", cudaGraphCreate(&outer, 0));
    host::must("cudaGraphAddChildGraphNode", cudaGraphAddChildGraphNode(&nodes[0], outer, nullptr, 0, inner));
    cudaKernelNodeParams parameters{};
    parameters.func = const_cast<void*>(kThird.function());
    parameters.gridDim = dim3(1);
    parameters.blockDim = dim3(32);
    host::must("cudaGraphAddKernelNode", cudaGraphAddKernelNode(&nodes[1], outer, &nodes[0], 1, &parameters));
    host::must("cudaGraphAddChildGraphNode", cudaGraphAddChildGraphNode(&nodes[2], outer, &nodes[1], 1, inner));
    say_nodes(outer);
    launch_graph(instantiate(outer), stream, 3);
}

void update(cudaStream_t stream) {
    const cudaGraph_t graph = capture_chain(stream);
    const cudaGraphExec_t exec = instantiate(graph);
    launch_graph(exec, stream, 2);
    // The same topology, with other kernels.
    cudaGraph_t changed = nullptr;
    host::must("cudaStreamBeginCapture", cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    for (int i = 0; i < 3; ++i) {
        host::must("launch", host::launch(kThird, stream));
    }
    host::must("cudaStreamEndCapture", cudaStreamEndCapture(stream, &changed));
    cudaGraphExecUpdateResultInfo outcome{};
    host::must("cudaGraphExecUpdate", cudaGraphExecUpdate(exec, changed, &outcome));
    launch_graph(exec, stream, 4);
    // Another topology: refused, and the executable graph is as it was.
    cudaGraph_t shorter = nullptr;
    host::must("cudaStreamBeginCapture", cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    host::must("launch", host::launch(kFirst, stream));
    host::must("cudaStreamEndCapture", cudaStreamEndCapture(stream, &shorter));
    host::say("refused update", cudaGraphExecUpdate(exec, shorter, &outcome));
    std::printf("outcome: %d\n", static_cast<int>(outcome.result));
    host::say("last error", cudaGetLastError());
    launch_graph(exec, stream, 1);
}

/// While one stream captures, another one that does not is told to end: an error that ends nothing.
void foreign_end(cudaStream_t stream) {
    cudaGraph_t none = nullptr;
    cudaGraph_t graph = nullptr;
    const cudaStream_t idle = make_stream();
    host::must("cudaStreamBeginCapture", cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    host::say("foreign end", cudaStreamEndCapture(idle, &none));
    host::say("last error", cudaGetLastError());
    for (int i = 0; i < 3; ++i) {
        host::must("launch", host::launch(kFirst, stream));
    }
    host::must("cudaStreamEndCapture", cudaStreamEndCapture(stream, &graph));
    launch_graph(instantiate(graph), stream, 2);
}

/// A node is switched off, the graph is destroyed, the executable graph lives on.
void switched_then_destroyed(cudaStream_t stream) {
    const cudaGraph_t graph = capture_chain(stream);
    const cudaGraphExec_t exec = instantiate(graph);
    cudaGraphNode_t nodes[3];
    std::size_t count = 3;
    host::must("cudaGraphGetNodes", cudaGraphGetNodes(graph, nodes, &count));
    host::must("cudaGraphNodeSetEnabled", cudaGraphNodeSetEnabled(exec, nodes[0], 0));
    host::must("cudaGraphDestroy", cudaGraphDestroy(graph));
    launch_graph(exec, stream, 2);
}

void manual(cudaStream_t stream) {
    void* memory = nullptr;
    host::must("cudaMalloc", cudaMalloc(&memory, 4096));
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t nodes[4];
    host::must("cudaGraphCreate", cudaGraphCreate(&graph, 0));
    cudaKernelNodeParams parameters{};
    parameters.func = const_cast<void*>(kFirst.function());
    parameters.gridDim = dim3(3);
    parameters.blockDim = dim3(64);
    host::must("cudaGraphAddKernelNode", cudaGraphAddKernelNode(&nodes[0], graph, nullptr, 0, &parameters));
    cudaMemsetParams set{};
    set.dst = memory;
    set.elementSize = 4;
    set.width = 16;
    set.height = 1;
    host::must("cudaGraphAddMemsetNode", cudaGraphAddMemsetNode(&nodes[1], graph, &nodes[0], 1, &set));
    host::must("cudaGraphAddMemcpyNode1D",
               cudaGraphAddMemcpyNode1D(&nodes[2], graph, &nodes[1], 1, static_cast<char*>(memory) + 512, memory, 64,
                                        cudaMemcpyDeviceToDevice));
    host::must("cudaGraphAddEmptyNode", cudaGraphAddEmptyNode(&nodes[3], graph, &nodes[2], 1));
    const cudaGraphExec_t exec = instantiate(graph);
    cudaGraphInstantiateParams with{};
    cudaGraphExec_t second = nullptr;
    host::must("cudaGraphInstantiateWithParams", cudaGraphInstantiateWithParams(&second, graph, &with));
    host::must("cudaGraphUpload", cudaGraphUpload(second, stream));
    launch_graph(exec, stream, 2);
    launch_graph(second, stream, 1);
}

void disable(cudaStream_t stream) {
    const cudaGraph_t graph = capture_chain(stream);
    const cudaGraphExec_t exec = instantiate(graph);
    cudaGraphNode_t nodes[3];
    std::size_t count = 3;
    host::must("cudaGraphGetNodes", cudaGraphGetNodes(graph, nodes, &count));
    launch_graph(exec, stream, 1);
    host::must("cudaGraphNodeSetEnabled", cudaGraphNodeSetEnabled(exec, nodes[1], 0));
    launch_graph(exec, stream, 2);
    host::must("cudaGraphNodeSetEnabled", cudaGraphNodeSetEnabled(exec, nodes[1], 1));
    launch_graph(exec, stream, 1);
}

/// A capture that a call breaks, and its errors.
void broken(cudaStream_t stream) {
    cudaGraph_t graph = nullptr;
    host::must("launch", host::launch(kFirst, stream));
    host::must("cudaStreamBeginCapture", cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    host::must("launch", host::launch(kFirst, stream));
    host::say("synchronise while capturing", cudaStreamSynchronize(stream));
    host::say("launch after it", host::launch(kFirst, stream));
    host::say("end", cudaStreamEndCapture(stream, &graph));
    host::say("last error", cudaGetLastError());
    host::must("launch", host::launch(kSecond, stream));
    host::must("cudaStreamSynchronize", cudaStreamSynchronize(stream));
}

}  // namespace

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    host::register_kernels({&kFirst, &kSecond, &kThird});
    const cudaStream_t stream = make_stream();
    if (std::strcmp(what, "replay") == 0) {
        replay(stream);
    } else if (std::strcmp(what, "child") == 0) {
        child(stream);
    } else if (std::strcmp(what, "update") == 0) {
        update(stream);
    } else if (std::strcmp(what, "manual") == 0) {
        manual(stream);
    } else if (std::strcmp(what, "disable") == 0) {
        disable(stream);
    } else if (std::strcmp(what, "broken") == 0) {
        broken(stream);
    } else if (std::strcmp(what, "foreign_end") == 0) {
        foreign_end(stream);
    } else if (std::strcmp(what, "switched_then_destroyed") == 0) {
        switched_then_destroyed(stream);
    } else {
        return 2;
    }
    std::printf("done %s\n", what);
    return 0;
}
