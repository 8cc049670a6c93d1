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
    View{"sync", "waits for the device: by call and caller, by thread, the longest; what the GPU did meanwhile",
         sync_view},
    View{"latency", "kernels from launch to end: in the call, in the queue, on the device; queue depth", latency_view},
    View{"libraries", "GPU time and top kernels by owner: libraries against the framework's own kernels",
         libraries_view},
    View{"memory", "copies and sets by kind of memory and size; what was allocated, and not freed", memory_view},
    View{"flops", "FLOPs of library calls: achieved rate, arithmetic intensity, utilisation against the device's peak",
         flops_view},
    View{"phases", "iterations, found from the launches that repeat: warm-up, steady state, outliers; NVTX ranges",
         phases_view},
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
