#include "analysis/flops/cublaslt_state.hpp"

#include "analysis/flops/number_format.hpp"

namespace gpuspy::analysis {
namespace {

// cublasLtMatrixLayoutAttribute_t and cublasLtMatmulDescAttributes_t (cublasLt.h, CUDA 11.7 to 13.0)
constexpr std::int64_t kLayoutType = 0, kLayoutRows = 2, kLayoutCols = 3, kLayoutBatchCount = 5;
constexpr std::int64_t kMatmulComputeType = 0, kMatmulTransposeA = 3;
constexpr std::int64_t kNoTranspose = 0;  // CUBLAS_OP_N

/// Of a buffer's first word, where the attribute has 32 bits.
std::int64_t low_half(std::int64_t word) {
    return static_cast<std::int32_t>(word);
}

}  // namespace

void CublasLtState::set_layout(Layout& layout, std::int64_t attribute, std::int64_t value) {
    switch (attribute) {
        case kLayoutType:
            layout.type = low_half(value);
            break;
        case kLayoutRows:
            layout.rows = value;
            break;
        case kLayoutCols:
            layout.cols = value;
            break;
        case kLayoutBatchCount:
            layout.batch = low_half(value);
            break;
        default:
            break;
    }
}

void CublasLtState::describe(std::string_view function, const CallArguments& arguments) {
    const bool sets_attribute = function.find("SetAttribute") != std::string_view::npos;
    const auto attribute = arguments.value("attr");
    const auto buffer = arguments.array("buf");
    if (sets_attribute && (!attribute || buffer.empty())) {
        return;
    }
    if (const auto handle = arguments.value("matLayout")) {
        if (!sets_attribute) {
            layouts_[*handle] = {.type = arguments.value_or("type", -1),
                                 .rows = arguments.value_or("rows", -1),
                                 .cols = arguments.value_or("cols", -1)};
        } else if (const auto known = layouts_.find(*handle); known != layouts_.end()) {
            set_layout(known->second, *attribute, buffer[0]);
        }
    } else if (const auto description = arguments.value("matmulDesc")) {
        if (!sets_attribute) {
            multiplications_[*description] = {.compute_type = arguments.value_or("computeType", -1)};
        } else if (const auto known = multiplications_.find(*description); known != multiplications_.end()) {
            if (*attribute == kMatmulTransposeA) {
                known->second.transposes_a = low_half(buffer[0]) != kNoTranspose;
            } else if (*attribute == kMatmulComputeType) {
                known->second.compute_type = low_half(buffer[0]);
            }
        }
    }
}

const CublasLtState::Layout* CublasLtState::layout(const CallArguments& arguments, std::string_view name) const {
    const auto handle = arguments.value(name);
    const auto found = handle ? layouts_.find(*handle) : layouts_.end();
    return found == layouts_.end() ? nullptr : &found->second;
}

WorkAnswer CublasLtState::matmul(const CallArguments& arguments) const {
    const Layout* const a = layout(arguments, "Adesc");
    const Layout* const b = layout(arguments, "Bdesc");
    const Layout* const d = layout(arguments, "Ddesc");
    const auto description = arguments.value("computeDesc");
    const auto multiplication = description ? multiplications_.find(*description) : multiplications_.end();
    if (a == nullptr || b == nullptr || d == nullptr || multiplication == multiplications_.end()) {
        return WorkAnswer::unknown(Unknown::kNoDescriptor);
    }
    const auto format = cuda_format(a->type);
    const auto b_format = cuda_format(b->type);
    const auto d_format = cuda_format(d->type);
    if (!format || !b_format || !d_format) {
        return WorkAnswer::unknown(Unknown::kSenselessSizes);
    }
    // op(A) is m x k, D is m x n: whatever the order in memory, rows and columns are those of the matrix.
    const Count k = multiplication->second.transposes_a ? a->rows : a->cols;
    const auto elements = [](const Layout& layout) { return Count(layout.rows) * layout.cols * layout.batch; };
    const Count flops = elements(*d) * k * format->multiply_add_flops();
    const Count bytes = format->bytes(elements(*a)) + b_format->bytes(elements(*b)) + d_format->bytes(elements(*d));
    if (!flops.valid() || !bytes.valid()) {
        return WorkAnswer::unknown(Unknown::kSenselessSizes);
    }
    return WorkAnswer::known({.flops = flops.value(),
                              .type = cublas_math(*format, multiplication->second.compute_type, false),
                              .least_bytes = bytes.value(),
                              .operation = Operation::kMatrixMultiply});
}

}  // namespace gpuspy::analysis
