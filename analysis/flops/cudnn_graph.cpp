#include "analysis/flops/cudnn_graph.hpp"

#include <set>
#include <utility>

#include "analysis/flops/cudnn_operations.hpp"

namespace gpuspy::analysis {

std::int64_t BackendDescriptor::value_or(std::int64_t attribute, std::int64_t otherwise) const {
    const auto found = values.find(attribute);
    return found == values.end() || found->second.empty() ? otherwise : found->second[0];
}

const BackendDescriptor* BackendDescriptor::link(std::int64_t attribute) const {
    const auto found = links.find(attribute);
    return found == links.end() || found->second.empty() ? nullptr : found->second[0].get();
}

namespace {

/// In traces that do not keep how many elements an attribute has: as many are recorded at most, and with as many there may be more.
constexpr std::size_t kMostElements = 16;

bool is_pointwise(const BackendDescriptor& operation, std::int64_t first_mode, std::int64_t last_mode) {
    const BackendDescriptor* const pointwise = operation.link(cudnn::kPointwiseDescriptor);
    const std::int64_t mode = pointwise == nullptr ? -1 : pointwise->value_or(cudnn::kPointwiseMode, -1);
    return mode >= first_mode && mode <= last_mode;
}

using Operations = std::vector<std::shared_ptr<const BackendDescriptor>>;

/// A causal mask is made of single operations of the graph, around cuDNN's node for attention too (which has no attribute for it): the index
/// of the row compared with that of the column. Half of the products are masked, and left out by every implementation.
bool is_causal(const Operations& operations) {
    std::set<const BackendDescriptor*> indices;
    for (const auto& operation : operations) {
        if (is_pointwise(*operation, cudnn::kGenerateIndex, cudnn::kGenerateIndex)) {
            indices.insert(operation->link(cudnn::kPointwiseY));
        }
    }
    for (const auto& operation : operations) {
        const BackendDescriptor* const x = operation->link(cudnn::kPointwiseX);
        const BackendDescriptor* const b = operation->link(cudnn::kPointwiseB);
        if (is_pointwise(*operation, cudnn::kFirstComparison, cudnn::kLastComparison) && x != b &&
            indices.count(x) != 0 && indices.count(b) != 0) {
            return true;
        }
    }
    return false;
}

/// Of every tensor that an operation reads or writes in memory, once: virtual ones never get there.
Count bytes_of(const Operations& operations) {
    std::set<const BackendDescriptor*> tensors;
    for (const auto& operation : operations) {
        for (const auto& [attribute, links] : operation->links) {
            for (const auto& tensor : links) {
                if (tensor != nullptr && tensor->kind == DescriptorKind::kTensor) tensors.insert(tensor.get());
            }
        }
    }
    Count bytes = 0;
    for (const BackendDescriptor* const tensor : tensors) {
        const bool in_memory =
            tensor->value_or(cudnn::kTensorIsVirtual, 0) == 0 && tensor->value_or(cudnn::kTensorIsByValue, 0) == 0;
        if (const auto format = format_of(tensor); in_memory && format) {
            bytes = bytes + format->bytes(elements_of(*tensor));
        }
    }
    return bytes;
}

}  // namespace

WorkAnswer work_of_graph(const BackendDescriptor& graph) {
    const auto found = graph.links.find(cudnn::kGraphOperations);
    if (found == graph.links.end()) return WorkAnswer::unknown(Unknown::kNoDescriptor);
    const Operations& operations = found->second;
    if (graph.cut) return WorkAnswer::unknown(Unknown::kNotKept);
    Count flops = 0;
    Count largest = 0;
    std::size_t matrix_products = 0;
    Work work;
    for (const auto& operation : operations) {
        if (operation == nullptr) return WorkAnswer::unknown(Unknown::kNoDescriptor);
        if (operation->kind == DescriptorKind::kPointwiseOperation ||
            operation->kind == DescriptorKind::kOperationWithoutProducts) {
            continue;
        }
        const ProductsAnswer answer = products_of(*operation);
        if (!answer.products) return WorkAnswer::unknown(answer.cause);
        const Count own = answer.products->multiply_adds * answer.products->format.multiply_add_flops();
        flops = flops + own;
        matrix_products += answer.products->operation == Operation::kMatrixMultiply ? 1 : 0;
        if (!(own < largest)) {
            largest = own;
            work.type = cudnn_math(answer.products->format);
            work.operation = answer.products->operation;
        }
    }
    // Two products of matrices in one graph are attention; its backward has five (or four, with Q K' kept).
    if (matrix_products > 1) {
        work.operation = matrix_products > 2 ? Operation::kAttentionBackward : Operation::kAttentionForward;
    }
    const bool is_attention =
        work.operation == Operation::kAttentionForward || work.operation == Operation::kAttentionBackward;
    flops = is_attention && is_causal(operations) ? flops / 2 : flops;
    const Count bytes = bytes_of(operations);
    if (!flops.valid() || !bytes.valid()) return WorkAnswer::unknown(Unknown::kSenselessSizes);
    if (flops.value() == 0) return WorkAnswer::zero();
    work.flops = flops.value();
    work.least_bytes = bytes.value();
    return WorkAnswer::known(work);
}

std::shared_ptr<const BackendDescriptor> CudnnGraphState::refer_to(std::int64_t handle, DescriptorKind from) {
    const auto found = descriptors_.find(handle);
    if (found == descriptors_.end()) return nullptr;
    found->second->referred_to = true;
    // No trace, however damaged, makes a chain that is longer than a plan's.
    return level_of(found->second->kind) < level_of(from) ? found->second : nullptr;
}

void CudnnGraphState::set_attribute(std::uint32_t thread, const CallArguments& arguments) {
    const auto handle = arguments.value("descriptor");
    const auto attribute = arguments.value("attributeName");
    if (!handle || !attribute) return;
    const auto elements = arguments.array("arrayOfElements");
    const DescriptorKind kind = kind_of_attribute(*attribute);

    std::vector<std::shared_ptr<const BackendDescriptor>> links;
    const bool refers = arguments.value("attributeType") == cudnn::kBackendDescriptorType;
    for (const std::int64_t element : refers ? elements : std::span<const std::int64_t>()) {
        links.push_back(refer_to(element, kind));
    }
    std::shared_ptr<BackendDescriptor>& descriptor = descriptors_[*handle];
    if (descriptor == nullptr || descriptor->referred_to || descriptor->kind != kind) {
        descriptor = std::make_shared<BackendDescriptor>();
        descriptor->kind = kind;
    }
    if (*attribute == cudnn::kHeuristicsGraph && !links.empty()) {
        asked_[thread] = links[0];
    } else if (*attribute == cudnn::kPlanEngineConfig) {
        set_plan(*handle, thread, links.empty() ? nullptr : links[0].get());
    } else if (*attribute == cudnn::kPlanJson) {
        plans_[*handle] = WorkAnswer::unknown(Unknown::kNoPlan);
    }
    const auto count = arguments.value("count");
    descriptor->cut = descriptor->cut ||
                      (count ? *count > static_cast<std::int64_t>(elements.size()) : elements.size() >= kMostElements);
    if (refers) {
        descriptor->links[*attribute] = std::move(links);
    } else {
        descriptor->values[*attribute].assign(elements.begin(), elements.end());
    }
}

void CudnnGraphState::get_results(const CallArguments& arguments) {
    const auto handle = arguments.value("descriptor");
    const auto heuristics = handle ? descriptors_.find(*handle) : descriptors_.end();
    if (heuristics == descriptors_.end() || arguments.value("attributeName") != cudnn::kHeuristicsResults) return;
    const auto graph = heuristics->second->links.find(cudnn::kHeuristicsGraph);
    if (graph == heuristics->second->links.end()) return;
    // As if the program had described them: a configuration of an engine of that graph.
    const auto engine = std::make_shared<BackendDescriptor>();
    engine->kind = DescriptorKind::kEngine;
    engine->links[cudnn::kEngineGraph] = graph->second;
    for (const std::int64_t config : arguments.array("arrayOfElements")) {
        std::shared_ptr<BackendDescriptor>& descriptor = descriptors_[config];
        descriptor = std::make_shared<BackendDescriptor>();
        descriptor->kind = DescriptorKind::kEngineConfig;
        descriptor->links[cudnn::kEngineConfigEngine] = {engine};
    }
}

void CudnnGraphState::set_plan(std::int64_t plan, std::uint32_t thread, const BackendDescriptor* config) {
    const BackendDescriptor* graph = nullptr;
    if (config != nullptr && config->has_link(cudnn::kEngineConfigEngine)) {
        const BackendDescriptor* const engine = config->link(cudnn::kEngineConfigEngine);
        graph = engine == nullptr ? nullptr : engine->link(cudnn::kEngineGraph);
    } else if (const auto asked = asked_.find(thread); asked != asked_.end()) {
        graph = asked->second.get();
    }
    plans_[plan] = graph == nullptr ? WorkAnswer::unknown(Unknown::kNoDescriptor) : work_of_graph(*graph);
}

WorkAnswer CudnnGraphState::execute(const CallArguments& arguments) const {
    const auto plan = arguments.value("executionPlan");
    const auto found = plan ? plans_.find(*plan) : plans_.end();
    return found == plans_.end() ? WorkAnswer::unknown(Unknown::kNoPlan) : found->second;
}

}  // namespace gpuspy::analysis
