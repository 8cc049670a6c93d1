// Whose work a kernel is: the outermost library call around its launch, else the shared object that made the outermost
// call.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/model/call_forest.hpp"
#include "analysis/model/object_index.hpp"
#include "analysis/reader/symbols.hpp"

namespace gpuspy::analysis {

struct Owner {
    std::string library;  ///< "cudnn", "cublas" ...; empty outside library calls.
    std::string name;     ///< `library`, else the object's basename, else "unknown".
};

/// What an owner is found from. Kept for captured launches until all objects are known.
struct OwnerEvidence {
    std::int64_t library_api = -1;  ///< Symbols::apis() of the outermost library call, -1 for none.
    std::uint64_t caller = 0;       ///< Of the outermost call; 0 if not known.
    std::uint64_t ticks = 0;
};

OwnerEvidence owner_evidence(std::span<const TreeNode> tree, const CallContext& context);

/// Owners, numbered. Number 0 is "unknown".
class OwnerTable {
public:
    static constexpr std::uint32_t kUnknown = 0;

    OwnerTable() { intern("", "unknown"); }

    std::uint32_t resolve(const OwnerEvidence& evidence, const Symbols& symbols, const ObjectIndex& objects);
    [[nodiscard]] const Owner& at(std::uint32_t number) const { return owners_[number]; }
    [[nodiscard]] std::size_t size() const { return owners_.size(); }

private:
    std::uint32_t intern(const std::string& library, const std::string& name);

    struct Known {
        std::uint64_t caller = 0;  // 0: nothing.
        std::uint32_t owner = kUnknown;
    };

    std::map<std::pair<std::string, std::string>, std::uint32_t> numbers_;
    std::vector<std::uint32_t> by_library_api_;  // By Symbols::apis(): the owner, kUnknown: not looked up yet.
    std::array<Known, 256> by_caller_;           // Callers that lay in one object, or none, all the time.
    std::vector<Owner> owners_;
};

}  // namespace gpuspy::analysis
