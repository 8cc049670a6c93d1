// Where an export's bytes go, piece by piece.
#pragma once

#include <string_view>

namespace gpuspy::analysis {

class ByteSink {
public:
    virtual ~ByteSink() = default;
    /// False: nothing more can be written; whoever owns the sink knows why.
    virtual bool write(std::string_view bytes) = 0;
};

}  // namespace gpuspy::analysis
