// Format v1 of a trace file. docs/trace-format.md is the same in prose with a worked example in bytes.
//
//   FileHeader | header records | Block | Block | ...            all integers little-endian
//
// There is no footer and no index: a file is valid after any block, and whatever follows the last whole block is ignored.
// A block whose checksum is wrong is skipped: the reader looks for the next kBlockMagic and says what it skipped.
//
// A block's payload, once decompressed, is a sequence of records:  varint tag | varint length | `length` bytes.
// An unknown tag is skipped by its length. Bytes of a known record after the fields known to the reader are skipped too:
// later minor versions append fields. A record never crosses a block.
//
// varint: unsigned LEB128, at most 10 bytes. svarint: zigzag, then varint. string: varint length, bytes (any bytes).
//
// Segments. A block with kBlockSegmentStart begins a segment: every dictionary below is empty again and every "previous"
// value is 0. So a file can be cut at segments, copied while it grows, and decoded segment by segment in parallel.
// What is said once and holds for the whole file (kName, kGraphExec, kGraphNodes, kObject) is keyed by value and time, not
// by a dictionary; a reader carries it over segments.
//
// When the version changes. A reader refuses a file whose major version is greater than its own, by name; a bit of
// required_features that it does not know likewise. A new tag, a new flag with its field at the end, or a field appended
// to a record is a minor version.
#pragma once

#include <cstdint>

namespace gpuspy::abi {

inline constexpr char kFileMagic[8] = {'G', 'P', 'U', 'S', 'P', 'Y', '\r', '\n'};
inline constexpr std::uint16_t kFormatMajor = 1;
inline constexpr std::uint16_t kFormatMinor = 4;
inline constexpr std::uint32_t kBlockMagic = 0x4b4c4247U;  // "GBLK"
inline constexpr std::uint32_t kMaxBlockRawBytes = 8U << 20;
inline constexpr std::uint32_t kMaxRecordBytes = 1U << 20;

enum OptionalFeatures : std::uint64_t {
    kFeatureSnapshot = 1U << 0,  ///< Since 1.3: a copy of a trace, made while its process went on.
    /// Since 1.3: the error number (Linux) of the first write to this file that failed; 0: none. Put there in place when it
    /// fails: a disk that is full has no room for a record that says so.
    kFeatureWriteErrorMask = 0xffU << 8,
};
inline constexpr unsigned kFeatureWriteErrorShift = 8;

struct FileHeader {
    char magic[8];
    std::uint16_t major;
    std::uint16_t minor;
    std::uint32_t header_bytes;  ///< Offset of the first block: sizeof(FileHeader) + the header records.
    std::uint64_t required_features;
    std::uint64_t optional_features;  ///< OptionalFeatures.
    std::uint64_t nonce;              ///< Of the process's recording; also in the name and header of its ring mapping.
    std::uint64_t start_ticks;        ///< When recording began.
    /// Since 1.3: how often a flight recorder has exchanged the file for one with only its last part; 0 for a whole
    /// recording.
    std::uint64_t exchange;
    std::uint64_t checksum;  ///< XXH64, seed 0, over this header with checksum = 0, then the header records.
};
static_assert(sizeof(FileHeader) == 64);

enum BlockFlags : std::uint32_t {
    kBlockSegmentStart = 1U << 0,
    kBlockStored = 1U << 1,    ///< The payload is not compressed (else: zstd frames, one after another).
    kBlockSalvaged = 1U << 2,  ///< Written by a salvager from the rings of a dead owner.
    kBlockColumns = 1U << 3,   ///< Since 1.4: the payload was taken apart (trace_columns.hpp) before it was compressed.
};

/// Bits of FileHeader::required_features.
enum Features : std::uint64_t {
    kFeatureColumns = 1U << 0,  ///< Blocks may have kBlockColumns.
};
inline constexpr std::uint64_t kKnownFeatures = kFeatureColumns;

struct BlockHeader {
    std::uint32_t magic;
    std::uint32_t flags;
    std::uint32_t segment;       ///< Counts up by one per segment start.
    std::uint32_t index;         ///< In its segment, from 0.
    std::uint32_t raw_bytes;     ///< Of the payload as records; at most kMaxBlockRawBytes.
    std::uint32_t stored_bytes;  ///< Of the payload, in the file.
    std::uint64_t ticks;         ///< When the block was written.
    std::uint64_t checksum;      ///< XXH64, seed 0, over the 32 bytes before, then the stored payload.
};
static_assert(sizeof(BlockHeader) == 40);

// Fields are given as  name:type ; [x] is present under the condition said. "value" is a varint index into the segment's
// value dictionary; index 0 is the value 0, kValue records define 1, 2, 3 ... in order. "text" is an index into the
// segment's text dictionary; index 0 is the empty string, kText records define 1, 2, 3 ... Both are defined before use.
enum class Tag : std::uint32_t {
    // -- header records ------------------------------------------------------------------------------------------------
    /// pid, ppid, pgid: varint; start_realtime_ns, start_monotonic_ns, tick_hz (estimate): varint; run_id: varint;
    /// rank: svarint (-1: none); host, boot_id, exe, cwd, ring_path, gpuspy_version: string; argc: varint, argv: strings;
    /// envc: varint, then "NAME=value" strings (allow-list).
    kProcess = 1,

