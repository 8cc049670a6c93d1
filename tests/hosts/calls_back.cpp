// A library with functions of cuBLAS that call the function that they are given, if any: user code runs within a library's call.
extern "C" int cublasSaxpy_v2(void (*function)(), int) {
    if (function != nullptr) function();
    return 0;
}
extern "C" int cublasSscal_v2(void (*function)(), int) {
    if (function != nullptr) function();
    return 0;
}
extern "C" int cublasScopy_v2(void (*function)(), int) {
    if (function != nullptr) function();
    return 0;
}
