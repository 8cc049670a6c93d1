# Kinds of targets that more than one folder makes.

# gpuspy_carried_program(TARGET...): programs that run on machines with none of our build dependencies: the C++ runtime is
# linked in. Not under sanitizers, whose programs stay where they were built.
function(gpuspy_carried_program)
    if(NOT GPUSPY_SANITIZE)
        foreach(target IN LISTS ARGV)
            target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
        endforeach()
    endif()
endfunction()
