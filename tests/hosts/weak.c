/* Weak references to CUDA in a program without it. A preloaded library that exports these names makes them non-NULL,
 * which cannot be avoided; calling one must then say "no driver". */
#include <stdio.h>

__attribute__((weak)) int cudaLaunchKernel(const void*, ...);
__attribute__((weak)) int cuLaunchKernel(void*, ...);
__attribute__((weak)) int cuCtxSynchronize(void);

int main(void) {
    if (cuCtxSynchronize != NULL) {
        printf("cuCtxSynchronize: %d\n", cuCtxSynchronize());
    } else {
        printf("cuCtxSynchronize: null\n");
    }
    return 0;
}
