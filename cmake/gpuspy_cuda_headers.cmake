# gpuspy_cuda_headers: the headers of CUDA, CUPTI, cuBLAS and cuDNN, from CUDA_HOME, /usr/local/cuda, or where
# scripts/setup.sh, which asks the same question, put those of the vendor's wheels. Headers only: nothing of ours links a
# CUDA library. (CMake's own FindCUDAToolkit wants libraries and nvcc.)

set(candidates "")
if(DEFINED ENV{CUDA_HOME})
    list(APPEND candidates $ENV{CUDA_HOME}/include)
endif()
list(APPEND candidates /usr/local/cuda/include ${PROJECT_SOURCE_DIR}/build/cuda-headers/include)

set(GPUSPY_CUDA_INCLUDE_DIR "" CACHE PATH "Folder of cuda.h, cupti.h, cublas_v2.h and cudnn.h; empty: found by itself")
set(cuda_include "${GPUSPY_CUDA_INCLUDE_DIR}")
if(NOT cuda_include)
    foreach(folder IN LISTS candidates)
        set(whole ON)
        foreach(header IN ITEMS cuda.h cuda_runtime_api.h crt/host_defines.h fatbinary_section.h cudaProfiler.h cupti.h
                                cublas_v2.h cublasLt.h cudnn.h)
            if(NOT EXISTS ${folder}/${header})
                set(whole OFF)
            endif()
        endforeach()
        if(whole)
            # Older headers lack functions that the hook table names; one library built with these serves every version.
            file(STRINGS ${folder}/cuda.h version REGEX "^#define CUDA_VERSION ")
            string(REGEX REPLACE "[^0-9]" "" version "${version}")
            if(version LESS 13000)
                set(whole OFF)
            endif()
        endif()
        if(whole)
            set(cuda_include ${folder})
            break()
        endif()
    endforeach()
endif()

if(NOT cuda_include OR NOT EXISTS ${cuda_include}/cuda.h)
    list(JOIN candidates ", " candidates)
    message(FATAL_ERROR "no folder with cuda.h (13.0 or newer), cupti.h, cublas_v2.h and cudnn.h (looked in ${candidates}): "
                        "run scripts/setup.sh, or set CUDA_HOME or GPUSPY_CUDA_INCLUDE_DIR")
endif()
message(STATUS "CUDA headers: ${cuda_include}")

add_library(gpuspy_cuda_headers INTERFACE)
target_include_directories(gpuspy_cuda_headers SYSTEM INTERFACE ${cuda_include})
