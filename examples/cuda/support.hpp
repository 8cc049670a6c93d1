// What the CUDA examples share: errors, arguments, kernels, and the question whether the device is simulated.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <vector>

namespace examples {

/// Ends the program with exit status 1 and one line on stderr when a CUDA call failed.
void check(cudaError_t status, const char* what);
#define EXAMPLE_CHECK(call) ::examples::check((call), #call)

/// The value of argument `index`, or `fallback` when it was not given. Ends the program with exit status 2 and one line
/// on stderr when it is no whole number between 1 and `most`.
int argument(int argc, char** argv, int index, int fallback, int most, const char* usage);

/// Whether the device is the simulated one of the tests, on which kernels take time and do nothing.
bool simulated();

/// The examples' kernels, loaded for the current device.
class Kernels {
public:
    Kernels();
    ~Kernels();
    Kernels(const Kernels&) = delete;
    Kernels& operator=(const Kernels&) = delete;

    /// Launches accumulate_sum over `count` floats: sum[i] += a[i] + b[i].
    void accumulate_sum(const float* a, const float* b, float* sum, int count, cudaStream_t stream) const;
    /// Launches one block of one thread that runs for `cycles` of its multiprocessor's clock.
    void spin(long long cycles, cudaStream_t stream) const;

private:
    cudaLibrary_t library_ = nullptr;
    cudaKernel_t accumulate_sum_ = nullptr;
    cudaKernel_t spin_ = nullptr;
};

/// Two vectors of small whole numbers on the device, and their sums, which are exact in float.
class Vectors {
public:
    explicit Vectors(int count);
    ~Vectors();
    Vectors(const Vectors&) = delete;
    Vectors& operator=(const Vectors&) = delete;

    int count() const { return static_cast<int>(a_.size()); }
    /// Copies elements [begin, end) of both vectors to the device and sets their sums to 0.
    void upload(int begin, int end, cudaStream_t stream);
    /// Adds both vectors to their sums, elements [begin, end).
    void accumulate(const Kernels& kernels, int begin, int end, cudaStream_t stream) const;
    /// Copies the sums back. The stream must be waited for before they are read.
    void download(cudaStream_t stream);
    /// Whether each sum is `times` (a + b); meaningless on the simulated device.
    bool right(int times) const;
    double checksum() const;

private:
    std::size_t bytes() const { return a_.size() * sizeof(float); }

    std::vector<float> a_, b_, sums_;
    float* device_a_ = nullptr;
    float* device_b_ = nullptr;
    float* device_sums_ = nullptr;
};

/// Prints "NAME: kernels N checksum C ok", or that the result was not checked, and returns the exit status.
int finish(const char* name, int kernels, const Vectors& vectors, int times);

}  // namespace examples
