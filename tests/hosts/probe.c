/* A program without CUDA that asks whether CUDA is there, as frameworks do. */
#include <dlfcn.h>
#include <stdio.h>

static void ask(void* handle, const char* name) {
    dlerror();
    const void* found = dlsym(handle, name);
    const char* error = dlerror();
    printf("%s: %s, dlerror %s\n", name, found != NULL ? "found" : "null", error != NULL ? error : "null");
}

int main(void) {
    ask(RTLD_DEFAULT, "cuInit");
    ask(RTLD_DEFAULT, "cuLaunchKernel");
    ask(RTLD_DEFAULT, "cudaMalloc");
    ask(RTLD_DEFAULT, "cudaLaunchKernel");
    ask(RTLD_NEXT, "cudnnConvolutionForward");
    ask(RTLD_NEXT, "cuptiActivityRegisterCallbacks");
    ask(RTLD_DEFAULT, "printf");
    ask(RTLD_DEFAULT, "no_such_function_anywhere");
    void* self = dlopen(NULL, RTLD_NOW);
    ask(self, "cuInit");
    ask(self, "puts");
    /* The error state is a program's own: one message, then none. */
    (void)dlsym(RTLD_DEFAULT, "another_missing_function");
    printf("first dlerror: %s\n", dlerror() != NULL ? "told" : "null");
    printf("second dlerror: %s\n", dlerror() != NULL ? "told" : "null");
    return 0;
}
