# Options of the build and the flags that every target gets.
option(HAUL_WERROR "Treat compiler warnings as errors" OFF)
option(HAUL_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(HAUL_PORTABLE "Link all but libc, libm, libdl and libsmartcols statically" OFF)

# The CUDA Toolkit is found, not required: without one HAUL_CUDA is off by default.
set(haul_nvcc_oldest 12.0)
find_program(HAUL_NVCC nvcc HINTS "$ENV{CUDA_HOME}/bin" "$ENV{CUDA_PATH}/bin" /usr/local/cuda/bin)
set(haul_nvcc_state "")
if(NOT HAUL_NVCC)
  set(haul_nvcc_state "there is no nvcc on PATH, in CUDA_HOME or in /usr/local/cuda")
else()
  execute_process(COMMAND "${HAUL_NVCC}" --version OUTPUT_VARIABLE haul_nvcc_text ERROR_QUIET)
  string(REGEX MATCH "release ([0-9]+\\.[0-9]+)" haul_nvcc_text "${haul_nvcc_text}")
  set(HAUL_NVCC_VERSION "${CMAKE_MATCH_1}")
  if(NOT HAUL_NVCC_VERSION)
    set(haul_nvcc_state "${HAUL_NVCC} does not say its version")
  elseif(HAUL_NVCC_VERSION VERSION_LESS haul_nvcc_oldest)
    set(haul_nvcc_state "${HAUL_NVCC} is ${HAUL_NVCC_VERSION}, older than ${haul_nvcc_oldest}")
  endif()
  # The driver's types of the same toolkit; the driver itself is never linked.
  get_filename_component(haul_toolkit "${HAUL_NVCC}" REALPATH)
  get_filename_component(haul_toolkit "${haul_toolkit}/../.." ABSOLUTE)
  find_path(HAUL_CUDA_INCLUDE_DIR cudaTypedefs.h
    HINTS "${haul_toolkit}/include" "${haul_toolkit}/targets/${CMAKE_SYSTEM_PROCESSOR}-linux/include"
          "${haul_toolkit}/targets/sbsa-linux/include")
  if(NOT haul_nvcc_state AND NOT HAUL_CUDA_INCLUDE_DIR)
    set(haul_nvcc_state "${HAUL_NVCC} is there, but not the cudaTypedefs.h of its toolkit")
  endif()
endif()
# HAUL_CUDA=ON or OFF, where given, is what is built. Without it a toolkit decides, and is looked for
# again whenever CMake runs: so it is no option, whose default the cache would keep.
if(DEFINED HAUL_CUDA)
  if(HAUL_CUDA AND haul_nvcc_state)
    message(FATAL_ERROR "HAUL_CUDA=ON needs the CUDA Toolkit ${haul_nvcc_oldest} or newer, but "
      "${haul_nvcc_state}. Install it and set CUDA_HOME, or configure with -DHAUL_CUDA=OFF.")
  endif()
  set(haul_nvcc_state "as configured")
elseif(haul_nvcc_state)
  set(HAUL_CUDA OFF)
else()
  set(HAUL_CUDA ON)
endif()
if(HAUL_CUDA)
  message(STATUS "HAUL_CUDA is ON (${HAUL_NVCC} ${HAUL_NVCC_VERSION})")
else()
  message(STATUS "HAUL_CUDA is OFF (${haul_nvcc_state}): haul measures the host, plans, queries and "
    "compares, but does not measure GPUs")
endif()

# Where ccache is there it is used.
find_program(HAUL_CCACHE ccache)
if(HAUL_CCACHE AND NOT CMAKE_C_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER "${HAUL_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${HAUL_CCACHE}")
endif()

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(haul_flags INTERFACE)
target_include_directories(haul_flags INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
target_compile_definitions(haul_flags INTERFACE _GNU_SOURCE HAUL_VERSION="${PROJECT_VERSION}"
                                                $<$<BOOL:${HAUL_CUDA}>:HAUL_CUDA>)
target_compile_options(haul_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wconversion -Wshadow>
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes>)
if(HAUL_WERROR)
  target_compile_options(haul_flags INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Werror>)
endif()
if(HAUL_SANITIZE)
  target_compile_options(haul_flags INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer>)
  target_link_options(haul_flags INTERFACE -fsanitize=address,undefined)
endif()
if(HAUL_PORTABLE)
  target_link_options(haul_flags INTERFACE -static-libgcc -static-libstdc++ -Wl,--as-needed)
endif()
find_package(Threads REQUIRED)
target_link_libraries(haul_flags INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
