# cmake/FritInstall.cmake: what is installed, for the wheel and for C++ programs that use find_package(frit).
set(opened "")  # by libfrit, when first needed; they lie beside it
foreach(library frit_jit frit_isl)
  if(TARGET ${library})
    list(APPEND opened ${library})
  endif()
endforeach()

if(SKBUILD)
  # In a wheel the libraries lie side by side in the package and find one another by $ORIGIN.
  install(TARGETS frit ${opened} LIBRARY DESTINATION frit)
  if(TARGET _core)
    install(TARGETS _core LIBRARY DESTINATION frit)
  endif()
  return()
endif()

include(CMakePackageConfigHelpers)
install(TARGETS frit EXPORT fritTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(opened)
  install(TARGETS ${opened} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY include/frit DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
# The public headers lean on these; tools/check_includes.py keeps the list short.
install(FILES src/ops/ops.h src/ops/dtype.def src/ops/op.def
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/frit/ops)
install(FILES src/ir/error.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/frit/ir)
install(FILES ${generated_include}/frit/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/frit)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/frit)
install(EXPORT fritTargets NAMESPACE frit:: DESTINATION ${package_dir})
configure_package_config_file(cmake/fritConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/fritConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/fritConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/fritConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/fritConfigVersion.cmake
        DESTINATION ${package_dir})
