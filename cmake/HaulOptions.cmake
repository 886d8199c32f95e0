# Options of the build and the flags that every target gets.
option(HAUL_WERROR "Treat compiler warnings as errors" OFF)
option(HAUL_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(HAUL_TRAP "With HAUL_SANITIZE: undefined behaviour ends the program by SIGILL, without a message" OFF)
option(HAUL_FUZZ "Build the fuzz targets with libFuzzer; needs clang" OFF)
option(HAUL_PORTABLE "Link all but libc, libm, libdl and libsmartcols statically" OFF)

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
target_compile_definitions(haul_flags INTERFACE _GNU_SOURCE)
target_compile_options(haul_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wconversion -Wshadow>
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes>)
# Two builds of a commit are the same in any two folders (packaging/reproducible.sh). Debug builds name the
# files as they are here, for debuggers.
foreach(kind IN ITEMS debug macro)
  target_compile_options(haul_flags INTERFACE
    "$<$<NOT:$<CONFIG:Debug>>:-f${kind}-prefix-map=${PROJECT_SOURCE_DIR}=.;-f${kind}-prefix-map=${PROJECT_BINARY_DIR}=build>")
endforeach()
if(HAUL_WERROR)
  target_compile_options(haul_flags INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Werror>)
endif()
if(HAUL_SANITIZE)
  target_compile_options(haul_flags INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer>)
  # Without any optimisation the sanitized tests take about twice as long. What -Og takes for a truncation the
  # release build knows better.
  target_compile_options(haul_flags INTERFACE
    $<$<AND:$<CONFIG:Debug>,$<COMPILE_LANGUAGE:C,CXX>>:-Og$<SEMICOLON>-Wno-format-truncation>)
  # For its messages UBSan has 12 MB of data, which LeakSanitizer looks through each time that haul ends.
  if(HAUL_TRAP)
    target_compile_options(haul_flags INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize-undefined-trap-on-error>)
    target_link_options(haul_flags INTERFACE -fsanitize=address)
  else()
    target_link_options(haul_flags INTERFACE -fsanitize=address,undefined)
  endif()
endif()
if(HAUL_FUZZ)
  target_compile_options(haul_flags INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=fuzzer-no-link>)
endif()
if(HAUL_PORTABLE)
  target_link_options(haul_flags INTERFACE -static-libgcc -static-libstdc++ -Wl,--as-needed)
endif()
find_package(Threads REQUIRED)
target_link_libraries(haul_flags INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
