/* skipped.c - reasons to skip cases, each once. */
#include "runner/plan/plan.h"

#include "engine/base/strings.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Numbers after these words tell pairs apart, not reasons. */
static size_t skipped_place_length(const char *at) {
  static const char *const WORDS[] = {"GPU ", "node "};
  for (size_t i = 0; i < COUNT_OF(WORDS); i++) {
    const size_t length = strlen(WORDS[i]);
    if (strncmp(at, WORDS[i], length) == 0 && isdigit((unsigned char)at[length]) != 0) {
      return length;
    }
  }
  return 0;
}

/* "GPU x and GPU y have no peer access" of "GPU 0 and GPU 3 have no peer access". */
static const char *skipped_pattern(struct arena *arena, const char *reason) {
  static const char LETTERS[] = "xyz";
  char *pattern = arena_strdup(arena, reason);
  char *to = pattern;
  size_t places = 0;
  for (const char *at = reason; *at != '\0';) {
    const size_t length = places < strlen(LETTERS) ? skipped_place_length(at) : 0;
    if (length == 0) {
      *to++ = *at++;
      continue;
    }
    to = mempcpy(to, at, length);
    *to++ = LETTERS[places++];
    at += length;
    at += strspn(at, "0123456789");
  }
  *to = '\0';
  return pattern;
}

struct skipped_known {
  const char *pattern, *reason;
};

size_t plan_group_skipped(const struct plan *plan, struct arena *arena,
                          const struct skip_group **groups) {
  struct skip_group *items = NULL;
  struct skipped_known *known = NULL;
  size_t count = 0;
  size_t last = 0; /* neighbours mostly share their reason */
  for (size_t i = 0; i < plan->case_count; i++) {
    const struct plan_case *c = &plan->cases[i];
    if (c->skip_reason == NULL) {
      continue;
    }
    if (last >= count || strcmp(known[last].reason, c->skip_reason) != 0) {
      const char *pattern = skipped_pattern(arena, c->skip_reason);
      last = 0;
      while (last < count && strcmp(known[last].pattern, pattern) != 0) {
        last++;
      }
      if (last == count) {
        items = arena_grow(arena, items, count, sizeof *items);
        known = arena_grow(arena, known, count, sizeof *known);
        items[count] = (struct skip_group){.reason = c->skip_reason};
        known[count++] = (struct skipped_known){pattern, c->skip_reason};
      }
    }
    struct skip_group *group = &items[last];
    if (strcmp(group->reason, c->skip_reason) != 0) {
      group->reason = arena_format(arena, "%s, for example", known[last].reason);
    }
    if (group->count < SKIP_GROUP_CASES_MAX) {
      group->cases[group->count] = c;
    }
    group->count++;
  }
  *groups = items;
  return count;
}

void plan_skip_rest(struct plan *plan, const char *reason) {
  struct plan_case *cases = arena_array(&plan->arena, plan->case_count, sizeof *cases);
  const char *kept = arena_strdup(&plan->arena, reason);
  for (size_t i = 0; i < plan->case_count; i++) {
    cases[i] = plan->cases[i];
    if (cases[i].skip_reason == NULL) {
      cases[i].skip_reason = kept;
      cases[i].estimate_ns = 0;
    }
  }
  plan->cases = cases;
  plan->skip_count = plan->case_count;
  plan->estimate_ns = plan->start_ns = plan->host_bytes = plan->gpu_bytes = 0;
}

bool plan_has_nothing(const struct plan *plan, char reason[CASE_REASON_MAX]) {
  SCOPED(arena_fini) struct arena arena = {0};
  const struct skip_group *groups = NULL;
  if (plan->skip_count < plan->case_count) {
    return false;
  }
  const size_t count = plan_group_skipped(plan, &arena, &groups);
  size_t most = 0;
  for (size_t i = 1; i < count; i++) {
    most = groups[i].count > groups[most].count ? i : most;
  }
  const int length = snprintf(reason, CASE_REASON_MAX, "%s", count > 0 ? groups[most].reason : "");
  if (count > 1 && length > 0 && length < CASE_REASON_MAX) {
    (void)snprintf(reason + length, CASE_REASON_MAX - (size_t)length, ", and %zu more reason%s",
                   count - 1, strings_plural(count - 1, "", "s"));
  }
  return true;
}
