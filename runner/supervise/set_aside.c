#include "runner/supervise/set_aside.h"

#include <stdio.h>

enum { GPUS_MAX = 32 };

static struct set_aside_gpus *set_aside_find(struct set_aside *aside, uint32_t gpus) {
  const size_t i = FIRST_OF(k, aside->count, aside->sets[k].gpus == gpus);
  if (i == SET_ASIDE_SETS_MAX) {
    return NULL;
  }
  if (i == aside->count) {
    aside->sets[aside->count++] = (struct set_aside_gpus){.gpus = gpus};
  }
  return &aside->sets[i];
}

static bool set_aside_is_one(uint32_t gpus) {
  return (gpus & (gpus - 1)) == 0;
}

/* "GPU 1", "GPU 0 and GPU 1". */
static void set_aside_name(uint32_t gpus, char names[SET_ASIDE_NAMES_MAX]) {
  size_t used = 0;
  names[0] = '\0';
  for (unsigned gpu = 0; gpu < GPUS_MAX && used < SET_ASIDE_NAMES_MAX; gpu++) {
    if ((gpus >> gpu & 1) != 0) {
      const bool last = gpu + 1 == GPUS_MAX || gpus >> (gpu + 1) == 0;
      used += (size_t)snprintf(names + used, SET_ASIDE_NAMES_MAX - used, "%sGPU %u",
                               used == 0 ? ""
                               : last    ? " and "
                                         : ", ",
                               gpu);
    }
  }
}

bool set_aside_note_failure(struct set_aside *aside, uint32_t gpus, const char *reason,
                            char warning[SET_ASIDE_WARNING_MAX]) {
  struct set_aside_gpus *set = gpus != 0 ? set_aside_find(aside, gpus) : NULL;
  if (set == NULL) {
    return false;
  }
  (void)snprintf(set->reason, sizeof set->reason, "%s", reason);
  if (++set->failures != SET_ASIDE_FAILURES) {
    return false;
  }
  char names[SET_ASIDE_NAMES_MAX];
  set_aside_name(gpus, names);
  (void)snprintf(
      warning, SET_ASIDE_WARNING_MAX,
      "%s failed in %d cases in a row. haul sets %s aside and goes on with the other GPUs. "
      "nvidia-smi and the log of Linux (dmesg) may say why. The last failure: %s",
      names, SET_ASIDE_FAILURES, set_aside_is_one(gpus) ? "it" : "them", reason);
  return true;
}

void set_aside_note_success(struct set_aside *aside, uint32_t gpus) {
  for (size_t i = aside->count; i-- > 0;) {
    if ((aside->sets[i].gpus & ~gpus) == 0) {
      aside->sets[i] = aside->sets[--aside->count];
    }
  }
}

bool set_aside_has(const struct set_aside *aside, uint32_t gpus, char reason[CASE_REASON_MAX]) {
  for (size_t i = 0; i < aside->count; i++) {
    const struct set_aside_gpus *set = &aside->sets[i];
    if (set->failures >= SET_ASIDE_FAILURES && (set->gpus & ~gpus) == 0) {
      char names[SET_ASIDE_NAMES_MAX];
      set_aside_name(set->gpus, names);
      int head =
          snprintf(reason, CASE_REASON_MAX,
                   "not run: %s failed %u times in a row (counts as failed; the last: ", names,
                   set->failures);
      if (head >= 0 && head < CASE_REASON_MAX) {
        (void)snprintf(reason + head, (size_t)(CASE_REASON_MAX - head), "%.*s)",
                       CASE_REASON_MAX - head - 2, set->reason);
      }
      return true;
    }
  }
  return false;
}
