// A hash for numbers that a trace gives: its buckets cannot be chosen by who wrote the trace.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace gpuspy::analysis {

/// std::hash of a number is the number: those with one remainder by the number of buckets would all be in one.
struct MixedHash {
    std::size_t operator()(std::uint64_t value) const {
        // Of the process, and not known to who wrote the file.
        static const std::uint64_t seed =
            static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
        // The finalizer of splitmix64 (Steele, Lea, Flood 2014).
        value += seed;
        value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
        value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
        return static_cast<std::size_t>(value ^ (value >> 31));
    }
};

}  // namespace gpuspy::analysis
