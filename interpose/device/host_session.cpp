#include "interpose/device/host_session.hpp"

#include <time.h>

#include <atomic>

#include "collector/ring/clock.hpp"

namespace gpuspy::hook {
namespace {

/// A host that does not flush after its session is waited for no longer.
constexpr std::uint64_t kPatienceNs = 5'000'000'000;

struct View {
    std::atomic<Kinds> kinds;        ///< That the host had enabled at any time of the session.
    std::atomic<std::uint64_t> end;  ///< kOver | the newest correlation id then; 0: it is not over.
};
constexpr std::uint64_t kOver = std::uint64_t{1} << 32;

/// Of the last sessions: a buffer comes back in its own or soon after.
constexpr std::uint32_t kViewCount = 16;
constinit View views[kViewCount]{};
constinit std::atomic<std::uint32_t> number{0};
constinit std::atomic<SessionStage> stage{SessionStage::kNone};

constinit std::atomic<std::uint32_t> newest_correlation{0};  ///< Of calls during a session.
constinit std::atomic<std::uint64_t> draining_since_ns{0};   ///< CLOCK_MONOTONIC.

View& view_at(std::uint32_t of) noexcept {
    return views[of % kViewCount];
}

}  // namespace

SessionStage session_stage() noexcept {
    return stage.load(std::memory_order_seq_cst);
}

std::uint32_t session_number() noexcept {
    return number.load(std::memory_order_acquire);
}

void begin_session() noexcept {
    std::uint32_t present = session_number();
    if (session_stage() == SessionStage::kNone) {
        ++present;
        view_at(present).kinds.store(0, std::memory_order_relaxed);
    }
    View& view = view_at(present);
    view.end.store(0, std::memory_order_relaxed);
    view.kinds.fetch_or(hosts_kinds(), std::memory_order_relaxed);
    // Release pairs with session_number(): who has the number sees its view.
    number.store(present, std::memory_order_release);
    stage.store(SessionStage::kOn, std::memory_order_seq_cst);
}

void leave_session() noexcept {
    SessionStage draining = SessionStage::kDraining;
    stage.compare_exchange_strong(draining, SessionStage::kNone, std::memory_order_seq_cst);
}

void leave_session_if_abandoned() noexcept {
    if (session_stage() == SessionStage::kDraining &&
        ring::read_clock_ns(CLOCK_MONOTONIC) - draining_since_ns.load(std::memory_order_relaxed) > kPatienceNs) {
        leave_session();
    }
}

HostView view_since_session(std::uint32_t first) noexcept {
    const std::uint32_t last = session_number();
    const std::uint64_t end = view_at(last).end.load(std::memory_order_relaxed);
    HostView view{0, (end & kOver) != 0, static_cast<std::uint32_t>(end)};
    for (std::uint32_t i = 0; i < kViewCount && i <= last - first; ++i) {
        view.kinds |= view_at(last - i).kinds.load(std::memory_order_relaxed);
    }
    return view;
}

void end_session() noexcept {
    if (session_stage() != SessionStage::kOn) return;
    view_at(session_number())
        .end.store(kOver | newest_correlation.load(std::memory_order_relaxed), std::memory_order_relaxed);
    draining_since_ns.store(ring::read_clock_ns(CLOCK_MONOTONIC), std::memory_order_relaxed);
    stage.store(SessionStage::kDraining, std::memory_order_seq_cst);
}

void note_correlation(std::uint32_t correlation) noexcept {
    if (stage.load(std::memory_order_relaxed) != SessionStage::kOn) return;
    std::uint32_t newest = newest_correlation.load(std::memory_order_relaxed);
    while (static_cast<std::int32_t>(correlation - newest) > 0 &&
           !newest_correlation.compare_exchange_weak(newest, correlation, std::memory_order_relaxed)) {
    }
}

void forget_session() noexcept {
    forget_hosts_kinds();
    newest_correlation.store(0, std::memory_order_relaxed);
    View& view = view_at(session_number());
    view.end.store(0, std::memory_order_relaxed);
    view.kinds.store(0, std::memory_order_relaxed);
    stage.store(SessionStage::kNone, std::memory_order_seq_cst);
}

}  // namespace gpuspy::hook
