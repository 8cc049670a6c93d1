#include "collector/ring/ring_set.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>

#include <cstring>

#include "collector/abi/event.hpp"
#include "collector/ring/clock.hpp"
#include "collector/ring/ring.hpp"
#include "collector/ring/text.hpp"

namespace gpuspy::ring {

namespace {

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kLowestRingBytes = 4096;
constexpr std::uint64_t kHighestRingBytes = 64U << 20;
constexpr std::uint64_t kLockWaitNs = 2'000'000'000;  ///< While no other thread gets its ring either.
constexpr long kTmpfsMagic = 0x01021994;

constexpr std::uint64_t whole_pages(std::uint64_t bytes) noexcept {
    return (bytes + kPageBytes - 1) & ~(kPageBytes - 1);
}

void* map_private(std::uint64_t bytes) noexcept {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
}

void* map_file(int fd, std::uint64_t offset, std::uint64_t bytes) noexcept {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
    return memory == MAP_FAILED ? nullptr : memory;
}

/// Takes the pages now: what does not fit fails here and not as SIGBUS in a hook.
int allocate_file(int fd, std::uint64_t offset, std::uint64_t bytes) noexcept {
    // Beyond the limit on file sizes the kernel would send SIGXFSZ, which ends the host.
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && offset + bytes > limit.rlim_cur) {
        return EFBIG;
    }
    int error = 0;
    do {
        error = posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes));
    } while (error == EINTR);
    return error;
}

/// An eighth of what is free on a tmpfs. 0 or an errno value.
int share_of_tmpfs(int fd, std::uint64_t* bytes) noexcept {
    struct statfs status;
    if (fstatfs(fd, &status) != 0) {
        return errno;
    }
    if (static_cast<long>(status.f_type) != kTmpfsMagic) {
        return EMEDIUMTYPE;
    }
    // A tmpfs made with size=0 has no limit and says 0 blocks.
    *bytes =
        status.f_blocks == 0 ? ~std::uint64_t{0} : status.f_bavail * static_cast<std::uint64_t>(status.f_bsize) / 8;
    return 0;
}

/// Whoever looks for rings of dead processes may hold a new file for a moment, to see that it is none.
int lock_new_file(int fd) noexcept {
    int error = lock_file(fd);
    for (int attempt = 0; error == EAGAIN && attempt < 100; ++attempt) {
        const timespec pause{0, 1'000'000};
        syscall(SYS_nanosleep, &pause, nullptr);
        error = lock_file(fd);
    }
    return error;
}

template <std::size_t N>
void copy_text(char (&to)[N], const char* from) noexcept {
    TextBuilder(to, N).text(from);
}

void write_thread_event(abi::RingHeader* ring, std::uint64_t ring_bytes, std::uint32_t tid,
                        std::uint64_t ticks) noexcept {
    constexpr std::uint32_t kWords = sizeof(abi::ThreadEvent) / kWordBytes;
    std::uint64_t* at = reserve(ring, ring_bytes, kWords);  // The ring is empty.
    auto* event = reinterpret_cast<abi::ThreadEvent*>(at);
    *event = {{kWords, abi::EventType::kThread, 0, 0, 0}, ticks, tid, 0};
    commit(ring, at);
}

}  // namespace

bool build_ring_path(const char* directory, std::uint32_t pid, std::uint64_t nonce, char* buffer,
                     std::size_t capacity) noexcept {
    TextBuilder path(buffer, capacity);
    return !path.text(directory).text("/gpuspy.").decimal(pid).text(".").hex(nonce, 16).was_cut();
}

