# haul_fatbin(TARGET SYMBOL FILE...): compile CUDA files to one fatbin and embed it into TARGET:
#   extern const struct embedded_file SYMBOL[];   one row, whose data cuModuleLoadData takes
# (engine/base/embed.h). To be called with HAUL_CUDA only.
#
# The files become one translation unit, in the order given: each architecture is compiled once,
# nothing is left to a device linker, and a name that is static in one file is seen in the others.
# Kernels are extern "C" __global__. The host compiler only preprocesses; NVCC_CCBIN in the
# environment names another one. The files include from the root of the project.

# Machine code for every architecture that this nvcc knows and people measure; later GPUs compile the
# PTX of the newest. A GPU also runs machine code of a lower minor version: 100 serves 103. Another
# ascending list can be given as HAUL_CUDA_ARCHITECTURES="80;90"; PTX is kept of its last.
if(HAUL_CUDA AND NOT DEFINED HAUL_CUDA_ARCHITECTURES)
  if(HAUL_NVCC_VERSION VERSION_GREATER_EQUAL 13.0)
    set(HAUL_CUDA_ARCHITECTURES 75 80 86 89 90 100 120)
  elseif(HAUL_NVCC_VERSION VERSION_GREATER_EQUAL 12.8)
    set(HAUL_CUDA_ARCHITECTURES 70 75 80 86 89 90 100 120)
  else()
    set(HAUL_CUDA_ARCHITECTURES 70 75 80 86 89 90)
  endif()
endif()

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
  # Spills are shown and never an error: a kernel of 1024 threads a block has 64 registers on every
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
  set(HAUL_EMBED_BASE "${CMAKE_CURRENT_BINARY_DIR}")
  haul_embed(${target} ${symbol} "${fatbin}")
endfunction()
