// The simulated driver, as the simulated CUPTI reaches it.
#pragma once

#include "tests/fakes/driver/tracer.hpp"

namespace sim::cupti {

/// Functions that libcuda.so.1 exports for us.
struct Driver {
    decltype(&sim_set_tracer) set_tracer;
    decltype(&sim_has_context) has_context;
    decltype(&sim_graph_id) graph_id;
    decltype(&sim_graph_exec_id) graph_exec_id;
    decltype(&sim_graph_node_id) graph_node_id;
    decltype(&sim_context_id) context_id;
    decltype(&sim_stream_id) stream_id;
    std::uint64_t (*now_ns)();
};

/// nullptr: no driver, or one that is not simulated.
const Driver* find_driver();

/// Begins to be told of calls and activities. Initialises CUDA if nobody did, as the real library does. False: no
/// driver.
bool attach();
void detach();

}  // namespace sim::cupti
