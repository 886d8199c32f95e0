/* rules.h - rules between the keys of a block: what the rules of all kinds share. Private to
 * schema/scenario. kind->check_keys() says which keys are allowed together. */
#ifndef HAUL_SCHEMA_SCENARIO_RULES_H
#define HAUL_SCHEMA_SCENARIO_RULES_H

#include "schema/scenario/kind.h"

#define BIT(x) (1U << (x))

/* One slot under examination. */
struct subject {
  struct reader *reader;
  const struct block *block;
  size_t slot;
  unsigned methods; /* bit set of enum method: the methods it may have; 0 = not known */
};

/* Rules between numbers, over every setting of a made block: trials.min and max, and what the kind
 * adds. Stops at the first setting that breaks one. */
void rules_check_settings(struct reader *reader, const struct entries *measure,
                          const struct block *block);

/* The entry that decides about a key in the slot, or NULL. */
const struct entry *subject_find(const struct subject *subject, const char *key);
const struct slot *subject_slot(const struct subject *subject);
/* Add a diagnostic about an entry (NULL: about the table itself) at that place. */
__attribute__((format(printf, 5, 6))) void
subject_refuse(struct subject *subject, const struct entry *entry, struct toml_span span,
               const char *expected, const char *format, ...);
void subject_refuse_key(struct subject *subject, const struct entry *entry, const char *expected,
                        const char *message);
/* The words among the values of an entry, as a bit set; 0 for NULL. */
unsigned entry_word_set(const struct entry *entry);
/* The place of the first value with that word. */
struct toml_span entry_word_span(const struct entry *entry, unsigned word);
bool memory_fits(enum memory_kind memory, enum place place);
const struct entry *either(const struct entry *first, const struct entry *second);
/* Whether all keys with that prefix have valid values; rules skip keys with mistakes, which have
 * been reported already. */
bool all_read(const struct entries *entries, const char *prefix);

#endif
