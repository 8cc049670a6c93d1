// Which file a command is: by PATH as execvp finds it, and through the interpreters of scripts.
#pragma once

#include <string>
#include <vector>

namespace gpuspy::run {

/// The file of a command's name: the name itself if it has a slash in it, else the first executable one in PATH; "": none.
std::string find_program(const std::string& name, const char* path_variable);

struct ProgramFile {
    std::string path;                  ///< What the kernel runs in the end; "" with a problem.
    std::vector<std::string> scripts;  ///< The scripts on the way there, first the command's own.
    std::string problem;               ///< One line.
};

/// Follows "#!" lines, and env(1) in them, from a file to the program that is run. What is neither a script nor an ELF file is
/// run by /bin/sh, as execvp does.
ProgramFile follow_scripts(const std::string& path, const char* path_variable);

}  // namespace gpuspy::run
