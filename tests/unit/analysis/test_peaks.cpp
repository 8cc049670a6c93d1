// Peaks of devices, from their datasheets and from their own attributes.
#include <catch2/catch.hpp>
#include <string>

#include "analysis/flops/peaks.hpp"

using gpuspy::analysis::DeviceRecord;
using gpuspy::analysis::MathType;
using gpuspy::analysis::peaks_of;

namespace {

DeviceRecord device(const std::string& name, std::uint64_t major, std::uint64_t minor, std::uint64_t sm_count,
                    std::uint64_t sm_clock_khz) {
    DeviceRecord record;
    record.name = name;
    record.cc_major = major;
    record.cc_minor = minor;
    record.sm_count = sm_count;
    record.sm_clock_khz = sm_clock_khz;
    return record;
}

}  // namespace

TEST_CASE("peaks of an H200: the datasheet's, and its own at its own clock") {
    DeviceRecord h200 = device("NVIDIA H200", 9, 0, 132, 1'980'000);
    h200.memory_clock_khz = 3'201'000;
    h200.bus_width_bits = 6016;
    const auto peaks = peaks_of(h200);
    CHECK(peaks.of(MathType::kFp32).datasheet == 67e12);
    CHECK(peaks.of(MathType::kTf32).datasheet == 494.5e12);
    CHECK(peaks.of(MathType::kFp16).datasheet == 989e12);
    CHECK(peaks.of(MathType::kFp8).datasheet == 1979e12);
    CHECK(peaks.bytes.datasheet == 4800e9);
    CHECK(peaks.of(MathType::kFp16).derived == Approx(1070.5e12).epsilon(1e-4));  // 132 x 4 x 512 x 2 x 1.98 GHz
    CHECK(peaks.of(MathType::kFp32).derived == Approx(66.9e12).epsilon(1e-3));
    CHECK(peaks.bytes.derived == Approx(4814.3e9).epsilon(1e-4));
    CHECK(peaks.of(MathType::kFp16).best() == peaks.of(MathType::kFp16).derived);
    CHECK(peaks.of(MathType::kFp32OrTf32).datasheet == 494.5e12);
    CHECK_FALSE(peaks.of(MathType::kOther).best());
    CHECK_FALSE(peaks.of(MathType::kFp4).best());
    // The sheet's clock: 1.83 GHz.
    CHECK(peaks_of(device("NVIDIA H200", 9, 0, 132, 1'830'000)).of(MathType::kFp16).derived ==
          Approx(989e12).epsilon(1e-3));
}

TEST_CASE("rates per multiprocessor give the datasheets' peaks at the datasheets' clocks") {
    struct Row {
        const char* name;
        std::uint64_t major, minor, sm_count, tensor_khz, khz;
    };
    const Row rows[] = {
        {"Tesla V100-SXM2-16GB", 7, 0, 80, 1'530'000, 1'530'000},
        {"Tesla T4", 7, 5, 40, 1'590'000, 1'590'000},
        {"NVIDIA A100-SXM4-80GB", 8, 0, 108, 1'410'000, 1'410'000},
        {"NVIDIA A10", 8, 6, 72, 1'695'000, 1'695'000},
        {"NVIDIA L4", 8, 9, 58, 2'040'000, 2'040'000},
        {"NVIDIA L40S", 8, 9, 142, 2'520'000, 2'520'000},
        {"NVIDIA H100 PCIe", 9, 0, 114, 1'620'000, 1'755'000},
        {"NVIDIA H100 80GB HBM3", 9, 0, 132, 1'830'000, 1'980'000},
    };
    int with_fp64 = 0;
    for (const Row& row : rows) {
        INFO(row.name);
        const auto tensor = peaks_of(device(row.name, row.major, row.minor, row.sm_count, row.tensor_khz));
        for (const MathType type : {MathType::kTf32, MathType::kFp16, MathType::kFp8, MathType::kInt8}) {
            INFO(gpuspy::analysis::name_of(type));
            const auto& peak = tensor.of(type);
            CHECK(peak.derived.has_value() == peak.datasheet.has_value());
            CHECK(peak.derived.value_or(0) == Approx(peak.datasheet.value_or(0)).epsilon(0.02));
        }
        const auto plain = peaks_of(device(row.name, row.major, row.minor, row.sm_count, row.khz)).of(MathType::kFp32);
        CHECK(plain.derived.value_or(0) == Approx(plain.datasheet.value_or(0)).epsilon(0.02));
        const auto fp64 = peaks_of(device(row.name, row.major, row.minor, row.sm_count, row.khz)).of(MathType::kFp64);
        if (fp64.datasheet) CHECK(fp64.derived.value_or(0) == Approx(*fp64.datasheet).epsilon(0.02));
        with_fp64 += fp64.datasheet ? 1 : 0;
    }
    CHECK(with_fp64 == 4);  // V100, A100 and both H100; the other sheets list none.
}

TEST_CASE("a peak that no source gives is not known") {
    const auto unknown = peaks_of(device("Some GPU", 42, 0, 100, 1'000'000));
    CHECK_FALSE(unknown.of(MathType::kFp32).best());
    CHECK_FALSE(unknown.bytes.best());
    CHECK_FALSE(peaks_of(device("Tesla V100-SXM2-16GB", 7, 0, 80, 1'530'000)).of(MathType::kTf32).best());
    CHECK(peaks_of(device("Tesla V100-SXM2-16GB", 7, 0, 80, 0)).of(MathType::kFp32OrTf32).best() == 15.7e12);
    // No sheet describes these, but their attributes do.
    for (const char* name : {"NVIDIA H200 MIG 1g.18gb", "NVIDIA H200 NVL", "NVIDIA H100 NVL", "NVIDIA GH200 480GB",
                             "NVIDIA L40", "NVIDIA A10G"}) {
        INFO(name);
        const auto peaks = peaks_of(device(name, 9, 0, 16, 1'980'000));
        CHECK_FALSE(peaks.of(MathType::kFp16).datasheet);
        CHECK(peaks.of(MathType::kFp16).best() == peaks.of(MathType::kFp16).derived);
    }
    CHECK(peaks_of(device("NVIDIA A100-PCIE-40GB", 8, 0, 108, 0)).bytes.datasheet == 1555e9);
}
