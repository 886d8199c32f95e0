/* machine_file.h - struct machine as TOML, for people and for `--machine FILE`.
 *
 * README.md beside this file documents every key with its unit. What is saved loads back equal,
 * except `source`, which then names the file. The top-level tables "fake" and everything below it
 * belong to the simulated driver of the tests and are ignored here; any other unknown key is an
 * error. Numbers that are not known are left out of the file. */
#pragma once

#include "engine/base/error.h"

#include <stdint.h>
#include <stdio.h>

struct machine;

enum { MACHINE_FILE_MAX = 4 << 20, MACHINE_FILE_FORMAT = 1 };

/* STATUS_IO when the stream cannot be written. */
enum status machine_file_save(FILE *stream, const struct machine *machine,
                              struct error *err) CHECK_RESULT;

/* Read and check. STATUS_INVALID: the content is wrong, with file, line and column of the first
 * mistake; a file that cannot be read is STATUS_NOT_FOUND, STATUS_DENIED or STATUS_IO. *machine is
 * only meaningful after STATUS_OK. err->position.file borrows path. */
enum status machine_file_load(const char *path, struct machine *machine,
                              struct error *err) CHECK_RESULT;
/* The same from text; `path` names it in errors and becomes machine->source. */
enum status machine_file_parse(const char *text, size_t length, const char *path,
                               struct machine *machine, struct error *err) CHECK_RESULT;

/* The keys of a machine file and where each stands in the structs: one list for saving, loading,
 * the reference in README.md and the JSON of `haul env`. */
enum key_type { KEY_TEXT, KEY_BOOL, KEY_I32, KEY_U32, KEY_U64 };

struct key {
  const char *name;
  enum key_type type;
  size_t offset;
  size_t size;      /* of the member, for KEY_TEXT */
  int64_t absent;   /* the value that means "not known" and is left out of the file */
  int64_t min, max; /* numbers only */
  bool required;
};

/* The value of a number or a boolean, and of a text. */
int64_t machine_key_number(const void *object, const struct key *key);
const char *machine_key_text(const void *object, const struct key *key);
/* Set it; a text that is too long is cut. */
void machine_key_set_number(void *object, const struct key *key, int64_t value);
void machine_key_set_text(void *object, const struct key *key, const char *text);

extern const struct key MACHINE_KEYS[];
extern const size_t MACHINE_KEY_COUNT;
extern const struct key NODE_KEYS[];
extern const size_t NODE_KEY_COUNT;
extern const struct key GPU_KEYS[];
extern const size_t GPU_KEY_COUNT;

/* The matrices of [links], one row per source GPU. */
extern const struct key LINK_KEYS[];
extern const size_t LINK_KEY_COUNT;
