#include "runner/expect/disturbance.h"

/* Of fewer trials it is nothing to speak of. */
static const double PERCENT_SAID = 5;

void disturbance_add(struct disturbance *disturbance, const struct observed *observed,
                     const char *name) {
  if (!(observed->disturbed_percent >= PERCENT_SAID)) {
    return;
  }
  disturbance->on_host = (disturbance->count == 0 || disturbance->on_host) && observed->node >= 0;
  disturbance->count++;
  if (observed->disturbed_percent > disturbance->percent) {
    disturbance->percent = observed->disturbed_percent;
    disturbance->slower_percent = observed->slower_percent;
    disturbance->name = name;
  }
}

const char *disturbance_words(struct arena *arena, const struct disturbance *disturbance) {
  const size_t others = disturbance->count - 1;
  return disturbance->count == 0
             ? ""
             : arena_format(arena, "%s: %.2g %% of trials were up to %.2g %% slower (%s%s)",
                            disturbance->on_host ? "host busy" : "disturbed by others",
                            disturbance->percent, disturbance->slower_percent, disturbance->name,
                            others > 0 ? arena_format(arena, ", and %zu more", others) : "");
}
