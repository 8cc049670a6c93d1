#include "analysis/passes/library_kernels.hpp"
#include "analysis/views/view.hpp"

namespace gpuspy::analysis {
namespace {

std::string group_name(KernelGroup group) {
    switch (group) {
        case KernelGroup::kCudnn:
            return "cuDNN";
        case KernelGroup::kOtherLibraries:
            return "other libraries";
        case KernelGroup::kOwn:
            return "the framework's own";
        case KernelGroup::kCudnnByName:
            return "cuDNN (by name)";
        case KernelGroup::kOtherLibrariesByName:
            return "other libraries (by name)";
        case KernelGroup::kUnknown:
            return "unknown";
    }
    return {};
}

Table group_table(const LibraryKernels& found) {
    using Row = GroupUse;
    return make_table<Row>(
        "groups", "Libraries and the framework",
        "by the library call around the launch; by name: no such call was seen, the kernel's name tells",
        {
            {"share_of_kernels", "% kernels", Unit::kShare, [](const Row& row) { return row.share_of_kernels; }},
            {"time_ns", "total", Unit::kDurationNs, [](const Row& row) { return row.time_ns; }},
            {"count", "launched", Unit::kCount, [](const Row& row) { return row.count; }},
            {"kernels", "kernels", Unit::kCount, [](const Row& row) { return row.kernels; }},
            {"group", "kernels of", Unit::kText, [](const Row& row) { return group_name(row.group); }},
        },
        found.groups);
}

Table owner_table(const LibraryKernels& found) {
    using Row = OwnerUse;
    return make_table<Row>(
        "owners", "GPU time by owner", "a library owns what is launched inside its calls, else the object that called",
        {
            {"share_of_kernels", "% kernels", Unit::kShare, [](const Row& row) { return row.share_of_kernels; }},
            {"share_of_wall", "% wall", Unit::kShare, [](const Row& row) { return row.share_of_wall; }},
            {"time_ns", "total", Unit::kDurationNs, [](const Row& row) { return row.time_ns; }},
            {"count", "launched", Unit::kCount, [](const Row& row) { return row.count; }},
            {"kernels", "kernels", Unit::kCount, [](const Row& row) { return row.kernels; }},
            {"library", "library", Unit::kText, [](const Row& row) { return row.library; }},
            {"by_name", "by name", Unit::kText, [](const Row& row) { return row.by_name; }},
            {"owner", "owner", Unit::kText, [](const Row& row) { return row.owner; }},
        },
        found.owners);
}

Table top_table(const ViewInput& input, const LibraryKernels& found) {
    using Row = OwnerKernel;
    return make_table<Row>(
        "top", "Top kernels of each owner", "at most 5 each; view kernels has all",
        {
            {"owner", "owner", Unit::kText, [](const Row& row) { return row.owner; }},
            {"by_name", "by name", Unit::kText, [](const Row& row) { return row.by_name; }},
            {"rank", "rank", Unit::kCount, [](const Row& row) { return row.rank; }},
            {"share_of_owner", "% owner", Unit::kShare, [](const Row& row) { return row.share_of_owner; }},
            {"share_of_kernels", "% kernels", Unit::kShare, [](const Row& row) { return row.share_of_kernels; }},
            {"time_ns", "total", Unit::kDurationNs, [](const Row& row) { return row.time_ns; }},
            {"count", "launched", Unit::kCount, [](const Row& row) { return row.count; }},
            {"name", "kernel", Unit::kName,
             [&](const Row& row) { return kernel_name(row.mangled, input.options.names); }},
        },
        found.top);
}

}  // namespace

std::vector<Table> libraries_view(const ViewInput& input) {
    const LibraryKernels found = library_kernels(input.model, input.timeline);
    return {group_table(found), owner_table(found), top_table(input, found)};
}

}  // namespace gpuspy::analysis
