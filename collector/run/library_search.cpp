#include "collector/run/library_search.hpp"

#include <deque>
#include <filesystem>
#include <set>

#include "collector/run/loader_cache.hpp"

namespace gpuspy::run {

namespace fs = std::filesystem;

namespace {

/// Objects of one program; more means that something goes round.
constexpr std::size_t kMaxObjects = 10'000;

void replace_all(std::string* text, const std::string& token, const std::string& value) {
    for (std::size_t at = 0; (at = text->find(token, at)) != std::string::npos; at += value.size()) {
        text->replace(at, token.size(), value);
    }
}

/// The folders of a search path: an empty one is the working directory; tokens as in ld.so(8).
std::vector<std::string> split_path(const std::string& text, const char* separators, const std::string& origin) {
    std::vector<std::string> folders;
    for (std::size_t at = 0; !text.empty() && at <= text.size();) {
        const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
        std::string folder = text.substr(at, end - at);
        for (const auto& [token, value] :
             {std::pair<std::string, std::string>{"ORIGIN", origin}, {"PLATFORM", "x86_64"}}) {
            replace_all(&folder, "${" + token + "}", value);
            replace_all(&folder, "$" + token, value);
        }
        // $LIB differs between distributions.
        for (const char* lib : {"lib/x86_64-linux-gnu", "lib64"}) {
            std::string one = folder;
            replace_all(&one, "${LIB}", lib);
            replace_all(&one, "$LIB", lib);
            folders.push_back(one.empty() ? "." : one);
            if (one == folder) {
                break;
            }
        }
        at = end + 1;
    }
    return folders;
}

/// As the loader does, files for other machines are passed over.
bool is_loadable(const std::string& path, ElfFile* elf) {
    const FileBytes file(path);
    return file.error() == 0 && read_elf(file, elf).empty() && elf->is_ours();
}

std::string find_in(const std::vector<std::string>& folders, const std::string& name) {
    for (const std::string& folder : folders) {
        std::string path = folder + "/" + name;
        ElfFile unused;
        if (is_loadable(path, &unused)) {
            return path;
        }
    }
    return "";
}

}  // namespace

LibrarySearch::LibrarySearch(LoaderPaths paths) : paths_(std::move(paths)), cache_(paths_.cache) {}

LibrarySearch::Object LibrarySearch::make_object(const std::string& path, const ElfFile& elf, const Object* needer) {
    Object object;
    object.path = path;
    object.needed = elf.needed;
    const std::string origin = fs::path(path).parent_path().string();
    object.runpaths = split_path(elf.runpath, ":", origin);
    if (elf.runpath.empty()) {
        object.rpaths = split_path(elf.rpath, ":", origin);
    }
    if (needer != nullptr) {
        object.rpaths.insert(object.rpaths.end(), needer->rpaths.begin(), needer->rpaths.end());
    }
    return object;
}

std::string LibrarySearch::find_for(const Object& object, const std::string& name) const {
    if (name.find('/') != std::string::npos) {
        ElfFile unused;
        return is_loadable(name, &unused) ? name : "";
    }
    const std::string origin = fs::path(program_.path).parent_path().string();
    std::string path = object.runpaths.empty() ? find_in(object.rpaths, name) : "";
    for (const auto& folders : {split_path(paths_.ld_library_path, ":;", origin), object.runpaths}) {
        path = path.empty() ? find_in(folders, name) : path;
    }
    if (path.empty() && cache_.error() == 0) {
        for (const std::string& candidate : find_in_loader_cache(cache_, name)) {
            ElfFile unused;
            if (is_loadable(candidate, &unused)) {
                return candidate;
            }
        }
    }
    return path.empty() ? find_in(paths_.defaults, name) : path;
}

std::vector<NeededLibrary> LibrarySearch::needed_by(const std::string& program, const ElfFile& elf) {
    std::error_code error;
    const fs::path real = fs::canonical(program, error);  // What $ORIGIN of a program is.
    program_ = make_object(error ? program : real.string(), elf, nullptr);
    std::vector<NeededLibrary> libraries;
    std::set<std::string> names;
    std::deque<Object> open = {program_};
    for (; !open.empty() && libraries.size() < kMaxObjects; open.pop_front()) {
        for (const std::string& name : open.front().needed) {
            if (!names.insert(name).second) {
                continue;
            }
            libraries.push_back({name, find_for(open.front(), name), open.front().path});
            ElfFile library;
            if (!libraries.back().path.empty() && is_loadable(libraries.back().path, &library)) {
                open.push_back(make_object(libraries.back().path, library, &open.front()));
            }
        }
    }
    return libraries;
}

std::string LibrarySearch::find(const std::string& name) const {
    return find_for(program_, name);
}

}  // namespace gpuspy::run
