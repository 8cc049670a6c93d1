// Hands things from one thread to the next, a bounded number at a time.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

namespace gpuspy::analysis {

template <class Item>
class Channel {
public:
    explicit Channel(std::size_t capacity) : capacity_(capacity) {}

    /// Waits for room. False: nobody takes any more.
    bool put(Item item) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return items_.size() < capacity_ || abandoned_; });
        if (abandoned_) {
            return false;
        }
        items_.push_back(std::move(item));
        changed_.notify_all();
        return true;
    }
    /// Nothing more will come; `failure`, if any, is thrown where it is taken.
    void close(std::exception_ptr failure = nullptr) {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        failure_ = std::move(failure);
        changed_.notify_all();
    }

    /// Waits for the next; nullopt: there is none.
    std::optional<Item> take() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !items_.empty() || closed_; });
        if (items_.empty()) {
            if (failure_ != nullptr) {
                std::rethrow_exception(std::exchange(failure_, nullptr));
            }
            return std::nullopt;
        }
        std::optional<Item> item(std::move(items_.front()));
        items_.pop_front();
        changed_.notify_all();
        return item;
    }
    /// Whoever puts need not go on.
    void abandon() {
        const std::lock_guard lock(mutex_);
        abandoned_ = true;
        changed_.notify_all();
    }

private:
    const std::size_t capacity_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Item> items_;
    std::exception_ptr failure_;
    bool closed_ = false, abandoned_ = false;
};

}  // namespace gpuspy::analysis
