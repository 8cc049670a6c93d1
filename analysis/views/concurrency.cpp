#include "analysis/passes/concurrency.hpp"

#include <fmt/format.h>

#include "analysis/passes/kernel_occupancy.hpp"
#include "analysis/passes/lone_kernels.hpp"
#include "analysis/views/device_rows.hpp"
#include "analysis/views/view.hpp"

namespace gpuspy::analysis {
namespace {

Cell share(const std::optional<double>& value) {
    return value ? Cell{*value} : Cell{};
}

Table devices_table(const Concurrency& result) {
    using Row = DeviceConcurrency;
    Table table = make_table<Row>(
        "devices", "Concurrency", "average: sum / busy, activities in flight while any is",
        {
            {"device", "GPU", Unit::kCount, [](const Row& row) { return row.ordinal; }},
            {"activities", "activities", Unit::kCount, [](const Row& row) { return row.activities; }},
            {"sum_ns", "sum", Unit::kDurationNs, [](const Row& row) { return row.sum_ns; }},
            {"busy_ns", "busy", Unit::kDurationNs, [](const Row& row) { return row.busy_ns; }},
            {"average", "average", Unit::kNumber,
             [](const Row& row) { return row.busy_ns == 0 ? Cell{} : Cell{row.average}; }},
            {"peak", "peak", Unit::kCount, [](const Row& row) { return row.peak; }},
            {"streams", "streams", Unit::kCount, [](const Row& row) { return std::uint64_t{row.streams.size()}; }},
            {"name", "name", Unit::kText, [](const Row& row) { return row.name; }},
        },
        result.devices);
    if (!result.wall_known && !result.devices.empty()) {
        table.notes.emplace_back(
            "the device's clock is not related to the host's: shares of wall and the time without activity are not "
            "known");
    }
    for (const DeviceConcurrency& device : result.devices) {
        if (device.untimed != 0) {
            table.notes.push_back(fmt::format("GPU {}: {} activities without a usable time are in none of these times",
                                              device.ordinal, device.untimed));
        }
    }
    return table;
}

Table in_flight_table(const Concurrency& result) {
    using Row = OfDevice<DeviceConcurrency, InFlight>;
    return make_table<Row>(
        "in_flight", "Activities in flight", "how long exactly so many ran at once",
        {
            device_column<Row>(),
            {"in_flight", "in flight", Unit::kCount, [](const Row& of) { return of.row->level; }},
            {"time_ns", "time", Unit::kDurationNs, [](const Row& of) { return of.row->time_ns; }},
            {"share_of_wall", "% wall", Unit::kShare, [](const Row& of) { return share(of.row->share_of_wall); }},
            {"share_of_busy", "% busy", Unit::kShare, [](const Row& of) { return share(of.row->share_of_busy); }},
        },
        rows_of(result.devices, &DeviceConcurrency::levels));
}

Table streams_table(const Concurrency& result) {
    using Row = OfDevice<DeviceConcurrency, StreamUse>;
    return make_table<Row>(
        "streams", "Streams", "% busy: of the time when the device was busy; above 100 % in all where streams overlap",
        {
            device_column<Row>(),
            {"stream", "stream", Unit::kCount, [](const Row& of) { return of.row->stream; }},
            {"activities", "activities", Unit::kCount, [](const Row& of) { return of.row->activities; }},
            {"sum_ns", "sum", Unit::kDurationNs, [](const Row& of) { return of.row->sum_ns; }},
            {"busy_ns", "busy", Unit::kDurationNs, [](const Row& of) { return of.row->busy_ns; }},
            {"share_of_busy", "% busy", Unit::kShare, [](const Row& of) { return of.row->share_of_busy; }},
            {"share_of_wall", "% wall", Unit::kShare, [](const Row& of) { return share(of.row->share_of_wall); }},
        },
        rows_of(result.devices, &DeviceConcurrency::streams));
}

Table pairs_table(const Concurrency& result) {
    using Row = OfDevice<DeviceConcurrency, StreamPair>;
    Table table = make_table<Row>(
        "pairs", "Streams that overlap", "% shorter: of the busy time of the stream that was busy for less",
        {
            device_column<Row>(),
            {"first", "stream", Unit::kCount, [](const Row& of) { return of.row->first; }},
            {"second", "and", Unit::kCount, [](const Row& of) { return of.row->second; }},
            {"both_ns", "both busy", Unit::kDurationNs, [](const Row& of) { return of.row->both_ns; }},
            {"share_of_shorter", "% shorter", Unit::kShare, [](const Row& of) { return of.row->share_of_shorter; }},
        },
        rows_of(result.devices, &DeviceConcurrency::pairs));
    for (const DeviceConcurrency& device : result.devices) {
        if (device.not_paired != 0) {
            table.notes.push_back(fmt::format("GPU {}: of the {} streams with most time; {} others were not looked at",
                                              device.ordinal, kPairedStreams, device.not_paired));
        }
    }
    return table;
}

Table overlap_table(const Concurrency& result) {
    using Row = OfDevice<DeviceConcurrency, KindOverlap>;
    Table table = make_table<Row>(
        "overlap", "Copies and communication beside other work", "compute: kernels that do not communicate",
        {
            device_column<Row>(),
            {"kind", "what", Unit::kText, [](const Row& of) { return std::string(of.row->kind); }},
            {"beside", "beside", Unit::kText, [](const Row& of) { return std::string(of.row->beside); }},
            {"kind_ns", "time", Unit::kDurationNs, [](const Row& of) { return of.row->kind_ns; }},
            {"beside_ns", "of the other", Unit::kDurationNs, [](const Row& of) { return of.row->beside_ns; }},
            {"both_ns", "both", Unit::kDurationNs, [](const Row& of) { return of.row->both_ns; }},
            {"share_hidden", "% hidden", Unit::kShare, [](const Row& of) { return of.row->share_hidden; }},
        },
        rows_of(result.devices, &DeviceConcurrency::overlap));
    for (const DeviceConcurrency& device : result.devices) {
        if (device.by_name_alone != 0) {
            table.notes.push_back(
                fmt::format("GPU {}: {} of {} kernels count as communication by their name alone (ncclKernel, "
                            "ncclDevKernel): no NCCL call is known around their launch",
                            device.ordinal, device.by_name_alone, device.communication));
        }
    }
    return table;
}

Table lone_table(const std::vector<LoneKernels>& devices) {
    using Row = LoneKernels;
    Table table = make_table<Row>(
        "alone", "Kernels alone on the device", "nothing else in flight; idle SMs: at least, by blocks of the grid",
        {
            {"device", "GPU", Unit::kCount, [](const Row& row) { return row.ordinal; }},
            {"sms", "SMs", Unit::kCount, [](const Row& row) { return row.sm_count ? Cell{*row.sm_count} : Cell{}; }},
            {"alone_ns", "alone", Unit::kDurationNs, [](const Row& row) { return row.time.alone_ns; }},
            {"fewer_blocks_ns", "blocks < SMs", Unit::kDurationNs,
             [](const Row& row) { return row.sm_count ? Cell{row.time.fewer_blocks_ns} : Cell{}; }},
            {"enough_blocks_ns", "blocks >= SMs", Unit::kDurationNs,
             [](const Row& row) { return row.sm_count ? Cell{row.time.enough_blocks_ns} : Cell{}; }},
            {"not_known_ns", "not known", Unit::kDurationNs, [](const Row& row) { return row.time.not_known_ns; }},
            {"share_fewer_blocks", "% blocks < SMs", Unit::kShare,
             [](const Row& row) { return share(row.time.share_fewer_blocks); }},
            {"idle_sms", "% SMs idle", Unit::kShare, [](const Row& row) { return share(row.time.idle_sms); }},
            {"fills_ns", "SM-limited", Unit::kDurationNs,
             [](const Row& row) { return row.time.share_fills ? Cell{row.time.fills_ns} : Cell{}; }},
            {"room_ns", "room left", Unit::kDurationNs,
             [](const Row& row) { return row.time.share_fills ? Cell{row.time.room_ns} : Cell{}; }},
            {"share_fills", "% SM-limited", Unit::kShare, [](const Row& row) { return share(row.time.share_fills); }},
        },
        devices);
    for (const LoneKernels& device : devices) {
        if (!device.sm_count) {
            table.notes.push_back(
                fmt::format("GPU {}: the trace does not say how many SMs it has, so whether grids fill it is not known",
                            device.ordinal));
        }
    }
    return table;
}

Table small_grids_table(const ViewInput& input, const std::vector<LoneKernels>& devices) {
    using Row = OfDevice<LoneKernels, LoneKernel>;
    return make_table<Row>(
        "small_grids", "Kernels that leave room for others", "alone on the device with fewer blocks than it has SMs",
        {
            device_column<Row>(),
            {"fewer_blocks_ns", "time", Unit::kDurationNs, [](const Row& of) { return of.row->fewer_blocks_ns; }},
            {"least_blocks", "least blocks", Unit::kCount, [](const Row& of) { return of.row->least_blocks; }},
            {"most_blocks", "most blocks", Unit::kCount, [](const Row& of) { return of.row->most_blocks; }},
            {"idle_sms", "% SMs idle", Unit::kShare, [](const Row& of) { return of.row->idle_sms; }},
            {"name", "kernel", Unit::kName,
             [&](const Row& of) { return kernel_name(of.row->mangled, input.options.names); }},
        },
        rows_of(devices, &LoneKernels::small_grids));
}

Table filling_table(const std::vector<DeviceOccupancy>& devices) {
    using Row = DeviceOccupancy;
    const auto known = [](const Row& row, std::uint64_t time_ns) {
        return row.time.not_known_ns == row.time.kernel_ns ? Cell{} : Cell{time_ns};
    };
    Table table = make_table<Row>(
        "filling", "Kernels that fill the device", "a wave: as many blocks as the device can hold at once",
        {
            {"device", "GPU", Unit::kCount, [](const Row& row) { return row.ordinal; }},
            {"kernel_ns", "kernels", Unit::kDurationNs, [](const Row& row) { return row.time.kernel_ns; }},
            {"fills_ns", "a wave or more", Unit::kDurationNs,
             [known](const Row& row) { return known(row, row.time.fills_ns); }},
            {"under_wave_ns", "less", Unit::kDurationNs,
             [known](const Row& row) { return known(row, row.time.under_wave_ns); }},
            {"fewer_blocks_ns", "blocks < SMs", Unit::kDurationNs,
             [known](const Row& row) { return known(row, row.time.fewer_blocks_ns); }},
            {"not_known_ns", "not known", Unit::kDurationNs, [](const Row& row) { return row.time.not_known_ns; }},
            {"share_fills", "% fill it", Unit::kShare, [](const Row& row) { return share(row.time.share_fills); }},
            {"occupancy", "occupancy", Unit::kShare, [](const Row& row) { return share(row.time.occupancy); }},
        },
        devices);
    for (const DeviceOccupancy& device : devices) {
        if (!device.limits_known && !device.capability.empty()) {
            table.notes.push_back(
                fmt::format("GPU {}: what an SM of compute capability {} can hold is not in the tables of this "
                            "version: occupancy is "
                            "not known",
                            device.ordinal, device.capability));
        }
    }
    return table;
}

Table occupancy_table(const ViewInput& input, const std::vector<DeviceOccupancy>& devices) {
    using Row = OfDevice<DeviceOccupancy, KernelOccupancy>;
    const auto blocks = [](std::uint64_t count) { return count == 0 ? Cell{} : Cell{count}; };
    return make_table<Row>(
        "occupancy", "Theoretical occupancy", "by registers, shared memory and threads of a block; means by time",
        {
            device_column<Row>(),
            {"kernel_ns", "time", Unit::kDurationNs, [](const Row& of) { return of.row->time.kernel_ns; }},
            {"launches", "launches", Unit::kCount, [](const Row& of) { return of.row->launches; }},
            {"occupancy", "occupancy", Unit::kShare, [](const Row& of) { return share(of.row->time.occupancy); }},
            {"limit", "limit", Unit::kText,
             [](const Row& of) { return of.row->limit ? Cell{std::string(name_of(*of.row->limit))} : Cell{}; }},
            {"least_blocks_per_sm", "blocks/SM", Unit::kCount,
             [blocks](const Row& of) { return blocks(of.row->least_blocks_per_sm); }},
            {"most_blocks_per_sm", "most", Unit::kCount,
             [blocks](const Row& of) { return blocks(of.row->most_blocks_per_sm); }},
            {"waves", "waves", Unit::kNumber, [](const Row& of) { return share(of.row->time.waves); }},
            {"share_fills", "% fill it", Unit::kShare, [](const Row& of) { return share(of.row->time.share_fills); }},
            {"name", "kernel", Unit::kName,
             [&](const Row& of) { return kernel_name(of.row->mangled, input.options.names); }},
        },
        rows_of(devices, &DeviceOccupancy::kernels));
}

}  // namespace

std::vector<Table> concurrency_view(const ViewInput& input) {
    const Concurrency result = concurrency(input.model, input.timeline);
    const std::vector<LoneKernels> alone = lone_kernels(input.model, input.timeline);
    const std::vector<DeviceOccupancy> occupancy = kernel_occupancy(input.model, input.timeline);
    return {devices_table(result),
            in_flight_table(result),
            streams_table(result),
            pairs_table(result),
            overlap_table(result),
            lone_table(alone),
            small_grids_table(input, alone),
            filling_table(occupancy),
            occupancy_table(input, occupancy)};
}

}  // namespace gpuspy::analysis
