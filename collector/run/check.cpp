#include "collector/run/check.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "collector/run/cuda_link.hpp"
#include "collector/run/cupti_search.hpp"
#include "collector/run/environment.hpp"
#include "collector/run/program_file.hpp"

namespace gpuspy::run {

namespace fs = std::filesystem;

namespace {

/// Lines of the form "label   text".
class Lines {
public:
    void add(const std::string& label, const std::string& text) { text_ += fmt::format("{:<12} {}\n", label, text); }
    CheckResult end(Verdict verdict, const std::string& last) {
        text_ += last + "\n";
        return {verdict, text_};
    }
    CheckResult refuse(const std::string& reason) {
        return end(Verdict::kNotRecorded, "will not be recorded: " + reason);
    }

private:
    std::string text_;
};

bool is_python(const std::string& path, const std::vector<NeededLibrary>& needed) {
    std::error_code error;
    for (const fs::path& one : {fs::path(path), fs::canonical(path, error)}) {
        const std::string name = one.filename().string();
        for (const std::string prefix : {"python", "pypy"}) {
            if (name.rfind(prefix, 0) == 0 &&
                name.find_first_not_of("0123456789.", prefix.size()) == std::string::npos) {
                return true;
            }
        }
    }
    for (const NeededLibrary& library : needed) {
        if (library.name.rfind("libpython", 0) == 0) {
            return true;
        }
    }
    return false;
}

std::string place(const NeededLibrary& library) {
    return library.path.empty() ? "not found" : library.path;
}

void tell_libraries(const CudaLink& link, const std::string& program, Lines* lines) {
    for (const NeededLibrary& library : link.libraries) {
        lines->add("needs", fmt::format("{} => {}{}", library.name, place(library),
                                        library.needer == program ? "" : ", for " + library.needer));
    }
    for (const std::string& file : link.static_cudart) {
        lines->add("has inside", fmt::format("cudart, linked statically into {}", file));
    }
    for (const std::string& name : link.opens_at_runtime) {
        lines->add("names", fmt::format("{}: opened at run time, if at all", name));
    }
}

/// The routes of docs/architecture.md, "From a call to a line of the report".
void tell_routes(const CudaLink& link, Lines* lines) {
    if (link.cudart != nullptr) {
        lines->add("seen by", "runtime API: the loader binds its functions to libgpuspy.so");
    }
    if (link.driver != nullptr) {
        lines->add("seen by", "driver API: the loader binds its functions to libgpuspy.so");
    }
    if (link.cudart != nullptr || !link.static_cudart.empty()) {
        lines->add("seen by", fmt::format("driver API{}: cudart asks dlsym and cuGetProcAddress for its functions",
                                          link.cudart == nullptr ? " alone" : ""));
    }
    if (!link.opens_at_runtime.empty()) {
        lines->add("seen by", "what is opened at run time: dlsym and cuGetProcAddress give out our functions");
    }
}

void tell_cuda(const CudaLink& link, bool is_interpreter, const std::string& program, Lines* lines) {
    tell_libraries(link, program, lines);
    if (is_interpreter) {
        lines->add("Python", "libraries are opened at run time by import, so the file does not tell which");
    } else if (link.is_none()) {
        lines->add("CUDA", "none is named in the file; what the program opens at run time, or a child of it, is seen");
    }
    tell_routes(link, lines);
}

/// False: there is none, so the program makes no call that succeeds.
bool tell_driver(const CudaLink& link, const LibrarySearch& search, Lines* lines) {
    const std::string driver = link.driver != nullptr ? link.driver->path : search.find("libcuda.so.1");
    lines->add("driver",
               driver.empty() ? "libcuda.so.1 was not found: CUDA will find no GPU; install NVIDIA's driver" : driver);
    return !driver.empty();
}

void tell_device_times(const CheckRequest& request, const CudaLink& link, const LibrarySearch& search, Lines* lines) {
    if (request.variable("GPUSPY_DEVICE_TIMING") == "0") {
        lines->add("CUPTI", "not used: GPUSPY_DEVICE_TIMING=0");
        return;
    }
    const CuptiPlace cupti = find_cupti(link, search, request.variable);
    lines->add("CUPTI", cupti.path.empty()
                            ? cupti.how
                            : fmt::format("{}, {}", fs::path(cupti.path).lexically_normal().string(), cupti.how));
}

void tell_ranges(const CheckRequest& request, Lines* lines) {
    const std::string other = request.variable(kNvtxInjection);
    lines->add("NVTX", other.empty() || fs::path(other).filename() == "libgpuspy.so"
                           ? "ranges are recorded, where a library or the program has any"
                           : fmt::format("ranges are not recorded: {} names {}", kNvtxInjection, other));
}

CheckResult check_file(const CheckRequest& request, const std::string& path, Lines* lines) {
    const FileBytes file(path);
    ElfFile elf;
    if (file.error() != 0) {
        return lines->refuse(fmt::format("{} cannot be read: {}", path, std::strerror(file.error())));
    }
    if (const std::string problem = read_elf(file, &elf); !problem.empty()) {
        return lines->refuse(path + " " + problem);
    }
    if (const Obstacle obstacle = find_obstacle(path, file, elf, request.caller); !obstacle.reason.empty()) {
        return lines->refuse(obstacle.reason);
    }
    std::error_code error;
    if (!fs::exists(elf.interpreter, error)) {
        return lines->refuse(fmt::format("{} cannot start: there is no loader {}", path, elf.interpreter));
    }
    LibrarySearch search(request.loader);
    const std::vector<NeededLibrary> needed = search.needed_by(path, elf);
    const CudaLink link = find_cuda_link(path, needed);
    tell_cuda(link, is_python(path, needed), search.program(), lines);
    const bool has_driver = tell_driver(link, search, lines);
    tell_device_times(request, link, search, lines);
    tell_ranges(request, lines);
    for (const NeededLibrary& library : needed) {
        if (library.path.empty()) {
            return lines->refuse(
                fmt::format("{} cannot start: {}, which {} needs, was not found; install it or set "
                            "LD_LIBRARY_PATH",
                            path, library.name, library.needer));
        }
    }
    return lines->end(Verdict::kRecorded, fmt::format("will be recorded{}{}", link.is_none() ? ", if it uses CUDA" : "",
                                                      has_driver ? "" : ", once there is a driver"));
}

}  // namespace

CheckResult check_program(const CheckRequest& request) {
    const std::string path_variable = request.variable("PATH");
    const std::string found = find_program(request.program, path_variable.empty() ? nullptr : path_variable.c_str());
    if (found.empty()) {
        return {Verdict::kNoProgram, ""};
    }
    Lines lines;
    const ProgramFile program = follow_scripts(found, path_variable.empty() ? nullptr : path_variable.c_str());
    for (const std::string& script : program.scripts) {
        lines.add("script", script);
    }
    if (program.path.empty()) {
        return lines.refuse(program.problem);
    }
    lines.add("program", program.path);
    if (is_disabled(request.variable("GPUSPY_DISABLE"))) {
        return lines.refuse("GPUSPY_DISABLE=1 is set; unset it");
    }
    return check_file(request, program.path, &lines);
}

CheckResult check_program_here(const std::string& program) {
    CheckRequest request;
    request.program = program;
    request.caller = current_caller();
    request.variable = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value != nullptr ? value : "");
    };
    request.loader.ld_library_path = request.variable("LD_LIBRARY_PATH");
    return check_program(request);
}

bool is_disabled(const std::string& value) {
    // As the library reads it: decimal, octal or 0x.
    char* end = nullptr;
    return !value.empty() && value.front() >= '0' && value.front() <= '9' &&
           std::strtoull(value.c_str(), &end, 0) == 1 && *end == '\0';
}

}  // namespace gpuspy::run
