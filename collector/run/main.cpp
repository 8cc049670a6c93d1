// gpuspy-run: runs a command with libgpuspy.so preloaded and brings what it left in order; or says whether it could.
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <ctime>
#include <iostream>
#include <memory>
#include <utility>

#include "collector/run/check.hpp"
#include "collector/run/options.hpp"
#include "collector/run/record.hpp"
#include "collector/run/snapshot.hpp"
#include "collector/run/sweep.hpp"
#include "collector/run/sweep_options.hpp"

namespace {

constexpr int kNoSuchProgram = 127;

/// A message without what a terminal takes for a command: names of files and arguments are anybody's.
class Printable : public spdlog::custom_flag_formatter {
public:
    void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& into) override {
        for (const char c : message.payload) {
            const auto byte = static_cast<unsigned char>(c);
            into.push_back((byte < 0x20 && c != '\n') || byte == 0x7f ? '?' : c);
        }
    }
    std::unique_ptr<spdlog::custom_flag_formatter> clone() const override { return std::make_unique<Printable>(); }
};

int check(const std::string& program) {
    const gpuspy::run::CheckResult result = gpuspy::run::check_program_here(program);
    if (result.verdict == gpuspy::run::Verdict::kNoProgram) {
        spdlog::error("{}: no such program, by path or in PATH", program);
        return kNoSuchProgram;
    }
    std::cout << result.text << std::flush;
    if (!std::cout) {
        spdlog::error("the answer could not be written to standard output");
        return gpuspy::run::kOwnFailure;
    }
    return result.verdict == gpuspy::run::Verdict::kRecorded ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    const auto logger = spdlog::stderr_logger_st("gpuspy-run");
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    formatter->add_flag<Printable>('*').set_pattern("gpuspy-run: %*");
    logger->set_formatter(std::move(formatter));
    spdlog::set_default_logger(logger);

    int status = 0;
    if (gpuspy::run::is_sweep(argc, argv)) {
        gpuspy::run::SweepOptions sweep;
        return gpuspy::run::read_sweep_options(argc - 1, argv + 1, &sweep, &status) ? gpuspy::run::sweep(sweep)
                                                                                    : status;
    }
    if (gpuspy::run::is_snapshot(argc, argv)) {
        gpuspy::run::SnapshotOptions asked;
        return gpuspy::run::read_snapshot_options(argc - 1, argv + 1, &asked, &status) ? gpuspy::run::snapshot(asked)
                                                                                       : status;
    }
    gpuspy::run::Options options;
    if (!gpuspy::run::read_options(argc, argv, &options, &status)) {
        return status;
    }
    return options.check.empty() ? gpuspy::run::record(options) : check(options.check);
}
