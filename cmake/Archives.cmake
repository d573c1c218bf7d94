# Start-up of the program: each shared object that is loaded costs some tenths of a millisecond, and each address in it
# that has to be put right a part of one. So the program is linked to the archives of small libraries where they are
# found, at a fixed address, with the C++ library in it. Libraries and Python's module have the shared objects, as what
# they are linked into has.
#
# stepcast_archive(OUT TARGET FILE): what to link to for TARGET: itself, or in the program the archive FILE if there is
# one.
function(stepcast_archive out target file)
  string(MAKE_C_IDENTIFIER ${file} name)
  find_library(STEPCAST_ARCHIVE_${name} ${file})
  if(STEPCAST_ARCHIVE_${name})
    set(of_program $<BOOL:$<TARGET_PROPERTY:STEPCAST_ARCHIVES>>)
    set(${out} $<BUILD_INTERFACE:$<IF:${of_program},${STEPCAST_ARCHIVE_${name}},${target}>>
               $<INSTALL_INTERFACE:${target}> PARENT_SCOPE)
  else()
    set(${out} ${target} PARENT_SCOPE)
  endif()
endfunction()

function(stepcast_use_archives program)
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set_target_properties(${program} PROPERTIES STEPCAST_ARCHIVES ON)
    target_sources(${program} PRIVATE ${PROJECT_SOURCE_DIR}/app/program/fmt_functions.cpp)
    target_link_options(${program} PRIVATE -no-pie -static-libstdc++ -static-libgcc)
  endif()
endfunction()
