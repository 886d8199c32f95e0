# Toolchain file: haul for aarch64, built on another machine by Debian's cross compiler. Libraries come from
# HAUL_SYSROOT, by default what cmake/aarch64-sysroot.sh makes in build-aarch64-sysroot; tests run by
# qemu-user, which says so in HAUL_EMULATED (tests/cmocka.h). The code of the kernels is the same on every host: nvcc of this machine makes it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

get_filename_component(sysroot "${CMAKE_CURRENT_LIST_DIR}/../build-aarch64-sysroot" ABSOLUTE)
set(HAUL_SYSROOT "${sysroot}" CACHE PATH "Libraries and headers for aarch64")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HAUL_SYSROOT)
if(NOT EXISTS "${HAUL_SYSROOT}/usr/include")
  message(FATAL_ERROR "there is no sysroot for aarch64 in ${HAUL_SYSROOT}: ./bootstrap setup aarch64 makes it")
endif()
set(CMAKE_SYSROOT "${HAUL_SYSROOT}")
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${HAUL_SYSROOT}")
set(ENV{PKG_CONFIG_LIBDIR} "${HAUL_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${HAUL_SYSROOT}/usr/share/pkgconfig")

find_program(HAUL_QEMU qemu-aarch64 NO_CMAKE_FIND_ROOT_PATH)
if(HAUL_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${HAUL_QEMU};-E;HAUL_EMULATED=1;-L;${HAUL_SYSROOT}")
endif()
