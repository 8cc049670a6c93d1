#include "collector/sink/captured_origins.hpp"

#include <cerrno>

#include "collector/sink/memory.hpp"

namespace gpuspy::sink {

namespace {

/// Its LaunchIdPart; the call has kCallLaunchId.
std::uint64_t launch_id_of(const abi::CallEvent& call) noexcept {
    const auto* part = reinterpret_cast<const std::uint64_t*>(&call + 1);
    part += (call.flags & abi::kCallStream) != 0 ? 1 : 0;
    part += (call.flags & abi::kCallCorrelation) != 0 ? 1 : 0;
    return *part;
}

}  // namespace

int CapturedOrigins::init(const abi::ApiEntry* apis, std::uint32_t api_count) noexcept {
    apis_ = apis;
    api_count_ = api_count;
    origins_ = map_memory<CapturedOrigin>(kMost);
    open_ = map_memory<Open>(abi::kMaxRings);
    if (origins_ == nullptr || open_ == nullptr) {
        destroy();
        return ENOMEM;
    }
    return 0;
}

void CapturedOrigins::destroy() noexcept {
    unmap_memory(origins_, kMost);
    unmap_memory(open_, abi::kMaxRings);
    origins_ = nullptr;
    open_ = nullptr;
    count_ = 0;
}

void CapturedOrigins::note(std::uint32_t ring, const abi::CallEvent& call) noexcept {
    Open& open = open_[ring];
    const bool is_library = call.header.api < api_count_ &&
                            apis_[call.header.api].level == static_cast<std::uint8_t>(abi::ApiLevel::kLibrary);
    const auto library_api = static_cast<std::uint16_t>(is_library ? call.header.api + 1U : 0U);
    if (open.end > open.first) {
        const std::uint64_t from = open.first < oldest() ? oldest() : open.first;
        for (std::uint64_t at = from; at < open.end; ++at) {
            CapturedOrigin& origin = origins_[at % kMost];
            // Calls return from the inside out: one of a smaller depth is around those that were noted before.
            if (origin.ring == ring && call.header.depth < origin.depth) {
                origin.library_api = library_api != 0 ? library_api : origin.library_api;
                origin.caller = call.caller;
                origin.ticks = call.begin_ticks;
                origin.depth = call.header.depth;
            }
        }
    }
    if ((call.flags & abi::kCallLaunchId) != 0) {
        origins_[count_ % kMost] = {launch_id_of(call), call.caller,      call.begin_ticks, ring,
                                    library_api,        call.header.depth};
        open.first = open.end > open.first ? open.first : count_;
        ++count_;
        open.end = count_;
    }
    if (call.header.depth == 0) {
        open = {};
    }
}

}  // namespace gpuspy::sink
