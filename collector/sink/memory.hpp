// Fixed arrays from the kernel, so that the host's malloc is never entered. Pages are taken as they are touched.
#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace gpuspy::sink {

/// `count` zeroed objects, or nullptr.
template <class T>
T* map_memory(std::size_t count) noexcept {
    void* memory =
        mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<T*>(memory);
}

template <class T>
void unmap_memory(T* memory, std::size_t count) noexcept {
    if (memory != nullptr) {
        munmap(memory, count * sizeof(T));
    }
}

}  // namespace gpuspy::sink
