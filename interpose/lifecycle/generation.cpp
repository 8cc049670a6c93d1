#include "interpose/lifecycle/generation.hpp"

#include <pthread.h>
#include <sys/mman.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

namespace gpuspy::hook {
namespace {

constexpr std::size_t kPageBytes = 4096;

constinit ForkPage page_before_start{{0}, {kThisProcess}, {false}};
constinit ForkPage page_without_wipe{{0}, {kThisProcess}, {false}};

void clear_in_child() noexcept {
    page_without_wipe.generation.store(0, std::memory_order_relaxed);
    page_without_wipe.owner.store(kChild, std::memory_order_relaxed);
    page_without_wipe.passes.store(false, std::memory_order_relaxed);
}

/// Publishes `made` if no other thread was faster. Release: the page's words are set before it is seen.
bool publish(ForkPage* made) noexcept {
    ForkPage* expected = &page_before_start;
    return fork_page.compare_exchange_strong(expected, made, std::memory_order_release, std::memory_order_relaxed);
}

}  // namespace

constinit std::atomic<ForkPage*> fork_page{&page_before_start};

void make_fork_page() noexcept {
    if (fork_page.load(std::memory_order_acquire) != &page_before_start) return;
    void* memory = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED && madvise(memory, kPageBytes, MADV_WIPEONFORK) == 0) {
        auto* page = static_cast<ForkPage*>(memory);
        page->owner.store(kThisProcess, std::memory_order_relaxed);
        if (!publish(page)) munmap(memory, kPageBytes);
        return;
    }
    if (memory != MAP_FAILED) munmap(memory, kPageBytes);
    if (publish(&page_without_wipe)) pthread_atfork(nullptr, nullptr, clear_in_child);
}

}  // namespace gpuspy::hook
