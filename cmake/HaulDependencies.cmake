# Libraries from the system, each as an imported or interface target. ./bootstrap installs them.
function(haul_find_library target header library package)
  find_path(${target}_INCLUDE_DIR ${header} REQUIRED)
  if(HAUL_PORTABLE AND NOT library STREQUAL "smartcols")
    find_library(${target}_LIBRARY NAMES lib${library}.a REQUIRED)
  else()
    find_library(${target}_LIBRARY NAMES ${library} REQUIRED)
  endif()
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE "${${target}_INCLUDE_DIR}")
  target_link_libraries(${target} INTERFACE "${${target}_LIBRARY}")
endfunction()

haul_find_library(haul_dep_sqlite3 sqlite3.h sqlite3 libsqlite3-dev)
target_link_libraries(haul_dep_sqlite3 INTERFACE m)
haul_find_library(haul_dep_numa numa.h numa libnuma-dev)
haul_find_library(haul_dep_jansson jansson.h jansson libjansson-dev)
haul_find_library(haul_dep_xxhash xxhash.h xxhash libxxhash-dev)
haul_find_library(haul_dep_smartcols libsmartcols/libsmartcols.h smartcols libsmartcols-dev)

# Header-only C++ libraries: only thin extern "C" files include them.
find_path(HAUL_TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)
add_library(haul_dep_tomlplusplus INTERFACE)
target_include_directories(haul_dep_tomlplusplus SYSTEM INTERFACE "${HAUL_TOMLPLUSPLUS_INCLUDE_DIR}")
target_compile_definitions(haul_dep_tomlplusplus INTERFACE TOML_HEADER_ONLY=1 TOML_EXCEPTIONS=0)
find_path(HAUL_BOOST_INCLUDE_DIR boost/math/distributions/students_t.hpp REQUIRED)
add_library(haul_dep_boost INTERFACE)
target_include_directories(haul_dep_boost SYSTEM INTERFACE "${HAUL_BOOST_INCLUDE_DIR}")

# cuda.h and cudaTypedefs.h; the driver is never linked.
add_library(haul_dep_cuda INTERFACE)
if(HAUL_CUDA)
  target_include_directories(haul_dep_cuda SYSTEM INTERFACE "${HAUL_CUDA_INCLUDE_DIR}")
endif()
