#include "analysis/flops/blas_routines.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>

namespace gpuspy::analysis {
namespace {

struct Sizes {
    Count m{}, n{}, k{};
    Count order{};        ///< Of the square matrix of a call with a side: m if it stands left, else n.
    Count right_sides{};  ///< Columns on the right side of a system of equations.
};

using Formula = Count (*)(const Sizes&);

}  // namespace

/// A routine: how many of its units of work there are, and what one costs. Where BLAS has a symmetric or triangular matrix,
/// its triangle counts once. Operation counts as in LAPACK Working Note 41, appendix C; factorisations without their
/// terms of lower order.
struct BlasRoutine {
    std::string_view name;
    Operation operation;
    std::string_view sizes;                               ///< That it needs: m, n, k, s (side), r (right-hand sides).
    Formula units;                                        ///< nullptr: none is known.
    Formula elements;                                     ///< Of its operands, read and written.
    std::int64_t real_flops, complex_flops, mixed_flops;  ///< Of a unit; all 0: no arithmetic that counts.
};

namespace {

constexpr Count triangle(Count n) {
    return n * (n + 1) / 2;
}
/// Elements of a square matrix of order n with k diagonals on either side of its main one, and of one such triangle.
constexpr Count band(Count n, Count k) {
    return n * (k * 2 + 1) - k * (k + 1);
}
constexpr Count band_triangle(Count n, Count k) {
    return n * (k + 1) - triangle(k);
}
constexpr Count smaller(Count a, Count b) {
    return b < a ? b : a;
}

constexpr auto kNothing = [](const Sizes&) { return Count(0); };
constexpr auto kVector = [](const Sizes& s) { return s.n; };
constexpr auto kTwoVectors = [](const Sizes& s) { return s.n * 2; };
constexpr auto kThreeVectors = [](const Sizes& s) { return s.n * 3; };
constexpr auto kFourVectors = [](const Sizes& s) { return s.n * 4; };
constexpr auto kMatrix = [](const Sizes& s) { return s.m * s.n; };
constexpr auto kSquare = [](const Sizes& s) { return s.n * s.n; };
constexpr auto kTriangle = [](const Sizes& s) { return triangle(s.n); };
constexpr auto kTwoTriangles = [](const Sizes& s) { return triangle(s.n) * 2; };
constexpr auto kCube = [](const Sizes& s) { return s.n * s.n * s.n; };
constexpr auto kThirdOfCube = [](const Sizes& s) { return s.n * s.n * s.n / 3; };
constexpr auto kTwoThirdsOfCube = [](const Sizes& s) { return s.n * s.n * s.n * 2 / 3; };
constexpr auto kProduct = [](const Sizes& s) { return s.m * s.n * s.k; };
constexpr auto kProductElements = [](const Sizes& s) { return s.m * s.k + s.k * s.n + s.m * s.n; };
constexpr auto kSideProduct = [](const Sizes& s) { return s.order * s.m * s.n; };
constexpr auto kSideElements = [](const Sizes& s) { return triangle(s.order) + s.m * s.n * 2; };
constexpr auto kRankK = [](const Sizes& s) { return triangle(s.n) * s.k; };
constexpr auto kRankKElements = [](const Sizes& s) { return s.n * s.k + triangle(s.n); };
constexpr auto kRank2K = [](const Sizes& s) { return triangle(s.n) * s.k * 2; };
constexpr auto kRank2KElements = [](const Sizes& s) { return s.n * s.k * 2 + triangle(s.n); };
constexpr auto kMatrixAndVectors = [](const Sizes& s) { return s.m * s.n + s.m + s.n; };
constexpr auto kTriangleAndVectors = [](const Sizes& s) { return triangle(s.n) + s.n * 2; };
constexpr auto kBand = [](const Sizes& s) { return band(s.n, s.k); };
constexpr auto kBandAndVectors = [](const Sizes& s) { return band_triangle(s.n, s.k) + s.n * 2; };
constexpr auto kTriangularBand = [](const Sizes& s) { return band_triangle(s.n, s.k) * 2 - s.n; };
constexpr auto kHouseholder = [](const Sizes& s) {
    const Count small = smaller(s.m, s.n);
    const Count large = small.value() == s.m.value() ? s.n : s.m;
    return small * small * (large * 3 - small) / 3;
};
constexpr auto kSolveElements = [](const Sizes& s) { return s.n * s.n + s.n * s.right_sides * 2; };
constexpr auto kSolveUnits = [](const Sizes& s) { return s.n * s.n * s.right_sides; };

constexpr Operation kLevel3 = Operation::kMatrixMultiply;
constexpr Operation kLevel2 = Operation::kMatrixVector;
constexpr Operation kLevel1 = Operation::kVector;

// clang-format off
constexpr BlasRoutine kRoutines[] = {
    // name       operation           sizes   units             elements             real complex mixed
    {"gemm",      kLevel3,            "mnk",  kProduct,         kProductElements,       2,  8,  0},
    {"gemmBias",  kLevel3,            "mnk",  kProduct,         kProductElements,       2,  8,  0},
    {"symm",      kLevel3,            "smn",  kSideProduct,     kSideElements,          2,  8,  0},
    {"hemm",      kLevel3,            "smn",  kSideProduct,     kSideElements,          2,  8,  0},
    {"spmm",      kLevel3,            "smn",  kSideProduct,     kSideElements,          2,  8,  0},
    {"trmm",      kLevel3,            "smn",  kSideProduct,     kSideElements,          1,  4,  0},
    {"syrk",      kLevel3,            "nk",   kRankK,           kRankKElements,         2,  8,  0},
    {"herk",      kLevel3,            "nk",   kRankK,           kRankKElements,         2,  8,  0},
    {"syrkx",     kLevel3,            "nk",   kRankK,           kRank2KElements,        2,  8,  0},
    {"herkx",     kLevel3,            "nk",   kRankK,           kRank2KElements,        2,  8,  0},
    {"syr2k",     kLevel3,            "nk",   kRank2K,          kRank2KElements,        2,  8,  0},
    {"her2k",     kLevel3,            "nk",   kRank2K,          kRank2KElements,        2,  8,  0},
    {"trsm",      Operation::kSolve,  "smn",  kSideProduct,     kSideElements,          1,  4,  0},
    {"getrf",     Operation::kSolve,  "n",    kThirdOfCube,     kSquare,                2,  8,  0},
    {"getri",     Operation::kSolve,  "n",    kTwoThirdsOfCube, kSquare,                2,  8,  0},
    {"matinv",    Operation::kSolve,  "n",    kCube,            kSquare,                2,  8,  0},
    {"geqrf",     Operation::kSolve,  "mn",   kHouseholder,     kMatrix,                2,  8,  0},
    {"getrs",     Operation::kSolve,  "nr",   kSolveUnits,      kSolveElements,         2,  8,  0},
    {"gels",      Operation::kSolve,  "mn",   nullptr,          nullptr,                0,  0,  0},
    {"gemv",      kLevel2,            "mn",   kMatrix,          kMatrixAndVectors,      2,  8,  0},
    {"ger",       kLevel2,            "mn",   kMatrix,          kMatrixAndVectors,      2,  8,  0},
    {"geru",      kLevel2,            "mn",   kMatrix,          kMatrixAndVectors,      2,  8,  0},
    {"gerc",      kLevel2,            "mn",   kMatrix,          kMatrixAndVectors,      2,  8,  0},
    {"symv",      kLevel2,            "n",    kSquare,          kTriangleAndVectors,    2,  8,  0},
    {"hemv",      kLevel2,            "n",    kSquare,          kTriangleAndVectors,    2,  8,  0},
    {"spmv",      kLevel2,            "n",    kSquare,          kTriangleAndVectors,    2,  8,  0},
    {"hpmv",      kLevel2,            "n",    kSquare,          kTriangleAndVectors,    2,  8,  0},
    {"sbmv",      kLevel2,            "nk",   kBand,            kBandAndVectors,        2,  8,  0},
    {"hbmv",      kLevel2,            "nk",   kBand,            kBandAndVectors,        2,  8,  0},
    {"gbmv",      kLevel2,            "mn",   nullptr,          nullptr,                0,  0,  0},
    {"syr",       kLevel2,            "n",    kTriangle,        kTriangleAndVectors,    2,  8,  0},
    {"her",       kLevel2,            "n",    kTriangle,        kTriangleAndVectors,    2,  8,  0},
    {"spr",       kLevel2,            "n",    kTriangle,        kTriangleAndVectors,    2,  8,  0},
    {"hpr",       kLevel2,            "n",    kTriangle,        kTriangleAndVectors,    2,  8,  0},
    {"syr2",      kLevel2,            "n",    kTwoTriangles,    kTriangleAndVectors,    2,  8,  0},
    {"her2",      kLevel2,            "n",    kTwoTriangles,    kTriangleAndVectors,    2,  8,  0},
    {"spr2",      kLevel2,            "n",    kTwoTriangles,    kTriangleAndVectors,    2,  8,  0},
    {"hpr2",      kLevel2,            "n",    kTwoTriangles,    kTriangleAndVectors,    2,  8,  0},
    {"trmv",      kLevel2,            "n",    kSquare,          kTriangleAndVectors,    1,  4,  0},
    {"trsv",      Operation::kSolve,  "n",    kSquare,          kTriangleAndVectors,    1,  4,  0},
    {"tpmv",      kLevel2,            "n",    kSquare,          kTriangleAndVectors,    1,  4,  0},
    {"tpsv",      Operation::kSolve,  "n",    kSquare,          kTriangleAndVectors,    1,  4,  0},
    {"tbmv",      kLevel2,            "nk",   kTriangularBand,  kBandAndVectors,        1,  4,  0},
    {"tbsv",      Operation::kSolve,  "nk",   kTriangularBand,  kBandAndVectors,        1,  4,  0},
    {"dgmm",      kLevel2,            "mn",   kMatrix,          kMatrixAndVectors,      1,  6,  0},
    {"dot",       kLevel1,            "n",    kVector,          kTwoVectors,            2,  8,  0},
    {"dotu",      kLevel1,            "n",    kVector,          kTwoVectors,            2,  8,  0},
    {"dotc",      kLevel1,            "n",    kVector,          kTwoVectors,            2,  8,  0},
    {"axpy",      kLevel1,            "n",    kVector,          kThreeVectors,          2,  8,  0},
    {"scal",      kLevel1,            "n",    kVector,          kTwoVectors,            1,  6,  2},
    {"nrm2",      kLevel1,            "n",    kVector,          kVector,                2,  4,  4},
    {"asum",      kLevel1,            "n",    kVector,          kVector,                1,  2,  2},
    {"rot",       kLevel1,            "n",    kVector,          kFourVectors,           6, 20, 12},
    {"rotm",      kLevel1,            "n",    nullptr,          nullptr,                0,  0,  0},
    // No sums of products: copies and changes of layout (geam is the transposition of frameworks), comparisons, scalars.
    {"geam",      kLevel2,            "",     kNothing,         kNothing,               0,  0,  0},
    {"tpttr",     kLevel2,            "",     kNothing,         kNothing,               0,  0,  0},
    {"trttp",     kLevel2,            "",     kNothing,         kNothing,               0,  0,  0},
    {"copy",      kLevel1,            "",     kNothing,         kNothing,               0,  0,  0},
    {"swap",      kLevel1,            "",     kNothing,         kNothing,               0,  0,  0},
    {"amax",      kLevel1,            "",     kNothing,         kNothing,               0,  0,  0},
    {"amin",      kLevel1,            "",     kNothing,         kNothing,               0,  0,  0},
    {"iamax",     kLevel1,            "",     kNothing,         kNothing,               0,  0,  0},
    {"iamin",     kLevel1,            "",     kNothing,         kNothing,               0,  0,  0},
    {"rotg",      kLevel1,            "",     kNothing,         kNothing,               0,  0,  0},
    {"rotmg",     kLevel1,            "",     kNothing,         kNothing,               0,  0,  0},
    {"setVector", kLevel1,            "",     kNothing,         kNothing,               0,  0,  0},
    {"getVector", kLevel1,            "",     kNothing,         kNothing,               0,  0,  0},
    {"setMatrix", kLevel1,            "",     kNothing,         kNothing,               0,  0,  0},
    {"getMatrix", kLevel1,            "",     kNothing,         kNothing,               0,  0,  0},
    {"create",    kLevel1,            "",     kNothing,         kNothing,               0,  0,  0},
    {"destroy",   kLevel1,            "",     kNothing,         kNothing,               0,  0,  0},
};

struct Letters {
    std::string_view text;
    std::optional<NumberFormat> format;
    bool mixed;
};
constexpr Letters kLetters[] = {
    {"S",     NumberFormat{MathType::kFp32, false, 32},  false},
    {"D",     NumberFormat{MathType::kFp64, false, 64},  false},
    {"C",     NumberFormat{MathType::kFp32, true,  64},  false},
    {"Z",     NumberFormat{MathType::kFp64, true,  128}, false},
    {"H",     NumberFormat{MathType::kFp16, false, 16},  false},
    {"HSH",   NumberFormat{MathType::kFp16, false, 16},  false},
    {"HSS",   NumberFormat{MathType::kFp16, false, 16},  false},
    {"TST",   NumberFormat{MathType::kBf16, false, 16},  false},
    {"TSS",   NumberFormat{MathType::kBf16, false, 16},  false},
    {"Sc",    NumberFormat{MathType::kFp32, true,  64},  false},
    {"Dz",    NumberFormat{MathType::kFp64, true,  128}, false},
    {"Cs",    NumberFormat{MathType::kFp32, true,  64},  true},
    {"Zd",    NumberFormat{MathType::kFp64, true,  128}, true},
    {"Is",    NumberFormat{MathType::kFp32, false, 32},  false},
    {"Id",    NumberFormat{MathType::kFp64, false, 64},  false},
    {"Ic",    NumberFormat{MathType::kFp32, true,  64},  false},
    {"Iz",    NumberFormat{MathType::kFp64, true,  128}, false},
    {"Uint8", NumberFormat{MathType::kInt8, false, 8},   false},
    {"",      std::nullopt,                              false},
};
// clang-format on

bool drop_suffix(std::string_view& name, std::string_view suffix) {
    const bool there = name.size() > suffix.size() && name.substr(name.size() - suffix.size()) == suffix;
    name.remove_suffix(there ? suffix.size() : 0);
    return there;
}

const BlasRoutine* find_routine(std::string_view name) {
    const auto found = std::find_if(std::begin(kRoutines), std::end(kRoutines),
                                    [name](const BlasRoutine& routine) { return routine.name == name; });
    return found == std::end(kRoutines) ? nullptr : found;
}

/// cublasSideMode_t, or the character of the first interface. A character fills one byte of its word.
std::optional<bool> is_left(std::int64_t side) {
    switch (side & 0xff) {
        case 0:  // CUBLAS_SIDE_LEFT
        case 'L':
        case 'l':
            return true;
        case 1:  // CUBLAS_SIDE_RIGHT
        case 'R':
        case 'r':
            return false;
        default:
            return std::nullopt;
    }
}

/// The sizes that the routine needs; nullopt: one was not kept.
std::optional<Sizes> sizes_of(const BlasRoutine& routine, const CallArguments& arguments) {
    Sizes sizes;
    for (const char size : routine.sizes) {
        if (size == 's') continue;
        const auto value = arguments.value(size == 'r' ? std::string_view("nrhs") : std::string_view(&size, 1));
        if (!value) return std::nullopt;
        (size == 'm' ? sizes.m : size == 'n' ? sizes.n : size == 'k' ? sizes.k : sizes.right_sides) = Count(*value);
    }
    if (routine.sizes.find('s') != std::string_view::npos) {
        const auto side = arguments.value("side");
        const auto left = side ? is_left(*side) : std::nullopt;
        if (!left) return std::nullopt;
        sizes.order = *left ? sizes.m : sizes.n;
    }
    return sizes;
}

/// Sums over the groups of a grouped multiplication: its units of work, and the elements of its matrices. nullopt: not kept, or not
/// known (-1: more groups than are looked at, or beyond 64 bits).
std::optional<std::pair<Count, Count>> grouped_product(const CallArguments& arguments) {
    const auto units = arguments.value("mnk"), a = arguments.value("mk"), b = arguments.value("kn"),
               c = arguments.value("mn");
    if (!units || !a || !b || !c || *units < 0 || *a < 0 || *b < 0 || *c < 0) return std::nullopt;
    return std::pair(Count(*units), Count(*a) + Count(*b) + Count(*c));
}

/// What a handle's math mode makes of products of 32-bit floats that may become TF32 (cublasMath_t, cublas_api.h).
MathType by_mode(std::int64_t mode) {
    constexpr std::int64_t kModes = 7;  // The rest are flags.
    switch (mode & kModes) {
        case 0:  // CUBLAS_DEFAULT_MATH
        case 2:  // CUBLAS_PEDANTIC_MATH
        case 4:  // CUBLAS_FP32_EMULATED_BF16X9_MATH: counted as the FP32 that it stands for
            return MathType::kFp32;
        case 1:  // CUBLAS_TENSOR_OP_MATH: rounds to half precision (cuBLAS documentation)
            return MathType::kFp16;
        default:  // CUBLAS_TF32_TENSOR_OP_MATH allows TF32: what ran, kernels' names tell.
            return MathType::kFp32OrTf32;
    }
}

}  // namespace

std::optional<BlasName> parse_blas_name(std::string_view function) {
    constexpr std::string_view kStart = "cublas";
    if (function.substr(0, kStart.size()) != kStart) return std::nullopt;
    function.remove_prefix(kStart.size());
    const bool multi_gpu = function.substr(0, 2) == "Xt";
    function.remove_prefix(multi_gpu ? 2 : 0);
    drop_suffix(function, "_64");
    BlasName name;
    name.obeys_math_mode = !multi_gpu;
    drop_suffix(function, "_v2");
    drop_suffix(function, "Ex");
    drop_suffix(function, "Async");
    name.grouped = drop_suffix(function, "GroupedBatched");
    name.batched = drop_suffix(function, "StridedBatched") || drop_suffix(function, "Batched");
    drop_suffix(function, "3m");  // a complex product by three real ones: its algorithm, not its work
    for (const Letters& letters : kLetters) {
        if (function.substr(0, letters.text.size()) != letters.text) continue;
        std::string rest(function.substr(letters.text.size()));
        if (letters.text.empty() && !rest.empty() && rest[0] >= 'A' && rest[0] <= 'Z') {
            rest[0] = static_cast<char>(rest[0] - 'A' + 'a');
        }
        if (const BlasRoutine* routine = find_routine(rest)) {
            name.routine = routine;
            name.format = letters.format;
            name.mixed = letters.mixed;
            return name;
        }
    }
    return std::nullopt;
}

WorkAnswer blas_work(const BlasName& name, const CallArguments& arguments, std::optional<std::int64_t> math_mode) {
    const BlasRoutine& routine = *name.routine;
    if (routine.units == nullptr) return WorkAnswer::unknown(Unknown::kNoFormula);
    if (routine.real_flops == 0) return WorkAnswer::zero();

    // Where the letters and an argument differ (Sgemm, Cgemm and so on with Ex), the argument says what the matrices hold.
    std::optional<NumberFormat> format = name.format;
    if (const auto type = arguments.value("Atype")) {
        format = cuda_format(*type);
    }
    if (!format) return WorkAnswer::unknown(Unknown::kNotKept);

    Count units, elements;
    if (name.grouped) {
        const auto groups = grouped_product(arguments);
        if (!groups) return WorkAnswer::unknown(Unknown::kNotKept);
        std::tie(units, elements) = *groups;
    } else {
        const auto sizes = sizes_of(routine, arguments);
        if (!sizes) return WorkAnswer::unknown(Unknown::kNotKept);
        Count batch = 1;
        if (name.batched) {
            const auto count = arguments.value("batchCount");
            const auto size = arguments.value("batchSize");
            if (!count && !size) return WorkAnswer::unknown(Unknown::kNotKept);
            batch = Count(count ? *count : *size);
        }
        units = routine.units(*sizes) * batch;
        elements = routine.elements(*sizes) * batch;
    }
    const std::int64_t unit_flops = name.mixed        ? routine.mixed_flops
                                    : format->complex ? routine.complex_flops
                                                      : routine.real_flops;
    const Count flops = units * unit_flops;
    const Count bytes = format->bytes(elements);
    if (!flops.valid() || !bytes.valid()) return WorkAnswer::unknown(Unknown::kSenselessSizes);
    const bool tf32_by_mode = name.obeys_math_mode && routine.operation == Operation::kMatrixMultiply;
    MathType type = cublas_math(*format, arguments.value_or("computeType", -1), tf32_by_mode);
    if (type == MathType::kFp32OrTf32 && math_mode) type = by_mode(*math_mode);
    return WorkAnswer::known(
        {.flops = flops.value(), .type = type, .least_bytes = bytes.value(), .operation = routine.operation});
}

}  // namespace gpuspy::analysis
