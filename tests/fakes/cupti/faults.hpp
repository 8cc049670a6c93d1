// Faults that the simulated CUPTI can be told to have, by environment:
//   SIM_CUPTI_VERSION=N          what cuptiGetVersion says; below 130000 kernels come as CUpti_ActivityKernel9
//   SIM_CUPTI_WITHHOLD=N         the N-th kernel record (from 1) never comes
//   SIM_CUPTI_INVENT=N           after the N-th, one more with a correlation id that no call had
//   SIM_CUPTI_DROP=n             the first n kernel records are dropped; cuptiActivityGetNumDroppedRecords counts them
//   SIM_CUPTI_ZERO_TIME=N        the N-th has start = end = 0
//   SIM_CUPTI_ABSURD=N           the N-th lasts 112 s
//   SIM_CUPTI_SUBSCRIBE_ERROR=N  cuptiSubscribe fails with N (39: another tool subscribed)
//   SIM_CUPTI_REGISTER_ERROR=N   cuptiActivityRegisterCallbacks fails with N
//   SIM_CUPTI_HANG_FLUSH=ms      cuptiActivityFlushAll takes that long
//   SIM_CUPTI_SLOW_BUFFERS=us    that long or shorter between a buffer's request and its use, and before it is given back
#pragma once

#include <cstdint>

#include <cupti.h>

#include "tests/fakes/common/environment.hpp"

namespace sim::cupti {

struct Faults {
    std::uint64_t version = environment_number("SIM_CUPTI_VERSION", SIM_CUPTI_DEFAULT_VERSION);
    std::uint64_t withhold = environment_number("SIM_CUPTI_WITHHOLD", 0);
    std::uint64_t invent = environment_number("SIM_CUPTI_INVENT", 0);
    std::uint64_t drop = environment_number("SIM_CUPTI_DROP", 0);
    std::uint64_t zero_time = environment_number("SIM_CUPTI_ZERO_TIME", 0);
    std::uint64_t absurd = environment_number("SIM_CUPTI_ABSURD", 0);
    std::uint64_t subscribe_error = environment_number("SIM_CUPTI_SUBSCRIBE_ERROR", 0);
    std::uint64_t register_error = environment_number("SIM_CUPTI_REGISTER_ERROR", 0);
    std::uint64_t hang_flush_ms = environment_number("SIM_CUPTI_HANG_FLUSH", 0);
    std::uint64_t slow_buffers_us = environment_number("SIM_CUPTI_SLOW_BUFFERS", 0);
};

inline const Faults& faults() {
    static const Faults instance;
    return instance;
}

}  // namespace sim::cupti
