// Says what would be preloaded into it; ends with 3 where nobody can (a static program).
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    (void)argc;
    (void)argv;
    const char* preload = getenv("LD_PRELOAD");
    printf("preload: %s\n", preload != NULL ? preload : "none");
    return preload != NULL ? 3 : 0;
}
