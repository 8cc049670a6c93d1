/* An object that exports nothing and calls the C library when it is loaded. */
#include <unistd.h>

__attribute__((constructor)) static void loaded(void) {
    (void)getppid();
}
