// Bytes to a file descriptor.
#pragma once

#include "analysis/export/byte_sink.hpp"

namespace gpuspy::report {

class DescriptorSink : public analysis::ByteSink {
public:
    /// Does not close it.
    explicit DescriptorSink(int descriptor) : descriptor_(descriptor) {}

    bool write(std::string_view bytes) override;
    /// errno of the first failure, 0 for none.
    [[nodiscard]] int error() const { return error_; }

private:
    int descriptor_;
    int error_ = 0;
};

}  // namespace gpuspy::report
