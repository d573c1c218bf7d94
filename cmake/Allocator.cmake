# The allocator of stepcast's programs: jemalloc where it is found (Debian: libjemalloc-dev), else the C library's. A
# plan is built of some thousand small vectors that live as long as it does; with jemalloc a table of plans takes 5 to
# 15% less time than with glibc's malloc. It is linked into programs alone: a library, Python's module among them,
# leaves the choice to the process that loads it. Sanitizers bring an allocator of their own.
find_library(STEPCAST_JEMALLOC libjemalloc_pic.a)
if(NOT STEPCAST_JEMALLOC)
  message(STATUS "no jemalloc found (Debian: libjemalloc-dev): tables of plans take 5 to 15% more time")
endif()

function(stepcast_allocator program)
  if(STEPCAST_JEMALLOC AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    find_package(Threads REQUIRED)
    # stdc++ before it: operator new stays that of the C++ library, which tests make fail.
    set(own $<IF:$<BOOL:$<TARGET_PROPERTY:STEPCAST_ARCHIVES>>,-l:libstdc++.a,stdc++>)
    target_link_libraries(${program} PRIVATE ${own} ${STEPCAST_JEMALLOC} Threads::Threads ${CMAKE_DL_LIBS} m)
    target_link_options(${program} PRIVATE -Wl,--undefined=malloc)
  endif()
endfunction()
