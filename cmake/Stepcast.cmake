# How every target of stepcast is compiled: one place.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# Adds the target all_verify_interface_header_sets: each header of a library that no source file begins with compiles
# alone. (scripts/check_includes.sh sees to the others.)
set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ON)

find_program(STEPCAST_CCACHE ccache)
if(STEPCAST_CCACHE)
  # What ccache's manual asks for where there are precompiled headers (tests).
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${STEPCAST_CCACHE})
endif()

# The same bytes out of gcc and clang: no fused multiply-add that the source does not name.
add_library(stepcast_options INTERFACE)
target_include_directories(stepcast_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(stepcast_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -ffp-contract=off -pthread>)

# g++ 12 sees overlapping copies in "literal" + std::string that are not there (GCC bug 105329).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(stepcast_options INTERFACE -Wno-restrict)
endif()

# It takes the files that are compiled as one for headers of theirs, whose classes should hold nothing of an anonymous
# namespace.
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(stepcast_options INTERFACE -Wno-subobject-linkage)
endif()

# Warnings are errors for the compilers this is tested with; later ones may warn of things nobody has seen yet.
if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
   OR (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15))
  target_compile_options(stepcast_options INTERFACE -Werror)
endif()

# What most files include, parsed once: a third of what a file costs clang to compile. (g++ 12 gains little or loses: it
# maps 113 MB of gmock's for each file; and warns of what it does not warn of otherwise.) The first target of a kind
# (headers and options) precompiles its headers, the others use them.
set(precompiled_of_libraries <algorithm> <array> <cmath> <functional> <map> <memory> <optional> <span>
    <stdexcept> <string> <string_view> <vector> <fmt/format.h>)
set(precompiled_of_tests <gmock/gmock.h> <gtest/gtest.h>)
function(stepcast_precompile target)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    return()
  endif()
  get_target_property(options ${target} COMPILE_OPTIONS)
  string(MD5 kind "${ARGN} ${options}")
  get_property(first GLOBAL PROPERTY STEPCAST_PRECOMPILED_${kind})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
    set_property(GLOBAL PROPERTY STEPCAST_PRECOMPILED_${kind} ${target})
  endif()
endfunction()

# With -D CMAKE_UNITY_BUILD=ON the files of one folder are compiled as one: what all of them include is parsed, and what
# all of them instantiate is compiled, once, which takes half to two thirds of the time. Names of their anonymous
# namespaces must differ then. Files that repeat names of others in their folder are compiled apart from these, together;
# those that repeat names of each other too are compiled alone. (So is app/report/figure.cpp: where it is inlined, g++ 12
# sees a variant read that was not written.) Files of several folders are one where `compiled_as_one` says so: GROUP=REGEX,
# the first that matches.
set(compiled_apart "/app/commands/(flows|run|validate)" "/app/report/(machine_svg|page_template)")
set(compiled_alone "/app/report/(figure|residuals_svg|schedule_diagram|steps_svg)" /collectives/algorithms/trees /schedules/checks/check_pipeline
    /schedules/pipeline/pipelines/zero_bubble_v /sim/flow_network "/topology/node_builders/(mesh|nvswitch|pcie|torus)"
    "/topology/fabrics/(dragonfly_plus|rail_fat_tree|torus)")
