// /etc/ld.so.cache: where the loader finds libraries by name.
#pragma once

#include <string>
#include <vector>

#include "collector/run/file_bytes.hpp"

namespace gpuspy::run {

/// Paths under which the cache has a library of this name, for x86-64, in the cache's order. A cache that cannot be
/// understood has none. Format: "glibc-ld.so.cache1.1", alone or behind one of the older format.
std::vector<std::string> find_in_loader_cache(const FileBytes& cache, const std::string& name);

}  // namespace gpuspy::run
