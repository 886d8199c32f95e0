/* field.h - the one table of every key of the scenario language.
 *
 * A row says in which tables a key is allowed, what values it has, what it means and where its
 * value is stored. Parsing, defaults, diagnostics, --set, the resolved text, the JSON Schema, the
 * reference in README.md and completion follow from it.
 *
 * To add a key: add the member to its struct and a row to keys.c or the file of its kind; if it
 * depends on other keys, a rule to what check_keys and check_setting of the kind call (transfers:
 * rules_transfer.c; `methods` alone needs none); then build the target update_reference. Static
 * data only.
 */
#pragma once

#include "engine/machine/check.h"
#include "schema/scenario/scenario.h"

/* The tables of a file, each with keys of its own. */
enum section {
  SECTION_ROOT,
  SECTION_MEASURE,
  SECTION_CHECKS,
  SECTION_KIND, /* + enum case_kind: the blocks of that kind */
  SECTION_TRANSFER = SECTION_KIND + CASE_TRANSFER,
  SECTION_LOAD = SECTION_KIND + case_kind_name_count, /* of a transfer */
  SECTION_CHASE_LOAD,
  SECTION_STREAM_LOAD,
  SECTION_COMPUTE_LOAD,
  SECTION_FLOW,
  section_count,
};

struct section_row {
  enum section parent;
  const char *key;   /* below its parent; NULL for the root */
  bool repeated;     /* [[array of tables]] */
  const char *title; /* as people write it: "[[transfer]]" */
  const char *help;
};

const struct section_row *section_row(enum section section);
/* The tables of loads, of whatever kind their block is. */
static inline bool section_is_load(enum section section) {
  return section >= SECTION_LOAD && section < SECTION_FLOW;
}

enum field_type {
  FIELD_TEXT,
  FIELD_NAME,     /* letters, digits, '.', '_' and '-' */
  FIELD_TEXTS,    /* an array of text */
  FIELD_ZIP,      /* an array of arrays of keys */
  FIELD_VERSION,  /* a version to compare with: ">=570" */
  FIELD_WORD,     /* one of `words`; stored as an enum */
  FIELD_FLAG,     /* bool */
  FIELD_COUNT,    /* uint32_t */
  FIELD_INTEGER,  /* uint64_t */
  FIELD_NUMBER,   /* double */
  FIELD_SIZE,     /* uint64_t, bytes */
  FIELD_DURATION, /* uint64_t, ns */
  FIELD_GRID,     /* struct grid_setting: blocks, "per_sm*N" or "full" */
  FIELD_CPU,      /* struct flow_cpu: a node's number, or one of `words` */
  FIELD_GPUS,     /* struct endpoint_setting: place and selector */
  FIELD_NODES,    /* the same for NUMA nodes */
};

/* The struct of which `offset` is an offset. */
enum field_owner {
  OWNER_FILE,    /* nothing: read by name; of another language: what its reader knows */
  OWNER_RUN,     /* struct run_settings */
  OWNER_CHECK,   /* nothing: see `check` */
  OWNER_MEASURE, /* struct measure */
  OWNER_SETTING, /* struct setting */
  OWNER_FLOW,    /* struct flow_setting */
};

/* The last part of a check's key for what happens where there is no answer. */
#define FIELD_ON_UNKNOWN "on_unknown"

struct field {
  const char *name;  /* path within its section: "from.memory" */
  unsigned sections; /* bit set of enum section: where it is allowed */
  enum field_type type;
  enum field_owner owner;
  size_t offset;
  const char *const *words; /* FIELD_WORD: all of them, NULL-terminated */
  const char *zero_word;    /* text that means 0; NULL = none */
  const char *most_word;    /* text that means UINT64_MAX, of a duration; NULL = none */
  double minimum;           /* of numbers, sizes (bytes) and durations (ns), except the words */
  double maximum;
  bool required;  /* wherever it is allowed */
  bool exclusive; /* minimum and maximum themselves are out of range */
  bool power_of_two;
  unsigned methods;         /* bit set of enum method that use it; 0 = every one */
  enum check_kind check;    /* OWNER_CHECK */
  const char *default_text; /* value when absent; NULL = see help */
  const char *help;         /* one line */
  /* For case_key (runner/plan/definition.h). Only fields of settings and flows. */
  const char *json; /* dotted path in the case's definition; NULL = not a part of it */
  /* Of a selector, a kind of memory or a grid: where in struct setting the plan puts what they come
   * to on a machine: the GPU's index, the struct endpoint, the number of blocks. 0 = at `offset`.
   */
  size_t resolved;
  /* Whether it means something for that union work (of a flow: struct flow); NULL = always. */
  bool (*applies)(const void *measured);
};

/* Bit set of the sections that are blocks. */
#define BLOCK_SECTIONS (((1U << case_kind_name_count) - 1) << SECTION_KIND)

/* The tables and keys of one kind of file: what entry.h reads is one of these. Scenarios are the
 * one that the functions without a language mean; another (schema/expect) has an enumeration of its
 * own for `enum section`, the first of which is the root. */
struct language {
  const struct section_row *(*section_row)(enum section section);
  unsigned section_count;
  const struct field *(*field_at)(size_t i); /* NULL past the last */
};
extern const struct language LANGUAGE_SCENARIO;
/* NULL = no such key in that section. */
const struct field *language_find(const struct language *language, enum section section,
                                  const char *name);
/* True for the part before a dot. */
bool language_is_group(const struct language *language, enum section section, const char *name);
/* The section with that key below `section`, or language->section_count. */
unsigned language_below(const struct language *language, enum section section, const char *key);

/* Every key; of each kind of block in the order of the kinds. */
size_t field_count(void);
const struct field *field_at(size_t i);
/* Those of one kind alone, in the order of its definition. */
const struct field *field_of_kind(enum case_kind kind, size_t *count);

/* NULL = no such key in that section. */
const struct field *field_find(enum section section, const char *name);
/* True for the part before a dot: "from", "trials". */
bool field_is_group(enum section section, const char *name);
/* True where an array or a range is a sweep: every key of a case but names and selectors. */
bool field_is_axis(const struct field *field);
/* True for numeric types, of which a range is possible. */
bool field_is_numeric(const struct field *field);

enum { FIELD_EXPECTED_MAX = 2048, FIELD_INDEX_MAX = 1023 /* of a GPU or NUMA node */ };
/* Which values are valid, as text: "a size such as 65536 or \"64KiB\", from 1B to 64TiB". */
void field_expected(const struct field *field, char text[FIELD_EXPECTED_MAX]);
/* The same without examples. */
void field_values(const struct field *field, char text[FIELD_EXPECTED_MAX]);
