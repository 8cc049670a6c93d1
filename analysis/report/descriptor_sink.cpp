#include "analysis/report/descriptor_sink.hpp"

#include "analysis/report/output.hpp"

namespace gpuspy::report {

bool DescriptorSink::write(std::string_view bytes) {
    if (error_ == 0) {
        error_ = write_all(descriptor_, bytes);
    }
    return error_ == 0;
}

}  // namespace gpuspy::report
