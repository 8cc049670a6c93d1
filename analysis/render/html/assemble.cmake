# Puts the page together from its parts, in one file that loads nothing:
#
#     cmake -DOUT=FILE -DCHART_JS=FILE -DD3_JS=FILE -P assemble.cmake
#
# In page.html stand @STYLE@, @CHART_JS@, @D3_JS@, @PAGE_JS@ and @LICENCES@, and @..._HASH@ for each that a policy must allow.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/parts.cmake)

# SHA-256 of a text as a Content Security Policy wants it: in base64.
function(policy_hash text into)
    string(SHA256 hex "${text}")
    set(digits "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    set(hash "")
    # 32 bytes: ten groups of three, and two bytes that are filled up with a zero.
    foreach(group RANGE 0 10)
        math(EXPR at "${group} * 6")
        string(SUBSTRING "${hex}00" ${at} 6 three)
        foreach(shift IN ITEMS 18 12 6 0)
            math(EXPR digit "(0x${three} >> ${shift}) & 63")
            string(SUBSTRING ${digits} ${digit} 1 digit)
            string(APPEND hash ${digit})
        endforeach()
    endforeach()
    string(SUBSTRING ${hash} 0 43 hash)
    set(${into} "'sha256-${hash}='" PARENT_SCOPE)
endfunction()

set(here ${CMAKE_CURRENT_LIST_DIR})
file(READ ${here}/page.html page)
file(READ ${here}/report.css STYLE)
file(READ ${here}/licences.txt LICENCES)
file(READ ${CHART_JS} CHART_JS)
file(READ ${D3_JS} D3_JS)
set(PAGE_JS "")
foreach(script IN LISTS page_scripts)
    file(READ ${here}/${script} text)
    string(APPEND PAGE_JS "${text}")
endforeach()
string(REPLACE "&" "&amp;" LICENCES "${LICENCES}")
string(REPLACE "<" "&lt;" LICENCES "${LICENCES}")

foreach(part IN ITEMS STYLE CHART_JS D3_JS PAGE_JS)
    if("${${part}}" MATCHES "</script|</style|<!--|@GPUSPY_DATA@")
        message(FATAL_ERROR "${part} holds \"${CMAKE_MATCH_0}\", which would end its element or be taken for the page's own mark")
    endif()
    policy_hash("${${part}}" hash)
    string(REPLACE "@${part}_HASH@" "${hash}" page "${page}")
endforeach()
foreach(part IN ITEMS STYLE LICENCES CHART_JS D3_JS PAGE_JS)
    string(REPLACE "@${part}@" "${${part}}" page "${page}")
endforeach()
file(WRITE ${OUT} "${page}")
