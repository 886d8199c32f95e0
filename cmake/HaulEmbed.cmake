# haul_embed(TARGET SYMBOL FILE...): compile files into TARGET as a table
#   const struct embedded_file SYMBOL[]; const size_t SYMBOL_count;
# (engine/base/embed.h). A file's name is its path below the current source folder, or below
# HAUL_EMBED_BASE where that is set. The content is followed by a NUL byte that size does not count.
function(haul_embed target symbol)
  set(base "${CMAKE_CURRENT_SOURCE_DIR}")
  if(HAUL_EMBED_BASE)
    set(base "${HAUL_EMBED_BASE}")
  endif()
  set(assembly ".section .rodata\n")
  set(externs "")
  set(rows "")
  set(count 0)
  set(depends "")
  foreach(file IN LISTS ARGN)
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
