#include "analysis/flops/work.hpp"

namespace gpuspy::analysis {

std::string_view name_of(MathType type) {
    switch (type) {
        case MathType::kFp64:
            return "FP64";
        case MathType::kFp32:
            return "FP32";
        case MathType::kFp32OrTf32:
            return "FP32 or TF32";
        case MathType::kTf32:
            return "TF32";
        case MathType::kFp16:
            return "FP16";
        case MathType::kBf16:
            return "BF16";
        case MathType::kFp8:
            return "FP8";
        case MathType::kFp4:
            return "FP4";
        case MathType::kInt8:
            return "INT8";
        case MathType::kOther:
            break;
    }
    return "other";
}

std::string_view name_of(Operation operation) {
    switch (operation) {
        case Operation::kConvolutionForward:
            return "convolution forward";
        case Operation::kConvolutionBackwardData:
            return "convolution backward data";
        case Operation::kConvolutionBackwardFilter:
            return "convolution backward filter";
        case Operation::kMatrixMultiply:
            return "matrix multiply";
        case Operation::kMatrixVector:
            return "matrix-vector";
        case Operation::kVector:
            return "vector";
        case Operation::kSolve:
            return "solve";
        case Operation::kAttentionForward:
            return "attention forward";
        case Operation::kAttentionBackward:
            return "attention backward";
    }
    return "other";
}

std::string_view reason_of(Unknown cause) {
    switch (cause) {
        case Unknown::kNoDescriptor:
            return "a descriptor's description was not recorded";
        case Unknown::kNoPlan:
            return "its plan's description was not recorded";
        case Unknown::kNotKept:
            return "an argument that is needed is not recorded";
        case Unknown::kOperation:
            return "its graph holds an operation of unknown work";
        case Unknown::kSizesOnDevice:
            return "sizes lie in device memory";
        case Unknown::kTrials:
            return "runs trials of its own";
        case Unknown::kNoFormula:
            return "no formula for this call";
        case Unknown::kSenselessSizes:
            return "senseless sizes";
    }
    return "";
}

}  // namespace gpuspy::analysis
