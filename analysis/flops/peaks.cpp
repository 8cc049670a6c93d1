#include "analysis/flops/peaks.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace gpuspy::analysis {
namespace {

/// By type; 0: none, or not published. int8 counts operations.
struct Rates {
    double fp64, fp32, tf32, fp16, bf16, fp8, int8;
};

/// FLOPs of a multiprocessor in a clock: its multiply-adds times 2. FP64 and FP32: CUDA C++ Programming Guide, "Throughput of
/// Native Arithmetic Instructions", and for FP64 the tensor cores where they do it. Tensor cores: whitepapers of V100, Turing,
/// A100, GA102, Ada and H100. Of 8.6 and 8.9 as in A10, L4 and L40S; GeForce ones do half as much when they sum up in FP32.
struct Architecture {
    std::uint64_t major, minor;
    Rates flops_per_clock;
};
// clang-format off
constexpr Architecture kArchitectures[] = {
    //        FP64  FP32  TF32  FP16  BF16   FP8  INT8
    {7, 0, {    64,  128,    0, 1024,    0,    0,    0}},
    {7, 5, {     4,  128,    0, 1024,    0,    0, 2048}},
    {8, 0, {   128,  128, 1024, 2048, 2048,    0, 4096}},
    {8, 6, {     4,  256,  512, 1024, 1024,    0, 2048}},
    {8, 9, {     4,  256,  512, 1024, 1024, 2048, 2048}},
    {9, 0, {   256,  256, 2048, 4096, 4096, 8192, 8192}},
};

/// A device by the words that its name must hold: TFLOP/s and GB/s of its datasheet. Where FP64 comes from: docs/metrics.md.
struct Datasheet {
    std::string_view words[2];
    Rates tflops;
    double gigabytes;
};
/// The first row that fits.
constexpr Datasheet kDatasheets[] = {
    //                         FP64  FP32   TF32  FP16  BF16   FP8  INT8   GB/s
    {{"V100", "SXM2"},        { 7.8, 15.7,     0,  125,    0,    0,    0},  900},
    {{"T4", ""},              {   0,  8.1,     0,   65,    0,    0,  130},  320},
    {{"A100", "40GB"},        {19.5, 19.5,   156,  312,  312,    0,  624}, 1555},
    {{"A100", ""},            {19.5, 19.5,   156,  312,  312,    0,  624}, 2039},
    {{"A10", ""},             {   0, 31.2,  62.5,  125,  125,    0,  250},  600},
    {{"L4", ""},              {   0, 30.3,    60,  121,  121,  242,  242},  300},
    {{"L40S", ""},            {   0, 91.6,   183,  362,  362,  733,  733},  864},
    {{"H100", "PCIe"},        {  51,   51,   378,  756,  756, 1513, 1513}, 2000},
    {{"H100", "HBM3"},        {  67,   67, 494.5,  989,  989, 1979, 1979}, 3350},
    {{"H200", ""},            {  67,   67, 494.5,  989,  989, 1979, 1979}, 4800},
    {{"B200", ""},            {   0,   80,  1100, 2250, 2250, 4500, 4500}, 8000},
};
// clang-format on

/// Words that make a device another one than its model's datasheet describes: a slice of it, or a variant on two cards.
constexpr std::string_view kOtherDevice[] = {"MIG", "NVL"};

std::vector<std::string> words_of(const std::string& name) {
    std::vector<std::string> words(1);
    for (const char c : name) {
        const bool in_word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (in_word) {
            words.back() += c;
        } else if (!words.back().empty()) {
            words.emplace_back();
        }
    }
    return words;
}

const Datasheet* datasheet_of(const std::string& name) {
    const std::vector<std::string> words = words_of(name);
    const auto has = [&words](std::string_view word) {
        return std::find(words.begin(), words.end(), word) != words.end();
    };
    if (std::any_of(std::begin(kOtherDevice), std::end(kOtherDevice), has)) {
        return nullptr;
    }
    const auto found = std::find_if(std::begin(kDatasheets), std::end(kDatasheets), [&has](const Datasheet& sheet) {
        return has(sheet.words[0]) && (sheet.words[1].empty() || has(sheet.words[1]));
    });
    return found == std::end(kDatasheets) ? nullptr : found;
}

const Architecture* architecture_of(const DeviceRecord& device) {
    const auto found = std::find_if(
        std::begin(kArchitectures), std::end(kArchitectures),
        [&device](const Architecture& row) { return row.major == device.cc_major && row.minor == device.cc_minor; });
    return found == std::end(kArchitectures) ? nullptr : found;
}

std::optional<double> per_second(double rate, double unit) {
    return rate > 0 && unit > 0 ? std::optional(rate * unit) : std::nullopt;
}

/// One source's rates, each `unit` FLOPs a second, into one member of the peaks.
void fill(DevicePeaks& peaks, std::optional<double> Peak::*source, const Rates& rates, double unit) {
    const auto set = [&](MathType type, double rate) {
        peaks.flops[static_cast<std::size_t>(type)].*source = per_second(rate, unit);
    };
    set(MathType::kFp64, rates.fp64);
    set(MathType::kFp32, rates.fp32);
    set(MathType::kTf32, rates.tf32);
    set(MathType::kFp32OrTf32, rates.tf32 > 0 ? rates.tf32 : rates.fp32);
    set(MathType::kFp16, rates.fp16);
    set(MathType::kBf16, rates.bf16);
    set(MathType::kFp8, rates.fp8);
    set(MathType::kInt8, rates.int8);
}

}  // namespace

DevicePeaks peaks_of(const DeviceRecord& device) {
    DevicePeaks peaks;
    if (const Architecture* architecture = architecture_of(device)) {
        const double clocks = static_cast<double>(device.sm_count) * static_cast<double>(device.sm_clock_khz) * 1e3;
        fill(peaks, &Peak::derived, architecture->flops_per_clock, clocks);
    }
    // Memory moves data at both edges of its clock.
    peaks.bytes.derived = per_second(static_cast<double>(device.memory_clock_khz) * 1e3 * 2,
                                     static_cast<double>(device.bus_width_bits) / 8);
    if (const Datasheet* datasheet = datasheet_of(device.name)) {
        fill(peaks, &Peak::datasheet, datasheet->tflops, 1e12);
        peaks.bytes.datasheet = per_second(datasheet->gigabytes, 1e9);
    }
    return peaks;
}

}  // namespace gpuspy::analysis
