#include "analysis/table/table.hpp"

namespace gpuspy::analysis {

std::string_view unit_name(Unit unit) {
    switch (unit) {
        case Unit::kText:
        case Unit::kName:
            return "text";
        case Unit::kCount:
            return "count";
        case Unit::kDurationNs:
        case Unit::kMomentNs:
            return "ns";
        case Unit::kBytes:
            return "bytes";
        case Unit::kShare:
            return "share";
        case Unit::kNumber:
            return "number";
        case Unit::kGigabytesPerS:
            return "GB/s";
        case Unit::kFlops:
            return "FLOP";
        case Unit::kFlopsPerS:
            return "FLOP/s";
    }
    return "text";
}

}  // namespace gpuspy::analysis
