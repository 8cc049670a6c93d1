#include "collector/sink/trace_tail.hpp"

#include "collector/abi/trace_format.hpp"
#include "collector/ring/owned_fd.hpp"
#include "collector/sink/file_header.hpp"

namespace gpuspy::sink {

TraceTail find_trace_tail(int fd, std::uint64_t header_bytes, std::uint64_t limit) noexcept {
    TraceTail tail;
    tail.bytes = header_bytes;
    abi::BlockHeader block;
    while (limit - tail.bytes >= sizeof block) {
        if (syscall(SYS_pread64, fd, &block, sizeof block, tail.bytes) != static_cast<long>(sizeof block) ||
            block.magic != abi::kBlockMagic || block.raw_bytes > abi::kMaxBlockRawBytes ||
            block.stored_bytes > limit - tail.bytes - sizeof block) {
            break;
        }
        tail.bytes += sizeof block + block.stored_bytes;
        tail.next_segment = block.segment + 1;
        tail.ticks = block.ticks;
        tail.first_ticks = tail.blocks == 0 ? block.ticks : tail.first_ticks;
        ++tail.blocks;
    }
    return tail;
}

int open_trace_for_append(const char* path, TraceIdentity* identity, std::uint64_t* file_bytes, int* error) noexcept {
    const int fd = ring::open_fd(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        *error = errno;
        return -1;
    }
    struct stat status;
    *error = ring::stat_fd(fd, &status);
    if (*error == 0 && (!S_ISREG(status.st_mode) || status.st_uid != geteuid())) {
        *error = EPERM;
    }
    *error = *error != 0 ? *error : ring::lock_file(fd);
    if (*error == 0 && !read_trace_identity(fd, identity)) {
        *error = EINVAL;
    }
    // Again under the lock: the owner may have written until it let go.
    *error = *error != 0 ? *error : ring::stat_fd(fd, &status);
    *file_bytes = static_cast<std::uint64_t>(status.st_size);
    if (*error == 0 && *file_bytes < identity->header_bytes) {
        *error = EINVAL;
    }
    if (*error != 0) {
        ring::close_fd(fd);
        return -1;
    }
    return fd;
}

}  // namespace gpuspy::sink
