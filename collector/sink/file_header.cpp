#include "collector/sink/file_header.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "collector/abi/trace_format.hpp"
#include "collector/sink/wire.hpp"
#include "collector/sink/xxhash64.hpp"

namespace gpuspy::sink {

namespace {

constexpr std::size_t kMaxText = 4096;
constexpr std::size_t kArgumentsBudget = 128U << 10;
constexpr std::size_t kEnvironmentBudget = 64U << 10;

void put_text(WireBuffer& record, const char* text) noexcept {
    record.string(text, strnlen(text, kMaxText));
}

/// The count of the strings that fit into `budget`, then these.
void put_list(WireBuffer& record, const char* const* strings, std::uint32_t count, std::size_t budget) noexcept {
    std::uint32_t kept = 0;
    for (std::size_t used = 0; kept < count; ++kept) {
        used += strnlen(strings[kept], kMaxText) + kMaxVarintBytes;
        if (used > budget) {
            break;
        }
    }
    record.varint(kept);
    for (std::uint32_t i = 0; i < kept; ++i) {
        put_text(record, strings[i]);
    }
}

/// In front of its records, with the checksum of all.
void put_header(abi::FileHeader& header, std::uint8_t* bytes, std::size_t count) noexcept {
    header.checksum = 0;
    std::memcpy(bytes, &header, sizeof header);
    header.checksum = xxhash64(bytes, count);
    std::memcpy(bytes, &header, sizeof header);
}

}  // namespace

std::size_t encode_file_header(std::uint8_t* out, std::size_t capacity, std::uint64_t nonce, std::uint64_t start_ticks,
                               const ProcessInfo& process) noexcept {
    if (capacity < kMaxFileHeaderBytes) {
        return 0;
    }
    // The body is built where the largest possible tag and length would leave it, and moved up to the real ones.
    constexpr std::size_t kHead = 2 * kMaxVarintBytes;
    std::uint8_t* body_at = out + sizeof(abi::FileHeader) + kHead;
    WireBuffer body(body_at, capacity - sizeof(abi::FileHeader) - kHead);
    body.varint(process.pid);
    body.varint(process.ppid);
    body.varint(process.pgid);
    body.varint(process.start_realtime_ns);
    body.varint(process.start_monotonic_ns);
    body.varint(process.tick_hz);
    body.varint(process.run_id);
    body.svarint(process.rank);
    put_text(body, process.host);
    put_text(body, process.boot_id);
    put_text(body, process.exe);
    put_text(body, process.cwd);
    put_text(body, process.ring_path);
    put_text(body, process.gpuspy_version);
    put_list(body, process.argv, process.argc, kArgumentsBudget);
    put_list(body, process.environment, process.environment_count, kEnvironmentBudget);

    WireBuffer head(out + sizeof(abi::FileHeader), kHead);
    head.varint(static_cast<std::uint32_t>(abi::Tag::kProcess));
    head.varint(body.size());
    std::memmove(out + sizeof(abi::FileHeader) + head.size(), body_at, body.size());

    const std::size_t total = sizeof(abi::FileHeader) + head.size() + body.size();
    abi::FileHeader header{};
    std::memcpy(header.magic, abi::kFileMagic, sizeof header.magic);
    header.major = abi::kFormatMajor;
    header.minor = abi::kFormatMinor;
    header.required_features = abi::kFeatureColumns;
    header.header_bytes = static_cast<std::uint32_t>(total);
    header.nonce = nonce;
    header.start_ticks = start_ticks;
    put_header(header, out, total);
    return total;
}

void set_exchange(std::uint8_t* bytes, std::size_t count, std::uint64_t exchange) noexcept {
    abi::FileHeader header;
    std::memcpy(&header, bytes, sizeof header);
    header.exchange = exchange;
    put_header(header, bytes, count);
}

void mark_as_snapshot(std::uint8_t* bytes, std::size_t count, std::uint64_t nonce) noexcept {
    abi::FileHeader header;
    std::memcpy(&header, bytes, sizeof header);
    header.nonce = nonce;
    header.optional_features |= abi::kFeatureSnapshot;
    put_header(header, bytes, count);
}

void set_write_error(std::uint8_t* bytes, std::size_t count, int error) noexcept {
    abi::FileHeader header;
    std::memcpy(&header, bytes, sizeof header);
    header.optional_features &= ~std::uint64_t{abi::kFeatureWriteErrorMask};
    header.optional_features |=
        static_cast<std::uint64_t>(error) << abi::kFeatureWriteErrorShift & abi::kFeatureWriteErrorMask;
    put_header(header, bytes, count);
}

bool read_trace_identity(int fd, TraceIdentity* identity) noexcept {
    std::uint8_t bytes[512];  // The numbers stand before the strings.
    const long count = syscall(SYS_pread64, fd, bytes, sizeof bytes, 0);
    abi::FileHeader header;
    if (count < static_cast<long>(sizeof header)) {
        return false;
    }
    std::memcpy(&header, bytes, sizeof header);
    if (std::memcmp(header.magic, abi::kFileMagic, sizeof header.magic) != 0 || header.major != abi::kFormatMajor ||
        header.header_bytes < sizeof header) {
        return false;
    }
    WireReader reader(bytes + sizeof header, static_cast<std::size_t>(count) - sizeof header);
    if (reader.varint() != static_cast<std::uint32_t>(abi::Tag::kProcess)) {
        return false;
    }
    reader.varint();  // The record's length.
    identity->nonce = header.nonce;
    identity->exchange = header.exchange;
    identity->is_snapshot = (header.optional_features & abi::kFeatureSnapshot) != 0;
    identity->header_bytes = header.header_bytes;
    identity->pid = reader.varint();
    for (int skipped = 0; skipped < 4; ++skipped) {  // ppid, pgid, start times
        reader.varint();
    }
    identity->tick_hz = reader.varint();
    identity->run_id = reader.varint();
    return !reader.failed();
}

}  // namespace gpuspy::sink
