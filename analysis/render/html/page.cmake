# GPUSPY_HTML_PAGE_SOURCE: the HTML report's page as a source that puts it into the program, so that gpuspy-report needs no
# file beside it. GPUSPY_CHART_JS and GPUSPY_D3_JS: cmake/gpuspy_dependencies.cmake.
set(here ${CMAKE_CURRENT_LIST_DIR})
include(${here}/parts.cmake)
list(TRANSFORM page_scripts PREPEND ${here}/)
set(GPUSPY_HTML_PAGE ${CMAKE_CURRENT_BINARY_DIR}/report_page.html)
add_custom_command(
    OUTPUT ${GPUSPY_HTML_PAGE}
    COMMAND ${CMAKE_COMMAND} -DOUT=${GPUSPY_HTML_PAGE} -DCHART_JS=${GPUSPY_CHART_JS} -DD3_JS=${GPUSPY_D3_JS}
            -P ${here}/assemble.cmake
    DEPENDS ${here}/assemble.cmake ${here}/parts.cmake ${here}/page.html ${here}/report.css ${here}/licences.txt
            ${page_scripts} ${GPUSPY_CHART_JS} ${GPUSPY_D3_JS}
    COMMENT "Assembling the page of the HTML report"
    VERBATIM)
set(GPUSPY_HTML_PAGE_SOURCE ${CMAKE_CURRENT_BINARY_DIR}/html_page.S)
configure_file(${here}/html_page.S.in ${GPUSPY_HTML_PAGE_SOURCE} @ONLY)
set_source_files_properties(${GPUSPY_HTML_PAGE_SOURCE} PROPERTIES OBJECT_DEPENDS ${GPUSPY_HTML_PAGE})
