// Why a program cannot be recorded by way of LD_PRELOAD, where its file tells.
#pragma once

#include <sys/types.h>

#include <string>

#include "collector/run/elf_file.hpp"

namespace gpuspy::run {

/// Who runs the program: setuid is no obstacle to the owner, nor are capabilities to root.
struct Caller {
    uid_t user = 0;
    gid_t group = 0;
};

struct Obstacle {
    std::string reason;  ///< One line about `path`; "": none is known.
    /// Preloading would break the program, not just do nothing: its loader takes our library and cannot link it.
    bool breaks = false;
    /// No obstacle, if it is told so: the address sanitizer's shared runtime, which ends a program that loads another library before it.
    bool wants_to_be_first = false;
};

/// Of the file that the kernel runs (no script).
Obstacle find_obstacle(const std::string& path, const FileBytes& file, const ElfFile& elf, const Caller& caller);

/// Of a command's name as it is typed. What cannot be read has no known obstacle: exec tells.
Obstacle find_obstacle_of_command(const std::string& name);

/// The process that asks.
Caller current_caller();

}  // namespace gpuspy::run
