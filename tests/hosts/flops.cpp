// Library calls whose work is in what they were given: grouped products, a handle's math mode, a recurrent network, and plans of
// graphs that heuristics were asked about before any plan was made.
#include <cublas_v2.h>
#include <cudnn.h>

#include <vector>

#include "tests/hosts/host.hpp"

namespace {

void multiply() {
    cublasHandle_t handle = nullptr;
    const float one = 1.0F;
    host::must("cublasCreate", cublasCreate(&handle));
    const auto product = [&](int size) {
        host::must("cublasSgemm", cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, &one, nullptr, size,
                                              nullptr, size, &one, nullptr, size));
    };
    product(8);
    host::must("cublasSetMathMode", cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));
    product(16);
    // Two of 10 x 20 x 30 and three of 5 x 5 x 5.
    const cublasOperation_t none[] = {CUBLAS_OP_N, CUBLAS_OP_N};
    const int m[] = {10, 5}, n[] = {20, 5}, k[] = {30, 5}, sizes[] = {2, 3};
    host::must("cublasGemmGroupedBatchedEx",
               cublasGemmGroupedBatchedEx(handle, none, none, m, n, k, &one, nullptr, CUDA_R_16F, m, nullptr,
                                          CUDA_R_16F, k, &one, nullptr, CUDA_R_16F, m, 2, sizes, CUBLAS_COMPUTE_32F));
}

void recur(cudnnHandle_t handle) {
    cudnnRNNDescriptor_t network = nullptr;
    cudnnRNNDataDescriptor_t data = nullptr;
    host::must("cudnnCreateRNNDescriptor", cudnnCreateRNNDescriptor(&network));
    host::must("cudnnCreateRNNDataDescriptor", cudnnCreateRNNDataDescriptor(&data));
    std::vector<int> lengths(40, 2);  // 40 sequences: more than an array of arguments keeps
    lengths[0] = 5;
    host::must("cudnnSetRNNDataDescriptor",
               cudnnSetRNNDataDescriptor(data, CUDNN_DATA_HALF, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, 5, 40, 32,
                                         lengths.data(), nullptr));
    host::must("cudnnSetRNNDescriptor_v8",
               cudnnSetRNNDescriptor_v8(network, CUDNN_RNN_ALGO_STANDARD, CUDNN_LSTM, CUDNN_RNN_DOUBLE_BIAS,
                                        CUDNN_BIDIRECTIONAL, CUDNN_LINEAR_INPUT, CUDNN_DATA_HALF, CUDNN_DATA_FLOAT,
                                        CUDNN_TENSOR_OP_MATH, 32, 64, 64, 2, nullptr, 0));
    host::must("cudnnRNNForward", cudnnRNNForward(handle, network, CUDNN_FWD_MODE_INFERENCE, nullptr, data, nullptr,
                                                  data, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                                  0, nullptr, 0, nullptr, 0, nullptr));
}

cudnnBackendDescriptor_t made(cudnnBackendDescriptorType_t type) {
    cudnnBackendDescriptor_t descriptor = nullptr;
    host::must("cudnnBackendCreateDescriptor", cudnnBackendCreateDescriptor(type, &descriptor));
    return descriptor;
}

void set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
         std::int64_t count, const void* elements) {
    host::must("cudnnBackendSetAttribute", cudnnBackendSetAttribute(descriptor, name, type, count, elements));
}

