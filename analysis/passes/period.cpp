#include "analysis/passes/period.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace gpuspy::analysis {
namespace {

/// A period is believed where at least this share of the symbols comes again.
constexpr double kLeastAgreement = 0.8;
/// A shorter period wins over a longer one that agrees better by no more than this.
constexpr double kSlack = 0.02;
constexpr std::size_t kCandidates = 24;
/// Two rounds are needed to see that something repeats, a third one to believe it.
constexpr std::size_t kLeastRounds = 3;

constexpr std::uint64_t kPrime = 0x100000001b3;

/// Hashes of the `length` symbols from each place on.
std::vector<std::uint64_t> windows(std::span<const std::uint32_t> symbols, std::size_t length) {
    if (symbols.size() < length) {
        return {};
    }
    std::uint64_t highest = 1;
    for (std::size_t i = 1; i < length; ++i) {
        highest *= kPrime;
    }
    std::vector<std::uint64_t> hashes(symbols.size() - length + 1);
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < symbols.size(); ++i) {
        if (i >= length) {
            hash -= highest * (symbols[i - length] + 1);
        }
        hash = hash * kPrime + symbols[i] + 1;
        if (i + 1 >= length) {
            hashes[i + 1 - length] = hash;
        }
    }
    return hashes;
}

/// How often the next place with the same symbols is so far away, for the distances that come most often.
std::vector<std::size_t> likely_distances(std::span<const std::uint32_t> symbols) {
    std::vector<std::size_t> candidates;
    // A symbol may come many times in a round; a stretch of them is the more likely to come once the longer it is.
    for (const std::size_t length : {1U, 4U, 16U, 64U}) {
        const std::vector<std::uint64_t> hashes = windows(symbols, length);
        std::unordered_map<std::uint64_t, std::size_t> last;
        std::unordered_map<std::size_t, std::size_t> votes;
        for (std::size_t at = 0; at < hashes.size(); ++at) {
            const auto [found, added] = last.try_emplace(hashes[at], at);
            if (!added) {
                ++votes[at - found->second];
                found->second = at;
            }
        }
        std::vector<std::pair<std::size_t, std::size_t>> ranked;
        for (const auto& [distance, count] : votes) {
            ranked.emplace_back(count, distance);
        }
        const std::size_t kept = std::min(kCandidates, ranked.size());
        std::partial_sort(
            ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(kept), ranked.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
        for (std::size_t i = 0; i < kept; ++i) {
            candidates.push_back(ranked[i].second);
        }
    }
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    return candidates;
}

/// Of what is at `first` or later, by weight.
double agreement_of(std::span<const std::uint32_t> symbols, std::span<const std::uint32_t> weights, std::size_t first,
                    std::size_t distance) {
    double same = 0;
    double all = 0;
    for (std::size_t at = first; at + distance < symbols.size(); ++at) {
        all += weights[at];
        same += symbols[at] == symbols[at + distance] ? weights[at] : 0;
    }
    return all == 0 ? 0 : same / all;
}

/// Where the first quarter of the weight ends.
std::size_t quarter_of(std::span<const std::uint32_t> weights) {
    const std::uint64_t all = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
    std::uint64_t before = 0;
    std::size_t at = 0;
    while (at < weights.size() && before < all / 4) {
        before += weights[at++];
    }
    return at;
}

}  // namespace

Period find_period(std::span<const std::uint32_t> symbols, std::span<const std::uint32_t> weights) {
    const std::size_t first = quarter_of(weights);
    std::vector<Period> periods;
    double best = 0;
    for (const std::size_t distance : likely_distances(symbols)) {
        if (distance * kLeastRounds > symbols.size() || first + 2 * distance > symbols.size()) {
            break;
        }
        periods.push_back({distance, agreement_of(symbols, weights, first, distance)});
        best = std::max(best, periods.back().agreement);
    }
    for (const Period& period : periods) {
        if (period.agreement >= kLeastAgreement && period.agreement >= best - kSlack) {
            return period;
        }
    }
    return {};
}

std::vector<std::size_t> find_rounds(std::span<const std::uint32_t> symbols, const Period& period, std::size_t first) {
    if (period.length == 0 || first + period.length > symbols.size()) {
        return {};
    }
    // What marks a round must come once in it, and should survive a change elsewhere in it: as short as will do.
    constexpr std::size_t kFirstKey = 16;
    std::vector<std::size_t> rounds;
    for (std::size_t key = std::min(kFirstKey, period.length);; key = std::min(2 * key, period.length)) {
        const std::vector<std::uint64_t> hashes = windows(symbols, key);
        std::size_t found = 0;
        rounds.clear();
        for (std::size_t at = 0; at < hashes.size(); ++at) {
            if (hashes[at] == hashes[first]) {
                ++found;
                if (rounds.empty() || at - rounds.back() > period.length / 2) {
                    rounds.push_back(at);
                }
            }
        }
        if (key == period.length || found == rounds.size()) {
            break;
        }
    }
    // A last round may lack what the next one would have begun with.
    if (!rounds.empty() && symbols.size() - rounds.back() < period.length - period.length / 20) {
        rounds.pop_back();
    }
    return rounds;
}

}  // namespace gpuspy::analysis
