/* loader.h - a scenario while it is read: files into entries and blocks (loader.c), those into the
 * scenario (scenario.c). For these two only. */
#ifndef HAUL_SCHEMA_SCENARIO_LOADER_H
#define HAUL_SCHEMA_SCENARIO_LOADER_H

#include "schema/scenario/kind.h"
#include "schema/scenario/scenario.h"
#include "schema/scenario/source.h"

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
  struct setting defaults[block_kind_name_count];
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
