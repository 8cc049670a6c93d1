# Build type, options and warnings that hold for every target.

set(GPUSPY_SANITIZE "" CACHE STRING "Sanitizers for what is unit-tested: empty, address (with undefined) or thread")
set_property(CACHE GPUSPY_SANITIZE PROPERTY STRINGS "" address thread)
option(GPUSPY_TESTS "Build the tests, the simulated device and the examples" ON)
option(GPUSPY_FUZZ "Build the fuzzers (needs clang)" OFF)

if(NOT GPUSPY_SANITIZE MATCHES "^(address|thread|)$")
    message(FATAL_ERROR "GPUSPY_SANITIZE is \"${GPUSPY_SANITIZE}\": use address, thread or nothing")
endif()
if(GPUSPY_FUZZ AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "GPUSPY_FUZZ needs clang: use the preset fuzz, or CMAKE_CXX_COMPILER=clang++")
endif()

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or Sanitize" FORCE)
endif()
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
# Sanitizers: assertions on, stacks that can be read, fast enough for a test.
set(CMAKE_C_FLAGS_SANITIZE "-O1 -g1 -fno-omit-frame-pointer")
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1 -fno-omit-frame-pointer")

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fdiagnostics-color=auto)
# The same object files wherever the repository lies.
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
