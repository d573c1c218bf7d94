# What `cmake --install` and `cpack` bring: the program, its configs and scenarios, the manual page and completion. The
# program finds its configs from where it lies itself (language/configs/config_folders.cpp), so the prefix can be any.
include(GNUInstallDirs)

# The manual page and the scripts are made by the program, from the tables that its options are parsed with.
set(made ${PROJECT_BINARY_DIR}/made)
file(MAKE_DIRECTORY ${made})
add_custom_command(TARGET stepcast POST_BUILD
  COMMAND stepcast man --output ${made}/stepcast.1
  COMMAND stepcast completion bash --output ${made}/stepcast
  COMMAND stepcast completion zsh --output ${made}/_stepcast
  COMMAND stepcast completion fish --output ${made}/stepcast.fish
  BYPRODUCTS ${made}/stepcast.1 ${made}/stepcast ${made}/_stepcast ${made}/stepcast.fish
  VERBATIM)

set(share ${CMAKE_INSTALL_DATAROOTDIR})
install(TARGETS stepcast RUNTIME)
install(TARGETS stepcast_png stepcast_archive LIBRARY DESTINATION lib/stepcast)
if(TARGET stepcast_mpi) # not of the package, which would need MPI
  install(TARGETS stepcast_mpi LIBRARY DESTINATION lib/stepcast COMPONENT mpi)
endif()
if(TARGET stepcast_cbc) # likewise
  install(TARGETS stepcast_cbc LIBRARY DESTINATION lib/stepcast COMPONENT cbc)
endif()
if(TARGET stepcast_chakra) # likewise
  install(TARGETS stepcast_chakra LIBRARY DESTINATION lib/stepcast COMPONENT chakra)
endif()

# The library: find_package(stepcast) gives stepcast::stepcast and the rooms below it (docs/library.md).
set(rooms sim topology collectives workload scenario models schedules calibrate language)
install(TARGETS ${rooms} stepcast_library EXPORT stepcast ARCHIVE DESTINATION lib/stepcast COMPONENT development
        FILE_SET HEADERS DESTINATION include/stepcast COMPONENT development INCLUDES DESTINATION include/stepcast)
install(DIRECTORY ${rooms} stepcast DESTINATION include/stepcast COMPONENT development
        FILES_MATCHING PATTERN "*.h" PATTERN measure EXCLUDE)
install(EXPORT stepcast NAMESPACE stepcast:: DESTINATION lib/cmake/stepcast COMPONENT development)
include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/stepcastConfig.cmake.in ${made}/stepcastConfig.cmake
                              INSTALL_DESTINATION lib/cmake/stepcast)
write_basic_package_version_file(${made}/stepcastConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${made}/stepcastConfig.cmake ${made}/stepcastConfigVersion.cmake DESTINATION lib/cmake/stepcast
        COMPONENT development)

install(DIRECTORY examples DESTINATION ${share}/stepcast COMPONENT development)
install(DIRECTORY configs scenarios DESTINATION ${share}/stepcast)
# Scenarios name it by this way.
install(FILES docs/scenario.schema.json DESTINATION ${share}/stepcast/docs)
install(FILES README.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(FILES ${made}/stepcast.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${made}/stepcast DESTINATION ${share}/bash-completion/completions)
install(FILES ${made}/stepcast.fish DESTINATION ${share}/fish/vendor_completions.d)
# Debian's zsh looks for what packages bring in a folder of its own.
install(CODE "
  set(zsh site-functions)
  if(CMAKE_INSTALL_PREFIX MATCHES \"/usr$\" AND EXISTS /etc/debian_version)
    set(zsh vendor-completions)
  endif()
  file(INSTALL \"${made}/_stepcast\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${share}/zsh/\${zsh}\")")

# cpack -G DEB. scripts/try_package.sh installs the package in a bare Debian and tries it.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "stepcast maintainers <maintainers@stepcast.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "forecasts steps of distributed deep-learning training")
set(CPACK_PACKAGE_DESCRIPTION
"How long a training step takes on a cluster, where the time and the memory go,
and what would change if: a discrete-event simulator of GPUs, links,
collectives and pipeline schedules that answers from a YAML file.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "fonts-dejavu-core") # text in PNG drawings
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "bash-completion, man-db")
# The package is for those who run the program: without the library.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL Unspecified)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
include(CPack)
