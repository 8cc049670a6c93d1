#include "interpose/lifecycle/process_info.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "interpose/lifecycle/config.hpp"
#include "interpose/lifecycle/memory.hpp"
#include "interpose/lifecycle/version.hpp"

namespace gpuspy::hook {
namespace {

// The only variables that a trace keeps: they change what a GPU program does, and none holds a secret.
constexpr const char* kAllowedEnvironment[] = {
    "CUDA_VISIBLE_DEVICES",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_MODULE_LOADING",
    "CUDA_DEVICE_ORDER",
    "CUDA_DEVICE_MAX_CONNECTIONS",
    "CUDNN_LOGLEVEL_DBG",
    "NVIDIA_TF32_OVERRIDE",
    "OMP_NUM_THREADS",
    "PYTORCH_CUDA_ALLOC_CONF",
    "TORCH_CUDNN_V8_API_DISABLED",
    "TF_FORCE_GPU_ALLOW_GROWTH",
    "TF_CUDNN_USE_AUTOTUNE",
    "MXNET_CUDNN_AUTOTUNE_DEFAULT",
    "MXNET_ENGINE_TYPE",
    "XLA_FLAGS",
    "JAX_PLATFORMS",
    "RANK",
    "LOCAL_RANK",
    "WORLD_SIZE",
    "SLURM_PROCID",
    "SLURM_JOB_ID",
    "OMPI_COMM_WORLD_RANK",
    "PMI_RANK",
};

// In this order: the launcher closest to the framework knows best.
constexpr const char* kRankVariables[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};

constexpr std::size_t kMaxArguments = 512;

struct Storage {
    char command_line[64 << 10];
    const char* arguments[kMaxArguments];
    char environment_text[8 << 10];
    const char* environment[sizeof kAllowedEnvironment / sizeof *kAllowedEnvironment];
    char host[256];
    char boot_id[64];
    char exe[1024];
};

/// Whole small file, without its last newline; the bytes read.
std::size_t read_file(const char* path, char* into, std::size_t capacity) noexcept {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    std::size_t length = 0;
    if (fd >= 0) {
        ssize_t got = 0;
        while (length + 1 < capacity && (got = read(fd, into + length, capacity - 1 - length)) > 0) {
            length += static_cast<std::size_t>(got);
        }
        close(fd);
    }
    if (length > 0 && into[length - 1] == '\n') --length;
    into[length] = 0;
    return length;
}

void read_arguments(Storage& storage, sink::ProcessInfo& into) noexcept {
    const std::size_t length = read_file("/proc/self/cmdline", storage.command_line, sizeof storage.command_line);
    for (std::size_t at = 0; at < length && into.argc < kMaxArguments; at += strlen(storage.command_line + at) + 1) {
        storage.arguments[into.argc++] = storage.command_line + at;
    }
    into.argv = storage.arguments;
}

void read_environment(Storage& storage, sink::ProcessInfo& into) noexcept {
    std::size_t used = 0;
    for (const char* name : kAllowedEnvironment) {
        const char* value = getenv(name);
        if (value == nullptr) continue;
        const int written =
            snprintf(storage.environment_text + used, sizeof storage.environment_text - used, "%s=%s", name, value);
        if (written < 0 || used + static_cast<std::size_t>(written) + 1 > sizeof storage.environment_text) break;
        storage.environment[into.environment_count++] = storage.environment_text + used;
        used += static_cast<std::size_t>(written) + 1;
    }
    into.environment = storage.environment;
}

std::int64_t read_rank() noexcept {
    for (const char* name : kRankVariables) {
        const char* value = getenv(name);
        if (value != nullptr && *value >= '0' && *value <= '9') return strtoll(value, nullptr, 10);
    }
    return -1;
}

}  // namespace

void read_process_info(sink::ProcessInfo& into) noexcept {
    auto* storage = static_cast<Storage*>(map_memory(sizeof(Storage)));
    into.pid = static_cast<std::uint64_t>(getpid());
    into.ppid = static_cast<std::uint64_t>(getppid());
    into.pgid = static_cast<std::uint64_t>(getpgrp());
    into.run_id = config().run_id;
    into.rank = read_rank();
    into.cwd = config().cwd;
    into.gpuspy_version = kVersion;
    if (storage == nullptr) return;
    read_arguments(*storage, into);
    read_environment(*storage, into);
    if (gethostname(storage->host, sizeof storage->host - 1) == 0) into.host = storage->host;
    read_file("/proc/sys/kernel/random/boot_id", storage->boot_id, sizeof storage->boot_id);
    into.boot_id = storage->boot_id;
    const ssize_t length = readlink("/proc/self/exe", storage->exe, sizeof storage->exe - 1);
    if (length > 0) into.exe = storage->exe;
}

}  // namespace gpuspy::hook
