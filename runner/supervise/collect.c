#include "runner/supervise/collect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void collect_fini(struct collect *collect) {
  free(collect->trials);
  free(collect->flow_trials);
  free(collect->samples);
  *collect = (struct collect){0};
}

void collect_clear(struct collect *collect) {
  collect->trial_count = 0;
  collect->flow_trial_count = 0;
  collect->sample_count = 0;
}

/* Append count items to a growing array; false when it would pass maximum. */
static bool append(void **items, size_t *have, size_t *capacity, size_t maximum, const void *more,
                   size_t count, size_t size_bytes) {
  if (count > maximum - *have) {
    return false;
  }
  if (*have + count > *capacity) {
    size_t wanted = *capacity == 0 ? 1024 : 2 * *capacity;
    while (wanted < *have + count) {
      wanted *= 2;
    }
    void *larger = realloc(*items, wanted * size_bytes);
    if (larger == NULL) {
      /* As in arena.h: on Linux no condition a caller can recover from. */
      fprintf(stderr, "haul: out of memory\n");
      abort();
    }
    *items = larger;
    *capacity = wanted;
  }
  memcpy((char *)*items + *have * size_bytes, more, count * size_bytes);
  *have += count;
  return true;
}

bool collect_message(struct collect *collect, const struct message *message) {
  void *items;
  bool fits;
  if (message->kind == MESSAGE_TRIALS) {
    items = collect->trials;
    fits = append(&items, &collect->trial_count, &collect->trial_capacity, COLLECT_TRIALS_MAX,
                  message->trials, message->count, sizeof *message->trials);
    collect->trials = items;
  } else {
    items = collect->flow_trials;
    fits = append(&items, &collect->flow_trial_count, &collect->flow_trial_capacity,
                  COLLECT_FLOW_TRIALS_MAX, message->flow_trials, message->count,
                  sizeof *message->flow_trials);
    collect->flow_trials = items;
  }
  return fits;
}

void collect_samples(struct collect *collect, const struct telemetry_sample *samples,
                     size_t count) {
  void *items = collect->samples;
  (void)append(&items, &collect->sample_count, &collect->sample_capacity, COLLECT_SAMPLES_MAX,
               samples, count, sizeof *samples);
  collect->samples = items;
}
