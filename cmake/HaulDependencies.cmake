# Libraries of the system, as imported targets: SQLite::SQLite3, Boost::headers, PkgConfig::NUMA and so
# on. What is missing or too old is reported at once, with the Debian package that has it; ./bootstrap
# installs the same packages.
set(haul_missing "")

# haul_require(FOUND WHAT PACKAGE): note that WHAT is missing unless FOUND is true.
macro(haul_require found what package)
  if(NOT ${found})
    string(APPEND haul_missing "\n  ${what}: package ${package}")
    list(APPEND haul_packages "${package}")
  endif()
endmacro()

# haul_pkg(PREFIX MODULE VERSION PACKAGE): PkgConfig::PREFIX, of that version or newer.
macro(haul_pkg prefix module version package)
  if(PkgConfig_FOUND)
    pkg_check_modules(${prefix} QUIET IMPORTED_TARGET "${module}>=${version}")
    haul_require("${prefix}_FOUND" "${module} ${version} or newer" ${package})
  endif()
endmacro()

find_package(PkgConfig QUIET)
haul_require(PkgConfig_FOUND "pkg-config" pkg-config)

# HAUL_PORTABLE links these statically: only archives are found.
if(HAUL_PORTABLE)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
endif()
# 3.38: the JSON functions are always there, and sqlite3_error_offset() says where SQL is wrong.
find_package(SQLite3 3.38 QUIET)
haul_require(SQLite3_FOUND "SQLite 3.38 or newer" libsqlite3-dev)
haul_pkg(NUMA numa 2.0.12 libnuma-dev)
haul_pkg(JANSSON jansson 2.11 libjansson-dev) # json_sprintf
haul_pkg(XXHASH libxxhash 0.8.0 libxxhash-dev) # the first in which XXH3 is final
if(HAUL_PORTABLE)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .so .a)
endif()
haul_pkg(SMARTCOLS smartcols 2.35 libsmartcols-dev) # scols_table_enable_minout
haul_pkg(TOMLPLUSPLUS tomlplusplus 3.0.0 libtomlplusplus-dev)
find_package(Boost 1.74 CONFIG QUIET)
haul_require(Boost_FOUND "Boost 1.74 or newer" libboost-dev)
if(BUILD_TESTING)
  haul_pkg(CMOCKA cmocka 1.1.0 libcmocka-dev)
endif()

if(haul_missing)
  list(REMOVE_DUPLICATES haul_packages)
  list(JOIN haul_packages " " haul_packages)
  message(FATAL_ERROR "haul cannot be built without:${haul_missing}\n"
    "./bootstrap setup installs them, and so does: apt-get install ${haul_packages}")
endif()

if(HAUL_PORTABLE) # what libsqlite3.a needs itself
  target_link_libraries(SQLite::SQLite3 INTERFACE m)
endif()
# Headers alone: the compiled library, which pkg-config names, is not used.
add_library(haul_tomlplusplus INTERFACE)
target_include_directories(haul_tomlplusplus SYSTEM INTERFACE ${TOMLPLUSPLUS_INCLUDE_DIRS})
target_compile_definitions(haul_tomlplusplus INTERFACE TOML_HEADER_ONLY=1 TOML_EXCEPTIONS=0)
