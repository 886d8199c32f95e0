# Device code. Its PTX (kernels/ptx) is in every executable, and the driver compiles it. Where nvcc is
# there to build, machine code is there too, and comes first (kernels/code.h).
set(haul_nvcc_oldest 12.0)
find_program(HAUL_NVCC nvcc HINTS "$ENV{CUDA_HOME}/bin" "$ENV{CUDA_PATH}/bin" /usr/local/cuda/bin)
set(HAUL_NVCC_VERSION "")
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
    set(HAUL_NVCC_VERSION "")
  endif()
endif()

# Machine code for every architecture that this nvcc knows and people measure. A GPU also runs machine
# code of a lower minor version: 100 serves 103. HAUL_CUDA_ARCHITECTURES="80;90" gives another list.
if(NOT HAUL_NVCC_VERSION)
  set(haul_architectures "")
elseif(DEFINED HAUL_CUDA_ARCHITECTURES)
  set(haul_architectures ${HAUL_CUDA_ARCHITECTURES})
elseif(HAUL_NVCC_VERSION VERSION_GREATER_EQUAL 13.0)
  set(haul_architectures 75 80 86 89 90 100 110 120)
elseif(HAUL_NVCC_VERSION VERSION_GREATER_EQUAL 12.8)
  set(haul_architectures 70 75 80 86 89 90 100 120)
else()
  set(haul_architectures 70 75 80 86 89 90)
endif()
if(haul_architectures)
  list(JOIN haul_architectures " " text)
  message(STATUS "Kernels: PTX, and machine code for ${text} (${HAUL_NVCC} ${HAUL_NVCC_VERSION})")
elseif(HAUL_NVCC_VERSION)
  message(STATUS "Kernels: PTX, which the driver compiles (HAUL_CUDA_ARCHITECTURES is empty)")
else()
  message(STATUS "Kernels: PTX, which the driver compiles (${haul_nvcc_state})")
endif()

# haul_ptx(TARGET SYMBOL FILE...): embed PTX that is kept as kernels/ptx/NAME.VERSION.ptx.xz.
find_program(HAUL_XZ xz REQUIRED)
function(haul_ptx target symbol)
  set(texts "")
  foreach(file IN LISTS ARGN)
    get_filename_component(path "${file}" ABSOLUTE)
    get_filename_component(name "${file}" NAME)
    string(REGEX REPLACE "\\.xz$" "" name "${name}")
    add_custom_command(OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${name}"
      COMMAND "${HAUL_XZ}" --decompress --stdout "${path}" > "${name}"
      DEPENDS "${path}" VERBATIM)
    list(APPEND texts "${CMAKE_CURRENT_BINARY_DIR}/${name}")
  endforeach()
  haul_embed(${target} ${symbol} BASE "${CMAKE_CURRENT_BINARY_DIR}" FILES ${texts})
endfunction()

# haul_machine_code(TARGET SYMBOL PTX FOLDER FILE...): compile each CUDA file to NAME.fatbin with
# the machine code of haul_architectures, and embed them: none, where that list is empty.
#
# Machine code for an architecture is made out of PTX of the highest version that FOLDER has of the file
# (kernels/ptx/update.sh) and the architecture understands: mostly that for compute capability 7.5, which nvcc then makes
# once for all. Kernels are extern "C" __global__. The files include from the root of the project. The host compiler only
# preprocesses; NVCC_CCBIN in the environment names another one.
function(haul_machine_code target symbol)
  cmake_parse_arguments(arg "" "PTX" "" ${ARGN})
  # Spills are shown and never an error: a kernel of 1024 threads per block has 64 registers on every
  # architecture, and what that costs differs between them and between versions of ptxas.
  set(flags -fatbin -std=c++17 -O3 --threads=0 -allow-unsupported-compiler -Wno-deprecated-gpu-targets)
  # Lines for profilers: with them the time of each file is in the code, and no two builds are the same.
  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    list(APPEND flags -lineinfo)
  endif()
  if(HAUL_WERROR)
    list(APPEND flags "-Werror=all-warnings")
  else()
    list(APPEND flags "-Xptxas=--warn-on-spills")
  endif()
  # Kernels that differ by a type and a width compress to some hundredth. What is better at it needs a
  # driver that has it, and code of CUDA 13 needs that driver anyway.
  if(HAUL_NVCC_VERSION VERSION_GREATER_EQUAL 13.0)
    list(APPEND flags "--compress-mode=size")
  else()
    list(APPEND flags "-Xfatbin=-compress-all")
  endif()
  set(fatbins "")
  foreach(file IN LISTS arg_UNPARSED_ARGUMENTS)
    get_filename_component(name "${file}" NAME_WE)
    get_filename_component(path "${file}" ABSOLUTE)
    set(codes "")
    foreach(architecture IN LISTS haul_architectures)
      set(virtual 75)
      set(real ${architecture})
      foreach(version 80 90)
        if(architecture GREATER_EQUAL version AND EXISTS "${arg_PTX}/${name}.${version}.ptx.xz")
          set(virtual ${version})
        endif()
      endforeach()
      if(architecture LESS 75)
        set(virtual ${architecture})
      elseif(EXISTS "${arg_PTX}/${name}.${architecture}a.ptx.xz")
        set(virtual ${architecture}a)
        set(real ${architecture}a)
      endif()
      list(APPEND codes "-gencode=arch=compute_${virtual},code=sm_${real}")
    endforeach()
    set(fatbin "${CMAKE_CURRENT_BINARY_DIR}/${name}.fatbin")
    if(codes)
      add_custom_command(OUTPUT "${fatbin}"
        COMMAND "${HAUL_NVCC}" ${flags} ${codes} "-I${PROJECT_SOURCE_DIR}" -MMD -MF "${fatbin}.d"
                -o "${fatbin}" "${path}"
        DEPENDS "${path}" DEPFILE "${fatbin}.d"
        COMMENT "Compiling ${name}.cu to machine code" VERBATIM)
      list(APPEND fatbins "${fatbin}")
    endif()
  endforeach()
  list(JOIN haul_architectures " " text)
  target_compile_definitions(${target} PRIVATE HAUL_NVCC_VERSION="${HAUL_NVCC_VERSION}" HAUL_MACHINE_CODE="${text}")
  haul_embed(${target} ${symbol} BASE "${CMAKE_CURRENT_BINARY_DIR}" FILES ${fatbins})
endfunction()
