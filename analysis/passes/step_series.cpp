#include "analysis/passes/step_series.hpp"

#include <algorithm>

namespace gpuspy::analysis {
namespace {

/// Walks over steps in the order of time.
class Level {
public:
    explicit Level(std::vector<Step> steps) : steps_(std::move(steps)) {
        std::sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) { return a.at_ns < b.at_ns; });
    }

    /// What happens up to `moment_ns`, which may be in the middle of nothing.
    void advance(std::int64_t moment_ns) {
        for (; next_ < steps_.size() && steps_[next_].at_ns <= moment_ns; ++next_) {
            value_ += static_cast<std::uint64_t>(steps_[next_].change);
        }
    }
    [[nodiscard]] bool changes_before(std::int64_t moment_ns) const {
        return next_ < steps_.size() && steps_[next_].at_ns < moment_ns;
    }
    [[nodiscard]] std::int64_t next_change_ns() const { return steps_[next_].at_ns; }
    [[nodiscard]] std::uint64_t value() const { return static_cast<std::int64_t>(value_) < 0 ? 0 : value_; }

private:
    std::vector<Step> steps_;
    std::size_t next_ = 0;
    std::uint64_t value_ = 0;  // modulo 2^64: a damaged trace may say any size
};

}  // namespace

StepSeries step_series(std::vector<Step> steps, std::int64_t begin_ns, std::int64_t end_ns) {
    StepSeries series;
    Level level(std::move(steps));
    level.advance(begin_ns);
    series.max = level.value();
    series.max_at_ns = begin_ns;
    const auto note = [&](std::int64_t moment_ns) {
        if (level.value() > series.max) {
            series.max = level.value();
            series.max_at_ns = moment_ns;
        }
    };
    const std::int64_t length_ns = std::max<std::int64_t>(0, end_ns - begin_ns);
    const std::int64_t width_ns = std::max<std::int64_t>(
        1, (length_ns + static_cast<std::int64_t>(kMostSlots) - 1) / static_cast<std::int64_t>(kMostSlots));
    double area = 0;
    for (std::int64_t slot_ns = begin_ns; slot_ns < end_ns; slot_ns += width_ns) {
        const std::int64_t slot_end_ns = std::min(end_ns, slot_ns + width_ns);
        StepSlot& slot = series.slots.emplace_back();
        slot.begin_ns = slot_ns;
        double slot_area = 0;
        level.advance(slot_ns);
        note(slot_ns);
        slot.max = level.value();
        std::int64_t at_ns = slot_ns;
        while (level.changes_before(slot_end_ns)) {
            const std::int64_t change_ns = level.next_change_ns();
            slot_area += static_cast<double>(level.value()) * static_cast<double>(change_ns - at_ns);
            at_ns = change_ns;
            level.advance(change_ns);
            note(change_ns);
            slot.max = std::max(slot.max, level.value());
        }
        slot_area += static_cast<double>(level.value()) * static_cast<double>(slot_end_ns - at_ns);
        slot.last = level.value();
        slot.average = slot_area / static_cast<double>(slot_end_ns - slot_ns);
        area += slot_area;
    }
    level.advance(end_ns);
    note(end_ns);
    series.last = level.value();
    series.average = length_ns == 0 ? 0 : area / static_cast<double>(length_ns);
    return series;
}

}  // namespace gpuspy::analysis
