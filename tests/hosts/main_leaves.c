// Main leaves by pthread_exit while another thread still calls CUDA. The process ends with its last thread.
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>

static void* synchronise(void* unused) {
    (void)unused;
    for (int i = 0; i < 5; ++i) {
        printf("%d\n", (int)cudaDeviceSynchronize());
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, synchronise, NULL) != 0) return 1;
    pthread_detach(thread);
    pthread_exit(NULL);
}
