// The library's own map_memory stands beside the allocator's stand-ins, which a test program must not have.
#include <sys/mman.h>

#include "interpose/lifecycle/memory.hpp"

namespace gpuspy::hook {

void* map_memory(std::size_t bytes) noexcept {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace gpuspy::hook
