/* loader.h - a scenario while it is read: files into entries and blocks (loader.c, flows_csv.c),
 * those into the scenario (load.c). Private to these three. */
#pragma once

#include "schema/scenario/block.h"
#include "schema/scenario/scenario.h"

/* A scenario and what it owns. */
struct storage {
  struct scenario scenario; /* first: scenario_free() gets its address */
  struct arena arena;
  struct toml_document **documents; /* entries point into them */
  size_t document_count;
};

struct loader {
  struct storage *storage;
  struct reader reader;
  struct setting defaults[case_kind_name_count];
  size_t first_complaint, mistakes_before; /* of this scenario: its diagnostics follow them */
  unsigned source_count;
  struct entries root;
  struct entries measure;
  struct entries checks;
  struct block **blocks;
  size_t block_count;
  size_t setting_count; /* of the blocks made so far */
};

/* The chain of includes from the scenario down to the file being read. */
struct chain {
  const struct chain *above;
  const char *identity;
  unsigned depth;
};

/* Read a whole file into path, text and length. piped: as of input_file_open(). STATUS_INVALID: no
 * file, or more than SCENARIO_FILE_MAX bytes; otherwise the status of the failed system call. */
enum status source_read(struct arena *arena, const char *path, bool piped, struct source *source,
                        struct error *err) CHECK_RESULT;
/* Read the file that `includer` includes as `name`: looked up beside the includer, then among the
 * shipped scenarios. A recorded includer reads none: STATUS_DENIED. */
enum status source_read_include(struct arena *arena, const struct source *includer,
                                const char *name, struct source *source,
                                struct error *err) CHECK_RESULT;
/* A text that is equal for two paths to the same file. */
const char *source_identity(struct arena *arena, const char *path);

/* Make the scenario the owner of the document, which may be NULL. */
void loader_keep_document(struct storage *storage, struct toml_document *document);
/* Read the file reader.source and its includes into the loader. False: it cannot be parsed, as a
 * diagnostic says. The file of a chain of one link is the scenario itself. */
bool loader_read_file(struct loader *loader, const struct chain *chain);
/* The flows of a CSV file that the block names, in place of those that it has; the block is then as
 * if they stood in it (flows_csv.c). */
void loader_read_csv(struct loader *loader, struct block *block);
/* Give a slot, the number-th of its section, and a block the names that their entries say. */
void loader_name_slot(struct loader *loader, struct slot *slot, size_t number);
void loader_name_block(struct block *block);
