// Which runs a sweep makes: the product of its parameters' values, put into the command.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace gpuspy::run {

struct Parameter {
    std::string name;                 ///< Letters, digits and underscores.
    std::vector<std::string> values;  ///< At least one; none of them empty, none twice.
};

/// Reads "batch=1,8,32". "" or one line that says what is wrong.
std::string read_parameter(const std::string& text, Parameter* parameter);

/// A value for each parameter, in the order of the parameters.
using Setting = std::vector<std::pair<std::string, std::string>>;

/// All settings; the last parameter changes fastest.
std::vector<Setting> settings_of(const std::vector<Parameter>& parameters);

/// "batch=8 lr=0.1".
std::string describe(const Setting& setting);

/// A file's name: "02_batch=8_lr=0.1.bin", with "run2" in it for the second of several runs. Characters that mean something
/// to a shell, a path or gpuspy-report become '_'; the number keeps names apart.
std::string trace_name(const Setting& setting, std::size_t number, std::size_t run, std::size_t runs);

/// Puts values for "{name}", and one brace for two. "" or one line that says what is wrong with `text`.
std::string fill(const std::string& text, const Setting& setting, std::string* filled);

/// How many images: a number, or several with '*' between them. 0: it is none.
double image_count(const std::string& text);

}  // namespace gpuspy::run
