// What each kind of hook does besides stamping: which arguments it keeps, and which books it keeps.
//
// A policy's `after` is called when the original has returned, with the frame (nullptr when the call is not recorded), the
// parts to fill, the status, and the arguments. Arguments behind pointers are read only when the call succeeded, and
// only where the API says that it has read or written them.
#pragma once

#include <tuple>

#include "interpose/record/call.hpp"
#include "interpose/record/capture.hpp"
#include "interpose/record/graph.hpp"
#include "interpose/record/names.hpp"
#include "interpose/resolve/driver_pointers.hpp"
#include "interpose/table/signatures.hpp"

namespace gpuspy::hook {

using abi::CopyKind;

namespace detail {

template <class T>
std::uint64_t to_word(T value) noexcept {
    if constexpr (std::is_pointer_v<T>) {
        return reinterpret_cast<std::uintptr_t>(value);
    } else {
        return static_cast<std::uint64_t>(value);
    }
}

/// The argument at Index as a word.
template <int Index, class... A>
std::uint64_t word_at(A... arguments) noexcept {
    return to_word(std::get<Index>(std::tuple<A...>(arguments...)));
}

template <int Index, class... A>
void keep_stream(CallParts& parts, A... arguments) noexcept {
    if constexpr (Index >= 0) {
        parts.flags |= abi::kCallStream;
        parts.stream = word_at<Index>(arguments...);
    }
}

inline CopyKind kind_of(std::uint64_t runtime_kind) noexcept {
    switch (runtime_kind) {
        case cudaMemcpyHostToHost:
            return CopyKind::kHostToHost;
        case cudaMemcpyHostToDevice:
            return CopyKind::kHostToDevice;
        case cudaMemcpyDeviceToHost:
            return CopyKind::kDeviceToHost;
        case cudaMemcpyDeviceToDevice:
            return CopyKind::kDeviceToDevice;
        default:
            return CopyKind::kUnknown;
    }
}

}  // namespace detail

struct Nothing {
    template <class... A>
    static void after(const CallFrame*, CallParts&, int, A...) noexcept {}
};

template <int Stream>
struct StreamAt {
    template <class... A>
    static void after(const CallFrame*, CallParts& parts, int, A... arguments) noexcept {
        detail::keep_stream<Stream>(parts, arguments...);
    }
};

// -- launches --------------------------------------------------------------------------------------------------------------

template <int Function, int Stream = -1>
struct FunctionAt {
    template <class... A>
    static void after(const CallFrame*, CallParts& parts, int, A... arguments) noexcept {
        detail::keep_stream<Stream>(parts, arguments...);
        put_kernel(parts, detail::word_at<Function>(arguments...), {0, 0, 0}, {0, 0, 0}, 0);
    }
};

/// cuLaunchKernel's arguments, and cuLaunchCooperativeKernel's, which are their beginning.
struct DriverLaunch {
    template <class... Rest>
    static void after(const CallFrame*, CallParts& parts, int, CUfunction function, unsigned grid_x, unsigned grid_y,
                      unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                      CUstream stream, Rest...) noexcept {
        put_kernel(parts, detail::to_word(function), {grid_x, grid_y, grid_z}, {block_x, block_y, block_z},
                   shared_bytes);
        detail::keep_stream<0>(parts, stream);
    }
};

struct DriverLaunchEx {
    static void after(const CallFrame*, CallParts& parts, int status, const CUlaunchConfig* config, CUfunction function,
                      void**, void**) noexcept {
        if (status != 0 || config == nullptr) return;
        put_kernel(parts, detail::to_word(function), {config->gridDimX, config->gridDimY, config->gridDimZ},
                   {config->blockDimX, config->blockDimY, config->blockDimZ}, config->sharedMemBytes);
        detail::keep_stream<0>(parts, config->hStream);
    }
};

struct RuntimeLaunch {
    static void after(const CallFrame*, CallParts& parts, int, const void* function, dim3 grid, dim3 block, void**,
                      std::size_t shared_bytes, cudaStream_t stream) noexcept {
        put_kernel(parts, detail::to_word(function), {grid.x, grid.y, grid.z}, {block.x, block.y, block.z},
                   shared_bytes);
        detail::keep_stream<0>(parts, stream);
    }
};

struct RuntimeLaunchEx {
    static void after(const CallFrame*, CallParts& parts, int status, const cudaLaunchConfig_t* config,
                      const void* function, void**) noexcept {
        if (status != 0 || config == nullptr) return;
        const dim3 grid = config->gridDim;
        const dim3 block = config->blockDim;
        put_kernel(parts, detail::to_word(function), {grid.x, grid.y, grid.z}, {block.x, block.y, block.z},
                   config->dynamicSmemBytes);
        detail::keep_stream<0>(parts, config->stream);
    }
};

/// cudaConfigureCall: what the next cudaLaunch of this thread will run with.
struct LaunchConfigured {
    static void after(const CallFrame*, CallParts&, int status, dim3 grid, dim3 block, std::size_t shared_bytes,
                      cudaStream_t stream) noexcept {
        ThreadState* state = thread_local_state.state;
        if (status != 0 || state == nullptr) return;
        state->configured = {{grid.x, grid.y, grid.z},
                             {block.x, block.y, block.z},
                             static_cast<std::uint32_t>(shared_bytes),
                             detail::to_word(stream)};
    }
};

struct ConfiguredLaunch {
    static void after(const CallFrame* frame, CallParts& parts, int, const void* function) noexcept {
        const LaunchConfiguration& with = frame->state->configured;
        put_kernel(parts, detail::to_word(function), with.grid, with.block, with.shared_bytes);
        detail::keep_stream<0>(parts, reinterpret_cast<cudaStream_t>(with.stream));
    }
};

struct GraphLaunch {
    template <class Exec, class Stream>
    static void after(const CallFrame*, CallParts& parts, int, Exec exec, Stream stream) noexcept {
        parts.flags |= abi::kCallGraph;
        parts.exec = detail::to_word(exec);
        detail::keep_stream<0>(parts, stream);
    }
};

/// Nodes of the graph may have been switched since the last launch: what it holds now is written first.
struct DriverGraphLaunch {
    static void after(const CallFrame* frame, CallParts& parts, int status, CUgraphExec exec,
                      CUstream stream) noexcept {
        GraphLaunch::after(frame, parts, status, exec, stream);
        if (status == 0 && frame != nullptr && is_any_exec_switched()) write_switched_exec(*frame, exec);
    }
};

// -- copies and sets -------------------------------------------------------------------------------------------------------

template <CopyKind Kind, int Bytes, int Stream = -1>
struct CopyOf {
    template <class... A>
    static void after(const CallFrame*, CallParts& parts, int, A... arguments) noexcept {
        put_copy(parts, Kind, detail::word_at<Bytes>(arguments...));
        detail::keep_stream<Stream>(parts, arguments...);
    }
};

/// The runtime's, whose direction is an argument.
template <int Bytes, int Kind, int Stream = -1>
struct RuntimeCopy {
    template <class... A>
    static void after(const CallFrame*, CallParts& parts, int, A... arguments) noexcept {
        put_copy(parts, detail::kind_of(detail::word_at<Kind>(arguments...)), detail::word_at<Bytes>(arguments...));
        detail::keep_stream<Stream>(parts, arguments...);
    }
};

template <int Width, int Height, int Kind, int Stream = -1>
struct RuntimeCopyArea {
    template <class... A>
    static void after(const CallFrame*, CallParts& parts, int, A... arguments) noexcept {
        put_copy(parts, detail::kind_of(detail::word_at<Kind>(arguments...)),
                 detail::word_at<Width>(arguments...) * detail::word_at<Height>(arguments...));
        detail::keep_stream<Stream>(parts, arguments...);
    }
};

/// The driver's copies that take a struct: its size is known once the call has read it.
template <int Stream = -1>
struct CopyStruct {
    template <class Struct, class... Rest>
    static void after(const CallFrame*, CallParts& parts, int status, const Struct* copy, Rest... rest) noexcept {
        if (status == 0 && copy != nullptr) {
            std::uint64_t bytes = std::uint64_t{copy->WidthInBytes} * copy->Height;
            if constexpr (requires { copy->Depth; }) bytes *= copy->Depth;
            put_copy(parts, CopyKind::kUnknown, bytes);
        }
        detail::keep_stream<Stream>(parts, copy, rest...);
    }
};

/// A memset of `ElementBytes` x the count at Count.
template <unsigned ElementBytes, int Count, int Stream = -1>
struct SetOf {
    template <class... A>
    static void after(const CallFrame*, CallParts& parts, int, A... arguments) noexcept {
        put_copy(parts, CopyKind::kSet, ElementBytes * detail::word_at<Count>(arguments...));
        detail::keep_stream<Stream>(parts, arguments...);
    }
};

template <unsigned ElementBytes, int Width, int Height, int Stream = -1>
struct SetArea {
    template <class... A>
    static void after(const CallFrame*, CallParts& parts, int, A... arguments) noexcept {
        put_copy(parts, CopyKind::kSet,
                 ElementBytes * detail::word_at<Width>(arguments...) * detail::word_at<Height>(arguments...));
        detail::keep_stream<Stream>(parts, arguments...);
    }
};

// -- capture and graphs ----------------------------------------------------------------------------------------------------

struct CaptureBegins {
    template <class... A>
    static void after(const CallFrame*, CallParts&, int status, A...) noexcept {
        if (status == 0) capture_began();
    }
};

/// Also with an error that ends the capture; other errors (not capturing, another thread's) leave it as it is.
struct CaptureEnds {
    template <class... A>
    static void after(const CallFrame*, CallParts&, int status, A...) noexcept {
        if (status == CUDA_SUCCESS || status == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ||
            status == CUDA_ERROR_STREAM_CAPTURE_UNJOINED || status == CUDA_ERROR_STREAM_CAPTURE_UNMATCHED) {
            capture_ended();
        }
    }
};

struct NodeAdded {
    template <class... Rest>
    static void after(const CallFrame* frame, CallParts& parts, int status, CUgraphNode* node, Rest...) noexcept {
        if (status == 0 && node != nullptr && frame != nullptr) own_node(*frame, parts, *node);
    }
};

/// cuGraphAddNode: any type of node, described by the last argument.
struct AnyNodeAdded {
    template <class... Rest>
    static void after(const CallFrame* frame, CallParts& parts, int status, CUgraphNode* node, Rest... rest) noexcept {
        if (status != 0 || node == nullptr || frame == nullptr) return;
        own_node(*frame, parts, *node);
        const CUgraphNodeParams* params = std::get<sizeof...(Rest) - 1>(std::tuple<Rest...>(rest...));
        if (params->type == CU_GRAPH_NODE_TYPE_GRAPH) child_graph_added(*node, params->graph.graph);
    }
};

struct ChildGraphAdded {
    static void after(const CallFrame* frame, CallParts&, int status, CUgraphNode* node, CUgraph, const CUgraphNode*,
                      std::size_t, CUgraph child) noexcept {
        if (status == 0 && node != nullptr && frame != nullptr) child_graph_added(*node, child);
    }
};

struct GraphCloned {
    static void after(const CallFrame* frame, CallParts&, int status, CUgraph* clone, CUgraph original) noexcept {
        if (status == 0 && clone != nullptr && frame != nullptr) copy_owners(original, *clone);
    }
};

struct GraphInstantiated {
    template <class... Rest>
    static void after(const CallFrame* frame, CallParts&, int status, CUgraphExec* exec, CUgraph graph,
                      Rest...) noexcept {
        if (status == 0 && exec != nullptr && frame != nullptr) graph_instantiated(*frame, *exec, graph, false);
    }
};

struct NodeEnabled {
    static void after(const CallFrame* frame, CallParts&, int status, CUgraphExec exec, CUgraphNode,
                      unsigned) noexcept {
        if (status == 0 && frame != nullptr) exec_switched(*frame, exec);
    }
};

/// A kernel node of an executable graph becomes another kernel's.
struct ExecNodeChanged {
    template <class Params>
    static void after(const CallFrame* frame, CallParts&, int status, CUgraphExec exec, CUgraphNode node,
                      const Params* params) noexcept {
        if (status != 0 || frame == nullptr || params == nullptr) return;
        CUDA_KERNEL_NODE_PARAMS kernel{};
        if constexpr (requires { params->kern; }) {
            kernel = *params;
        } else if constexpr (requires { params->func; }) {
            kernel.func = params->func;
        } else {
            if (params->type != CU_GRAPH_NODE_TYPE_KERNEL) return;
            kernel.func = params->kernel.func;
            kernel.kern = params->kernel.kern;
        }
        exec_node_changed(*frame, exec, node, kernel);
    }
};

/// Before the graph is gone: what was made from it and switched since is still to be written.
struct GraphGoes : Nothing {
    static void before(HookId, const void*, CUgraph graph) noexcept { graph_goes(graph); }
};

struct ExecGoes : Nothing {
    static void before(HookId, const void*, CUgraphExec exec) noexcept { exec_goes(exec); }
};

struct GraphUpdated {
    template <class... Rest>
    static void after(const CallFrame* frame, CallParts&, int status, CUgraphExec exec, CUgraph graph,
                      Rest...) noexcept {
        if (status == 0 && frame != nullptr) graph_instantiated(*frame, exec, graph, true);
    }
};

// -- names of kernels ------------------------------------------------------------------------------------------------------

/// A handle was obtained by name: (handle*, from, name).
template <int Name>
struct NamedHandle {
    template <class Handle, class... Rest>
    static void after(const CallFrame*, CallParts&, int status, Handle* handle, Rest... rest) noexcept {
        const char* name = std::get<Name - 1>(std::tuple<Rest...>(rest...));
        if (status == 0 && handle != nullptr && name != nullptr) remember_name(detail::to_word(*handle), name);
    }
};

struct FunctionOfKernel {
    static void after(const CallFrame*, CallParts&, int status, CUfunction* function, CUkernel kernel) noexcept {
        if (status == 0 && function != nullptr) {
            copy_name(detail::to_word(kernel), detail::to_word(*function));
        }
    }
};

/// Handles of an unloaded module may come back as another kernel's.
struct HandlesGone {
    template <class... A>
    static void after(const CallFrame*, CallParts&, int, A...) noexcept {
        forget_names();
    }
};

// -- look-ups --------------------------------------------------------------------------------------------------------------

/// The call wrote a driver pointer to the argument at Index: give ours instead.
template <int Index>
struct DriverPointerAt {
    template <class... A>
    static void after(const CallFrame*, CallParts&, int status, A... arguments) noexcept {
        void** pointer = std::get<Index>(std::tuple<A...>(arguments...));
        if (status == 0 && pointer != nullptr && *pointer != nullptr) {
            *pointer = hook_for_driver_pointer(*pointer, question_of(arguments...));
        }
    }
};

}  // namespace gpuspy::hook
