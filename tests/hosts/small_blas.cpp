// A library with functions of cuBLAS, or one that calls it (CALLER): both can be unloaded. Several of each may be in a process.
extern "C" int cublasSaxpy_v2(void*, int);
extern "C" int cublasSscal_v2(void*, int);

#ifdef CALLER
extern "C" int launch_from_plugin() {
    return cublasSaxpy_v2(nullptr, 0) + 1;
}
#else
extern "C" int cublasSaxpy_v2(void*, int) {
    return 0;
}
extern "C" int cublasSscal_v2(void*, int) {
    return 0;
}
#endif
