// GPU time and launches by owner, the libraries' kernels against the framework's own, and the kernels that each owner uses
// most. The call around a launch decides; a kernel's name is heard only where there was none, and shown apart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/model.hpp"

namespace gpuspy::analysis {

/// At most this many kernels are shown of an owner.
inline constexpr std::size_t kTopOfOwner = 5;

struct OwnerUse {
    std::string library;        ///< Of the library call around the launches; empty: there was none.
    std::string owner;          ///< `library`, else the shared object that launched, else "unknown".
    std::string by_name;        ///< The library that the kernels' names tell, where `library` is empty.
    std::uint64_t kernels = 0;  ///< Different ones.
    std::uint64_t count = 0;    ///< Device records.
    std::uint64_t time_ns = 0;
    double share_of_kernels = 0, share_of_wall = 0;
};

/// How an owner's kernels are told from others.
enum class KernelGroup : std::uint8_t {
    kCudnn,           ///< Inside calls of cuDNN.
    kOtherLibraries,  ///< Inside other library calls.
    kOwn,             ///< Launched by a shared object, and their names tell no library.
    kCudnnByName,     ///< By name alone.
    kOtherLibrariesByName,
    kUnknown,
};

struct GroupUse {
    KernelGroup group = KernelGroup::kUnknown;
    std::uint64_t kernels = 0;  ///< Different ones of each owner.
    std::uint64_t count = 0, time_ns = 0;
    double share_of_kernels = 0;
};

struct OwnerKernel {
    std::string owner, by_name;
    std::uint64_t rank = 0;  ///< Among its owner's, by time; from 1.
    std::string mangled;
    std::uint64_t count = 0, time_ns = 0;
    double share_of_owner = 0, share_of_kernels = 0;
};

struct LibraryKernels {
    std::vector<OwnerUse> owners;  ///< Longest first.
    std::vector<GroupUse> groups;  ///< Those with a kernel, in the order of KernelGroup.
    std::vector<OwnerKernel> top;  ///< In the order of `owners`, then by time.
};

LibraryKernels library_kernels(const Model& model, const Timeline& timeline);

}  // namespace gpuspy::analysis
