// What an export writes, as a string.
#pragma once

#include <string>

#include "analysis/export/registry.hpp"

namespace gpuspy::test {

class StringSink : public analysis::ByteSink {
public:
    bool write(std::string_view bytes) override {
        text += bytes;
        return true;
    }
    std::string text;
};

inline std::string exported(analysis::StreamExport write, const analysis::Model& model) {
    StringSink sink;
    write(model, sink);
    return sink.text;
}

}  // namespace gpuspy::test