function(stepcast_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  foreach(source ${ARGN})
    cmake_path(GET source PARENT_PATH folder)
    string(REPLACE / _ group ${folder})
    foreach(apart ${compiled_apart})
      if(source MATCHES "^${PROJECT_SOURCE_DIR}${apart}\\.cpp$")
        string(APPEND group _apart)
      endif()
    endforeach()
    foreach(one ${compiled_as_one})
      string(REGEX MATCH "^([^=]+)=(.+)$" one ${one})
      set(name ${CMAKE_MATCH_1})
      if(source MATCHES "^${PROJECT_SOURCE_DIR}(${CMAKE_MATCH_2})\\.cpp$")
        set(group ${name})
        break()
      endif()
    endforeach()
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
    foreach(alone ${compiled_alone})
      if(source MATCHES "^${PROJECT_SOURCE_DIR}${alone}\\.cpp$")
        set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      endif()
    endforeach()
  endforeach()
endfunction()

# stepcast_library(NAME DEPENDS public... PRIVATE private... PRECOMPILED headers...): one library per folder, globbed.
# PRECOMPILED: headers that many of its files include and that take seconds to parse.
function(stepcast_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;PRIVATE;PRECOMPILED" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${name}/*.cpp)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${name}/*.h)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  # What is the program's alone, the modules (docs/architecture.md, app/modules/), and the measuring programs, which are a
  # project of their own.
  list(FILTER sources EXCLUDE REGEX "/app/program/")
  list(FILTER sources EXCLUDE REGEX "/app/(archive|cbc|chakra|mpi|png)_module/")
  list(FILTER sources EXCLUDE REGEX "/calibrate/measure/")
  list(FILTER headers EXCLUDE REGEX "/calibrate/measure/")
  if(NOT sources)
    return()
  endif()
  foreach(source ${sources})
    string(REGEX REPLACE "\\.cpp$" ".h" own_header ${source})
    list(REMOVE_ITEM headers ${own_header})
  endforeach()
  add_library(${name} STATIC ${sources})
  # In a shared object too (Python's module) calls between these libraries stay direct, and nobody else sees them.
  set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  stepcast_unity(${name} ${sources})
  target_sources(${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers})
  # How these libraries are compiled is no concern of those who use them.
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:stepcast_options>)
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE})
  target_compile_features(${name} PUBLIC cxx_std_20)
  add_library(stepcast::${name} ALIAS ${name})
  # With sanitizers optimising takes most of a compiler's time, which rooms that read an input once, write a result once
  # or fit constants do not win back, but where a fuzzer runs them a million times.
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize" AND name MATCHES "^(calibrate|language|app)$" AND NOT STEPCAST_FUZZ)
    target_compile_options(${name} PRIVATE -O0)
  elseif(CMAKE_BUILD_TYPE STREQUAL "Release" AND name MATCHES "^(language|app)$" AND NOT STEPCAST_FUZZ)
    target_compile_options(${name} PRIVATE -O1)
  endif()
  stepcast_precompile(${name} ${precompiled_of_libraries} ${ARG_PRECOMPILED})
  if(EXISTS ${PROJECT_SOURCE_DIR}/${name}/main.cpp)
    add_executable(stepcast ${PROJECT_SOURCE_DIR}/${name}/main.cpp)
    target_link_libraries(stepcast PRIVATE stepcast_options ${name} ${ARG_PRIVATE})
    stepcast_allocator(stepcast)
    stepcast_use_archives(stepcast)
  endif()
endfunction()

# Most tests take less than a process takes to start, with sanitizers much less. So many processes share the tests of one
# program; 0: each test has one, and its name.
set(shares 0)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  set(shares 8)
endif()
set(STEPCAST_TEST_SHARES ${shares} CACHE STRING "Processes that share a program's tests; 0: one for each")

# stepcast_tests(NAME DEPENDS ... PRECOMPILED headers...): one test program per folder of tests/.
function(stepcast_tests name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;PRECOMPILED" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/calibrate/measure/emulator/") # a test program of its own
  if(NOT sources)
    return()
  endif()
  add_executable(${name}_tests ${sources} ${PROJECT_SOURCE_DIR}/tests/own_temp_folder.cpp)
  target_link_libraries(${name}_tests PRIVATE stepcast_options ${ARG_DEPENDS} GTest::gmock GTest::gtest_main)
  # What is tested is compiled as it is used, the tests themselves for a short build: -O0 takes g++ a third less than -O1,
  # and clang++ with sanitizers a third of what -O1 takes. What fails says its line itself, and stacks of sanitizers have
  # lines of what is tested.
  target_compile_options(${name}_tests PRIVATE -O0)
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    target_compile_options(${name}_tests PRIVATE -g0)
  endif()
  target_compile_definitions(${name}_tests PRIVATE STEPCAST_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  stepcast_unity(${name}_tests ${sources})
  stepcast_precompile(${name}_tests ${precompiled_of_tests} ${ARG_PRECOMPILED})
  if(NOT STEPCAST_TEST_SHARES)
    gtest_discover_tests(${name}_tests DISCOVERY_TIMEOUT 60)
    return()
  endif()
  # Those of the folder with the most files come first.
  list(LENGTH sources files)
  math(EXPR last "${STEPCAST_TEST_SHARES} - 1")
  foreach(share RANGE ${last})
    add_test(NAME ${name}_tests.${share} COMMAND ${name}_tests --gtest_brief=1)
    set_tests_properties(${name}_tests.${share} PROPERTIES TIMEOUT 1200 COST ${files}
                         ENVIRONMENT "GTEST_TOTAL_SHARDS=${STEPCAST_TEST_SHARES};GTEST_SHARD_INDEX=${share}")
  endforeach()
endfunction()
