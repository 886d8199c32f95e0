# Packages by cpack, in a build folder: a .deb; of HAUL_PORTABLE a .tar.gz, to be unpacked anywhere. What is
# in them is what cmake --install installs; cmake/package_debian.cmake adds what Debian wants on top.
set(HAUL_MAINTAINER "haul maintainers <maintainers@haul.invalid>" CACHE STRING
  "Who answers for the package: Name <address>")
set(CPACK_GENERATOR DEB)
if(HAUL_PORTABLE)
  set(CPACK_GENERATOR TGZ)
endif()
set(CPACK_PACKAGE_NAME haul)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_SYSTEM_NAME "linux-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "measures how data moves inside a GPU machine")
set(CPACK_PACKAGE_DESCRIPTION "haul runs declarative scenarios of transfers between GPUs and NUMA nodes,
by copy engines, kernels, unified memory or host threads, verifies every
byte, keeps every trial in an SQLite database, and says with statistics
what a new driver changed. The NVIDIA driver is loaded at run time where
there is one.")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
  GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${HAUL_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_HAUL_SOURCE_DIR "${PROJECT_SOURCE_DIR}")
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/package_debian.cmake")
include(CPack)
