// cuBLASLt: matrix layouts and descriptions of multiplications, as they stand, and the work of a multiplication by them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "analysis/flops/call_arguments.hpp"
#include "analysis/flops/work.hpp"

namespace gpuspy::analysis {

class CublasLtState {
public:
    /// A call that describes; it succeeded.
    void describe(std::string_view function, const CallArguments& arguments);
    /// cublasLtMatmul.
    [[nodiscard]] WorkAnswer matmul(const CallArguments& arguments) const;

private:
    struct Layout {
        std::int64_t type = 0, rows = 0, cols = 0, batch = 1;
    };
    struct Multiplication {
        std::int64_t compute_type = 0;
        bool transposes_a = false;
    };

    [[nodiscard]] const Layout* layout(const CallArguments& arguments, std::string_view name) const;
    void set_layout(Layout& layout, std::int64_t attribute, std::int64_t value);

    std::unordered_map<std::int64_t, Layout> layouts_;  // by handle: an address, given out again and again
    std::unordered_map<std::int64_t, Multiplication> multiplications_;
};

}  // namespace gpuspy::analysis
