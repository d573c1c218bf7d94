# How every target of stepcast is compiled: one place.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(STEPCAST_CCACHE ccache)
if(STEPCAST_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${STEPCAST_CCACHE})
endif()

# The same bytes out of gcc and clang: no fused multiply-add that the source does not name.
add_library(stepcast_options INTERFACE)
target_include_directories(stepcast_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(stepcast_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror -ffp-contract=off>)

# stepcast_library(NAME DEPENDS public... PRIVATE private...): one library per folder, globbed.
function(stepcast_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  if(NOT sources)
    return()
  endif()
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC stepcast_options ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE})
  if(EXISTS ${CMAKE_SOURCE_DIR}/${name}/main.cpp)
    add_executable(stepcast ${CMAKE_SOURCE_DIR}/${name}/main.cpp)
    target_link_libraries(stepcast PRIVATE ${name} ${ARG_PRIVATE})
  endif()
endfunction()

# stepcast_tests(NAME DEPENDS ...): one test program per folder of tests/.
function(stepcast_tests name)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${name}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(${name}_tests ${sources})
  target_link_libraries(${name}_tests PRIVATE stepcast_options ${ARG_DEPENDS} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name}_tests PRIVATE STEPCAST_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  gtest_discover_tests(${name}_tests DISCOVERY_TIMEOUT 60)
endfunction()
