# Run by cpack on the folder that it packs. Dates are SOURCE_DATE_EPOCH, else the commit's, so that a package can be
# made again. Of a .deb: copyright and changelogs where Debian has them, the manual page compressed.
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  execute_process(COMMAND git -C "${CPACK_HAUL_SOURCE_DIR}" log -1 --format=%ct
    OUTPUT_VARIABLE epoch OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT epoch STREQUAL "")
    set(ENV{SOURCE_DATE_EPOCH} "${epoch}")
  endif()
endif()
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
set(share "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share")
set(doc "${share}/doc/haul")
file(REMOVE "${doc}/LICENSE") # the text is in /usr/share/common-licenses
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE "${doc}/changelog.Debian"
  "haul (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
  "  * What changed for users is in changelog.gz.\n\n"
  " -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${date}\n")
file(COPY_FILE "${doc}/CHANGELOG.md" "${doc}/changelog")
execute_process(COMMAND gzip -9nf changelog changelog.Debian ../../man/man1/haul.1
  WORKING_DIRECTORY "${doc}" COMMAND_ERROR_IS_FATAL ANY)
