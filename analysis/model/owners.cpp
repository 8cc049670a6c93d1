#include "analysis/model/owners.hpp"

namespace gpuspy::analysis {

OwnerEvidence owner_evidence(std::span<const TreeNode> tree, const CallContext& context) {
    const CallRecord& outermost = tree.back().call;
    OwnerEvidence evidence{-1, outermost.caller, outermost.begin_ticks};
    if (context.library >= 0) {
        evidence.library_api = tree[static_cast<std::size_t>(context.library)].call.api;
    }
    return evidence;
}

std::uint32_t OwnerTable::intern(const std::string& library, const std::string& name) {
    const auto [found, added] = numbers_.try_emplace({library, name}, static_cast<std::uint32_t>(owners_.size()));
    if (added) {
        owners_.push_back({library, name});
    }
    return found->second;
}

std::uint32_t OwnerTable::resolve(const OwnerEvidence& evidence, const Symbols& symbols, const ObjectIndex& objects) {
    if (evidence.library_api >= 0) {
        const std::string& library = symbols.api(static_cast<std::uint32_t>(evidence.library_api)).library;
        return intern(library, library);
    }
    const SharedObject* object = evidence.caller == 0 ? nullptr : objects.find(evidence.caller, evidence.ticks);
    return object == nullptr ? kUnknown : intern("", object->basename());
}

}  // namespace gpuspy::analysis
