#include "collector/run/program_file.hpp"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "collector/run/file_bytes.hpp"

namespace gpuspy::run {

namespace fs = std::filesystem;

namespace {

/// The kernel's own limits: binfmt_script and exec.
constexpr std::size_t kMaxScriptLine = 255;
constexpr std::size_t kMaxScripts = 5;

bool is_executable_file(const std::string& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

/// The words behind "#!", or what execvp puts there; false: the file is no script.
bool read_script_line(const FileBytes& file, std::vector<std::string>* words) {
    std::string line(static_cast<std::size_t>(std::min<std::uint64_t>(kMaxScriptLine, file.size())), '\0');
    if (!file.read(0, line.data(), line.size()) || line.rfind(ELFMAG, 0) == 0) {
        return false;
    }
    if (line.rfind("#!", 0) != 0) {
        words->emplace_back("/bin/sh");
        return true;
    }
    std::istringstream text(line.substr(2, line.find('\n') - 2));
    for (std::string word; text >> word;) {
        words->push_back(word);
    }
    return true;
}

/// The program that env(1) runs: past its options and assignments. "" : none.
std::string program_of_env(const std::vector<std::string>& words) {
    const auto found = std::find_if(words.begin() + 1, words.end(), [](const std::string& word) {
        return word.front() != '-' && word.find('=') == std::string::npos;
    });
    return found == words.end() ? "" : *found;
}

}  // namespace

std::string find_program(const std::string& name, const char* path_variable) {
    std::error_code error;
    if (name.find('/') != std::string::npos) {
        return fs::exists(name, error) ? name : "";
    }
    std::istringstream folders(path_variable != nullptr ? path_variable : "/bin:/usr/bin");
    for (std::string folder; !name.empty() && std::getline(folders, folder, ':');) {
        const std::string path = (folder.empty() ? "." : folder) + "/" + name;
        if (is_executable_file(path)) {
            return path;
        }
    }
    return "";
}

ProgramFile follow_scripts(const std::string& path, const char* path_variable) {
    ProgramFile program;
    program.path = path;
    const auto fail = [&](const std::string& problem) {
        program.path.clear();
        program.problem = problem;
        return program;
    };
    for (;;) {
        const FileBytes file(program.path);
        if (file.error() != 0) {
            return fail(program.path + " cannot be read: " + std::strerror(file.error()));
        }
        if (!is_executable_file(program.path)) {
            return fail(program.path + " is not executable; chmod +x it, or name its interpreter");
        }
        std::vector<std::string> words;
        if (!read_script_line(file, &words)) {
            return program;
        }
        program.scripts.push_back(program.path);
        if (words.empty()) {
            return fail(program.path + " is a script that names no interpreter in its first line");
        }
        if (program.scripts.size() > kMaxScripts) {
            return fail(path + " is a script whose interpreters are scripts, too many of them to be run");
        }
        std::string next = words.front();
        if (fs::path(next).filename() == "env") {
            next = program_of_env(words);
        }
        const std::string found = find_program(next, path_variable);
        if (found.empty()) {
            return fail(program.path + " is a script, and there is no " + (next.empty() ? words.front() : next) +
                        " to run it; correct its first line");
        }
        program.path = found;
    }
}

}  // namespace gpuspy::run