cudnnBackendDescriptor_t tensor(std::int64_t rows, std::int64_t columns, cudnnDataType_t type) {
    const cudnnBackendDescriptor_t descriptor = made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    const std::int64_t dimensions[] = {1, rows, columns};
    set(descriptor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    set(descriptor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 3, dimensions);
    return descriptor;
}

/// What heuristics found for a graph.
cudnnBackendDescriptor_t configuration(const std::vector<cudnnBackendDescriptor_t>& operations) {
    const cudnnBackendDescriptor_t graph = made(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    set(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
        static_cast<std::int64_t>(operations.size()), operations.data());
    const cudnnBackendDescriptor_t heuristics = made(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    set(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph);
    std::int64_t found = 0;
    cudnnBackendDescriptor_t results[] = {made(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR),
                                          made(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)};
    host::must("cudnnBackendGetAttribute", cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                                                    CUDNN_TYPE_BACKEND_DESCRIPTOR, 2, &found, results));
    return results[0];
}

/// `products` times 4 x 8 by 8 x 2.
std::vector<cudnnBackendDescriptor_t> multiplications(cudnnDataType_t type, std::size_t products) {
    const cudnnBackendDescriptor_t operation = made(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    const cudnnBackendDescriptor_t a = tensor(4, 8, type), b = tensor(8, 2, type), c = tensor(4, 2, type);
    set(operation, CUDNN_ATTR_OPERATION_MATMUL_ADESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &a);
    set(operation, CUDNN_ATTR_OPERATION_MATMUL_BDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &b);
    set(operation, CUDNN_ATTR_OPERATION_MATMUL_CDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &c);
    return std::vector<cudnnBackendDescriptor_t>(products, operation);
}

/// cuDNN's node for attention, b 1, h 2, s 16, d 8, and a causal mask: the index of the row against that of the column.
std::vector<cudnnBackendDescriptor_t> causal_attention() {
    const auto of = [](std::int64_t rows, std::int64_t columns) {
        const cudnnBackendDescriptor_t descriptor = made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
        const cudnnDataType_t type = CUDNN_DATA_HALF;
        const std::int64_t dimensions[] = {1, 2, rows, columns};
        set(descriptor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
        set(descriptor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, dimensions);
        return descriptor;
    };
    const auto pointwise = [](cudnnPointwiseMode_t mode, cudnnBackendDescriptor_t x, cudnnBackendDescriptor_t b,
                              cudnnBackendDescriptor_t y) {
        const cudnnBackendDescriptor_t kind = made(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
        const cudnnBackendDescriptor_t operation = made(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
        set(kind, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
        set(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &kind);
        set(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &x);
        if (b != nullptr) set(operation, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &b);
        set(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &y);
        return operation;
    };
    const cudnnBackendDescriptor_t attention = made(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR);
    const cudnnBackendDescriptor_t q = of(16, 8), k = of(16, 8), v = of(16, 8);
    const cudnnBackendDescriptor_t scores = of(16, 16), row = of(16, 16), column = of(16, 16), mask = of(16, 16);
    set(attention, CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &q);
    set(attention, CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &k);
    set(attention, CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &v);
    return {pointwise(CUDNN_POINTWISE_GEN_INDEX, scores, nullptr, row),
            pointwise(CUDNN_POINTWISE_GEN_INDEX, scores, nullptr, column),
            pointwise(CUDNN_POINTWISE_CMP_GE, row, column, mask), attention};
}

void execute(cudnnHandle_t handle, cudnnBackendDescriptor_t config) {
    const cudnnBackendDescriptor_t plan = made(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    set(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &config);
    host::must("cudnnBackendExecute", cudnnBackendExecute(handle, plan, plan));
}

}  // namespace

int main() {
    multiply();
    cudnnHandle_t handle = nullptr;
    host::must("cudnnCreate", cudnnCreate(&handle));
    recur(handle);
    const cudnnBackendDescriptor_t twenty = configuration(multiplications(CUDNN_DATA_HALF, 20));
    const cudnnBackendDescriptor_t one = configuration(multiplications(CUDNN_DATA_DOUBLE, 1));
    const cudnnBackendDescriptor_t many = configuration(multiplications(CUDNN_DATA_BFLOAT16, 30));
    const cudnnBackendDescriptor_t causal = configuration(causal_attention());
    execute(handle, many);
    execute(handle, twenty);
    execute(handle, one);
    execute(handle, causal);
    host::must("cudaDeviceSynchronize", cudaDeviceSynchronize());
    return 0;
}
