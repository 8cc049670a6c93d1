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
        const auto api = static_cast<std::size_t>(evidence.library_api);
        if (api >= by_library_api_.size()) {
            by_library_api_.resize(api + 1, kUnknown);
        }
        if (by_library_api_[api] == kUnknown) {
            const std::string& library = symbols.api(static_cast<std::uint32_t>(api)).library;
            by_library_api_[api] = intern(library, library);
        }
        return by_library_api_[api];
    }
    if (evidence.caller == 0) {
        return kUnknown;
    }
    Known& known = by_caller_[(evidence.caller * 0x9e3779b97f4a7c15) >> 56];
    if (known.caller == evidence.caller) {
        return known.owner;
    }
    const SharedObject* object = objects.find(evidence.caller, evidence.ticks);
    const std::uint32_t owner = object == nullptr ? kUnknown : intern("", object->basename());
    if (objects.always_the_same(evidence.caller)) {
        known = {evidence.caller, owner};
    }
    return owner;
}

}  // namespace gpuspy::analysis
