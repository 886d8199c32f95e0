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
  # The driver's types of the same toolkit, which are those of every host; the driver itself is never linked.
  get_filename_component(haul_toolkit "${HAUL_NVCC}" REALPATH)
  get_filename_component(haul_toolkit "${haul_toolkit}/../.." ABSOLUTE)
  find_path(HAUL_CUDA_INCLUDE_DIR cudaTypedefs.h
    HINTS "${haul_toolkit}/include" "${haul_toolkit}/targets/${CMAKE_SYSTEM_PROCESSOR}-linux/include"
          "${haul_toolkit}/targets/sbsa-linux/include"
    NO_CMAKE_FIND_ROOT_PATH)
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
  target_compile_definitions(haul_flags INTERFACE HAUL_CUDA)
else()
  message(STATUS "HAUL_CUDA is OFF (${haul_nvcc_state}): haul measures the host, plans, queries and "
    "compares, but does not measure GPUs")
endif()

# cuda.h and cudaTypedefs.h; the driver is never linked.
add_library(haul_cuda_headers INTERFACE)
if(HAUL_CUDA)
  target_include_directories(haul_cuda_headers SYSTEM INTERFACE "${HAUL_CUDA_INCLUDE_DIR}")
endif()

# Machine code for every architecture that this nvcc knows and people measure; later GPUs compile the
# PTX of the newest. A GPU also runs machine code of a lower minor version: 100 serves 103. Another
# ascending list can be given as HAUL_CUDA_ARCHITECTURES="80;90"; PTX is kept of its last.
if(HAUL_CUDA AND NOT DEFINED HAUL_CUDA_ARCHITECTURES)
  if(HAUL_NVCC_VERSION VERSION_GREATER_EQUAL 13.0)
    set(HAUL_CUDA_ARCHITECTURES 75 80 86 89 90 100 110 120)
  elseif(HAUL_NVCC_VERSION VERSION_GREATER_EQUAL 12.8)
    set(HAUL_CUDA_ARCHITECTURES 70 75 80 86 89 90 100 120)
  else()
    set(HAUL_CUDA_ARCHITECTURES 70 75 80 86 89 90)
  endif()
endif()

# haul_fatbin(TARGET SYMBOL FILE...): compile CUDA files to one fatbin and embed it into TARGET:
#   extern const struct embedded_file SYMBOL[];   one row, whose data cuModuleLoadData takes
# (engine/base/embed.h). To be called with HAUL_CUDA only.
#
# The files become one translation unit, in the order given: each architecture is compiled once,
# nothing is left to a device linker, and a name that is static in one file is seen in the others.
# Kernels are extern "C" __global__. The host compiler only preprocesses; NVCC_CCBIN in the
# environment names another one. The files include from the root of the project.
function(haul_fatbin target symbol)
  set(unit "${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cu")
  set(fatbin "${CMAKE_CURRENT_BINARY_DIR}/${symbol}.fatbin")
  set(includes "")
  foreach(file IN LISTS ARGN)
    get_filename_component(path "${file}" ABSOLUTE)
    string(APPEND includes "#include \"${path}\"\n")
  endforeach()
  file(GENERATE OUTPUT "${unit}" CONTENT "${includes}")

  set(codes "")
  foreach(architecture IN LISTS HAUL_CUDA_ARCHITECTURES)
    list(APPEND codes "-gencode=arch=compute_${architecture},code=sm_${architecture}")
  endforeach()
  list(GET HAUL_CUDA_ARCHITECTURES -1 newest)
  list(APPEND codes "-gencode=arch=compute_${newest},code=compute_${newest}")
  # Spills are shown and never an error: a kernel of 1024 threads per block has 64 registers on every
  # architecture, and what that costs differs between them and between versions of ptxas.
  set(warnings "-Wno-deprecated-gpu-targets")
  if(HAUL_WERROR)
    list(APPEND warnings "-Werror=all-warnings")
  else()
    list(APPEND warnings "-Xptxas=--warn-on-spills")
  endif()
  # Kernels that differ by a type and a width compress to some hundredth. What is better at it needs a
  # driver that has it, and code of CUDA 13 needs that driver anyway.
  if(HAUL_NVCC_VERSION VERSION_GREATER_EQUAL 13.0)
    set(compress "--compress-mode=size")
  else()
    set(compress "-Xfatbin=-compress-all")
  endif()
  add_custom_command(OUTPUT "${fatbin}"
    COMMAND "${HAUL_NVCC}" -fatbin -std=c++17 -O3 -lineinfo --threads=0 -allow-unsupported-compiler
            ${codes} ${compress} ${warnings} "-I${PROJECT_SOURCE_DIR}" -MMD -MF "${fatbin}.d" -o "${fatbin}" "${unit}"
    DEPENDS "${unit}"
    DEPFILE "${fatbin}.d"
    COMMENT "Compiling kernels for GPU architectures ${HAUL_CUDA_ARCHITECTURES}"
    VERBATIM)
  haul_embed(${target} ${symbol} BASE "${CMAKE_CURRENT_BINARY_DIR}" FILES "${fatbin}")
endfunction()
