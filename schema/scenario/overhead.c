/* An [[overhead]]: what it is when nobody says, and what must hold between its keys. */
#include "schema/scenario/rules.h"

static bool needs_driver(enum memory_kind memory) {
  return memory != MEMORY_PAGEABLE && memory != MEMORY_HUGE;
}

static bool allocates(enum overhead_operation operation) {
  return operation == OVERHEAD_ALLOCATE || operation == OVERHEAD_FREE;
}

void overhead_finish(const struct block *block, struct setting *setting) {
  struct overhead_setting *overhead = &setting->overhead;
  (void)block;
  kind_finish_end(&overhead->at, PLACE_GPU, SELECTOR_ALL);
  overhead->at.memory = MEMORY_DEVICE;
  if (!allocates(overhead->operation)) { /* so that a sweep does not tell apart what is the same */
    overhead->memory = MEMORY_DEVICE;
    overhead->size_bytes = 0;
  }
  kind_finish_end(&overhead->node, PLACE_NUMA,
                  needs_driver(overhead->memory) ? SELECTOR_LOCAL : SELECTOR_ALL);
  overhead->node.memory = overhead->memory;
}

void overhead_check_keys(struct reader *reader, const struct block *block) {
  static const char *const of_allocations[] = {"memory", "size", "at.numa"};
  struct subject subject = {reader, block, 0, 0};
  const struct entry *operation = subject_find(&subject, "operation");
  const unsigned operations = entry_word_set(operation);
  if (operations == 0 || (operations & (BIT(OVERHEAD_ALLOCATE) | BIT(OVERHEAD_FREE))) != 0) {
    return;
  }
  for (size_t i = 0; i < sizeof of_allocations / sizeof *of_allocations; i++) {
    const struct entry *entry = subject_find(&subject, of_allocations[i]);
    if (entry != NULL) {
      subject_refuse(&subject, entry, entry->key_span, "operation \"allocate\" or \"free\"",
                     "%s: no operation here allocates or frees", of_allocations[i]);
    }
  }
}

bool overhead_check_setting(struct reader *reader, const struct block *block,
                            const struct setting *setting) {
  (void)reader;
  (void)block;
  (void)setting;
  return true;
}
