/* loader.h - a scenario while it is read: files into entries and blocks (loader.c), those into the
 * scenario (scenario.c). For these two only. */
#ifndef HAUL_SCHEMA_SCENARIO_LOADER_H
#define HAUL_SCHEMA_SCENARIO_LOADER_H

#include "schema/scenario/kind.h"
#include "schema/scenario/scenario.h"

/* A scenario and what it stands on. */
struct storage {
  struct scenario scenario; /* first: scenario_free() gets its address */
  struct arena arena;
  struct toml_document **documents; /* entries point into them */
  size_t document_count;
  size_t document_capacity;
};

struct loader {
  struct storage *storage;
  struct reader reader;
  struct setting defaults[case_kind_name_count];
  size_t first_complaint;
  unsigned source_count;
  struct entries root;
  struct entries measure;
  struct entries checks;
  struct block **blocks;
  size_t block_count;
};

/* The files from the scenario down to the one being read. */
struct chain {
  const struct chain *above;
  const char *identity;
  unsigned depth;
};

/* Read a file whole. STATUS_INVALID for what cannot be a scenario (a directory, more than
 * SCENARIO_FILE_MAX bytes); else what the system said. Fills path, text and length. */
enum status source_read(struct arena *arena, const char *path, struct source *source,
                        struct error *err) CHECK_RESULT;
/* Find and read what `includer` calls `name`: beside the includer, then among the shipped
 * scenarios. */
enum status source_read_include(struct arena *arena, const char *includer, const char *name,
                                struct source *source, struct error *err) CHECK_RESULT;
/* A text that is equal for two paths of the same file. */
const char *source_identity(struct arena *arena, const char *path);

/* The scenario owns the document from here on; NULL is nothing. */
void loader_keep_document(struct storage *storage, struct toml_document *document);
/* A file with what it includes, into the loader. false: it cannot be parsed, and that has been
 * complained about. is_main: the scenario itself, not something that it includes. */
bool loader_read_file(struct loader *loader, const struct source *source, const struct chain *chain,
                      struct entries *measure, struct entries *checks, bool is_main);
/* Complain about every key that the section must have and that is not there. */
void loader_require(struct loader *loader, const struct source *source, enum section section,
                    const struct entries *entries, struct toml_span span);

#endif
