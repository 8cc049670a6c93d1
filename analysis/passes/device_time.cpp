#include "analysis/passes/device_time.hpp"

#include <set>

#include "analysis/passes/ratio.hpp"

namespace gpuspy::analysis {

GpuTime gpu_time(const Model& model) {
    std::set<std::uint64_t> ordinals;
    for (const auto& [ordinal, device] : model.index.devices) {
        ordinals.insert(ordinal);
    }
    for (const auto& [ordinal, stats] : model.devices) {
        ordinals.insert(ordinal);
    }
    GpuTime result;
    std::uint64_t used_devices = 0;
    for (const std::uint64_t ordinal : ordinals) {
        DeviceTime& device = result.devices.emplace_back();
        device.ordinal = ordinal;
        if (const auto named = model.index.devices.find(ordinal); named != model.index.devices.end()) {
            device.name = named->second.name;
        }
        const auto found = model.devices.find(ordinal);
        if (found == model.devices.end()) {
            continue;
        }
        const DeviceStats& stats = found->second;
        ++used_devices;
        device.kernel_ns = stats.kernel_ns;
        device.copy_ns = stats.copy_ns;
        device.set_ns = stats.set_ns;
        device.time_ns = stats.kernel_ns + stats.copy_ns + stats.set_ns;
        device.busy_ns = stats.busy.length_ns();
        device.concurrency = ratio(device.time_ns, device.busy_ns);
        device.utilisation = ratio(device.busy_ns, model.wall_ns());
        device.kernels = stats.kernels;
        device.copies = stats.copies;
        device.sets = stats.sets;
        device.untimed = stats.untimed;
        for (const auto field : {&DeviceTime::time_ns, &DeviceTime::kernel_ns, &DeviceTime::copy_ns,
                                 &DeviceTime::set_ns, &DeviceTime::busy_ns, &DeviceTime::kernels, &DeviceTime::copies,
                                 &DeviceTime::sets, &DeviceTime::untimed}) {
            result.all.*field += device.*field;
        }
    }
    result.all.concurrency = ratio(result.all.time_ns, result.all.busy_ns);
    result.all.utilisation = ratio(result.all.busy_ns, model.wall_ns() * used_devices);
    return result;
}

}  // namespace gpuspy::analysis
