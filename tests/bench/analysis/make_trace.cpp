// make_trace loop|training LAUNCHES FILE: a large trace of known content; what the report must say of it as JSON on standard
// output.
//
// loop      small operators of one PyTorch thread: runtime and driver call for each launch, one kernel that takes a
//           microsecond; every 1,000 launches a copy back and a wait.
// training  steps of 700 launches of 70 kernels: half of them inside cuDNN, some inside cuBLASLt, with descriptor calls between.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/bench/analysis/made_trace.hpp"

namespace gpuspy::bench {
namespace {

constexpr std::uint64_t kTorch = 0x11000, kRuntime = 0x21000;
constexpr std::uint64_t kStepLaunches = 700, kKernels = 70;

std::string kernel_name(std::uint64_t number) {
    return "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_21CUDAFunctorOnSelf_addIfEESt5arrayIPcLm2EEEEviT0_T" +
           std::to_string(number) + "_";
}

class Program {
public:
    explicit Program(MadeTrace& trace) : trace_(trace) {
        for (std::uint64_t number = 0; number < kKernels; ++number) {
            names_.push_back(kernel_name(number));
        }
    }

    /// A driver launch inside `outer`, and its kernel.
    void launch(ApiNumber outer, std::uint64_t kernel, std::uint64_t kernel_ns, std::uint64_t call_ticks) {
        const std::uint64_t begin = trace_.now_ticks;
        const std::uint64_t inner_begin = begin + trace_.about(300, 0.2);
        const std::uint64_t inner_end = inner_begin + trace_.about(call_ticks, 0.1);
        const std::uint64_t end = inner_end + trace_.about(120, 0.2);
        trace_.now_ticks = end + trace_.about(6000, 0.1);
        const std::uint64_t correlation = trace_.next_correlation();
        const auto grid = static_cast<std::uint32_t>(1 + kernel * 37);
        MadeTrace::Call inside{kDriverLaunch, 1, inner_begin, inner_end};
        inside.caller = kRuntime + 16 * outer;
        inside.has_stream = true;
        inside.correlation = correlation;
        inside.function = 0x55550000 + 64 * kernel;
        inside.grid = grid;
        inside.block = 128;
        MadeTrace::Call around{outer, 0, begin, end};
        around.caller = kTorch + 16 * (kernel % 50);
        if (outer == kRuntimeLaunch) {
            around.has_stream = true;
            around.function = 0x44440000 + 16 * kernel;
            around.grid = grid;
            around.block = 128;
        } else if (outer == kCudnnExecute) {
            around.arguments = {0x7f3898a30510 + static_cast<std::int64_t>(kernel) * 4096, 0x7f3890001000};
        } else {
            around.arguments = {0x7f3898879cd0, 0x7f389ddada50, 0x7f389de55e60, 0x7f389892c3e0, 0x7f389892c3e0};
        }
        sink::KernelRecord record;
        record.context = 1;
        record.stream = 7;
        record.correlation = correlation;
        record.start_ns = trace_.run_on_device(inner_begin, trace_.about(4000, 0.1), kernel_ns);
        record.end_ns = record.start_ns + kernel_ns;
        record.name = names_[kernel].c_str();
        record.grid[0] = grid;
        record.block[0] = 128;
        record.grid[1] = record.grid[2] = record.block[1] = record.block[2] = 1;
        record.registers = 16;
        trace_.put(record);
        trace_.put(inside);
        trace_.put(around);
    }

    void describe(std::uint64_t number) {
        MadeTrace::Call call{kCudnnDescribe, 0, trace_.now_ticks, trace_.now_ticks + trace_.about(120, 0.3)};
        call.caller = kTorch + 0x800;
        const auto channels = static_cast<std::int64_t>(64 << (number % 5));
        call.arguments = {0x7f3898a00000 + static_cast<std::int64_t>(number % 97) * 64,
                          0,
                          4,
                          4,
                          32,
                          channels,
                          14,
                          14,
                          4,
                          196 * channels,
                          196,
                          14,
                          1};
        trace_.now_ticks = call.end_ticks + trace_.about(400, 0.3);
        trace_.put(call);
    }