    // -- dictionaries (per segment) --------------------------------------------------------------------------------------
    kValue = 2,  ///< value: varint
    kText = 3,   ///< bytes: the whole payload
    /// api: varint; level, class, attributes: varint; library: string; name: string; since 1.1, where a call of it keeps
    /// arguments: fields: string (their names and types, as ApiEntry::fields). Before an api's first call in a segment.
    kApi = 4,

    // -- where and when --------------------------------------------------------------------------------------------------
    /// ticks, monotonic_ns, realtime_ns, device_clock_ns (CUPTI's clock; 0: none): varint; uncertainty_ns: varint.
    /// All four readings were taken within uncertainty_ns.
    kAnchor = 5,
    /// thread: varint (ring index); tid: varint; name: string. The records that follow, up to the next kThread, belong to
    /// this thread. Its "previous" values live on through the segment, keyed by (thread, tid).
    kThread = 6,
    /// ticks: varint; begin, end (addresses): varint; path: string; version: string ("" if not known). A shared object that
    /// is mapped from `ticks` on. Whole file.
    kObject = 7,
    /// ordinal: varint; name: string; uuid: string (16 bytes or ""); cc_major, cc_minor, sm_count: varint;
    /// sm_clock_khz, memory_clock_khz, bus_width_bits, memory_bytes: varint; pci: string. Whole file.
    kDevice = 8,
    /// key: string; value: string. "driver_version" "13.0", "runtime_version", "cupti_version" "130001", "cudnn_version" ...
    kInfo = 9,

    // -- host events -----------------------------------------------------------------------------------------------------
    /// flags: varint (CallFlags); api: varint; depth: varint;
    /// begin: svarint ticks, relative to the previous call's begin on this thread (0 at a segment's start);
    /// duration: varint ticks; then in order of the bits:
    /// [kCallStatus] status: svarint; [kCallCaller] caller: value; [kCallStream] stream: value;
    /// [kCallCorrelation] correlation: svarint relative to the previous one on this thread;
    /// [kCallLaunchId] launch_id: varint; [kCallKernel] function: value, grid x y z, block x y z, dynamic_shared_bytes: varint;
    /// [kCallCopy] bytes, kind: varint; [kCallGraph] exec: value;
    /// since 1.1: [kCallArguments] count: varint, then as many svarint, by the names of the api's fields.
    kCall = 16,
    kName = 17,  ///< ticks, handle: varint; name: string. Whole file.
    /// ticks, exec, cupti_exec_id, kernel_nodes, memcpy_nodes, memset_nodes, other_nodes, flags (GraphFlags): varint. Whole file.
    kGraphExec = 18,
    /// ticks, exec, count: varint; per node: index, type, function, launch_id: varint. Whole file; belongs to the kGraphExec
    /// with the same exec and ticks.
    kGraphNodes = 19,

    /// Since 1.3: whose work a captured launch is that stands before the part of the recording that is kept. launch_id,
    /// library (api of the outermost library call around it + 1; 0: none), caller (of the outermost call), ticks (when that
    /// began): varint.
    kOrigin = 20,

