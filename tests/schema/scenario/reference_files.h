/* reference_files.h - the committed files that the table of keys yields. */
#ifndef HAUL_TESTS_SCHEMA_SCENARIO_REFERENCE_FILES_H
#define HAUL_TESTS_SCHEMA_SCENARIO_REFERENCE_FILES_H

#include "schema/scenario/reference.h"

struct reference_file {
  const char *path;
  enum status (*write)(FILE *stream, struct error *err);
};

static const struct reference_file reference_files[] = {
    {HAUL_SOURCE_DIR "/schema/scenario.schema.json", reference_write_schema},
    {HAUL_SOURCE_DIR "/schema/scenario/README.md", reference_write_markdown},
};

#endif
