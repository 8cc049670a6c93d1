// Which libraries the loader would load with a program, found as ld.so(8) finds them, from the files alone.
#pragma once

#include <string>
#include <vector>

#include "collector/run/elf_file.hpp"

namespace gpuspy::run {

struct LoaderPaths {
    std::string ld_library_path;
    std::string cache = "/etc/ld.so.cache";
    std::vector<std::string> defaults = {
        "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"};
};

struct NeededLibrary {
    std::string name;    ///< As DT_NEEDED says it.
    std::string path;    ///< "": not found.
    std::string needer;  ///< The first object that needs it.
};

class LibrarySearch {
public:
    explicit LibrarySearch(LoaderPaths paths);

    /// Everything that the program needs, breadth first, each once, in the loader's order.
    std::vector<NeededLibrary> needed_by(const std::string& program, const ElfFile& elf);

    /// What dlopen(name) gives to an object of the program; "": not found. Only after needed_by().
    [[nodiscard]] std::string find(const std::string& name) const;

    /// The program's path as `needer` says it: links resolved.
    [[nodiscard]] const std::string& program() const { return program_.path; }

private:
    struct Object {
        std::string path;
        std::vector<std::string> needed;
        std::vector<std::string> rpaths;    ///< Folders of its DT_RPATH, then of its needers'; unused beside a RUNPATH.
        std::vector<std::string> runpaths;  ///< Folders of its DT_RUNPATH, for what it needs itself.
    };

    static Object make_object(const std::string& path, const ElfFile& elf, const Object* needer);
    [[nodiscard]] std::string find_for(const Object& object, const std::string& name) const;

    LoaderPaths paths_;
    FileBytes cache_;
    Object program_;
};

}  // namespace gpuspy::run
