# Run as a script: copies SOURCE to BUILD, installs what package-lock.json pins, once for each lock file, and builds
# BUILD/page.html. Where that cannot be it says so in one line, and the file is empty.
file(GLOB_RECURSE sources RELATIVE ${SOURCE} ${SOURCE}/*)
foreach(source ${sources})
  if(NOT source MATCHES "^node_modules/")
    cmake_path(GET source PARENT_PATH folder)
    file(MAKE_DIRECTORY ${BUILD}/${folder})
    file(COPY_FILE ${SOURCE}/${source} ${BUILD}/${source} ONLY_IF_DIFFERENT)
  endif()
endforeach()

function(give_up why)
  message(NOTICE "stepcast: --report will not be there: ${why}. To try again, configure and build again")
  file(WRITE ${BUILD}/page.html "")
endfunction()

set(installed ${BUILD}/node_modules/.stepcast-installed) # the lock file that was installed
file(SHA256 ${BUILD}/package-lock.json wanted)
set(there "")
if(EXISTS ${installed})
  file(READ ${installed} there)
endif()
if(NOT there STREQUAL wanted)
  message(NOTICE "stepcast: fetching what the page of reports is built with, from npm")
  execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --loglevel=error --fetch-retries=1
                          --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000 --fetch-timeout=30000
                  WORKING_DIRECTORY ${BUILD} RESULT_VARIABLE status OUTPUT_FILE ${BUILD}/npm.log
                  ERROR_FILE ${BUILD}/npm.log TIMEOUT 240)
  if(NOT status EQUAL 0)
    give_up("npm could not fetch its packages (${BUILD}/npm.log)")
    return()
  endif()
  file(WRITE ${installed} ${wanted})
endif()

execute_process(COMMAND ${NPM} run --silent build WORKING_DIRECTORY ${BUILD} RESULT_VARIABLE status
                OUTPUT_FILE ${BUILD}/build.log ERROR_FILE ${BUILD}/build.log TIMEOUT 300)
if(NOT status EQUAL 0)
  give_up("the page could not be built (${BUILD}/build.log)")
  return()
endif()
file(COPY_FILE ${BUILD}/dist/page.html ${BUILD}/page.html)
file(TOUCH ${BUILD}/page.html)
