#include "analysis/flops/work_recorder.hpp"

#include <algorithm>
#include <span>

#include "analysis/flops/flops_tracker.hpp"

namespace gpuspy::analysis {

std::uint32_t WorkRecorder::add(const CallRecord& call) {
    const ApiInfo& api = symbols_.api(call.api);
    if (!FlopsTracker::concerns(api)) {
        return kNoAnswer;
    }
    const std::uint32_t answer = api.api_class == abi::ApiClass::kLibrary ? answers_++ : kNoAnswer;
    calls_.push_back({call.begin_ticks, words_.size(), static_cast<std::uint32_t>(call.arguments.size()), call.thread,
                      call.api, call.flags, answer});
    words_.insert(words_.end(), call.arguments.begin(), call.arguments.end());
    return answer;
}

std::vector<WorkAnswer> WorkRecorder::finish() {
    std::stable_sort(calls_.begin(), calls_.end(),
                     [](const Noted& a, const Noted& b) { return a.begin_ticks < b.begin_ticks; });
    std::vector<WorkAnswer> answers(answers_);
    FlopsTracker tracker;
    for (const Noted& noted : calls_) {
        CallRecord call;
        call.thread = noted.thread;
        call.api = noted.api;
        call.flags = noted.flags;
        call.arguments = std::span(words_).subspan(noted.first_word, noted.words);
        const WorkAnswer answer = tracker.add(call, symbols_.api(noted.api));
        if (noted.answer != kNoAnswer) {
            answers[noted.answer] = answer;
        }
    }
    calls_.clear();
    words_.clear();
    return answers;
}

}  // namespace gpuspy::analysis
