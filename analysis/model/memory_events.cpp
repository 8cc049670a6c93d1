#include "analysis/model/memory_events.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace gpuspy::analysis {
namespace {

struct MemoryApi {
    std::string_view name;  // without _v2 and _ptsz
    MemoryAction action;
    MemoryPlace place = MemoryPlace::kDevice;
};

constexpr std::array kMemoryApis = {
    MemoryApi{"cuArray3DCreate", MemoryAction::kNotKnown},
    MemoryApi{"cuArrayCreate", MemoryAction::kNotKnown},
    MemoryApi{"cuMemAlloc", MemoryAction::kAllocate},
    MemoryApi{"cuMemAllocAsync", MemoryAction::kAllocate},
    MemoryApi{"cuMemAllocFromPoolAsync", MemoryAction::kAllocate},
    MemoryApi{"cuMemAllocHost", MemoryAction::kAllocate, MemoryPlace::kPinned},
    MemoryApi{"cuMemAllocManaged", MemoryAction::kAllocate, MemoryPlace::kManaged},
    MemoryApi{"cuMemAllocPitch", MemoryAction::kAllocate},
    MemoryApi{"cuMemCreate", MemoryAction::kAllocate, MemoryPlace::kPhysical},
    MemoryApi{"cuMemFree", MemoryAction::kFree},
    MemoryApi{"cuMemFreeAsync", MemoryAction::kFree},
    MemoryApi{"cuMemFreeHost", MemoryAction::kFree},
    MemoryApi{"cuMemHostAlloc", MemoryAction::kAllocate, MemoryPlace::kPinned},
    MemoryApi{"cuMemHostRegister", MemoryAction::kAllocate, MemoryPlace::kRegistered},
    MemoryApi{"cuMemHostUnregister", MemoryAction::kFree},
    MemoryApi{"cuMemMap", MemoryAction::kMap},
    MemoryApi{"cuMemRelease", MemoryAction::kRelease},
    MemoryApi{"cuMemUnmap", MemoryAction::kUnmap},
    MemoryApi{"cuMipmappedArrayCreate", MemoryAction::kNotKnown},
    MemoryApi{"cudaFree", MemoryAction::kFree},
    MemoryApi{"cudaFreeAsync", MemoryAction::kFree},
    MemoryApi{"cudaFreeHost", MemoryAction::kFree},
    MemoryApi{"cudaHostAlloc", MemoryAction::kAllocate, MemoryPlace::kPinned},
    MemoryApi{"cudaHostRegister", MemoryAction::kAllocate, MemoryPlace::kRegistered},
    MemoryApi{"cudaHostUnregister", MemoryAction::kFree},
    MemoryApi{"cudaMalloc", MemoryAction::kAllocate},
    MemoryApi{"cudaMalloc3D", MemoryAction::kNotKnown},
    MemoryApi{"cudaMalloc3DArray", MemoryAction::kNotKnown},
    MemoryApi{"cudaMallocArray", MemoryAction::kNotKnown},
    MemoryApi{"cudaMallocAsync", MemoryAction::kAllocate},
    MemoryApi{"cudaMallocFromPoolAsync", MemoryAction::kAllocate},
    MemoryApi{"cudaMallocHost", MemoryAction::kAllocate, MemoryPlace::kPinned},
    MemoryApi{"cudaMallocManaged", MemoryAction::kAllocate, MemoryPlace::kManaged},
    MemoryApi{"cudaMallocMipmappedArray", MemoryAction::kNotKnown},
    MemoryApi{"cudaMallocPitch", MemoryAction::kAllocate},
    MemoryApi{"ncclMemAlloc", MemoryAction::kAllocate},
    MemoryApi{"ncclMemFree", MemoryAction::kFree},
    MemoryApi{"pncclMemAlloc", MemoryAction::kAllocate},
    MemoryApi{"pncclMemFree", MemoryAction::kFree},
};

std::string_view without_suffixes(std::string_view name) {
    for (const std::string_view suffix : {"_ptsz", "_v2"}) {
        if (name.ends_with(suffix)) {
            name.remove_suffix(suffix.size());
        }
    }
    return name;
}

std::optional<std::uint64_t> first_of(std::span<const Argument> arguments,
                                      std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
        if (const auto value = find_argument(arguments, name)) {
            return static_cast<std::uint64_t>(*value);
        }
    }
    return std::nullopt;
}

std::optional<std::uint64_t> bytes_of(std::span<const Argument> arguments) {
    if (const auto bytes = first_of(arguments, {"size", "bytesize"})) {
        return bytes;
    }
    const auto width = first_of(arguments, {"width", "WidthInBytes"});
    const auto height = first_of(arguments, {"height", "Height"});
    return width && height ? std::optional(*width * *height) : std::nullopt;
}

}  // namespace

MemoryEventReader::Prepared MemoryEventReader::prepare(const ApiInfo& api) {
    const auto* const found =
        std::find_if(kMemoryApis.begin(), kMemoryApis.end(),
                     [name = without_suffixes(api.name)](const MemoryApi& known) { return known.name == name; });
    if (api.api_class != abi::ApiClass::kMemory || found == kMemoryApis.end()) {
        return {};
    }
    return {true, found->action, found->place, parse_argument_fields(api.fields)};
}

std::optional<MemoryEvent> MemoryEventReader::read(const CallRecord& call, const ApiInfo& api) {
    auto found = apis_.find(call.api);
    if (found == apis_.end()) {
        found = apis_.emplace(call.api, prepare(api)).first;
    }
    const Prepared& prepared = found->second;
    if (!prepared.concerns || call.has(abi::kCallStatus) || call.has(abi::kCallCaptured)) {
        return std::nullopt;
    }
    MemoryEvent event;
    event.api = call.api;
    event.action = prepared.action;
    event.place = prepared.place;
    if (event.action == MemoryAction::kNotKnown) {
        return event;
    }
    const std::vector<Argument> arguments = match_arguments(prepared.fields, call.arguments);
    const auto address = prepared.place == MemoryPlace::kPhysical || event.action == MemoryAction::kRelease
                             ? first_of(arguments, {"handle"})
                             : first_of(arguments, {"devPtr", "dptr", "ptr", "pHost", "pp", "p"});
    const auto bytes = bytes_of(arguments);
    const auto handle = first_of(arguments, {"handle"});
    if (!address || (event.action == MemoryAction::kAllocate && !bytes) ||
        (event.action == MemoryAction::kMap && !handle)) {
        event.action = MemoryAction::kNotKnown;
        return prepared.action == MemoryAction::kAllocate ? std::optional(event) : std::nullopt;
    }
    if (*address == 0) {
        return std::nullopt;
    }
    event.address = *address;
    event.bytes = bytes.value_or(0);
    event.handle = handle.value_or(0);
    return event;
}

}  // namespace gpuspy::analysis
