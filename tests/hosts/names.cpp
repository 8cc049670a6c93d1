// Kernels by every way to get one, with names of every kind.
//   names many module|library|runtime N    N kernels, named kernel_0000000 and on, each launched once
//   names odd                              names that are no text, very long, or look like something else
//   names reuse N                          N modules, one after another, whose handles come back
//   names nodes                            kernel nodes added to a graph by hand, by function and by kernel
//   names hidden                           functions whose look-up no preloaded library can see, launched and as nodes
//   names changed                          a node of an executable graph that becomes another kernel's
//   names ways                             one kernel by each way to a handle
//   names again N                          two kernels, each looked up N times and launched once
#include <cuda.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/hosts/host.hpp"

namespace {

void* driver_function(const char* name) {
    static const auto real =
        reinterpret_cast<void* (*)(void*, const char*)>(dlsym(dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD), "dlsym"));
    static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    void* found = real != nullptr ? real(driver, name) : nullptr;
    if (found == nullptr) {
        std::printf("no %s\n", name);
        std::exit(3);
    }
    return found;
}

void set_up() {
    CUcontext context = nullptr;
    host::must("cuInit", cuInit(0));
    host::must("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain(&context, 0));
    host::must("cuCtxSetCurrent", cuCtxSetCurrent(context));
}

void launch(CUfunction function, int times = 1) {
    for (int i = 0; i < times; ++i) {
        host::must("cuLaunchKernel", cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr));
    }
}

CUmodule load_module() {
    CUmodule module = nullptr;
    host::must("cuModuleLoadData", cuModuleLoadData(&module, "image"));
    return module;
}

CUlibrary load_library() {
    CUlibrary library = nullptr;
    host::must("cuLibraryLoadData", cuLibraryLoadData(&library, "image", nullptr, nullptr, 0, nullptr, nullptr, 0));
    return library;
}

CUfunction function_in(CUmodule module, const char* name) {
    CUfunction function = nullptr;
    host::must("cuModuleGetFunction", cuModuleGetFunction(&function, module, name));
    return function;
}

CUkernel kernel_in(CUlibrary library, const char* name) {
    CUkernel kernel = nullptr;
    host::must("cuLibraryGetKernel", cuLibraryGetKernel(&kernel, library, name));
    return kernel;
}

std::vector<std::string> numbered(int count) {
    std::vector<std::string> names;
    char name[32];
    for (int i = 0; i < count; ++i) {
        std::snprintf(name, sizeof name, "kernel_%07d", i);
        names.emplace_back(name);
    }
    return names;
}

/// All handles first, as a framework that loads its modules does; then all launches.
void many(const char* way, int count) {
    const std::vector<std::string> names = numbered(count);
    if (std::strcmp(way, "runtime") == 0) {
        std::vector<host::Kernel> kernels;
        kernels.reserve(names.size());
        for (const std::string& name : names) {
            kernels.push_back({name.c_str()});
            host::register_kernels({&kernels.back()});
        }
        for (const host::Kernel& kernel : kernels) {
            host::must("cudaLaunchKernel", host::launch(kernel));
        }
        host::must("cudaDeviceSynchronize", cudaDeviceSynchronize());
        return;
    }
    set_up();
    const bool by_module = std::strcmp(way, "module") == 0;
    const CUmodule module = by_module ? load_module() : nullptr;
    const CUlibrary library = by_module ? nullptr : load_library();
    std::vector<CUfunction> functions;
    for (const std::string& name : names) {
        functions.push_back(by_module ? function_in(module, name.c_str())
                                      : reinterpret_cast<CUfunction>(kernel_in(library, name.c_str())));
    }
    for (CUfunction function : functions) {
        launch(function);
    }
}

/// As cuDNN and cuBLASLt do before each launch.
void again(int count) {
    set_up();
    const CUmodule module = load_module();
    CUfunction functions[2]{};
    for (int i = 0; i < count; ++i) {
        functions[0] = function_in(module, "looked_up_again");
        functions[1] = function_in(module, "and_this_one");
    }
    for (CUfunction function : functions) launch(function);
}

