// Work of BLAS calls: cuBLAS in all its interfaces, cublasXt, cuBLASLt. Expected numbers are worked out by hand.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "tests/unit/analysis/scripted_calls.hpp"

using namespace gpuspy::test;
using gpuspy::analysis::MathType;
using gpuspy::analysis::Operation;
using gpuspy::analysis::Unknown;
using gpuspy::analysis::WorkAnswer;
using Kind = WorkAnswer::Kind;

namespace {

constexpr std::int64_t kR16F = 2, kR32F = 0, kC32F = 4, kR8I = 3, kR8E4M3 = 28;

WorkAnswer one(const std::string& name, const NamedArguments& arguments) {
    ScriptedCalls call;
    return call(name, arguments);
}

void check_known(const WorkAnswer& answer, std::uint64_t flops, MathType type, std::uint64_t least_bytes,
                 Operation operation) {
    REQUIRE(answer.kind == Kind::kKnown);
    CHECK(answer.work.flops == flops);
    CHECK(answer.work.type == type);
    CHECK(answer.work.least_bytes == least_bytes);
    CHECK(answer.work.operation == operation);
}

const NamedArguments kMnk = {{"m", 128}, {"n", 256}, {"k", 512}};
constexpr std::uint64_t kProduct = 128 * 256 * 512;                     // 16,777,216
constexpr std::uint64_t kElements = 128 * 512 + 512 * 256 + 128 * 256;  // 229,376

NamedArguments with(NamedArguments arguments, const NamedArguments& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

}  // namespace

TEST_CASE("FLOPs of a matrix multiplication: 2 m n k, complex 8, whatever the name's form") {
    struct Row {
        const char* name;
        std::uint64_t flops;
        MathType type;
        std::uint64_t element_bytes;
    };
    const Row rows[] = {
        {"cublasSgemm_v2", 2 * kProduct, MathType::kFp32OrTf32, 4},
        {"cublasSgemm_v2_64", 2 * kProduct, MathType::kFp32OrTf32, 4},
        {"cublasSgemm", 2 * kProduct, MathType::kFp32OrTf32, 4},
        {"cublasDgemm_v2", 2 * kProduct, MathType::kFp64, 8},
        {"cublasCgemm_v2", 8 * kProduct, MathType::kFp32OrTf32, 8},
        {"cublasZgemm_v2_64", 8 * kProduct, MathType::kFp64, 16},
        {"cublasCgemm3m", 8 * kProduct, MathType::kFp32OrTf32, 8},
        {"cublasHgemm", 2 * kProduct, MathType::kFp16, 2},
        {"cublasHgemm_64", 2 * kProduct, MathType::kFp16, 2},
        {"cublasXtSgemm", 2 * kProduct, MathType::kFp32, 4},
        {"cublasXtZgemm", 8 * kProduct, MathType::kFp64, 16},
    };
    for (const Row& row : rows) {
        INFO(row.name);
        check_known(one(row.name, kMnk), row.flops, row.type, kElements * row.element_bytes,
                    Operation::kMatrixMultiply);
    }
    check_known(one("cublasUint8gemmBias", kMnk), 2 * kProduct, MathType::kInt8, kElements, Operation::kMatrixMultiply);
}

TEST_CASE("FLOPs of GemmEx: the arithmetic by the type of A and that of the computation") {
    struct Row {
        std::int64_t a_type, compute_type;
        MathType type;
    };
    const Row rows[] = {
        {kR32F, 68, MathType::kFp32OrTf32}, {kR32F, 69, MathType::kFp32}, {kR32F, 77, MathType::kTf32},
        {kR32F, 74, MathType::kFp16},       {kR32F, 75, MathType::kBf16}, {kR16F, 68, MathType::kFp16},
        {kR16F, 64, MathType::kFp16},       {14, 68, MathType::kBf16},    {kR8I, 72, MathType::kInt8},
        {kR8E4M3, 68, MathType::kFp8},      {1, 70, MathType::kFp64},
    };
    for (const Row& row : rows) {
        INFO(row.a_type << " " << row.compute_type);
        const auto answer = one("cublasGemmEx", with(kMnk, {{"Atype", row.a_type}, {"computeType", row.compute_type}}));
        REQUIRE(answer.kind == Kind::kKnown);
        CHECK(answer.work.flops == 2 * kProduct);
        CHECK(answer.work.type == row.type);
    }
    check_known(one("cublasGemmEx_64", with(kMnk, {{"Atype", kC32F}, {"computeType", 68}})), 8 * kProduct,
                MathType::kFp32OrTf32, kElements * 8, Operation::kMatrixMultiply);
    // Half matrices in a routine whose letter is that of the computation.
    check_known(one("cublasSgemmEx", with(kMnk, {{"Atype", kR16F}})), 2 * kProduct, MathType::kFp16, kElements * 2,
                Operation::kMatrixMultiply);
}

TEST_CASE("FLOPs of batched multiplications: once for each matrix of the batch") {
    for (const char* name : {"cublasSgemmBatched", "cublasSgemmStridedBatched_64", "cublasSgemmStridedBatched"}) {
        INFO(name);
        check_known(one(name, with(kMnk, {{"batchCount", 7}})), 14 * kProduct, MathType::kFp32OrTf32, 28 * kElements,
                    Operation::kMatrixMultiply);
    }
    check_known(
        one("cublasGemmStridedBatchedEx", with(kMnk, {{"batchCount", 3}, {"Atype", kR16F}, {"computeType", 68}})),
        6 * kProduct, MathType::kFp16, 6 * kElements, Operation::kMatrixMultiply);
    for (const char* name : {"cublasHgemmBatched", "cublasHgemmStridedBatched_64"}) {
        INFO(name);
        check_known(one(name, with(kMnk, {{"batchCount", 7}})), 14 * kProduct, MathType::kFp16, 14 * kElements,
                    Operation::kMatrixMultiply);
    }
    check_known(one("cublasCgemm3mBatched", with(kMnk, {{"batchCount", 2}})), 16 * kProduct, MathType::kFp32OrTf32,
                16 * kElements, Operation::kMatrixMultiply);
}

TEST_CASE("FLOPs of the other routines of level 3") {
    const NamedArguments left = {{"side", 0}, {"m", 30}, {"n", 50}};
    const NamedArguments right = {{"side", 1}, {"m", 30}, {"n", 50}};
    CHECK(one("cublasDsymm_v2", left).work.flops == 90'000);    // 2 x 30 x 30 x 50
    CHECK(one("cublasDsymm_v2", right).work.flops == 150'000);  // 2 x 30 x 50 x 50
    CHECK(one("cublasZhemm_v2", left).work.flops == 360'000);
    CHECK(one("cublasXtDspmm", left).work.flops == 90'000);
    CHECK(one("cublasDtrmm_v2", left).work.flops == 45'000);      // 30 x 30 x 50
    CHECK(one("cublasDtrsm_v2_64", right).work.flops == 75'000);  // 30 x 50 x 50
    CHECK(one("cublasDtrsm_v2", right).work.operation == Operation::kSolve);
    CHECK(one("cublasCtrsmBatched", with(left, {{"batchCount", 4}})).work.flops == 720'000);  // 4 x 4 x 45,000
    const NamedArguments nk = {{"n", 10}, {"k", 20}};
    CHECK(one("cublasDsyrk_v2", nk).work.flops == 2'200);  // 2 x 10 x 11 / 2 x 20
    CHECK(one("cublasZherk_v2", nk).work.flops == 8'800);
    CHECK(one("cublasDsyrkx", nk).work.flops == 2'200);
    CHECK(one("cublasDsyr2k_v2", nk).work.flops == 4'400);
    CHECK(one("cublasZher2k_v2_64", nk).work.flops == 17'600);
    CHECK(one("cublasDsyrk_v2", nk).work.least_bytes == (200 + 55) * 8);
    CHECK(one("cublasCsyrk3mEx", with(nk, {{"Atype", kC32F}})).work.flops == 8'800);
}

TEST_CASE("FLOPs of levels 1 and 2, and of factorisations") {
    const NamedArguments mn = {{"m", 30}, {"n", 50}};
    CHECK(one("cublasDgemv_v2", mn).work.flops == 3'000);
    CHECK(one("cublasDgemv_v2", mn).work.least_bytes == (1'500 + 80) * 8);
    CHECK(one("cublasCgemv_v2_64", mn).work.flops == 12'000);
    CHECK(one("cublasSgemvStridedBatched", with(mn, {{"batchCount", 10}})).work.flops == 30'000);
    const NamedArguments ten = with(mn, {{"batchCount", 10}});
    CHECK(one("cublasHSHgemvBatched", ten).work.flops == 30'000);
    CHECK(one("cublasHSSgemvStridedBatched_64", ten).work.type == MathType::kFp16);
    CHECK(one("cublasTSTgemvStridedBatched", ten).work.type == MathType::kBf16);
    CHECK(one("cublasTSSgemvBatched_64", ten).work.type == MathType::kBf16);
    CHECK(one("cublasSgemv_v2", mn).work.type == MathType::kFp32);  // no matrix product, so no TF32
    CHECK(one("cublasDger_v2", mn).work.flops == 3'000);
    CHECK(one("cublasDdgmm", mn).work.flops == 1'500);
    const NamedArguments n = {{"n", 100}};
    CHECK(one("cublasDsymv_v2", n).work.flops == 20'000);
    CHECK(one("cublasDtrsv_v2", n).work.flops == 10'000);
    CHECK(one("cublasDsyr_v2", n).work.flops == 10'100);
    CHECK(one("cublasDsyr2_v2", n).work.flops == 20'200);
    CHECK(one("cublasDsbmv_v2", {{"n", 100}, {"k", 2}}).work.flops == 988);      // 2 x (5 x 100 - 2 x 3)
    CHECK(one("cublasDtbmv_v2", {{"n", 100}, {"k", 99}}).work.flops == 10'000);  // a full band is a triangle
    CHECK(one("cublasSdot_v2", n).work.flops == 200);
    CHECK(one("cublasCdotc_v2", n).work.flops == 800);
    CHECK(one("cublasZaxpy_v2", n).work.flops == 800);
    CHECK(one("cublasSscal_v2", n).work.flops == 100);
    CHECK(one("cublasCscal_v2", n).work.flops == 600);
    CHECK(one("cublasCsscal_v2", n).work.flops == 200);
    CHECK(one("cublasScnrm2_v2", n).work.flops == 400);
    CHECK(one("cublasDasum_v2", n).work.flops == 100);
    CHECK(one("cublasDgetrfBatched", {{"n", 30}, {"batchSize", 2}}).work.flops == 36'000);  // 2 x 2/3 x 30^3
    CHECK(one("cublasDgetriBatched", {{"n", 30}, {"batchSize", 1}}).work.flops == 36'000);  // 4/3 x 30^3
    CHECK(one("cublasDgeqrfBatched", {{"m", 60}, {"n", 30}, {"batchSize", 1}}).work.flops ==
          90'000);  // 2 x 30^2 (60 - 10)
}

TEST_CASE("calls that compute no sums of products have none, and are known to") {
    for (const char* name : {"cublasScopy_v2", "cublasSswap_v2", "cublasIsamax_v2", "cublasIzamin", "cublasSgeam",
                             "cublasSetVector", "cublasGetMatrixAsync", "cublasSwapEx", "cublasXtCreate",
                             "cublasLtMatrixTransform", "cublasIamaxEx", "cublasSrotg_v2"}) {
        INFO(name);
        CHECK(one(name, {}).kind == Kind::kZero);
    }
}

TEST_CASE("BLAS calls of unknown work say why") {
    CHECK(one("cublasDgbmv_v2", {{"m", 3}, {"n", 4}}).kind == Kind::kUnknown);
    CHECK(one("cublasDotEx", {{"n", 3}}).cause == Unknown::kNotKept);  // of what type, no argument says
    CHECK(one("cublasSgemm_v2", {{"m", -1}, {"n", 4}, {"k", 4}}).cause == Unknown::kSenselessSizes);
    constexpr std::int64_t kHuge = std::int64_t{1} << 40;
    CHECK(one("cublasSgemm_v2_64", {{"m", kHuge}, {"n", kHuge}, {"k", 4}}).cause == Unknown::kSenselessSizes);
    CHECK(one("cufftExecC2C", {}).cause == Unknown::kNoFormula);
}

TEST_CASE("a BLAS call that failed did nothing") {
    ScriptedCalls call;
    call.status = 7;
    CHECK(call("cublasSgemm_v2", kMnk).kind == Kind::kComputesNothing);
}

namespace {

/// D = A B in half precision, 128 x 256 x 512, with A as stored for no transposition or for one.
void describe_matmul(ScriptedCalls& call, bool transposed) {
    call("cublasLtMatmulDescCreate", {{"matmulDesc", 1}, {"computeType", 68}, {"scaleType", 0}});
    call("cublasLtMatmulDescSetAttribute", {{"matmulDesc", 1}, {"attr", 3}, {"buf", {transposed ? 1 : 0}}});
    call("cublasLtMatrixLayoutCreate", {{"matLayout", 2},
                                        {"type", kR16F},
                                        {"rows", transposed ? 512 : 128},
                                        {"cols", transposed ? 128 : 512},
                                        {"ld", 512}});
    call("cublasLtMatrixLayoutCreate", {{"matLayout", 3}, {"type", kR16F}, {"rows", 512}, {"cols", 256}, {"ld", 512}});
    call("cublasLtMatrixLayoutCreate", {{"matLayout", 4}, {"type", kR16F}, {"rows", 128}, {"cols", 256}, {"ld", 128}});
}

const NamedArguments kMatmul = {{"computeDesc", 1}, {"Adesc", 2}, {"Bdesc", 3}, {"Cdesc", 4}, {"Ddesc", 4}};

}  // namespace

TEST_CASE("FLOPs of cublasLtMatmul: by its layouts, as they stand, and A's transposition") {
    for (const bool transposed : {false, true}) {
        ScriptedCalls call;
        describe_matmul(call, transposed);
        check_known(call("cublasLtMatmul", kMatmul), 2 * kProduct, MathType::kFp16, 2 * kElements,
                    Operation::kMatrixMultiply);
    }
    ScriptedCalls call;
    describe_matmul(call, false);
    for (const std::int64_t layout : {2, 3, 4}) {
        call("cublasLtMatrixLayoutSetAttribute", {{"matLayout", layout}, {"attr", 5}, {"buf", {9}}});
    }
    CHECK(call("cublasLtMatmul", kMatmul).work.flops == 18 * kProduct);
    // Described anew at the same address: no batch is left of the last one.
    describe_matmul(call, false);
    CHECK(call("cublasLtMatmul", kMatmul).work.flops == 2 * kProduct);
}

TEST_CASE("cuBLASLt: 32-bit floats become TF32 only where the computation says so; complex is 8 a multiply-add") {
    ScriptedCalls call;
    const auto layouts = [&call](std::int64_t type) {
        for (const std::int64_t layout : {2, 3, 4}) {
            call("cublasLtMatrixLayoutInit_internal",
                 {{"matLayout", layout}, {"type", type}, {"rows", 10}, {"cols", 10}, {"ld", 10}});
        }
    };
    layouts(kR32F);
    call("cublasLtMatmulDescInit_internal", {{"matmulDesc", 1}, {"computeType", 68}});
    CHECK(call("cublasLtMatmul", kMatmul).work.type == MathType::kFp32);
    call("cublasLtMatmulDescSetAttribute", {{"matmulDesc", 1}, {"attr", 0}, {"buf", {77}}});
    CHECK(call("cublasLtMatmul", kMatmul).work.type == MathType::kTf32);
    layouts(kC32F);
    CHECK(call("cublasLtMatmul", kMatmul).work.flops == 8'000);
}

TEST_CASE("cuBLASLt: a layout that was not described is said to be missing") {
    ScriptedCalls call;
    CHECK(call("cublasLtMatmul", kMatmul).cause == Unknown::kNoDescriptor);
    describe_matmul(call, false);
    CHECK(call("cublasLtMatmul", {{"computeDesc", 1}, {"Adesc", 2}, {"Bdesc", 3}, {"Cdesc", 4}, {"Ddesc", 5}}).cause ==
          Unknown::kNoDescriptor);
    call.status = 1;
    call("cublasLtMatrixLayoutCreate", {{"matLayout", 2}, {"type", kR16F}, {"rows", 1}, {"cols", 1}});
    call.status = 0;
    CHECK(call("cublasLtMatmul", kMatmul).work.flops == 2 * kProduct);
}

TEST_CASE("FLOPs of grouped products: the sums over the groups, which the call's arrays gave") {
    // Two of 10 x 20 x 30 and three of 5 x 5 x 5.
    const NamedArguments sums = {{"mnk", 12'000 + 375}, {"mk", 600 + 75}, {"kn", 1'200 + 75}, {"mn", 400 + 75}};
    check_known(one("cublasDgemmGroupedBatched", sums), 24'750, MathType::kFp64, 8 * 2'425, Operation::kMatrixMultiply);
    NamedArguments mixed = sums;
    mixed.emplace_back("Atype", kR16F);
    check_known(one("cublasGemmGroupedBatchedEx_64", mixed), 24'750, MathType::kFp16, 2 * 2'425,
                Operation::kMatrixMultiply);
    NamedArguments none = sums;
    none[0] = {"mnk", -1};
    CHECK(one("cublasDgemmGroupedBatched", none).cause == Unknown::kNotKept);
    Api older = hooked("cublasDgemmGroupedBatched");
    older.fields = "group_count:14i";
    CHECK(ScriptedCalls().as(older, {{"group_count", 2}}).cause == Unknown::kNotKept);
}

TEST_CASE("a handle's math mode says whether 32-bit floats may become TF32") {
    ScriptedCalls call;
    NamedArguments product = kMnk;
    product.emplace_back("h", 0x10);
    const auto type = [&](const char* name = "cublasSgemm_v2") { return call(name, product).work.type; };
    CHECK(type() == MathType::kFp32OrTf32);  // The handle is older than the recording.
    call("cublasSetMathMode", {{"h", 0x10}, {"mode", 3}});
    CHECK(type() == MathType::kFp32OrTf32);  // TF32 is allowed: kernels tell.
    call("cublasSetMathMode", {{"h", 0x10}, {"mode", 0}});
    CHECK(type() == MathType::kFp32);
    CHECK(type("cublasCgemm_v2") == MathType::kFp32);
    call("cublasSetMathMode", {{"h", 0x10}, {"mode", 16 + 3}});  // A flag that is no mode.
    CHECK(type() == MathType::kFp32OrTf32);
    call("cublasSetMathMode", {{"h", 0x10}, {"mode", 2}});
    CHECK(type() == MathType::kFp32);
    call("cublasSetMathMode", {{"h", 0x20}, {"mode", 3}});  // Another handle.
    CHECK(type() == MathType::kFp32);
    call("cublasSetMathMode", {{"h", 0x10}, {"mode", 1}});
    CHECK(type() == MathType::kFp16);
    call("cublasCreate_v2", {{"h", 0x10}});  // A new one at the same address.
    CHECK(type() == MathType::kFp32);
    call.status = 1;
    call("cublasSetMathMode", {{"h", 0x10}, {"mode", 3}});
    call.status = 0;
    CHECK(type() == MathType::kFp32);
    NamedArguments fast = product;
    for (const auto& [name, value] : {std::pair{"Atype", kR32F}, std::pair{"computeType", std::int64_t{77}}})
        fast.emplace_back(name, value);
    CHECK(call("cublasGemmEx", fast).work.type == MathType::kTf32);  // The call's own word counts.
}
