// The activity half: records, the client's buffers, flushes.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cupti.h>

#include "tests/fakes/driver/tracer.hpp"

namespace sim::cupti {

bool wants_activity(CUgraphNodeType type);
void take_activity(const Activity& activity);

bool kind_enabled(CUpti_ActivityKind kind);

/// For all contexts, or with a context for that one.
CUptiResult enable_kind(CUpti_ActivityKind kind, CUcontext context);
CUptiResult disable_kind(CUpti_ActivityKind kind, CUcontext context);

/// Puts a record of `bytes` that is complete at time_ns where the next flush finds it.
void add_record(const void* record, std::size_t bytes, std::uint64_t time_ns);

/// A record's size, by its kind and our version; 0 for kinds that we never write.
std::size_t record_bytes(CUpti_ActivityKind kind);

/// Hands complete records to the client: full buffers, or with `all` what there is. `forced`: incomplete ones too,
/// untimed.
void harvest(bool all, bool forced);

/// Callbacks, kinds, clock and what was not handed over are gone.
void forget_records();

/// The external ids that the calling thread pushed, one record each.
void add_external_correlations(std::uint32_t correlation);

}  // namespace sim::cupti
