# Options of the build and the flags that every target gets.
option(HAUL_WERROR "Treat compiler warnings as errors" OFF)
option(HAUL_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(HAUL_PORTABLE "Link all but libc, libm, libdl and libsmartcols statically" OFF)

find_program(HAUL_NVCC nvcc HINTS "$ENV{CUDA_HOME}/bin" "$ENV{CUDA_PATH}/bin" /usr/local/cuda/bin)
if(HAUL_NVCC)
  option(HAUL_CUDA "Build what needs the CUDA Toolkit (nvcc, cuda.h)" ON)
else()
  option(HAUL_CUDA "Build what needs the CUDA Toolkit (nvcc, cuda.h)" OFF)
endif()
if(HAUL_CUDA AND NOT HAUL_NVCC)
  message(FATAL_ERROR "HAUL_CUDA=ON needs nvcc: install the CUDA Toolkit (12.0 or newer) and put "
                      "nvcc on PATH or set CUDA_HOME, or configure with -DHAUL_CUDA=OFF")
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
find_package(Threads REQUIRED)
target_link_libraries(haul_flags INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
