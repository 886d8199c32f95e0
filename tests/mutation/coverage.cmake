# Included by coverage.py behind project() of the tree that is measured, so that it needs no option of its build:
# gcov counts in all targets of the product, and in no test.
add_library(haul_gcov_exit STATIC "${CMAKE_CURRENT_LIST_DIR}/gcov_exit.c")
link_libraries(haul_gcov_exit)
add_link_options(--coverage LINKER:--wrap=_exit LINKER:--undefined=__wrap__exit)

function(haul_count_lines)
  foreach(folder IN ITEMS engine schema runner)
    get_property(targets DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}" PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
      get_target_property(type ${target} TYPE)
      if(type MATCHES "^(STATIC_LIBRARY|OBJECT_LIBRARY|EXECUTABLE)$")
        target_compile_options(${target} PRIVATE
          $<$<COMPILE_LANGUAGE:C,CXX>:-O0 --coverage -fprofile-update=atomic>)
      endif()
    endforeach()
  endforeach()
endfunction()
cmake_language(DEFER CALL haul_count_lines)
