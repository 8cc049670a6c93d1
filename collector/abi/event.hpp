// Events as they lie in a ring: what a hook writes and what the drain thread, or a salvager in another process, reads.
//
// A ring holds a sequence of events, each a whole number of 8-byte words, the first of which is an EventHeader. A call is
// written once, when it returns, so the events of one thread are in post-order: the children of a call at depth d are the
// events of depth d + 1 that precede it since the last event of depth <= d, and that lie inside its begin and end.
//
// This header is used by the library in the host process: <cstdint> and its kind only.
#pragma once

#include <cstdint>

namespace gpuspy::abi {

/// What an event is. Values are part of the ring layout (see kRingLayoutVersion): append only.
enum class EventType : std::uint8_t {
    kPadding = 0,     ///< Skip `words` words: the rest of the ring up to its wrap.
    kCall = 1,        ///< CallEvent and its optional parts.
    kName = 2,        ///< NameEvent: the name of a function handle.
    kGraphExec = 3,   ///< GraphExecEvent: an executable graph was made or updated.
    kGraphNodes = 4,  ///< GraphNodesEvent: some of its nodes, in the order of their index.
    kThread = 5,      ///< ThreadEvent: the events that follow in this ring belong to this thread.
    kRange = 6,       ///< RangeEvent: an NVTX range began or ended, or a mark was set.
};

/// First word of every event.
struct EventHeader {
    std::uint16_t words;  ///< Size of the event in 8-byte words, this one included; never 0.
    EventType type;
    std::uint8_t depth;  ///< kCall, kRange: hooked calls around this one on its thread.
    std::uint16_t api;   ///< kCall: index into the API table of the mapping.
    std::uint16_t reserved;
};
static_assert(sizeof(EventHeader) == 8);

/// Bits of CallEvent::flags. Those marked "part" add words after the CallEvent, in the order of the bits. The trace file
/// uses the same bits (trace_format.hpp), so a new one is a minor version of the format.
enum CallFlags : std::uint32_t {
    kCallStatus = 1U << 0,       ///< The call failed: its status is not its API's success.
    kCallCaller = 1U << 1,       ///< CallEvent::caller is set. (In a file: a field.)
    kCallStream = 1U << 2,       ///< part: StreamPart.
    kCallCorrelation = 1U << 3,  ///< part: CorrelationPart. Device records with this id belong to this call.
    kCallLaunchId = 1U << 4,   ///< part: LaunchIdPart. Given to captured launches: graph nodes name their origin by it.
    kCallKernel = 1U << 5,     ///< part: KernelPart.
    kCallCopy = 1U << 6,       ///< part: CopyPart.
    kCallGraph = 1U << 7,      ///< part: GraphPart.
    kCallCaptured = 1U << 8,   ///< The stream was being captured: nothing ran, no device record will come.
    kCallUntimed = 1U << 9,    ///< Device times were not being recorded when the call was made.
    kCallUnhooked = 1U << 10,  ///< Seen by CUPTI's callback alone: no hook of ours was entered for it.
    kCallReentered = 1U << 11,  ///< Calls of the same name happened inside (a library's own sub-libraries).
    kCallArguments = 1U << 12,  ///< part: ArgumentsPart.
};

/// A hooked call that returned.
struct CallEvent {
    EventHeader header;
    std::uint32_t flags;  ///< CallFlags.
    std::int32_t status;  ///< What the call returned, as it is.
    std::uint64_t begin_ticks;
    std::uint64_t end_ticks;
    std::uint64_t caller;  ///< Return address into the calling object, 0 if not known.
};
static_assert(sizeof(CallEvent) == 40);

struct StreamPart {
    std::uint64_t
        stream;  ///< Handle; 0, 1 (legacy) and 2 (per thread) as the API defines them; _ptsz calls with 0 store 2.
};
struct CorrelationPart {
    std::uint64_t correlation;  ///< CUPTI's correlation id (32 bits used).
};
struct LaunchIdPart {
    std::uint64_t launch_id;  ///< Unique in the process: (ring index << 40) | count of the ring, from 1.
};
struct KernelPart {
    std::uint64_t function;  ///< CUfunction, CUkernel or the runtime's host function pointer; 0 if not known.
    std::uint32_t grid[3];   ///< In blocks.
    std::uint32_t block[3];  ///< In threads.
    std::uint32_t dynamic_shared_bytes;
    std::uint32_t reserved;
};
static_assert(sizeof(KernelPart) == 40);
struct CopyPart {
    std::uint64_t bytes;
    std::uint32_t kind;  ///< CopyKind.
    std::uint32_t reserved;
};
static_assert(sizeof(CopyPart) == 16);
struct GraphPart {
    std::uint64_t exec;  ///< CUgraphExec handle.
};
/// `count` words follow: the call's arguments, in the order and by the names of ApiEntry::fields. An array is its number of
/// elements, then the elements.
struct ArgumentsPart {
    std::uint64_t count;
};
inline constexpr std::uint32_t kMaxArgumentWords = 32;

/// Directions of a copy. The values are CUpti_ActivityMemcpyKind's (cupti_activity.h).
enum class CopyKind : std::uint32_t {
    kUnknown = 0,
    kHostToDevice = 1,
    kDeviceToHost = 2,
    kHostToArray = 3,
    kArrayToHost = 4,
    kArrayToArray = 5,
    kArrayToDevice = 6,
    kDeviceToArray = 7,
    kDeviceToDevice = 8,
    kHostToHost = 9,
    kPeerToPeer = 10,
    kSet = 255,  ///< Ours: a memset.
};

/// `handle` has this name from `ticks` on, until another NameEvent for the same handle. The name's bytes follow, padded
/// with zeros to a whole word.
struct NameEvent {
    EventHeader header;
    std::uint64_t ticks;
    std::uint64_t handle;
    std::uint32_t name_bytes;
    std::uint32_t reserved;
};
static_assert(sizeof(NameEvent) == 32);

/// An executable graph after cuGraphInstantiate* or cuGraphExecUpdate*, as walked in its source graph; child graphs are
/// flattened: the nodes of the graph itself first, then those of its child graphs in the order of their nodes.
struct GraphExecEvent {
    EventHeader header;
    std::uint64_t ticks;
    std::uint64_t exec;           ///< CUgraphExec handle; launches name it in GraphPart.
    std::uint64_t cupti_exec_id;  ///< The high half of graphNodeId in device records; 0 without CUPTI.
    std::uint32_t kernel_nodes;   ///< Totals over all child graphs. Enabled nodes only.
    std::uint32_t memcpy_nodes;
    std::uint32_t memset_nodes;
    std::uint32_t other_nodes;
    std::uint32_t flags;  ///< GraphFlags.
    std::uint32_t reserved;
};
static_assert(sizeof(GraphExecEvent) == 56);

enum GraphFlags : std::uint32_t {
    kGraphConditional = 1U << 0,  ///< Holds conditional nodes: counts are a lower bound.
    kGraphUpdated = 1U << 1,      ///< By an update: replaces what was known of `exec`.
    kGraphNodesLost = 1U << 2,    ///< The totals are right, the list of nodes is not complete.
};

/// The type of a graph node: CUgraphNodeType's values (cuda.h).
struct GraphNode {
    std::uint32_t index;      ///< In the flattened graph: the low half of graphNodeId in device records.
    std::uint32_t type;       ///< CUgraphNodeType: 0 kernel, 1 memcpy, 2 memset, ...
    std::uint64_t function;   ///< Kernel nodes: handle of the function; else 0.
    std::uint64_t launch_id;  ///< The captured call that made it (LaunchIdPart), 0 if none is known.
};
static_assert(sizeof(GraphNode) == 24);

/// `count` GraphNodes of `exec` follow.
struct GraphNodesEvent {
    EventHeader header;
    std::uint64_t ticks;  ///< Of the GraphExecEvent that they belong to.
    std::uint64_t exec;
    std::uint32_t count;
    std::uint32_t reserved;
};
static_assert(sizeof(GraphNodesEvent) == 32);

/// First event of a thread in its ring; a ring is given to a new thread once its last one ended and the ring is drained.
struct ThreadEvent {
    EventHeader header;
    std::uint64_t ticks;
    std::uint32_t tid;
    std::uint32_t reserved;
};
static_assert(sizeof(ThreadEvent) == 24);

/// Values are also the trace format's. Append only: a reader passes over a kind that it does not know.
enum class RangeKind : std::uint8_t {
    kPush = 0,   ///< Begins a range that the next pop of the same level, thread and domain ends.
    kPop = 1,    ///<
    kStart = 2,  ///< Begins a range that an end with the same id ends, on any thread.
    kEnd = 3,    ///<
    kMark = 4,   ///< A moment.
};
inline constexpr RangeKind kLastRangeKind = RangeKind::kMark;

/// NVTX: the beginning and the end of a range are events of their own, so that a range in which the process is killed is
/// there. The domain's name ("" is the default domain) and then the range's text follow, in UTF-8 as far as the host's
/// are, padded with zeros to a whole word. Pops and ends have no text.
struct RangeEvent {
    EventHeader header;
    std::uint64_t ticks;
    std::uint64_t
        id;  ///< kStart, kEnd: unique in the process. kPush, kPop: the level, from 0, in its thread and domain.
    RangeKind kind;
    std::uint8_t reserved;
    std::uint16_t domain_bytes;
    std::uint32_t text_bytes;
};
static_assert(sizeof(RangeEvent) == 32);
/// Longer texts are cut, at a whole character.
inline constexpr std::uint32_t kMaxRangeTextBytes = 2048;
inline constexpr std::uint32_t kMaxDomainNameBytes = 112;

/// What an API is, for analysis. Stored by name of the API in the mapping and in the trace, so a reader needs no table.
enum class ApiClass : std::uint8_t {
    kOther = 0,
    kLaunch = 1,       ///< Launches one kernel.
    kGraphLaunch = 2,  ///< Launches an executable graph.
    kCopy = 3,
    kSet = 4,
    kSync = 5,           ///< Waits for the device.
    kMemory = 6,         ///< Allocates or frees.
    kLibrary = 7,        ///< A library's call that executes work.
    kGraph = 8,          ///< Capture, instantiate, update, add nodes.
    kName = 9,           ///< Tells the name of a kernel.
    kContext = 10,       ///< Makes or ends a context.
    kMulti = 11,         ///< Launches several kernels with one call (cooperative multi-device).
    kCollective = 12,    ///< Communicates with other processes (NCCL).
    kCommunicator = 13,  ///< Makes or ends a communicator.
    kStream = 14,        ///< Orders work: streams, events, host functions.
    kModule = 15,        ///< Loads or links device code.
    kDescribe = 16,      ///< Describes work to a library: descriptors, layouts, plans. Executes nothing.
};
inline constexpr ApiClass kLastApiClass = ApiClass::kDescribe;

enum class ApiLevel : std::uint8_t { kDriver = 0, kRuntime = 1, kLibrary = 2 };

/// Bits of an API's attributes.
enum ApiAttributes : std::uint8_t {
    kApiBlocking = 1U << 0,  ///< Its whole time counts as synchronisation: sync calls, blocking copies, frees.
    kApiNoStatus = 1U << 1,  ///< Does not return a status.
};

/// Why something is not there. Each is counted from its own evidence (architecture, promise 2). Append only.
enum class LossCause : std::uint8_t {
    kRingFull = 0,       ///< Events a full ring dropped. Evidence: the ring's counter.
    kCuptiDropped = 1,   ///< Records CUPTI says it dropped (cuptiActivityGetNumDroppedRecords).
    kScratchBuffer = 2,  ///< Buffers CUPTI wanted when none was free: their records were lost (count of buffers).
    kNoRing = 3,         ///< Calls of threads that got no ring (too many threads, no memory).
    kNoSlot = 4,         ///< Look-ups passed through because a hook had no free slot.
    kUnmappedPointer =
        5,  ///< Driver entry points that are no symbol of the table (passed through): not a loss of events.
    kGraphNodesDropped = 6,  ///< Graph nodes whose list did not fit.
    kWriteFailed = 7,        ///< Bytes that could not be written to the trace.
    kUnparsedRecord = 8,     ///< CUPTI records of a kind or size that this version cannot read.
    kAfterEnd = 9,           ///< Calls made after the recording had ended, from exit handlers and destructors.
};
inline constexpr unsigned kLossCauseCount = 10;

}  // namespace gpuspy::abi
