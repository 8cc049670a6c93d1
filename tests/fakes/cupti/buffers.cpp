// The client's buffers: asked for, filled with complete records, handed over.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>

#include "tests/fakes/cupti/activity.hpp"
#include "tests/fakes/cupti/driver.hpp"
#include "tests/fakes/cupti/faults.hpp"
#include "tests/fakes/cupti/state.hpp"

namespace sim::cupti {
namespace {

constexpr std::size_t kHarvestThreshold = 64;
constexpr std::size_t kAlignment = 8;

/// A thread that is not scheduled just then.
void pause_if_slow() {
    if (faults().slow_buffers_us == 0) {
        return;
    }
    thread_local std::minstd_rand random{std::random_device{}()};
    std::this_thread::sleep_for(std::chrono::microseconds(random() % faults().slow_buffers_us));
}

Buffer request_buffer() {
    Buffer buffer;
    state().request(&buffer.memory, &buffer.size, &buffer.max_records);
    pause_if_slow();
    if (buffer.memory == nullptr) {
        std::fprintf(stderr, "simulated CUPTI: bufferRequested gave no buffer\n");
        std::abort();  // As CUPTI below 12.9 crashed.
    }
    return buffer;
}

/// Times of a record that is handed out before its activity ended.
void untime(std::vector<std::uint8_t>& bytes) {
    CUpti_ActivityKind kind;
    std::memcpy(&kind, bytes.data(), sizeof kind);
    const auto clear = [&bytes](auto record) {
        std::memcpy(&record, bytes.data(), std::min(sizeof record, bytes.size()));
        record.start = record.end = 0;
        std::memcpy(bytes.data(), &record, std::min(sizeof record, bytes.size()));
    };
    switch (kind) {
        case CUPTI_ACTIVITY_KIND_KERNEL:
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
            return clear(CUpti_ActivityKernel10{});
        case CUPTI_ACTIVITY_KIND_MEMCPY:
            return clear(CUpti_ActivityMemcpy6{});
        case CUPTI_ACTIVITY_KIND_MEMCPY2:
            return clear(CUpti_ActivityMemcpyPtoP4{});
        case CUPTI_ACTIVITY_KIND_MEMSET:
            return clear(CUpti_ActivityMemset4{});
        default:
            return;
    }
}

/// Moves complete records into the current buffer until it is full (true) or there are no more. Under the lock.
bool fill(bool forced) {
    State& all = state();
    const std::uint64_t now = find_driver()->now_ns();
    for (auto record = all.pending.begin(); record != all.pending.end();) {
        const bool complete = record->complete_ns <= now;
        if (!complete && !forced) {
            ++record;
            continue;
        }
        if (!all.current.fits(record->bytes.size())) {
            return true;
        }
        if (!complete) {
            untime(record->bytes);
        }
        std::memcpy(all.current.memory + all.current.used, record->bytes.data(), record->bytes.size());
        all.current.used += record->bytes.size();
        ++all.current.records;
        record = all.pending.erase(record);
    }
    return false;
}

}  // namespace

State& state() {
    static auto* const instance = new State;
    return *instance;
}

std::vector<std::pair<CUpti_ExternalCorrelationKind, std::uint64_t>>& external_ids() {
    thread_local std::vector<std::pair<CUpti_ExternalCorrelationKind, std::uint64_t>> stack;
    return stack;
}

void add_record(const void* record, std::size_t bytes, std::uint64_t time_ns) {
    static_assert(sizeof(CUpti_ActivityKernel10) % kAlignment == 0 && sizeof(CUpti_ActivityMemcpy6) % kAlignment == 0);
    bool need_buffer = false;
    bool enough = false;
    {
        const std::lock_guard lock(state().mutex);
        if (state().request == nullptr) {
            ++state().dropped;
            return;
        }
        const auto* first = static_cast<const std::uint8_t*>(record);
        state().pending.push_back({time_ns, {first, first + bytes}});
        need_buffer = state().current.memory == nullptr && state().spare.empty();
        enough = state().pending.size() >= kHarvestThreshold;
    }
    if (need_buffer) {
        const Buffer buffer = request_buffer();  // On the launching thread, as the real library does.
        const std::lock_guard lock(state().mutex);
        state().spare.push_back(buffer);
    }
    if (enough) {
        harvest(false, false);
    }
}

void harvest(bool all, bool forced) {
    while (true) {
        Buffer done;
        bool need_buffer = false;
        bool full = false;
        bool more = false;
        {
            const std::lock_guard lock(state().mutex);
            if (state().current.memory == nullptr && !state().spare.empty()) {
                state().current = state().spare.back();
                state().spare.pop_back();
            }
            need_buffer = state().current.memory == nullptr && !state().pending.empty();
            if (!need_buffer && state().current.memory != nullptr) {
                full = fill(forced);
                if (full || (all && (forced || state().current.used != 0))) {  // by force: empty ones too
                    done = state().current;
                    state().current = {};
                }
            }
            more = full || (all && forced && !state().spare.empty());
        }
        if (need_buffer) {
            const Buffer buffer = request_buffer();
            const std::lock_guard lock(state().mutex);
            state().spare.push_back(buffer);
            continue;
        }
        if (done.memory != nullptr) {
            pause_if_slow();
            state().complete(nullptr, 0, done.memory, done.size, done.used);
        }
        if (!more) {
            return;
        }
    }
}

void forget_records() {
    State& all = state();
    const std::lock_guard lock(all.mutex);
    for (auto& enabled : all.enabled) {
        enabled = false;
    }
    for (std::size_t kind = 0; kind < all.contexts.size(); ++kind) {
        all.contexts[kind].clear();
        all.in_contexts[kind] = false;
    }
    all.functions = Functions::kNone;
    all.request = nullptr;
    all.complete = nullptr;
    all.timestamp = nullptr;
    all.pending.clear();
    all.spare.clear();
    all.current = {};
}

}  // namespace sim::cupti
