// cuDNN's graph interface: descriptors by their attributes, and the work of execution plans.
//
// cuDNN takes a descriptor as an attribute of another only once it is finalised, and a finalised one does not change. So
// what a handle stands for when it is set as an attribute is final, and is kept from then on by whoever refers to it:
// the descriptor may be destroyed, and its address stand for another, while plans that were made of it go on. Creation,
// finalisation and destruction themselves are not recorded; a descriptor that is described after it was referred to is
// another one at the same address.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/flops/call_arguments.hpp"
#include "analysis/flops/cudnn_attributes.hpp"
#include "analysis/flops/work.hpp"

namespace gpuspy::analysis {

/// A descriptor as described. Attributes are numbers, or other descriptors (nullptr: one whose description was not
/// recorded, or that cannot be part of this one).
struct BackendDescriptor {
    DescriptorKind kind = DescriptorKind::kOther;
    bool referred_to = false;
    std::map<std::int64_t, std::vector<std::int64_t>> values;
    std::map<std::int64_t, std::vector<std::shared_ptr<const BackendDescriptor>>> links;
    bool cut = false;  ///< Some elements of an attribute were not recorded: there were too many.

    /// The first element; `otherwise` if the attribute was not set.
    [[nodiscard]] std::int64_t value_or(std::int64_t attribute, std::int64_t otherwise) const;
    /// The first descriptor; nullptr if there is none, or its description is not known.
    [[nodiscard]] const BackendDescriptor* link(std::int64_t attribute) const;
    [[nodiscard]] bool has_link(std::int64_t attribute) const { return links.count(attribute) != 0; }
};

/// The work of a finalised operation graph: the sum over its operations.
WorkAnswer work_of_graph(const BackendDescriptor& graph);

class CudnnGraphState {
public:
    /// cudnnBackendSetAttribute; it succeeded.
    void set_attribute(std::uint32_t thread, const CallArguments& arguments);
    /// cudnnBackendGetAttribute for the results of heuristics; it succeeded.
    void get_results(const CallArguments& arguments);
    /// A call that executes, or puts into a CUDA graph, the plan that it names.
    [[nodiscard]] WorkAnswer execute(const CallArguments& arguments) const;

private:
    std::shared_ptr<const BackendDescriptor> refer_to(std::int64_t handle, DescriptorKind from);
    void set_plan(std::int64_t plan, std::uint32_t thread, const BackendDescriptor* config);

    std::unordered_map<std::int64_t, std::shared_ptr<BackendDescriptor>> descriptors_;  // by handle, as they stand
    // Of engine configurations that heuristics chose where the call for the results was not recorded (traces of before it was kept,
    // more results than are): they are taken for those of the graph that their thread asked heuristics about last.
    std::unordered_map<std::uint32_t, std::shared_ptr<const BackendDescriptor>> asked_;  // by thread
    std::unordered_map<std::int64_t, WorkAnswer> plans_;                                 // by handle
};

}  // namespace gpuspy::analysis
