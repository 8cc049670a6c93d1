// Which recording a thread's state belongs to, and whether this process is a forked child.
//
// Both words lie in a page that the kernel gives zeroed to a child (MADV_WIPEONFORK), so a child is noticed however it was made
// (pthread_atfork handlers miss a raw clone). Every hook compares the generation with its thread's: a mismatch (first
// event, forked child, recording ended) leads to the slow path.
#pragma once

#include <atomic>
#include <cstdint>

namespace gpuspy::hook {

struct ForkPage {
    std::atomic<std::uint32_t> generation;  ///< Of the recording; 0: none in this process.
    std::atomic<std::uint32_t> owner;       ///< ForkOwner.
    std::atomic<bool> passes;               ///< Nothing will be recorded in this process: hooks pass through.
};

enum ForkOwner : std::uint32_t {
    kChild = 0,  ///< Wiped: state copied from the parent must be forgotten.
    kThisProcess = 1,
    kForgetting = 2,  ///< A thread of the child is at it.
};

/// Never nullptr. Set once, before the first generation is given out, so relaxed loads do.
extern std::atomic<ForkPage*> fork_page;

inline std::uint32_t current_generation() noexcept {
    return fork_page.load(std::memory_order_relaxed)->generation.load(std::memory_order_relaxed);
}

/// ForkPage::passes; false in a forked child until it has found out for itself.
inline bool hooks_pass() noexcept {
    return fork_page.load(std::memory_order_relaxed)->passes.load(std::memory_order_relaxed);
}

/// Makes the page, once; without a lock, since a child forked meanwhile would never see it released. Where the kernel has no MADV_WIPEONFORK (before 4.14) the words are cleared by pthread_atfork.
void make_fork_page() noexcept;

}  // namespace gpuspy::hook
