# What `cmake --install` puts where: the command, the library with its header, the descriptions of
# devices and clusters, and what other build tools, man and the shell look for.
include(CMakePackageConfigHelpers)

install(TARGETS cleave cleave_cli)
install(FILES src/include/cleave.h TYPE INCLUDE)
install(DIRECTORY configs DESTINATION ${CMAKE_INSTALL_DATADIR}/cleave)
install(FILES docs/man/cleave.1 docs/man/cleave-plan.1 docs/man/cleave-inspect.1
              docs/man/cleave-shards.1 docs/man/cleave-annotate.1 docs/man/cleave-strip.1
        DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES src/cli/completion/cleave.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME cleave)

# A static library needs what it is made of at the link of the program that uses it.
set(CLEAVE_REQUIRES "libprotobuf-c, libuv, libcjson")
set(CLEAVE_LIBS_PRIVATE "-lm -lpthread")
if(CLEAVE_GLPK)
  string(APPEND CLEAVE_LIBS_PRIVATE " -lglpk")
endif()
string(REPLACE " " ";" CLEAVE_LIBS_PRIVATE_LIST "${CLEAVE_LIBS_PRIVATE}")
configure_file(src/package/cleave.pc.in ${PROJECT_BINARY_DIR}/cleave.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cleave.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

configure_package_config_file(src/package/cleaveConfig.cmake.in ${PROJECT_BINARY_DIR}/cleaveConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cleave
                              PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cleaveConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cleaveConfig.cmake ${PROJECT_BINARY_DIR}/cleaveConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cleave)
