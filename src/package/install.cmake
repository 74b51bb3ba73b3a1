# What `cmake --install` puts where: the command, the library with its header, the descriptions of
# devices and clusters, and what other build tools, man and the shell look for.
include(CMakePackageConfigHelpers)

# An installed tree may be moved, so its files find each other by relative paths.
function(cleave_relative name from to)
  file(RELATIVE_PATH path "${from}" "${to}")
  string(REGEX REPLACE "/$" "" path "${path}")
  set(${name} "${path}" PARENT_SCOPE)
endfunction()
cleave_relative(CLEAVE_LIBDIR "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_LIBDIR}")
cleave_relative(CLEAVE_INCLUDEDIR "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
cleave_relative(CLEAVE_PC_PREFIX "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
cleave_relative(CLEAVE_BIN_TO_LIB "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
set(library_folder "${CMAKE_INSTALL_FULL_BINDIR}") # a static library runs as part of the command
if(BUILD_SHARED_LIBS)
  set(library_folder "${CMAKE_INSTALL_FULL_LIBDIR}")
endif()
cleave_relative(CLEAVE_CONFIGS_BESIDE "${library_folder}"
                "${CMAKE_INSTALL_FULL_DATADIR}/cleave/configs")
set_target_properties(cleave_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${CLEAVE_BIN_TO_LIB}")
target_compile_definitions(clv_api PRIVATE CLEAVE_CONFIGS_BESIDE="${CLEAVE_CONFIGS_BESIDE}")

install(TARGETS cleave cleave_cli)
install(FILES src/include/cleave.h TYPE INCLUDE)
install(DIRECTORY configs DESTINATION ${CMAKE_INSTALL_DATADIR}/cleave)
install(FILES docs/man/cleave.1 docs/man/cleave-plan.1 docs/man/cleave-inspect.1
              docs/man/cleave-shards.1 docs/man/cleave-annotate.1 docs/man/cleave-strip.1
              docs/man/cleave-shard.1 docs/man/cleave-reshard.1 docs/man/cleave-collect.1
              docs/man/cleave-place.1 docs/man/cleave-solve.1 docs/man/cleave-rules.1
              docs/man/cleave-verify.1 docs/man/cleave-clusters.1
              docs/man/cleave-calibrate.1
        DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES src/cli/completion/cleave.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME cleave)

# A static library needs what it is made of at the link of the program that uses it.
set(CLEAVE_REQUIRES "libprotobuf-c, libuv, libcjson")
set(CLEAVE_LIBS_PRIVATE "-lm -lpthread -ldl")
if(CLEAVE_GLPK)
  string(APPEND CLEAVE_LIBS_PRIVATE " -lglpk")
endif()
if(CLEAVE_CBC)
  string(APPEND CLEAVE_LIBS_PRIVATE " -lCbcSolver")
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
