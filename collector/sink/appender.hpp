// Appends segments to a trace whose owner is gone.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "collector/abi/ring_layout.hpp"
#include "collector/ring/owned_fd.hpp"
#include "collector/sink/encoder.hpp"
#include "collector/sink/memory.hpp"
#include "collector/sink/trace_tail.hpp"
#include "collector/sink/trace_writer.hpp"

namespace gpuspy::sink {

class Appender {
public:
    Appender() noexcept = default;
    ~Appender() {
        encoder_.destroy();
        writer_.close();
        unmap_memory(buffer_, kBlockBytes);
    }
    Appender(const Appender&) = delete;
    Appender& operator=(const Appender&) = delete;

    /// Takes over `fd`. 0 or an errno value.
    int init(int fd, const char* path, const TraceTail& tail, std::uint32_t flags, const abi::ApiEntry* apis,
             std::uint32_t api_count) noexcept {
        int error = writer_.adopt(fd, path, tail.bytes);
        if (error != 0) {
            ring::close_fd(fd);
            return error;
        }
        buffer_ = map_memory<std::uint8_t>(kBlockBytes);
        error = buffer_ == nullptr ? ENOMEM : writer_.init(kBlockBytes);
        error = error != 0 ? error : encoder_.init(buffer_, kBlockBytes, apis, api_count);
        if (error == 0 && ftruncate(fd, static_cast<off_t>(tail.bytes)) != 0) {
            error = errno;
        }
        flags_ = flags;
        ticks_ = tail.ticks;
        if (error == 0) {
            encoder_.begin_segment(tail.next_segment, flags_);
        }
        return error;
    }

    template <class Put>
    void emit(Put&& put) noexcept {
        if (!put(encoder_)) {
            flush();
            [[maybe_unused]] const bool fits = put(encoder_);
        }
    }

    void flush() noexcept {
        if (encoder_.payload_bytes() != 0 && error_ == 0) {
            const bool wants_segment = encoder_.wants_segment();
            error_ = writer_.append_block(encoder_.finish_block(), ticks_);
            if (wants_segment) {
                encoder_.begin_segment(encoder_.next_segment(), flags_);
            }
        }
    }

    /// The latest time that was seen, in ticks.
    std::uint64_t ticks() const noexcept { return ticks_; }
    void saw(std::uint64_t ticks) noexcept { ticks_ = ticks > ticks_ ? ticks : ticks_; }
    int error() const noexcept { return error_; }

private:
    static constexpr std::size_t kBlockBytes = 2U << 20;

    std::uint8_t* buffer_ = nullptr;
    Encoder encoder_;
    TraceWriter writer_;
    std::uint32_t flags_ = 0;
    std::uint64_t ticks_ = 0;
    int error_ = 0;
};

}  // namespace gpuspy::sink
