// Makes a number of calls of one kind: counted_calls NAME COUNT. For counting instructions (tests/bench/hooks/instructions.py).
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/bench/hooks/calls.hpp"

extern "C" __attribute__((noinline)) void counted_calls(void (*make)(), long count) {
    for (long i = 0; i < count; ++i) make();
}

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: counted_calls NAME COUNT\n");
        return 2;
    }
    for (const bench::Call& call : bench::kCalls) {
        if (std::strcmp(call.name, argv[1]) != 0) continue;
        call.make();  // what is done once is done
        counted_calls(call.make, std::strtol(argv[2], nullptr, 10));
        return 0;
    }
    std::fprintf(stderr, "counted_calls: no call %s\n", argv[1]);
    return 2;
}
