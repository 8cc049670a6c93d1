// What the recording of this process consists of, and its start. When it starts and ends is session.cpp's.
#pragma once

#include "collector/ring/ring_set.hpp"
#include "collector/sink/drain.hpp"
#include "collector/sink/output_path.hpp"
#include "collector/sink/trace_writer.hpp"

namespace gpuspy::hook {

struct Recording {
    ring::RingSet rings;
    sink::TraceWriter writer;
    sink::Drain drain;
    sink::Output output;
};

/// Constant-initialised and never destroyed: hooks run before our constructors and after our destructors.
extern Recording recording;

/// Everything that recording needs. 0, or an errno value after one line on stderr.
int start_recording() noexcept;

}  // namespace gpuspy::hook
