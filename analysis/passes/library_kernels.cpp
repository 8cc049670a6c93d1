#include "analysis/passes/library_kernels.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/passes/library_by_name.hpp"
#include "analysis/passes/ratio.hpp"

namespace gpuspy::analysis {
namespace {

struct KernelTotal {
    std::uint64_t count = 0, time_ns = 0;
};
using Kernels = std::map<std::uint32_t, KernelTotal>;  // by name

KernelGroup group_of(std::uint32_t owner, const OwnerUse& use) {
    if (!use.library.empty()) {
        return use.library == "cudnn" ? KernelGroup::kCudnn : KernelGroup::kOtherLibraries;
    }
    if (!use.by_name.empty()) {
        return use.by_name == "cudnn" ? KernelGroup::kCudnnByName : KernelGroup::kOtherLibrariesByName;
    }
    return owner == OwnerTable::kUnknown ? KernelGroup::kUnknown : KernelGroup::kOwn;
}

}  // namespace

LibraryKernels library_kernels(const Model& model, const Timeline& timeline) {
    std::map<std::pair<std::uint32_t, std::string_view>, Kernels> owners;  // by owner, library by name
    std::map<std::uint32_t, std::string_view> by_name;                     // by kernel's name
    std::uint64_t total_ns = 0;
    for (const DeviceActivity& activity : timeline.activities) {
        if (activity.record.kind != ActivityKind::kKernel) {
            continue;
        }
        const std::uint32_t name = activity.record.name;
        const auto [told, added] = by_name.try_emplace(name);
        if (added) {
            told->second = library_by_name(model.kernel_name(name));
        }
        const bool in_library_call = !model.owners.at(activity.owner).library.empty();
        KernelTotal& kernel = owners[{activity.owner, in_library_call ? std::string_view{} : told->second}][name];
        ++kernel.count;
        kernel.time_ns += activity.timed ? activity.record.duration_ns : 0;
        total_ns += activity.timed ? activity.record.duration_ns : 0;
    }
    struct Listed {
        OwnerUse use;
        const Kernels* kernels;
    };
    std::vector<Listed> listed;
    std::map<KernelGroup, GroupUse> groups;
    for (const auto& [key, kernels] : owners) {
        OwnerUse& use = listed.emplace_back(Listed{{}, &kernels}).use;
        use.library = model.owners.at(key.first).library;
        use.owner = model.owners.at(key.first).name;
        use.by_name = key.second;
        use.kernels = kernels.size();
        for (const auto& [name, kernel] : kernels) {
            use.count += kernel.count;
            use.time_ns += kernel.time_ns;
        }
        use.share_of_kernels = ratio(use.time_ns, total_ns);
        use.share_of_wall = ratio(use.time_ns, timeline.wall_ns());
        GroupUse& group = groups[group_of(key.first, use)];
        group.group = group_of(key.first, use);
        group.kernels += use.kernels;
        group.count += use.count;
        group.time_ns += use.time_ns;
    }
    LibraryKernels result;
    for (auto& [group, use] : groups) {
        use.share_of_kernels = ratio(use.time_ns, total_ns);
        result.groups.push_back(use);
    }
    std::sort(listed.begin(), listed.end(), [](const Listed& a, const Listed& b) {
        return std::tie(b.use.time_ns, b.use.count, a.use.owner, a.use.by_name) <
               std::tie(a.use.time_ns, a.use.count, b.use.owner, b.use.by_name);
    });
    for (const auto& [use, kernels] : listed) {
        std::vector<OwnerKernel> of_owner;
        for (const auto& [name, kernel] : *kernels) {
            of_owner.push_back({use.owner, use.by_name, 0, model.kernel_name(name), kernel.count, kernel.time_ns,
                                ratio(kernel.time_ns, use.time_ns), ratio(kernel.time_ns, total_ns)});
        }
        std::sort(of_owner.begin(), of_owner.end(), [](const OwnerKernel& a, const OwnerKernel& b) {
            return std::tie(b.time_ns, b.count, a.mangled) < std::tie(a.time_ns, a.count, b.mangled);
        });
        of_owner.resize(std::min(of_owner.size(), kTopOfOwner));
        for (OwnerKernel& kernel : of_owner) {
            kernel.rank = static_cast<std::uint64_t>(&kernel - of_owner.data()) + 1;
            result.top.push_back(std::move(kernel));
        }
        result.owners.push_back(use);
    }
    return result;
}

}  // namespace gpuspy::analysis
