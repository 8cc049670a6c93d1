// How a process ended, in a trace that it does not write any more.
#include "collector/sink/appender.hpp"
#include "collector/sink/file_header.hpp"
#include "collector/sink/flight_recorder.hpp"
#include "collector/sink/salvage.hpp"

namespace gpuspy::sink {

namespace {

/// A segment of its own with one kEnd. `pid`: as append_wait_status().
int append_end(const char* trace_path, abi::EndKind kind, int detail, std::uint32_t pid) noexcept {
    const ring::ErrnoGuard keep_errno;
    TraceIdentity identity;
    std::uint64_t file_bytes = 0;
    int error = 0;
    const int fd = open_trace_for_append(trace_path, &identity, &file_bytes, &error);
    if (fd < 0) {
        return error;
    }
    remove_successor(trace_path, identity);
    const TraceTail tail = find_trace_tail(fd, identity.header_bytes, file_bytes);
    Appender out;
    error = out.init(fd, trace_path, tail, 0, nullptr, 0);
    if (error != 0) {
        return error;
    }
    out.emit([&](Encoder& encoder) { return encoder.end(out.ticks(), kind, detail, identity.pid == pid ? 0 : pid); });
    out.flush();
    return out.error();
}

}  // namespace

int append_wait_status(const char* trace_path, std::uint32_t pid, int status) noexcept {
    return append_end(trace_path, abi::EndKind::kWaitStatus, status, pid);
}

int append_snapshot_end(const char* copy_path) noexcept {
    return append_end(copy_path, abi::EndKind::kSnapshot, 0, 0);
}

}  // namespace gpuspy::sink
