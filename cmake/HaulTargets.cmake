# haul_library(NAME [FOLDERS ...] [SOURCES ...] LIBS ...): a static library haul_NAME of the named
# sources, or else of every source file of the folders.
function(haul_library name)
  cmake_parse_arguments(arg "" "" "FOLDERS;SOURCES;LIBS" ${ARGN})
  foreach(folder IN LISTS arg_FOLDERS)
    file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.c" "${folder}/*.cpp")
    list(APPEND arg_SOURCES ${sources})
  endforeach()
  add_library(haul_${name} STATIC ${arg_SOURCES})
  target_link_libraries(haul_${name} PUBLIC haul_flags ${arg_LIBS})
endfunction()

# haul_embed(TARGET SYMBOL BASE FOLDER FILES FILE...): compile files into TARGET as a table
#   const struct embedded_file SYMBOL[]; const size_t SYMBOL_count;
# (engine/base/embed.h). A file's name is its path below FOLDER. A NUL byte, which size does not count,
# follows the content.
function(haul_embed target symbol)
  cmake_parse_arguments(arg "" "BASE" "FILES" ${ARGN})
  get_filename_component(base "${arg_BASE}" ABSOLUTE)
  set(assembly ".section .rodata\n")
  set(externs "")
  set(rows "")
  set(count 0)
  set(depends "")
  foreach(file IN LISTS arg_FILES)
    get_filename_component(path "${file}" ABSOLUTE)
    file(RELATIVE_PATH name "${base}" "${path}")
    set(label "${symbol}_${count}")
    string(APPEND assembly ".balign 16\n.global ${label}\n${label}:\n.incbin \"${path}\"\n"
                           ".global ${label}_end\n${label}_end:\n.byte 0\n")
    string(APPEND externs "extern const unsigned char ${label}[], ${label}_end[];\n")
    string(APPEND rows "    {\"${name}\", ${label}, ${label}_end},\n")
    math(EXPR count "${count} + 1")
    list(APPEND depends "${path}")
  endforeach()
  string(APPEND assembly ".section .note.GNU-stack,\"\",%progbits\n")
  file(GENERATE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${symbol}_data.S" CONTENT "${assembly}")
  file(GENERATE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c" CONTENT
"#include \"engine/base/embed.h\"\n${externs}extern const struct embedded_file ${symbol}[];
extern const size_t ${symbol}_count;\nconst struct embedded_file ${symbol}[] = {\n${rows}    {0},\n};
const size_t ${symbol}_count = ${count};\n")
  set_source_files_properties("${CMAKE_CURRENT_BINARY_DIR}/${symbol}_data.S" PROPERTIES
    OBJECT_DEPENDS "${depends}")
  target_sources(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/${symbol}_data.S"
                                   "${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c")
endfunction()
