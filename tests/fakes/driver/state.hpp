// The driver's objects, and what holds them. Handles of cuda.h are pointers to structs that it only declares; here they
// are defined. All state is guarded by Driver::mutex; it is never destroyed, since calls can come as late as exit
// handlers.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <cuda.h>

namespace sim {

using Dim3 = std::array<unsigned, 3>;

/// Something that a stream or a graph's node does. Fields that do not belong to `type` are zero.
struct Work {
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    CUfunction function = nullptr;
    Dim3 grid{};
    Dim3 block{};
    unsigned dynamic_shared_bytes = 0;
    bool cooperative = false;
    bool synchronous = false;  ///< Copies and sets: the call waits.
    CUDA_MEMCPY3D copy{};      ///< One-dimensional copies are one row.
    CUDA_MEMSET_NODE_PARAMS set{};
    CUhostFn host_function = nullptr;
    void* host_data = nullptr;
    CUevent event = nullptr;
    CUgraph child = nullptr;  ///< Child graph, or the body of a conditional node; owned by the node.
};

/// A capture in progress; streams that joined it point to it.
struct Capture {
    CUgraph graph = nullptr;
    CUstream origin = nullptr;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    std::uint64_t id = 0;
    int thread = 0;
    bool valid = true;
    bool owns_graph = true;
};

}  // namespace sim

struct CUfunc_st {
    const char* name;  ///< Interned: lives as long as the process.
    CUmodule module;
};

// A CUkernel may be launched as a CUfunction: the driver accepts the cast, so the function stands first.
struct CUkern_st {
    CUfunc_st function;
    CUlibrary library;
};

struct CUmod_st {
    std::map<std::string, std::unique_ptr<CUfunc_st>> functions;
    std::map<std::string, std::vector<char>> globals;
};

struct CUlib_st {
    CUmod_st module;
    std::map<std::string, std::unique_ptr<CUkern_st>> kernels;
};

struct CUevent_st {
    CUcontext context;
    unsigned flags;
    std::uint64_t time_ns;  ///< When the recorded work is complete; 0: never recorded.
    std::shared_ptr<sim::Capture> capture;
    std::vector<CUgraphNode> capture_dependencies;
};

struct CUstream_st {
    CUcontext context;
    std::uint32_t id;  ///< CUPTI's: 7 is the legacy default stream.
    unsigned flags;
    int priority;
    bool legacy;
    std::uint64_t tail_ns;  ///< When all that it holds is complete.
    std::shared_ptr<sim::Capture> capture;
    std::vector<CUgraphNode> capture_dependencies;
    std::vector<CUgraphEdgeData> capture_edges;

    bool blocking() const { return !legacy && (flags & CU_STREAM_NON_BLOCKING) == 0; }
};

struct CUctx_st {
    std::uint32_t id;
    CUdevice device;
    unsigned flags;
    unsigned retains;  ///< Primary contexts.
    std::unique_ptr<CUstream_st> legacy;
    std::map<int, std::unique_ptr<CUstream_st>> per_thread;
    std::vector<std::unique_ptr<CUstream_st>> streams;
};

struct CUgraphNode_st {
    CUgraph graph;
    sim::Work work;
    std::vector<CUgraphNode> dependencies;
    CUgraphNode original;  ///< The node it was cloned from.
};

struct CUgraph_st {
    std::uint32_t id;
    std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
    bool is_child;

    ~CUgraph_st() {
        for (const auto& node : nodes) {
            delete node->work.child;
        }
    }
};

/// A node of an executable graph, flattened: the graph's own nodes first, then its child graphs' in the order of nodes.
struct SimExecNode {
    sim::Work work;
    CUgraphNode source;
    std::vector<std::uint32_t> dependencies;
    bool enabled;
    bool runs;  ///< False for the nodes of child graphs' containers: they only order.
};

struct CUgraphExec_st {
    std::uint32_t id;
    std::uint64_t flags;
    std::vector<SimExecNode> nodes;
};

struct CUarray_st {
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    std::size_t element_bytes;
    std::vector<char> data;
};

struct CUmemPoolHandle_st {
    CUdevice device;
};

namespace sim {

inline constexpr std::uint32_t kLegacyStreamId = 7;
inline constexpr std::size_t kDeviceMemoryBytes = std::size_t{16} << 30;

enum class MemoryKind : std::uint8_t { kPageable, kPinned, kDevice, kManaged };

struct Allocation {
    std::size_t bytes;
    MemoryKind kind;
    CUdevice device;
    bool owned;  ///< False for registered host memory.
};

struct Driver {
    std::mutex mutex;
    std::atomic<bool> initialised{false};
    std::atomic<bool> forked{false};  ///< A child of a process that had initialised: CUDA is not usable here.
    std::atomic<CUresult> sticky{CUDA_SUCCESS};
    int device_count = 1;
    std::map<CUdevice, std::unique_ptr<CUctx_st>> primary;
    std::vector<std::unique_ptr<CUctx_st>> contexts;
    std::unordered_set<const void*> functions;  ///< Live CUfunc_st and CUkern_st.
    std::unordered_set<const void*> kernels;    ///< Those that are CUkern_st.
    std::unordered_set<const void*> streams;
    std::unordered_set<const void*> events;
    std::unordered_set<const void*> graphs;
    std::unordered_set<const void*> execs;
    std::unordered_set<const void*> nodes;
    std::map<std::uintptr_t, Allocation> memory;
    std::size_t device_bytes = 0;
    std::unordered_map<std::string, std::uint64_t> durations_ns;
    std::unordered_map<std::string, std::unique_ptr<std::string>> names;
    std::vector<std::weak_ptr<Capture>> captures;
    std::array<CUmemPoolHandle_st, 8> pools{};
    std::uint32_t next_context = 1;
    std::uint32_t next_stream = 13;
    std::uint32_t next_graph = 1;
    std::uint64_t next_capture = 1;
};

Driver& driver();

using Lock = std::lock_guard<std::mutex>;

/// The calling thread's context stack; the back is current.
std::vector<CUcontext>& context_stack();
CUcontext current_context();

/// What stream handle 0 means in the current call (legacy, or the thread's own in _ptsz and _ptds calls).
CUstream& default_stream();

/// Handle to stream. Under the lock. nullptr: not a live stream, or no context.
CUstream_st* find_stream(CUstream handle);

std::unique_ptr<CUctx_st> make_context(CUdevice device, unsigned flags);
const char* intern(const std::string& name);
MemoryKind memory_kind(const void* pointer, CUdevice* device = nullptr);

/// True if some stream of this context or thread is being captured in a mode that forbids unsafe calls; invalidates it.
bool unsafe_in_capture();

}  // namespace sim
