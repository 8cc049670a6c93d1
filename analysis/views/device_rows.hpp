// Tables that have rows of several devices.
#pragma once

#include <utility>
#include <vector>

#include "analysis/table/table.hpp"

namespace gpuspy::analysis {

/// A row of what a device has several of.
template <class Device, class Row>
struct OfDevice {
    const Device* device;
    const Row* row;
};

/// The rows that `member` holds, of all devices.
template <class Device, class Row>
std::vector<OfDevice<Device, Row>> rows_of(const std::vector<Device>& devices, std::vector<Row> Device::*member) {
    std::vector<OfDevice<Device, Row>> rows;
    for (const Device& device : devices) {
        for (const Row& row : device.*member) {
            rows.push_back({&device, &row});
        }
    }
    return rows;
}

/// The column that says whose row it is.
template <class Row>
ColumnOf<Row> device_column() {
    return {"device", "GPU", Unit::kCount, [](const Row& row) { return Cell{row.device->ordinal}; }};
}

}  // namespace gpuspy::analysis
