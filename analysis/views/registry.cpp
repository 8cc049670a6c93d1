#include <array>

#include "analysis/views/view.hpp"

namespace gpuspy::analysis {
namespace {

constexpr std::array kViews = {
    View{"kernels", "kernels: time, count, share; by name, and by grid and block with --by-config", kernels_view},
    View{"calls", "hooked calls: time, count, errors; per thread; what library calls own on the GPU", calls_view},
    View{"concurrency", "activities in flight, streams and pairs of them, copies and communication beside compute",
         concurrency_view},
    View{"idle", "gaps of each device and what they are due to; what bounds the run", idle_view},
    View{"phases", "iterations, found from the launches that repeat: warm-up, steady state, outliers", phases_view},
    View{"completeness", "what is missing, by cause; what gpuspy cost", completeness_view},
};

}  // namespace

std::span<const View> views() {
    return kViews;
}

const View* find_view(std::string_view name) {
    for (const View& view : kViews) {
        if (name == view.name) {
            return &view;
        }
    }
    return nullptr;
}

}  // namespace gpuspy::analysis