int RingSet::create(const RingSetConfig& config) noexcept {
    const ErrnoGuard keep_errno;
    if (config.ring_bytes < kLowestRingBytes || config.ring_bytes > kHighestRingBytes ||
        (config.ring_bytes & (config.ring_bytes - 1)) != 0) {
        return EINVAL;
    }
    prefix_bytes_ = whole_pages(sizeof(abi::MapHeader) + std::uint64_t{config.api_count} * sizeof(abi::ApiEntry));
    const std::uint64_t stride = whole_pages(sizeof(abi::RingHeader) + config.ring_bytes);
    rings_ = static_cast<abi::RingHeader**>(map_private(abi::kMaxRings * sizeof(abi::RingHeader*)));
    if (rings_ == nullptr) {
        return ENOMEM;
    }
    share_error_ = config.directory == nullptr ? ENOENT : create_shared(config, stride);
    shared_ = share_error_ == 0;
    if (!shared_) {
        path_[0] = '\0';
        shared_limit_ = 0;
        header_ = static_cast<abi::MapHeader*>(map_private(prefix_bytes_));
        if (header_ == nullptr) {
            munmap(rings_, abi::kMaxRings * sizeof(abi::RingHeader*));
            rings_ = nullptr;
            return ENOMEM;
        }
    }
    has_thread_ended_ = config.has_thread_ended;
    fill_header(config, stride);
    return 0;
}

int RingSet::create_shared(const RingSetConfig& config, std::uint64_t stride) noexcept {
    if (!build_ring_path(config.directory, config.pid, config.nonce, path_, sizeof path_)) {
        return ENAMETOOLONG;
    }
    int fd = open_fd(path_, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return errno;
    }
    fd = move_fd_high(fd);
    std::uint64_t share = 0;
    int error = fchmod(fd, 0600) == 0 ? 0 : errno;  // Whatever the umask is.
    error = error != 0 ? error : lock_new_file(fd);
    error = error != 0 ? error : share_of_tmpfs(fd, &share);
    if (error == 0 && share < prefix_bytes_ + stride) {
        error = ENOSPC;
    }
    error = error != 0 ? error : allocate_file(fd, 0, prefix_bytes_);
    error = error != 0 ? error : identify(fd, &identity_);
    if (error == 0) {
        header_ = static_cast<abi::MapHeader*>(map_file(fd, 0, prefix_bytes_));
        error = header_ == nullptr ? ENOMEM : 0;
    }
    if (error != 0) {
        unlink(path_);
        close_fd(fd);
        return error;
    }
    const std::uint64_t most = (share - prefix_bytes_) / stride;
    shared_limit_ = most < abi::kMaxRings ? static_cast<std::uint32_t>(most) : abi::kMaxRings;
    fd_ = fd;
    return 0;
}

void RingSet::fill_header(const RingSetConfig& config, std::uint64_t stride) noexcept {
    header_->layout_version = abi::kRingLayoutVersion;
    header_->header_bytes = sizeof(abi::MapHeader);
    header_->nonce = config.nonce;
    header_->pid = config.pid;
    header_->api_count = config.api_count;
    header_->ring_bytes = config.ring_bytes;
    header_->ring_stride = stride;
    header_->rings_offset = prefix_bytes_;
    header_->run_id = config.run_id;
    copy_text(header_->trace_path, config.trace_path);
    copy_text(header_->boot_id, config.boot_id);
    if (config.api_count != 0) {
        std::memcpy(reinterpret_cast<char*>(header_) + sizeof(abi::MapHeader), config.apis,
                    std::size_t{config.api_count} * sizeof(abi::ApiEntry));
    }
    header_->magic = abi::kMapMagic;
}

const abi::ApiEntry* RingSet::apis() const noexcept {
    return reinterpret_cast<const abi::ApiEntry*>(reinterpret_cast<const char*>(header_) + header_->header_bytes);
}

abi::RingHeader* RingSet::claim(std::uint32_t tid, std::uint64_t ticks) noexcept {
    const ErrnoGuard keep_errno;
    if (!claiming_.lock_while_it_moves(kLockWaitNs)) {
        return nullptr;
    }
    abi::RingHeader* ring = find_free();
    if (ring == nullptr) {
        take_back();
        ring = find_free();
    }
    if (ring == nullptr) {
        ring = grow();
    }
    if (ring != nullptr) {
        ring->tid.store(tid, std::memory_order_relaxed);
    }
    claiming_.unlock();
    if (ring != nullptr) {
        write_thread_event(ring, header_->ring_bytes, tid, ticks);
    }
    return ring;
}