    void copy_back_and_wait() {
        const std::uint64_t begin = trace_.now_ticks;
        MadeTrace::Call inside{kDriverCopy, 1, begin + 300, begin + 300 + trace_.about(9000, 0.1)};
        inside.caller = kRuntime + 0x400;
        inside.has_stream = true;
        inside.correlation = trace_.next_correlation();
        inside.copy_bytes = 4096;
        inside.copy_kind = 2;
        MadeTrace::Call around{kRuntimeCopy, 0, begin, inside.end_ticks + 100};
        around.caller = kTorch + 0x900;
        around.has_stream = true;
        around.copy_bytes = 4096;
        around.copy_kind = 2;
        sink::MemcpyRecord record;
        record.context = 1;
        record.stream = 7;
        record.correlation = inside.correlation;
        record.start_ns = trace_.run_on_device(inside.begin_ticks, 3000, 1472);
        record.end_ns = record.start_ns + 1472;
        record.asynchronous = true;
        record.bytes = 4096;
        record.kind = 2;
        record.source_kind = 3;
        record.destination_kind = 2;
        trace_.now_ticks = around.end_ticks + 500;
        MadeTrace::Call wait{kStreamSync, 0, trace_.now_ticks, trace_.now_ticks + trace_.about(20000, 0.2)};
        wait.caller = kTorch + 0xa00;
        wait.has_stream = true;
        trace_.put(record);
        trace_.put(inside);
        trace_.put(around);
        trace_.now_ticks = wait.end_ticks + 2000;
        trace_.put(wait);
    }

    void loop(std::uint64_t launches) {
        for (std::uint64_t i = 0; i < launches; ++i) {
            launch(kRuntimeLaunch, 0, 959 + 32 * (trace_.about(100, 0.9) % 7), 8000);
            if (i % 1000 == 999) {
                copy_back_and_wait();
            }
        }
    }

    void training(std::uint64_t launches) {
        for (std::uint64_t i = 0; i < launches; ++i) {
            const std::uint64_t place = i % kStepLaunches;
            const std::uint64_t kernel = place * 29 % kKernels;
            for (std::uint64_t n = 0; n < place % 3; ++n) {
                describe(place + n);
            }
            const ApiNumber outer = place % 9 < 5 ? kCudnnExecute : place % 9 < 8 ? kRuntimeLaunch : kCublasLtMatmul;
            launch(outer, kernel, trace_.about(1500 + 100 * kernel, 0.1) / 32 * 32, 9000);
            if (place == kStepLaunches - 1) {
                copy_back_and_wait();
            }
        }
    }

private:
    MadeTrace& trace_;
    std::vector<std::string> names_;
};

void print(const Answers& answers) {
    std::printf("{\"launches\": %llu, \"copies\": %llu, \"copy_bytes\": %llu, \"busy_ns\": %llu, \"sync_ns\": %llu, ",
                static_cast<unsigned long long>(answers.launches), static_cast<unsigned long long>(answers.copies),
                static_cast<unsigned long long>(answers.copy_bytes), static_cast<unsigned long long>(answers.busy_ns),
                static_cast<unsigned long long>(answers.sync_ns));
    std::uint64_t calls = 0;
    for (const std::uint64_t count : answers.calls) {
        calls += count;
    }
    std::printf("\"calls\": %llu, \"file_bytes\": %llu, \"kernels\": {", static_cast<unsigned long long>(calls),
                static_cast<unsigned long long>(answers.file_bytes));
    const char* comma = "";
    for (const auto& [name, totals] : answers.kernels) {
        std::printf("%s\"%s\": [%llu, %llu, %llu, %llu]", comma, name.c_str(),
                    static_cast<unsigned long long>(totals.count), static_cast<unsigned long long>(totals.time_ns),
                    static_cast<unsigned long long>(totals.min_ns), static_cast<unsigned long long>(totals.max_ns));
        comma = ", ";
    }
    std::printf("}}\n");
}

}  // namespace
}  // namespace gpuspy::bench

int main(int argc, char** argv) {
    const std::string content = argc == 4 ? argv[1] : "";
    const std::uint64_t launches = argc == 4 ? std::strtoull(argv[2], nullptr, 10) : 0;
    if ((content != "loop" && content != "training") || launches == 0) {
        std::fputs("usage: make_trace loop|training LAUNCHES FILE\n", stderr);
        return 2;
    }
    gpuspy::bench::MadeTrace trace(argv[3]);
    gpuspy::bench::Program program(trace);
    content == "loop" ? program.loop(launches) : program.training(launches);
    gpuspy::bench::print(trace.finish());
    return 0;
}
