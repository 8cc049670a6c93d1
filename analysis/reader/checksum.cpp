#include "analysis/reader/checksum.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace gpuspy::analysis {

std::uint64_t checksum_of(std::string_view first, std::string_view second) {
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    XXH64_update(&state, first.data(), first.size());
    XXH64_update(&state, second.data(), second.size());
    return XXH64_digest(&state);
}

}  // namespace gpuspy::analysis
