# Where things are installed, for the rules in packaging/ and for gpuspy-run, which looks for the library from its own place,
# so that a tree can be moved as a whole.
#
#   GPUSPY_PROGRAMS_DESTINATION, GPUSPY_LIBRARY_DESTINATION, GPUSPY_MANUAL_DESTINATION, GPUSPY_BASH_DESTINATION,
#   GPUSPY_ZSH_DESTINATION, GPUSPY_DOCUMENTS_DESTINATION    for install()
#   GPUSPY_LIBRARY_FROM_PROGRAMS    the library's folder as seen from the programs': ../lib, ../lib/x86_64-linux-gnu, ...
include(GNUInstallDirs)

set(root "")
set(GPUSPY_PROGRAMS_DESTINATION ${CMAKE_INSTALL_BINDIR})
if(SKBUILD)
    # A wheel: programs have a place of their own in it, which becomes the environment's bin; its data goes to the root.
    set(root ${SKBUILD_DATA_DIR}/)
    set(GPUSPY_PROGRAMS_DESTINATION ${SKBUILD_SCRIPTS_DIR})
endif()
set(GPUSPY_LIBRARY_DESTINATION ${root}${CMAKE_INSTALL_LIBDIR})
set(GPUSPY_MANUAL_DESTINATION ${root}${CMAKE_INSTALL_MANDIR}/man1)
set(GPUSPY_BASH_DESTINATION ${root}${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
set(GPUSPY_ZSH_DESTINATION ${root}${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
set(GPUSPY_DOCUMENTS_DESTINATION ${root}${CMAKE_INSTALL_DOCDIR})
file(RELATIVE_PATH GPUSPY_LIBRARY_FROM_PROGRAMS ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