void odd() {
    set_up();
    const CUmodule module = load_module();
    launch(function_in(module, "not\xff\xfetext\xc3"));
    launch(function_in(module, "\"quoted\\ and\ttabbed\nand \x1b[31mred\""));
    launch(function_in(module, "\xe2\x80\xae reversed"));
    launch(function_in(module, ""));
    launch(function_in(module, "(name not known)"));
    launch(function_in(module, ("_Z" + std::string(65535 - 2, 'x')).c_str()));
    launch(function_in(module, ("long_" + std::string(20000, 'a')).c_str()));
    launch(function_in(module, ("long_" + std::string(20000, 'a') + "b").c_str()));
    launch(function_in(
        module, "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_"));
}

void reuse(int count) {
    set_up();
    std::vector<CUfunction> seen;
    int came_back = 0;
    for (int i = 0; i < count; ++i) {
        char name[32];
        std::snprintf(name, sizeof name, "module_%d", i);
        const CUmodule module = load_module();
        const CUfunction function = function_in(module, name);
        for (CUfunction other : seen) {
            came_back += other == function ? 1 : 0;
        }
        seen.push_back(function);
        launch(function, i % 3 + 1);
        host::must("cuCtxSynchronize", cuCtxSynchronize());
        host::must("cuModuleUnload", cuModuleUnload(module));
    }
    std::printf("handles came back: %s\n", came_back > 0 ? "yes" : "no");
}

void add_node(CUgraph graph, CUfunction function, CUkernel kernel) {
    CUDA_KERNEL_NODE_PARAMS parameters{};
    parameters.func = function;
    parameters.kern = kernel;
    parameters.gridDimX = parameters.gridDimY = parameters.gridDimZ = 1;
    parameters.blockDimX = 32;
    parameters.blockDimY = parameters.blockDimZ = 1;
    CUgraphNode node = nullptr;
    host::must("cuGraphAddKernelNode", cuGraphAddKernelNode(&node, graph, nullptr, 0, &parameters));
}

void replay(CUgraph graph, int times) {
    CUgraphExec exec = nullptr;
    host::must("cuGraphInstantiate", cuGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < times; ++i) {
        host::must("cuGraphLaunch", cuGraphLaunch(exec, nullptr));
    }
}

void nodes() {
    set_up();
    CUgraph graph = nullptr;
    host::must("cuGraphCreate", cuGraphCreate(&graph, 0));
    add_node(graph, function_in(load_module(), "by_function"), nullptr);
    add_node(graph, nullptr, kernel_in(load_library(), "by_kernel"));
    add_node(graph, reinterpret_cast<CUfunction>(kernel_in(load_library(), "by_cast")), nullptr);
    replay(graph, 2);
}

/// One node, launched 1, 2 and 4 times as three kernels; another graph is made meanwhile, and one where the first was.
void changed() {
    set_up();
    const CUmodule module = load_module();
    CUgraph graph = nullptr;
    host::must("cuGraphCreate", cuGraphCreate(&graph, 0));
    CUDA_KERNEL_NODE_PARAMS parameters{};
    parameters.func = function_in(module, "as_captured");
    parameters.gridDimX = parameters.gridDimY = parameters.gridDimZ = 1;
    parameters.blockDimX = parameters.blockDimY = parameters.blockDimZ = 1;
    CUgraphNode node = nullptr;
    host::must("cuGraphAddKernelNode", cuGraphAddKernelNode(&node, graph, nullptr, 0, &parameters));
    CUgraphExec exec = nullptr;
    host::must("cuGraphInstantiate", cuGraphInstantiate(&exec, graph, 0));
    const auto run = [&](int times) {
        for (int i = 0; i < times; ++i) {
            host::must("cuGraphLaunch", cuGraphLaunch(exec, nullptr));
        }
    };
    run(1);
    parameters.func = function_in(module, "as_changed");
    host::must("cuGraphExecKernelNodeSetParams", cuGraphExecKernelNodeSetParams(exec, node, &parameters));
    run(2);
    parameters.func = function_in(module, "as_changed_again");
    host::must("cuGraphExecKernelNodeSetParams", cuGraphExecKernelNodeSetParams(exec, node, &parameters));
    run(4);
    // Made anew from the same graph: as it was captured.
    host::must("cuGraphExecDestroy", cuGraphExecDestroy(exec));
    host::must("cuGraphInstantiate", cuGraphInstantiate(&exec, graph, 0));
    run(8);
}

