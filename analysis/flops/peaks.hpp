// Peaks of a device: the most FLOPs (dense, no sparsity) that it can do in a second by type of arithmetic, and bytes that its
// memory can move. From two sources: the vendor's datasheet, by the device's name; and derived from the device's own
// attributes, for architectures whose rate per multiprocessor and clock is published. A sheet assumes a clock (H100 SXM: 1.83
// GHz for tensor cores), the attribute is the highest one, so the two differ by some per cent.
#pragma once

#include <array>
#include <optional>

#include "analysis/flops/work.hpp"
#include "analysis/reader/records.hpp"

namespace gpuspy::analysis {

/// Per second; nullopt: not known.
struct Peak {
    std::optional<double> derived, datasheet;

    /// What utilisation is measured against: at the device's own clock where that is known.
    [[nodiscard]] std::optional<double> best() const { return derived ? derived : datasheet; }
};

struct DevicePeaks {
    std::array<Peak, kMathTypes> flops;  ///< By MathType. kFp32OrTf32: TF32's where the device has it, else FP32's.
    Peak bytes;

    [[nodiscard]] const Peak& of(MathType type) const { return flops[static_cast<std::size_t>(type)]; }
};

DevicePeaks peaks_of(const DeviceRecord& device);

}  // namespace gpuspy::analysis
