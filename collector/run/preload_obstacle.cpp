#include "collector/run/preload_obstacle.hpp"

#include <elf.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "collector/run/program_file.hpp"

namespace gpuspy::run {

namespace {

/// Loaders that are not glibc's, by how their names begin: what is linked against glibc cannot run under them.
struct OtherLoader {
    const char* prefix;
    const char* library;
};
constexpr OtherLoader kOtherLoaders[] = {{"ld-musl-", "musl"}, {"ld-uClibc", "uClibc"}, {"linker64", "Android's libc"}};

const char* library_of_loader(const std::string& interpreter) {
    const std::string name = std::filesystem::path(interpreter).filename().string();
    for (const OtherLoader& loader : kOtherLoaders) {
        if (name.rfind(loader.prefix, 0) == 0) {
            return loader.library;
        }
    }
    return nullptr;
}

/// The kernel's AT_SECURE: the loader then preloads nothing that is named by a path. "" : not so.
std::string secure_reason(const FileBytes& file, const Caller& caller) {
    struct stat status {};
    struct statvfs mount {};
    if (fstat(file.fd(), &status) != 0 || (fstatvfs(file.fd(), &mount) == 0 && (mount.f_flag & ST_NOSUID) != 0)) {
        return "";
    }
    if ((status.st_mode & S_ISUID) != 0 && status.st_uid != caller.user) {
        return "is setuid";
    }
    // Without the group's execute bit it means mandatory locking.
    if ((status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0 && status.st_gid != caller.group) {
        return "is setgid";
    }
    if (caller.user != 0 && fgetxattr(file.fd(), "security.capability", nullptr, 0) > 0) {
        return "has file capabilities";
    }
    return "";
}

}  // namespace

Obstacle find_obstacle(const std::string& path, const FileBytes& file, const ElfFile& elf, const Caller& caller) {
    if (!elf.is_ours()) {
        return {path + " is a program for " + elf.machine_name() + "; gpuspy records programs for x86-64", false};
    }
    if ((elf.type != ET_EXEC && elf.type != ET_DYN) || (elf.type == ET_DYN && elf.interpreter.empty() && !elf.is_pie)) {
        return {path + " is an ELF file, but not a program (a library, an object file or a core)", false};
    }
    if (elf.interpreter.empty()) {
        const char* kind = elf.type == ET_DYN ? " is linked statically (static-PIE)" : " is linked statically";
        return {path + kind + ": no loader preloads libgpuspy.so into it; link it dynamically", false};
    }
    if (const char* library = library_of_loader(elf.interpreter)) {
        return {path + " is linked against " + library + ", and libgpuspy.so needs glibc; build it for glibc", true};
    }
    if (const std::string reason = secure_reason(file, caller); !reason.empty()) {
        return {path + " " + reason + ": the loader preloads nothing into it; run it as its owner, or a copy of it",
                false};
    }
    return {"", false, std::any_of(elf.needed.begin(), elf.needed.end(), [](const std::string& name) {
                return name.rfind("libasan.so.", 0) == 0;
            })};
}

Obstacle find_obstacle_of_command(const std::string& name) {
    const char* path_variable = std::getenv("PATH");
    const ProgramFile program = follow_scripts(find_program(name, path_variable), path_variable);
    if (program.path.empty()) {
        return {};
    }
    const FileBytes file(program.path);
    ElfFile elf;
    return file.error() == 0 && read_elf(file, &elf).empty() ? find_obstacle(program.path, file, elf, current_caller())
                                                             : Obstacle{};
}

Caller current_caller() {
    return {getuid(), getgid()};
}

}  // namespace gpuspy::run