void hidden() {
    set_up();
    const auto get_function = reinterpret_cast<decltype(&cuModuleGetFunction)>(driver_function("cuModuleGetFunction"));
    CUfunction launched = nullptr;
    CUfunction node = nullptr;
    const CUmodule module = load_module();
    host::must("cuModuleGetFunction", get_function(&launched, module, "hidden_launch"));
    host::must("cuModuleGetFunction", get_function(&node, module, "hidden_node"));
    launch(launched, 3);
    CUgraph graph = nullptr;
    host::must("cuGraphCreate", cuGraphCreate(&graph, 0));
    add_node(graph, node, nullptr);
    replay(graph, 2);
    const auto get_kernel = reinterpret_cast<decltype(&cuLibraryGetKernel)>(driver_function("cuLibraryGetKernel"));
    CUkernel kernel = nullptr;
    host::must("cuLibraryGetKernel", get_kernel(&kernel, load_library(), "hidden_kernel"));
    launch(reinterpret_cast<CUfunction>(kernel));
    // Handles that come back as other functions', each launched once or twice.
    for (int i = 0; i < 40; ++i) {
        const CUmodule passing = load_module();
        host::must("cuModuleGetFunction", get_function(&launched, passing, i % 2 == 0 ? "hidden_even" : "hidden_odd"));
        launch(launched, i % 2 + 1);
        host::must("cuCtxSynchronize", cuCtxSynchronize());
        host::must("cuModuleUnload", cuModuleUnload(passing));
    }
}

void ways() {
    set_up();
    launch(function_in(load_module(), "from_module"));
    const CUlibrary library = load_library();
    const CUkernel kernel = kernel_in(library, "from_library");
    launch(reinterpret_cast<CUfunction>(kernel));
    CUfunction function = nullptr;
    host::must("cuKernelGetFunction", cuKernelGetFunction(&function, kernel));
    launch(function);
    CUkernel enumerated[4] = {};
    unsigned count = 0;
    host::must("cuLibraryGetKernelCount", cuLibraryGetKernelCount(&count, library));
    host::must("cuLibraryEnumerateKernels", cuLibraryEnumerateKernels(enumerated, count, library));
    launch(reinterpret_cast<CUfunction>(enumerated[0]));
    CUmodule inside = nullptr;
    host::must("cuLibraryGetModule", cuLibraryGetModule(&inside, library));
    launch(function_in(inside, "from_librarys_module"));
    CUmodule loaded = nullptr;
    host::must("cuModuleLoadDataEx", cuModuleLoadDataEx(&loaded, "image", 0, nullptr, nullptr));
    launch(function_in(loaded, "from_compiled_at_run_time"));
    static const host::Kernel registered{"_Z10registeredv"};
    host::register_kernels({&registered});
    host::must("cudaLaunchKernel", host::launch(registered));
    cudaFunction_t by_symbol = nullptr;
    host::must("cudaGetFuncBySymbol", cudaGetFuncBySymbol(&by_symbol, registered.function()));
    launch(reinterpret_cast<CUfunction>(by_symbol));
}

}  // namespace

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    if (std::strcmp(what, "many") == 0) {
        many(argv[2], std::atoi(argv[3]));
    } else if (std::strcmp(what, "odd") == 0) {
        odd();
    } else if (std::strcmp(what, "again") == 0) {
        again(std::atoi(argv[2]));
    } else if (std::strcmp(what, "reuse") == 0) {
        reuse(std::atoi(argv[2]));
    } else if (std::strcmp(what, "nodes") == 0) {
        nodes();
    } else if (std::strcmp(what, "hidden") == 0) {
        hidden();
    } else if (std::strcmp(what, "changed") == 0) {
        changed();
    } else if (std::strcmp(what, "ways") == 0) {
        ways();
    } else {
        return 2;
    }
    host::must("cuCtxSynchronize", cuCtxSynchronize());
    std::printf("done %s\n", what);
    return 0;
}
