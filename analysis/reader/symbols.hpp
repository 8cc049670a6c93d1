// What a trace names again in every segment, numbered once for the whole file: APIs, kernel names, threads.
#pragma once

#include <cstdint>
#include <map>
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
    std::uint32_t intern_api(ApiInfo info) {
        const auto key = std::tuple(info.library, info.name, static_cast<unsigned>(info.level),
                                    static_cast<unsigned>(info.api_class), unsigned{info.attributes}, info.fields);
        const auto [found, added] = api_index_.try_emplace(key, static_cast<std::uint32_t>(apis_.size()));
        if (added) {
            apis_.push_back(std::move(info));
        }
        return found->second;
    }

    std::uint32_t intern_text(std::string_view text) {
        const auto [found, added] =
            text_index_.try_emplace(std::string(text), static_cast<std::uint32_t>(texts_.size()));
        if (added) {
            texts_.push_back(&found->first);
        }
        return found->second;
    }

    /// A thread is a ring and a tid: a ring is given to another thread once its last one ended.
    std::uint32_t intern_thread(std::uint32_t ring, std::uint32_t tid, std::string_view name) {
        const auto [found, added] =
            thread_index_.try_emplace(std::pair(ring, tid), static_cast<std::uint32_t>(threads_.size()));
        if (added) {
            threads_.push_back({ring, tid, std::string(name)});
        } else if (!name.empty()) {
            threads_[found->second].name = name;
        }
        return found->second;
    }

    [[nodiscard]] const std::vector<ApiInfo>& apis() const { return apis_; }
    [[nodiscard]] const ApiInfo& api(std::uint32_t index) const { return apis_[index]; }
    [[nodiscard]] const std::string& text(std::uint32_t index) const { return *texts_[index]; }
    [[nodiscard]] const std::vector<ThreadInfo>& threads() const { return threads_; }

private:
    std::map<std::tuple<std::string, std::string, unsigned, unsigned, unsigned, std::string>, std::uint32_t> api_index_;
    std::vector<ApiInfo> apis_;
    std::unordered_map<std::string, std::uint32_t> text_index_;
    std::vector<const std::string*> texts_;  // keys of text_index_: its nodes do not move
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> thread_index_;
    std::vector<ThreadInfo> threads_;
};

}  // namespace gpuspy::analysis
