/* keys.h - the keys of a machine file and where each stands in the structs: one list for saving,
 * loading, the reference and the JSON of `haul env`. */
#ifndef HAUL_SCHEMA_MACHINE_KEYS_H
#define HAUL_SCHEMA_MACHINE_KEYS_H

#include "engine/machine/machine.h"

enum key_type { KEY_TEXT, KEY_BOOL, KEY_I32, KEY_U32, KEY_U64 };

struct key {
  const char *name;
  enum key_type type;
  size_t offset;
  size_t size;      /* of the member, for KEY_TEXT */
  int64_t absent;   /* the value that stands for "not known" and is left out of the file */
  int64_t min, max; /* numbers only */
  bool required;
};

extern const struct key MACHINE_KEYS[];
extern const size_t MACHINE_KEY_COUNT;
extern const struct key NODE_KEYS[];
extern const size_t NODE_KEY_COUNT;
extern const struct key GPU_KEYS[];
extern const size_t GPU_KEY_COUNT;

/* The matrices of [links], a row for each GPU that begins a link. */
extern const struct key LINK_KEYS[];
extern const size_t LINK_KEY_COUNT;

#endif
