// Compresses what goes to another sink.
#pragma once

#include <memory>

#include "analysis/export/byte_sink.hpp"

namespace gpuspy::analysis {

class GzipSink : public ByteSink {
public:
    /// Throws std::bad_alloc.
    explicit GzipSink(ByteSink& to);
    ~GzipSink() override;
    GzipSink(const GzipSink&) = delete;
    GzipSink& operator=(const GzipSink&) = delete;

    bool write(std::string_view bytes) override;
    /// The end of the stream; without it, what was written is no gzip file.
    bool finish();

private:
    struct State;
    bool deflate_all(std::string_view bytes, int flush);

    ByteSink& to_;
    std::unique_ptr<State> state_;
};

}  // namespace gpuspy::analysis