    // -- device records --------------------------------------------------------------------------------------------------
    /// flags: varint (DeviceFlags); device, context, stream (CUPTI's ids): varint; correlation: svarint relative to the
    /// previous device record; start: svarint ns of the device clock, relative to the previous device record's start;
    /// duration: varint ns (0 with kDeviceUntimed); [kDeviceGraph] graph exec id, node index: varint; then by tag:
    /// kKernel: name: text; grid x y z, block x y z, registers, static_shared_bytes, dynamic_shared_bytes: varint
    kKernel = 32,
    kMemcpy =
        33,  ///< ...; bytes, kind (CopyKind), source and destination memory kind (CUpti_ActivityMemoryKind): varint
    kMemset = 34,  ///< ...; bytes, memory kind: varint

    // -- about the recording ---------------------------------------------------------------------------------------------
    /// ticks: varint; what: varint (SpanKind); on: varint (0, 1); reason: string. State changes; off before the first.
    kSpan = 48,
    /// cause: varint (LossCause); count: varint (in all so far: the last record of a cause and thread counts, so a salvager can
    /// go on where the owner stopped); thread: varint (ring index + 1; 0 none).
    kLoss = 49,
    /// ticks, user_ns, system_ns (of the process), own_ns (of the drain thread), callback_ns (in CUPTI's buffer callbacks
    /// and ours): varint. Totals since the start of the process, the drain thread, the recording. The first one is written
    /// when recording starts: the process's CPU time while it was recorded is a difference.
    kCpu = 50,
    /// ticks: varint; kind: varint (EndKind); detail: svarint (kWaitStatus: as wait(2) gives it); pid: varint
    /// (of whom: kWaitStatus may be of another process than the one recorded, 0: the recorded one). At most one of each kind.
    kEnd = 51,
    /// calls: varint (calls recorded so far); call_ps: varint (calibrated cost of one recorded call, picoseconds). Last one counts.
    kCost = 52,
    kNotice = 53,  ///< ticks: varint; text: string. Something a person should read in the report.
    /// Since 1.3, in the first segment of a file that a flight recorder cut: ticks: varint (what was encoded later is in the
    /// file); calls, device_records, ranges, blocks, bytes: varint (how many of each were written before, and are not in the
    /// file; bytes as stored); correlation: varint (the highest of a launch among those calls, 0 none); limit_ns, limit_bytes:
    /// varint (what was asked for; 0: none).
    kKept = 54,

    // -- what the program says of itself -----------------------------------------------------------------------------------
    /// Since 1.2. An NVTX range begins or ends, or a mark, on the thread of the last kThread. kind: varint (RangeKind);
    /// depth: varint (hooked calls around it); ticks: svarint, relative to the previous kRange of this thread (0 at a
    /// segment's start); id: varint (kStart, kEnd: unique in the process; kPush, kPop: level in its thread and domain, 0 for
    /// marks); domain: text ("" the default one); name: text ("" for kPop and kEnd).
    kRange = 64,

    // 65 to 95 are kept for: CPU samples, call stacks, sizes of library calls (FLOPs), host CUPTI sessions, counters, memory
    // pools.
};

enum DeviceFlags : std::uint32_t {
    kDeviceUntimed =
        1U << 0,  ///< The record came with start 0, end before start, or absurd times: it counts, its time does not.
    kDeviceGraph = 1U << 1,  ///< From a node of an executable graph.
    kDeviceAsync = 1U << 2,  ///< Copies: asynchronous.
};

enum class SpanKind : std::uint32_t {
    kHost = 0,    ///< Host events are recorded.
    kDevice = 1,  ///< Device times are recorded.
};

enum class EndKind : std::uint32_t {
    kClean = 0,       ///< The process reached its end and everything was flushed.
    kWaitStatus = 1,  ///< Added by gpuspy-run: how the process ended.
    kSalvaged = 2,    ///< A salvager emptied the rings of the dead owner.
    kSnapshot = 3,    ///< Since 1.3: a copy (`gpuspy-run snapshot`); the process went on. detail: 0.
};

}  // namespace gpuspy::abi
