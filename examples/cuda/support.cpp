#include "examples/cuda/support.hpp"

#include <dlfcn.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "examples/cuda/kernels.hpp"

namespace examples {
namespace {

/// A control of the simulated device (tests/fakes/sim.h); null on a real one.
void* simulation(const char* name) {
    if (void* control = dlsym(RTLD_DEFAULT, name)) {
        return control;
    }
    // The driver may have been opened with local scope: then only its own handle finds its symbols.
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (driver == nullptr) {
        return nullptr;
    }
    void* control = dlsym(driver, name);
    dlclose(driver);
    return control;
}

/// Kernels take about as long on the simulated device as on a GPU.
void set_simulated_durations() {
    using SetDuration = void (*)(const char* kernel, std::uint64_t ns);
    if (const auto set_duration = reinterpret_cast<SetDuration>(simulation("sim_set_duration"))) {
        set_duration("accumulate_sum", 8'000);
        set_duration("spin", 500'000);
    }
}

}  // namespace

void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        std::exit(1);
    }
}

int argument(int argc, char** argv, int index, int fallback, int most, const char* usage) {
    if (index >= argc) {
        return fallback;
    }
    const char* text = argv[index];
    const char* end = text + std::strlen(text);
    int value = 0;
    const auto [stop, error] = std::from_chars(text, end, value);
    if (error != std::errc() || stop != end || value < 1 || value > most) {
        std::fprintf(stderr, "\"%s\" is no whole number from 1 to %d. Usage: %s\n", text, most, usage);
        std::exit(2);
    }
    return value;
}

bool simulated() {
    return simulation("sim_advance_ns") != nullptr;
}

Kernels::Kernels() {
    EXAMPLE_CHECK(cudaLibraryLoadData(&library_, kKernels, nullptr, nullptr, 0, nullptr, nullptr, 0));
    EXAMPLE_CHECK(cudaLibraryGetKernel(&accumulate_sum_, library_, "accumulate_sum"));
    EXAMPLE_CHECK(cudaLibraryGetKernel(&spin_, library_, "spin"));
    set_simulated_durations();
}

Kernels::~Kernels() {
    EXAMPLE_CHECK(cudaLibraryUnload(library_));
}

void Kernels::accumulate_sum(const float* a, const float* b, float* sum, int count, cudaStream_t stream) const {
    constexpr unsigned kBlock = 256;
    void* arguments[] = {&a, &b, &sum, &count};
    const dim3 grid((static_cast<unsigned>(count) + kBlock - 1) / kBlock);
    EXAMPLE_CHECK(
        cudaLaunchKernel(static_cast<const void*>(accumulate_sum_), grid, dim3(kBlock), arguments, 0, stream));
}

void Kernels::spin(long long cycles, cudaStream_t stream) const {
    void* arguments[] = {&cycles};
    EXAMPLE_CHECK(cudaLaunchKernel(static_cast<const void*>(spin_), dim3(1), dim3(1), arguments, 0, stream));
}

Vectors::Vectors(int count)
    : a_(static_cast<std::size_t>(count)), b_(static_cast<std::size_t>(count)), sums_(static_cast<std::size_t>(count)) {
    for (std::size_t i = 0; i < a_.size(); ++i) {
        a_[i] = static_cast<float>(i % 100);
        b_[i] = static_cast<float>(i % 7);
    }
    EXAMPLE_CHECK(cudaMalloc(reinterpret_cast<void**>(&device_a_), bytes()));
    EXAMPLE_CHECK(cudaMalloc(reinterpret_cast<void**>(&device_b_), bytes()));
    EXAMPLE_CHECK(cudaMalloc(reinterpret_cast<void**>(&device_sums_), bytes()));
}

Vectors::~Vectors() {
    EXAMPLE_CHECK(cudaFree(device_a_));
    EXAMPLE_CHECK(cudaFree(device_b_));
    EXAMPLE_CHECK(cudaFree(device_sums_));
}

void Vectors::upload(int begin, int end, cudaStream_t stream) {
    const std::size_t part = static_cast<std::size_t>(end - begin) * sizeof(float);
    EXAMPLE_CHECK(cudaMemcpyAsync(device_a_ + begin, a_.data() + begin, part, cudaMemcpyHostToDevice, stream));
    EXAMPLE_CHECK(cudaMemcpyAsync(device_b_ + begin, b_.data() + begin, part, cudaMemcpyHostToDevice, stream));
    EXAMPLE_CHECK(cudaMemsetAsync(device_sums_ + begin, 0, part, stream));
}

void Vectors::accumulate(const Kernels& kernels, int begin, int end, cudaStream_t stream) const {
    kernels.accumulate_sum(device_a_ + begin, device_b_ + begin, device_sums_ + begin, end - begin, stream);
}

void Vectors::download(cudaStream_t stream) {
    EXAMPLE_CHECK(cudaMemcpyAsync(sums_.data(), device_sums_, bytes(), cudaMemcpyDeviceToHost, stream));
}

bool Vectors::right(int times) const {
    for (std::size_t i = 0; i < sums_.size(); ++i) {
        if (sums_[i] != static_cast<float>(times) * (a_[i] + b_[i])) {
            return false;
        }
    }
    return true;
}

double Vectors::checksum() const {
    return std::accumulate(sums_.begin(), sums_.end(), 0.0);
}

int finish(const char* name, int kernels, const Vectors& vectors, int times) {
    if (simulated()) {
        std::printf("%s: kernels %d result not checked: simulated device\n", name, kernels);
        return 0;
    }
    const bool right = vectors.right(times);
    std::printf("%s: kernels %d checksum %.0f %s\n", name, kernels, vectors.checksum(), right ? "ok" : "WRONG");
    return right ? 0 : 1;
}

}  // namespace examples
