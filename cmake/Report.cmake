# The page of reports: report/ is a front-end in TypeScript that Vite makes one file of HTML of, and the assembler puts
# that file into the program (app/report/page_template.cpp). Where Node.js or npm is missing, or npm cannot reach its
# registry, the file is empty and stepcast says so where --report is asked for. All else is built.
find_program(STEPCAST_NODE NAMES node nodejs)
find_program(STEPCAST_NPM npm)
set(STEPCAST_PAGE "" CACHE FILEPATH "The page of reports where another build has made it; else it is made here")
set(page ${PROJECT_BINARY_DIR}/report/page.html)
if(STEPCAST_PAGE AND EXISTS ${STEPCAST_PAGE})
  set(page ${STEPCAST_PAGE})
elseif(STEPCAST_NODE AND STEPCAST_NPM)
  # One that could not be made before is tried again whenever this is configured.
  if(EXISTS ${page})
    file(SIZE ${page} page_size)
    if(page_size EQUAL 0)
      file(REMOVE ${page})
    endif()
  endif()
  file(GLOB_RECURSE page_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/report/*)
  add_custom_command(OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -D SOURCE=${PROJECT_SOURCE_DIR}/report -D BUILD=${PROJECT_BINARY_DIR}/report
            -D NPM=${STEPCAST_NPM} -P ${PROJECT_SOURCE_DIR}/cmake/MakePage.cmake
    DEPENDS ${page_sources} ${PROJECT_SOURCE_DIR}/cmake/MakePage.cmake
    COMMENT "Making the page of reports" VERBATIM)
else()
  message(STATUS "no Node.js or npm found (Debian: nodejs npm): --report says what to install, all else is there")
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/report)
  file(WRITE ${page}.empty "")
  file(COPY_FILE ${page}.empty ${page} ONLY_IF_DIFFERENT)
endif()
set_source_files_properties(app/report/page_template.cpp PROPERTIES OBJECT_DEPENDS ${page}
                            COMPILE_DEFINITIONS "STEPCAST_PAGE=\"${page}\";STEPCAST_VERSION=\"${PROJECT_VERSION}\"")
