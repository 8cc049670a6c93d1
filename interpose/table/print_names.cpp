// Prints the names of the hook table, one a line. A tool of the build, not of the host.
#include <cstdio>

#include "interpose/table/hooks.hpp"

int main() {
    for (const auto& api : gpuspy::hook::kApiTable) {
        if (std::puts(api.name) < 0) return 1;
    }
    return 0;
}
