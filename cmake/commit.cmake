# cmake -DSOURCE=FOLDER -DOUTPUT=FILE -P commit.cmake - writes the commit of the sources as a C string, and
# leaves the file alone where it says so already. Sources without git have none.
set(commit "")
execute_process(COMMAND git -C "${SOURCE}" describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(commit STREQUAL "")
  set(commit "unknown")
endif()
set(content "extern const char cli_commit[];\nconst char cli_commit[] = \"${commit}\";\n")
set(before "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" before)
endif()
if(NOT content STREQUAL before)
  file(WRITE "${OUTPUT}" "${content}")
endif()
