#include "analysis/export/gzip_sink.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>

namespace gpuspy::analysis {
namespace {

constexpr int kGzipWindowBits = 15 + 16;  // zlib.h: 16 more asks for gzip's header and trailer.
constexpr int kMemoryLevel = 8;           // zlib.h: the default.

}  // namespace

struct GzipSink::State {
    z_stream stream{};
    std::array<char, 64 << 10> out{};
};

GzipSink::GzipSink(ByteSink& to) : to_(to), state_(std::make_unique<State>()) {
    if (deflateInit2(&state_->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindowBits, kMemoryLevel,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        throw std::bad_alloc();
    }
}

GzipSink::~GzipSink() {
    deflateEnd(&state_->stream);
}

bool GzipSink::deflate_all(std::string_view bytes, int flush) {
    z_stream& stream = state_->stream;
    // zlib.h takes input as non-const, and does not change it.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    do {
        stream.next_out = reinterpret_cast<Bytef*>(state_->out.data());
        stream.avail_out = static_cast<uInt>(state_->out.size());
        deflate(&stream, flush);
        if (!to_.write({state_->out.data(), state_->out.size() - stream.avail_out})) {
            return false;
        }
    } while (stream.avail_out == 0);
    return true;
}

bool GzipSink::write(std::string_view bytes) {
    constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
    while (!bytes.empty()) {
        const std::string_view part = bytes.substr(0, kMost);
        if (!deflate_all(part, Z_NO_FLUSH)) {
            return false;
        }
        bytes.remove_prefix(part.size());
    }
    return true;
}

bool GzipSink::finish() {
    return deflate_all({}, Z_FINISH);
}

}  // namespace gpuspy::analysis
