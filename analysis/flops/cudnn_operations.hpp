// Operations of a cuDNN graph: the products that one computes, from the descriptors that it was set to.
#pragma once

#include <optional>

#include "analysis/flops/count.hpp"
#include "analysis/flops/cudnn_graph.hpp"
#include "analysis/flops/number_format.hpp"

namespace gpuspy::analysis {

/// Elements of a tensor: dimensions count vectors where it has them.
Count elements_of(const BackendDescriptor& tensor);
/// nullopt: no tensor, or of a type that is not known.
std::optional<NumberFormat> format_of(const BackendDescriptor* tensor);

/// The work of one operation with products.
struct Products {
    Count multiply_adds;
    NumberFormat format;
    Operation operation;
};

struct ProductsAnswer {
    std::optional<Products> products;
    Unknown cause = Unknown::kNoDescriptor;
};

/// Of an operation that has products; unknown of any other.
ProductsAnswer products_of(const BackendDescriptor& operation);

}  // namespace gpuspy::analysis
