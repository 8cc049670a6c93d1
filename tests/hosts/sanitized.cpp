// A program whose own runtime replaces functions of the C library and looks the real ones up by dlsym: built with the
// address sanitizer linked in. Its look-ups come before strcmp works, for anybody in the process.
#include <cstdio>

int main() {
    int* values = new int[10];
    values[3] = 4;
    std::printf("%d\n", values[3]);
    delete[] values;
    return 0;
}
