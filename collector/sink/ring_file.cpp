#include "collector/sink/ring_file.hpp"

#include <csignal>
#include <cstring>

#include "collector/ring/ring_set.hpp"
#include "collector/ring/text.hpp"
#include "collector/sink/memory.hpp"
#include "collector/sink/signal_guard.hpp"

namespace gpuspy::sink {

namespace {

constexpr std::uint64_t kLowestRingBytes = 4096;
constexpr std::uint64_t kHighestRingBytes = 64U << 20;
constexpr std::uint32_t kMostApis = 1U << 16;

bool read_at(int fd, void* to, std::uint64_t bytes, std::uint64_t offset) noexcept {
    auto* at = static_cast<std::uint8_t*>(to);
    while (bytes != 0) {
        const long count = syscall(SYS_pread64, fd, at, bytes, offset);
        if (count <= 0) {
            if (count < 0 && errno == EINTR) {
                continue;
            }
            return false;
        }
        at += count;
        bytes -= static_cast<std::uint64_t>(count);
        offset += static_cast<std::uint64_t>(count);
    }
    return true;
}

template <std::size_t N>
bool ends(const char (&text)[N]) noexcept {
    return std::memchr(text, '\0', N) != nullptr;
}

}  // namespace

RingFile::~RingFile() {
    if (apis_ != nullptr) {
        unmap_memory(apis_, header().api_count);
    }
    if (ring_ != nullptr) {
        unmap_memory(ring_, header().ring_stride);
    }
    if (fd_ >= 0) {
        ring::close_fd(fd_);
    }
}

RingFileState RingFile::open(const char* path) noexcept {
    path_ = path;
    fd_ = ring::open_fd(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    if (fd_ < 0 || ring::stat_fd(fd_, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid()) {
        return RingFileState::kNotARing;
    }
    identity_ = {status.st_dev, status.st_ino};
    const int error = ring::lock_file(fd_);
    if (error != 0) {
        return error != EAGAIN      ? RingFileState::kNotARing
               : is_held_by_owner() ? RingFileState::kOwnerAlive
                                    : RingFileState::kBeingTaken;
    }
    file_bytes_ = static_cast<std::uint64_t>(status.st_size);
    constexpr std::uint8_t kNothing[sizeof(abi::MapHeader::magic)] = {};
    is_blank_ = file_bytes_ == 0 ||
                (file_bytes_ >= sizeof header_bytes_ && read_at(fd_, header_bytes_, sizeof header_bytes_, 0) &&
                 std::memcmp(header_bytes_, kNothing, sizeof kNothing) == 0);
    if (file_bytes_ < sizeof header_bytes_ || !read_at(fd_, header_bytes_, sizeof header_bytes_, 0) ||
        header().magic != abi::kMapMagic) {
        return RingFileState::kNotARing;
    }
    if (header().layout_version != abi::kRingLayoutVersion) {
        return RingFileState::kOtherVersion;
    }
    if (!header_is_sound()) {
        // Sizes that are not to be used, by the destructor least of all.
        std::memset(header_bytes_, 0, sizeof header_bytes_);
        return RingFileState::kNotARing;
    }
    const std::uint64_t room = (file_bytes_ - header().rings_offset) / header().ring_stride;
    const std::uint32_t told = header().ring_count.load(std::memory_order_relaxed);
    ring_count_ = told < room ? told : static_cast<std::uint32_t>(room);
    // The host may have closed our descriptor, and with it went the lock.
    return is_mapped_by_owner() ? RingFileState::kOwnerAlive : RingFileState::kDead;
}

bool RingFile::header_is_sound() const noexcept {
    const abi::MapHeader& map = header();
    const std::uint64_t apis_end = sizeof(abi::MapHeader) + std::uint64_t{map.api_count} * sizeof(abi::ApiEntry);
    return map.header_bytes == sizeof(abi::MapHeader) && map.api_count <= kMostApis &&
           map.ring_bytes >= kLowestRingBytes && map.ring_bytes <= kHighestRingBytes &&
           (map.ring_bytes & (map.ring_bytes - 1)) == 0 &&
           map.ring_stride >= sizeof(abi::RingHeader) + map.ring_bytes && map.ring_stride <= 2 * kHighestRingBytes &&
           map.rings_offset >= apis_end && map.rings_offset <= file_bytes_ &&
           map.ring_count.load(std::memory_order_relaxed) <= abi::kMaxRings && ends(map.trace_path) &&
           map.trace_path[0] == '/' && ends(map.boot_id);
}

/// By the name, gpuspy.<pid>.<nonce>: a maker that is alive may not have come to the lock yet.
bool RingFile::is_maker_gone() const noexcept {
    const char* name = std::strrchr(path_, '/');
    name = name == nullptr ? path_ : name + 1;
    constexpr char kPrefix[] = "gpuspy.";
    constexpr std::size_t kNonceDigits = 16;
    if (std::strncmp(name, kPrefix, sizeof kPrefix - 1) != 0) {
        return false;
    }
    pid_t pid = 0;
    const char* at = name + sizeof kPrefix - 1;
    for (; *at >= '0' && *at <= '9' && pid < 100'000'000; ++at) {
        pid = pid * 10 + (*at - '0');
    }
    return pid > 0 && *at == '.' && std::strlen(at + 1) == kNonceDigits && kill(pid, 0) != 0 && errno == ESRCH;
}

bool RingFile::is_unused_older() const noexcept {
    const char* name = std::strrchr(path_, '/');
    char own_name[64];
    if (name == nullptr || header().layout_version == 0 || header().layout_version >= abi::kRingLayoutVersion ||
        !ring::build_ring_path("", header().pid, header().nonce, own_name, sizeof own_name) ||
        std::strcmp(name, own_name) != 0) {
        return false;
    }
    // Its owner's lock is gone when it closed our descriptor, and a pid may be of another namespace. But a lease is given
    // only where nobody else has the file open, and a mapping keeps it open. Who opens it meanwhile sends SIGIO.
    const SignalGuard no_signal(SIGIO);
    const f_owner_ex to_this_thread{F_OWNER_TID, static_cast<pid_t>(syscall(SYS_gettid))};
    if (fcntl(fd_, F_SETOWN_EX, &to_this_thread) != 0 || fcntl(fd_, F_SETLEASE, F_WRLCK) != 0) {
        return false;
    }
    return fcntl(fd_, F_SETLEASE, F_UNLCK) == 0;
}

/// Whether the lock that is held is the owner's: a process of another pid empties the ring.
bool RingFile::is_held_by_owner() noexcept {
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    const bool is_told = fcntl(fd_, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK && lock.l_pid > 0;
    const bool is_ring = read_at(fd_, header_bytes_, sizeof header_bytes_, 0) && header().magic == abi::kMapMagic &&
                         header().layout_version == abi::kRingLayoutVersion;
    // A pid of another namespace reads as 0, and the owner may have been forked in one: then it is taken to be alive.
    return !is_told || !is_ring || static_cast<std::uint32_t>(lock.l_pid) == header().pid;
}

/// Whether the process with the owner's pid maps this file: a line of its maps has our device's and inode's numbers.
bool RingFile::is_mapped_by_owner() const noexcept {
    char path[40];
    ring::TextBuilder(path, sizeof path).text("/proc/").decimal(header().pid).text("/maps");
    const int fd = ring::open_fd(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    const char* name = std::strrchr(path_, '/');
    name = name == nullptr ? path_ : name + 1;
    const std::size_t name_bytes = std::strlen(name);
    char text[2048];
    std::size_t kept = 0;  // The end of the piece before: the name may lie across.
    bool found = false;
    while (!found) {
        const long count = syscall(SYS_read, fd, text + kept, sizeof text - kept);
        if (count <= 0) {
            break;
        }
        const std::size_t bytes = kept + static_cast<std::size_t>(count);
        for (std::size_t at = 0; at + name_bytes <= bytes && !found; ++at) {
            found = std::memcmp(text + at, name, name_bytes) == 0;
        }
        kept = bytes < name_bytes ? bytes : name_bytes - 1;
        std::memmove(text, text + bytes - kept, kept);
    }
    ring::close_fd(fd);
    return found;
}

const abi::ApiEntry* RingFile::read_apis() noexcept {
    apis_ = map_memory<abi::ApiEntry>(header().api_count + 1U);
    if (apis_ == nullptr || !read_at(fd_, apis_, header().api_count * sizeof(abi::ApiEntry), sizeof(abi::MapHeader))) {
        return nullptr;
    }
    return apis_;
}

const abi::RingHeader* RingFile::read_ring(std::uint32_t index) noexcept {
    const std::uint64_t stride = header().ring_stride;
    if (ring_ == nullptr) {
        ring_ = map_memory<std::uint8_t>(stride);
    }
    if (ring_ == nullptr || !read_at(fd_, ring_, stride, header().rings_offset + index * stride)) {
        return nullptr;
    }
    return reinterpret_cast<const abi::RingHeader*>(ring_);
}

void RingFile::unlink() noexcept {
    struct stat status;
    // Only if it is still the file that was read.
    if (ring::stat_path(path_, false, &status) == 0 && ring::FileIdentity{status.st_dev, status.st_ino} == identity_) {
        ::unlink(path_);
    }
}

}  // namespace gpuspy::sink
