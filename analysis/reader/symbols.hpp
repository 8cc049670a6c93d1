// What a trace names again in every segment, numbered once for the whole file: APIs, kernel names, threads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "collector/abi/event.hpp"

namespace gpuspy::analysis {

struct ApiInfo {
    std::string name;
    std::string library;  ///< "driver", "runtime", "cudnn", "cublas" ...
    abi::ApiLevel level = abi::ApiLevel::kDriver;
    abi::ApiClass api_class = abi::ApiClass::kOther;
    std::uint8_t attributes = 0;  ///< abi::ApiAttributes
    std::string fields{};         ///< Names and types of the arguments that are kept (abi::ApiEntry::fields).

    [[nodiscard]] bool blocking() const { return (attributes & abi::kApiBlocking) != 0; }
    [[nodiscard]] bool launches() const {
        return api_class == abi::ApiClass::kLaunch || api_class == abi::ApiClass::kGraphLaunch ||
               api_class == abi::ApiClass::kMulti;
    }
};

struct ThreadInfo {
    std::uint32_t ring = 0;
    std::uint32_t tid = 0;
    std::string name;
};

/// Numbers are given in order of first use, so two passes over the same bytes give the same numbers.
class Symbols {
public:
    /// From now on nothing gets a number: several threads may ask for those that there are.
    void freeze() { frozen_ = true; }

    /// nullopt: not there, and frozen. So below.
    std::optional<std::uint32_t> intern_api(ApiInfo info) {
        const auto key = std::tuple(info.library, info.name, static_cast<unsigned>(info.level),
                                    static_cast<unsigned>(info.api_class), unsigned{info.attributes}, info.fields);
        if (const auto found = api_index_.find(key); found != api_index_.end()) {
            return found->second;
        }
        if (frozen_) {
            return std::nullopt;
        }
        const auto number = static_cast<std::uint32_t>(apis_.size());
        api_index_.emplace(key, number);
        apis_.push_back(std::move(info));
        return number;
    }

    /// 0 where it is not there, and frozen.
    std::uint32_t intern_text(std::string_view text) {
        std::string key(text);
        if (const auto found = text_index_.find(key); found != text_index_.end()) {
            return found->second;
        }
        if (frozen_) {
            return 0;
        }
        const auto [added, is_new] = text_index_.emplace(std::move(key), static_cast<std::uint32_t>(texts_.size()));
        texts_.push_back(&added->first);
        return added->second;
    }

    /// A thread is a ring and a tid: a ring is given to another thread once its last one ended. Its name is the last that
    /// was told before freeze().
    std::optional<std::uint32_t> intern_thread(std::uint32_t ring, std::uint32_t tid, std::string_view name) {
        const auto found = thread_index_.find({ring, tid});
        if (frozen_) {
            return found == thread_index_.end() ? std::nullopt : std::optional(found->second);
        }
        if (found == thread_index_.end()) {
            const auto number = static_cast<std::uint32_t>(threads_.size());
            thread_index_.emplace(std::pair(ring, tid), number);
            threads_.push_back({ring, tid, std::string(name)});
            return number;
        }
        if (!name.empty()) {
            threads_[found->second].name = name;
        }
        return found->second;
    }

    [[nodiscard]] const std::vector<ApiInfo>& apis() const { return apis_; }
    [[nodiscard]] const ApiInfo& api(std::uint32_t index) const { return apis_[index]; }
    /// "" where nothing has the number.
    [[nodiscard]] const std::string& text(std::uint32_t index) const {
        static const std::string none;
        return index < texts_.size() ? *texts_[index] : none;
    }
    [[nodiscard]] const std::vector<ThreadInfo>& threads() const { return threads_; }

private:
    std::map<std::tuple<std::string, std::string, unsigned, unsigned, unsigned, std::string>, std::uint32_t> api_index_;
    std::vector<ApiInfo> apis_;
    std::unordered_map<std::string, std::uint32_t> text_index_;
    std::vector<const std::string*> texts_;  // keys of text_index_: its nodes do not move
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> thread_index_;
    std::vector<ThreadInfo> threads_;
    bool frozen_ = false;
};

}  // namespace gpuspy::analysis
