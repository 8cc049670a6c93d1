// write_sample_trace FILE: a small synthetic trace with something of everything.
#include <cstdio>
#include <fstream>

#include "tests/unit/analysis/scripts.hpp"

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: write_sample_trace FILE\n", stderr);
        return 2;
    }
    const std::string bytes = gpuspy::test::varied_trace().bytes();
    std::ofstream file(argv[1], std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    return file ? 0 : 1;
}