abi::RingHeader* RingSet::find_free() noexcept {
    const std::uint32_t count = ring_count_.load(std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < count; ++i) {
        abi::RingHeader* ring = rings_[i];
        // Pairs with release(): the old thread's last event is below head.
        if (ring->thread_ended.load(std::memory_order_acquire) != 0 && fill_bytes(ring) == 0) {
            ring->thread_ended.store(0, std::memory_order_relaxed);
            return ring;
        }
    }
    return nullptr;
}

/// A thread that calls after its destructor for us has run takes another ring, which nobody gives back. Two are asked for whenever
/// none is free, so that such rings do not become more and more.
void RingSet::take_back() noexcept {
    constexpr int kAskedAtOnce = 2;
    const std::uint32_t count = ring_count_.load(std::memory_order_relaxed);
    for (int i = 0; has_thread_ended_ != nullptr && count != 0 && i < kAskedAtOnce; ++i) {
        next_asked_ = next_asked_ + 1 < count ? next_asked_ + 1 : 0;
        abi::RingHeader* ring = rings_[next_asked_];
        if (ring->thread_ended.load(std::memory_order_relaxed) == 0 &&
            has_thread_ended_(ring->tid.load(std::memory_order_relaxed))) {
            release(ring);
        }
    }
}

abi::RingHeader* RingSet::grow() noexcept {
    const std::uint32_t index = ring_count_.load(std::memory_order_relaxed);
    abi::RingHeader* ring = index < abi::kMaxRings ? map_ring(index) : nullptr;
    if (ring == nullptr) {
        return nullptr;
    }
    ring->index = index;
    rings_[index] = ring;
    if (!shared_ || index < shared_limit_) {
        header_->ring_count.store(index + 1, std::memory_order_release);
    }
    ring_count_.store(index + 1, std::memory_order_release);
    return ring;
}

/// Memory for one ring, zero. Once one does not fit into the file, none of the later ones goes there: a salvager counts
/// on rings in the file being the first ones.
abi::RingHeader* RingSet::map_ring(std::uint32_t index) noexcept {
    const std::uint64_t stride = header_->ring_stride;
    void* memory = nullptr;
    if (index < shared_limit_) {
        const std::uint64_t offset = prefix_bytes_ + index * stride;
        if (is_still(fd_, identity_) && allocate_file(fd_, offset, stride) == 0) {
            memory = map_file(fd_, offset, stride);
        }
        if (memory == nullptr) {
            shared_limit_ = index;
        }
    }
    if (memory == nullptr) {
        memory = map_private(stride);
    }
    return static_cast<abi::RingHeader*>(memory);
}

void RingSet::release(abi::RingHeader* ring) noexcept {
    ring->open_api.store(0, std::memory_order_relaxed);
    // Pairs with find_free().
    ring->thread_ended.store(1, std::memory_order_release);
}

void RingSet::mark_ended_and_unlink() noexcept {
    const ErrnoGuard keep_errno;
    if (header_ == nullptr) {
        return;
    }
    header_->owner_state.store(static_cast<std::uint32_t>(abi::OwnerState::kEnded), std::memory_order_release);
    if (shared_) {
        unlink(path_);
    }
}

void RingSet::forget_after_fork() noexcept {
    const ErrnoGuard keep_errno;
    if (header_ != nullptr) {
        const std::uint64_t stride = header_->ring_stride;
        const std::uint32_t count = ring_count();
        for (std::uint32_t i = 0; i < count; ++i) {
            munmap(rings_[i], stride);
        }
        munmap(header_, prefix_bytes_);
        munmap(rings_, abi::kMaxRings * sizeof(abi::RingHeader*));
    }
    if (is_still(fd_, identity_)) {
        close_fd(fd_);
    }
    header_ = nullptr;
    rings_ = nullptr;
    prefix_bytes_ = 0;
    ring_count_.store(0, std::memory_order_relaxed);
    shared_limit_ = 0;
    has_thread_ended_ = nullptr;
    next_asked_ = 0;
    claiming_.forget_after_fork();
    fd_ = -1;
    identity_ = {};
    share_error_ = 0;
    shared_ = false;
    path_[0] = '\0';
}

}  // namespace gpuspy::ring
