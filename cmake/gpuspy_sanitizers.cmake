# Sanitizers, for every target but those marked with gpuspy_no_sanitizer().
#
# libgpuspy.so is preloaded into programs that know nothing of sanitizers, so it and all that is linked into it are built
# without them in every preset; so are the fakes and the host programs, which stand for other people's code. The sanitizers
# cover the unit tests and the tools: docs/testing.md.

set(sanitize_flags "")
set(runtime_flags "")
if(GPUSPY_SANITIZE STREQUAL "address")
    set(sanitize_flags -fsanitize=address,undefined -fno-sanitize-recover=all)
    set(runtime_flags -static-libasan -static-libubsan)
elseif(GPUSPY_SANITIZE STREQUAL "thread")
    set(sanitize_flags -fsanitize=thread)
    set(runtime_flags -static-libtsan)
endif()

if(sanitize_flags)
    set(wanted "$<NOT:$<BOOL:$<TARGET_PROPERTY:GPUSPY_NO_SANITIZER>>>")
    foreach(flag IN LISTS sanitize_flags)
        add_compile_options("$<${wanted}:${flag}>")
        add_link_options("$<${wanted}:${flag}>")
    endforeach()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # The runtime must come first in a process, which as a library it does not where libgpuspy.so is preloaded (a
        # gpuspy-run inside a gpuspy-run): so it is part of the program. Clang's always is.
        foreach(flag IN LISTS runtime_flags)
            add_link_options("$<${wanted}:${flag}>")
        endforeach()
    endif()
    if(GPUSPY_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # -Wtsan: std::atomic_thread_fence is not understood by the sanitizer; where we use one, a test must not rely on it.
        add_compile_options("$<${wanted}:-Wno-tsan>")
    endif()
endif()

# gpuspy_no_sanitizer(TARGET...): builds the targets without sanitizers in every preset.
function(gpuspy_no_sanitizer)
    set_target_properties(${ARGV} PROPERTIES GPUSPY_NO_SANITIZER ON)
endfunction()

# gpuspy_plain_twins(TARGET...): for each static library X made so far, X_plain: X itself, or, in a sanitizer preset, the
# same sources built without sanitizers and linked to the twins of what X links. libgpuspy.so links the twins.
function(gpuspy_plain_twins)
    foreach(target IN LISTS ARGV)
        if(NOT TARGET ${target})
            continue()
        endif()
        if(NOT GPUSPY_SANITIZE)
            add_library(${target}_plain ALIAS ${target})
            continue()
        endif()
        get_target_property(folder ${target} SOURCE_DIR)
        get_target_property(sources ${target} SOURCES)
        list(TRANSFORM sources PREPEND "${folder}/" REGEX "^[^/$]")
        add_library(${target}_plain STATIC EXCLUDE_FROM_ALL ${sources})
        gpuspy_no_sanitizer(${target}_plain)
        foreach(property IN ITEMS COMPILE_OPTIONS COMPILE_DEFINITIONS INCLUDE_DIRECTORIES INTERFACE_INCLUDE_DIRECTORIES
                                  INTERFACE_COMPILE_OPTIONS INTERFACE_COMPILE_DEFINITIONS POSITION_INDEPENDENT_CODE
                                  CXX_VISIBILITY_PRESET VISIBILITY_INLINES_HIDDEN)
            get_target_property(value ${target} ${property})
            if(NOT value MATCHES "-NOTFOUND$")
                set_target_properties(${target}_plain PROPERTIES ${property} "${value}")
            endif()
        endforeach()
        foreach(property IN ITEMS LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
            get_target_property(libraries ${target} ${property})
            if(libraries MATCHES "-NOTFOUND$")
                continue()
            endif()
            set(twins "")
            foreach(library IN LISTS libraries)
                if(TARGET ${library}_plain)
                    string(APPEND library _plain)
                endif()
                list(APPEND twins "${library}")
            endforeach()
            set_target_properties(${target}_plain PROPERTIES ${property} "${twins}")
        endforeach()
    endforeach()
endfunction()
