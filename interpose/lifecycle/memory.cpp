#include "interpose/lifecycle/memory.hpp"

#include <sys/mman.h>

namespace gpuspy::hook {

void* map_memory(std::size_t bytes) noexcept {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace gpuspy::hook

// Linked in place of the C library's (see CMakeLists.txt): what asks for them in here is code that we never reach.
extern "C" {
void* __wrap_malloc(std::size_t) noexcept {
    return nullptr;
}
void* __wrap_calloc(std::size_t, std::size_t) noexcept {
    return nullptr;
}
void __wrap_free(void*) noexcept {}

// zstd refers to these weakly: without a definition of ours, one of the host's would be called.
unsigned long long ZSTD_trace_compress_begin(const void*) noexcept {
    return 0;
}
void ZSTD_trace_compress_end(unsigned long long, const void*) noexcept {}
}
