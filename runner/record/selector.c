#include "runner/record/selector.h"

#include "engine/base/clock.h"
#include "engine/base/order.h"
#include "engine/base/strbuf.h"
#include "engine/base/strings.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum {
  JOINED_MAX = 16 << 20,
  NAMES_SHOWN = 8,
  RANGES_SHOWN = 8,
  RUNS_SHOWN = 3,
  UUID_DIGITS = RUN_UUID_MAX - 1
};

const struct row_member RUN_REF_MEMBERS[] = {
    ROW_MEMBER(struct run_ref, id), ROW_MEMBER(struct run_ref, uuid), {0}};

/* An error that says what is wrong and what exists: the runs whose UUIDs begin with prefix, or, if
 * that is NULL, the names that the statement lists. */
static enum status selector_refuse(struct database *database, enum status wrong,
                                   const char *message, const char *name, const char *prefix,
                                   struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  const bool runs = prefix != NULL;
  const size_t shown = runs ? RUNS_SHOWN : NAMES_SHOWN;
  const char **words = NULL;
  const char *list = "";
  size_t count = 0;
  RETURN_ON_ERROR(DATABASE_READ_ALL(database, name,
                                    runs ? PARAMETERS(PARAMETER(":name", prefix)) : NULL, ROW_WORD,
                                    &arena, words, count, err));
  if (count == 0) {
    return error_set(err, wrong, "%s; there are none%s", message,
                     runs ? ": \"haul run\" makes some" : "");
  }
  for (size_t i = 0; i < count && i < shown; i++) {
    list = arena_add_word(&arena, list, words[i]);
  }
  return error_set(err, wrong, "%s; there %s: %s%s", message, strings_plural(count, "is", "are"),
                   list,
                   count <= shown ? ""
                   : runs         ? ", ... (see haul list runs)"
                                  : " ...");
}

/* Every run that a statement gives, each once. *count: their number, before that. */
static enum status selector_add_runs(struct database *database, const char *name, const char *text,
                                     struct arena *arena, struct run_list *list, size_t *count,
                                     struct error *err) {
  struct run_list found;
  *count = 0;
  RETURN_ON_ERROR(DATABASE_READ_ALL(database, name, PARAMETERS(PARAMETER(":name", text)),
                                    RUN_REF_MEMBERS, arena, found.runs, found.count, err));
  *count = found.count;
  for (size_t r = 0; r < found.count; r++) {
    if (!ANY_OF(i, list->count, list->runs[i].id == found.runs[r].id)) {
      *ARENA_ADD(arena, list->runs, list->count) = found.runs[r];
    }
  }
  return STATUS_OK;
}

/* before: number of runs that started later, as text. */
static enum status selector_add_latest(struct database *database, const char *selector,
                                       const char *before, struct arena *arena,
                                       struct run_list *list, struct error *err) {
  size_t count = 0;
  enum status status =
      selector_add_runs(database, "select/latest_run", before, arena, list, &count, err);
  if (status != STATUS_OK || count > 0) {
    return status;
  }
  const char *message = arena_format(arena, "there is no %s run in %s", selector, database->path);
  return selector_refuse(database, STATUS_NOT_FOUND, message, "select/runs_by_prefix", "", err);
}

/* A number of a run never starts with 0; a UUIDv7 does until the year 10889. */
static bool selector_is_number(const char *text) {
  size_t digits = strspn(text, "0123456789");
  return digits > 0 && digits <= 18 && text[digits] == '\0' && text[0] != '0';
}

static enum status selector_add_by_prefix(struct database *database, const char *prefix,
                                          struct arena *arena, struct run_list *list,
                                          struct error *err) {
  struct run_list found = {0};
  size_t count = 0;
  RETURN_ON_ERROR(
      selector_add_runs(database, "select/runs_by_prefix", prefix, arena, &found, &count, err));
  if (count == 1) {
    return selector_add_runs(database, "select/runs_by_prefix", prefix, arena, list, &count, err);
  }
  const char *message =
      arena_format(arena, "%s \"%.*s\"", count > 0 ? "several runs begin with" : "there is no run",
                   UUID_DIGITS, prefix);
  return selector_refuse(database, count > 0 ? STATUS_INVALID : STATUS_NOT_FOUND, message,
                         "select/runs_by_prefix", count > 0 ? prefix : "", err);
}

/* Selectors that can mean several runs, and the message where they mean none. */
static const char tag_prefix[] = "tag:";
static const char driver_prefix[] = "driver:";
static const struct {
  const char *prefix, *runs, *missing, *known;
} GROUPS[] = {
    {tag_prefix, "select/runs_by_tag", "no run has the tag", "select/known_tags"},
    {driver_prefix, "select/runs_by_driver", "no run has the driver", "select/known_drivers"},
    {"baseline:", "select/runs_by_baseline", "there is no baseline", "select/known_baselines"},
};
/* "tag:before" of "before" where runs have that tag; NULL = no name is called so. In the arena. */
static const char *selector_meant(struct database *database, const char *text,
                                  struct arena *arena) {
  for (size_t i = 0; i < COUNT_OF(GROUPS); i++) {
    struct run_list found = {0};
    struct error unused = {0};
    size_t count = 0;
    if (selector_add_runs(database, GROUPS[i].runs, text, arena, &found, &count, &unused) ==
            STATUS_OK &&
        count > 0) {
      return arena_format(arena, "%s%s", GROUPS[i].prefix, text);
    }
  }
  return NULL;
}

static enum status selector_add_by_id(struct database *database, const char *text,
                                      struct arena *arena, struct run_list *list,
                                      struct error *err) {
  char lower[UUID_DIGITS + 5];
  size_t length = 0;
  if (selector_is_number(text)) {
    size_t count = 0;
    enum status status =
        selector_add_runs(database, "select/run_by_id", text, arena, list, &count, err);
    if (status != STATUS_OK || count > 0) {
      return status;
    }
  }
  for (const char *p = text; *p != '\0'; p++) {
    if (*p == '-') {
      continue; /* a UUID as others write it */
    }
    if (!isxdigit((unsigned char)*p) || length == UUID_DIGITS) {
      const char *meant = selector_meant(database, text, arena);
      if (meant != NULL) {
        return error_set(err, STATUS_INVALID, "\"%s\" names no run: did you mean %s?", text, meant);
      }
      return error_set(err, STATUS_INVALID,
                       "\"%s\" names no run: use its number or the beginning of its UUID, "
                       "tag:NAME, driver:VERSION, baseline:NAME, latest or previous",
                       text);
    }
    lower[length++] = (char)tolower((unsigned char)*p);
  }
  lower[length] = '\0';
  if (length == 0) {
    return error_set(err, STATUS_INVALID, "the name of a run is empty");
  }
  return selector_add_by_prefix(database, lower, arena, list, err);
}

static const char run_prefix[] = "run:";
static const char latest[] = "latest";
static const char previous[] = "previous";

static bool selector_has_prefix(const char *text, const char *prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool selector_is_one(const char *text) {
  return ANY_OF(i, COUNT_OF(GROUPS), selector_has_prefix(text, GROUPS[i].prefix)) ||
         selector_has_prefix(text, run_prefix) || strcmp(text, latest) == 0 ||
         strcmp(text, previous) == 0 ||
         (text[0] != '\0' && text[strspn(text, "0123456789")] == '\0');
}

const char *selector_tag(const char *text) {
  return selector_has_prefix(text, tag_prefix) && strchr(text, ',') == NULL
             ? text + strlen(tag_prefix)
             : NULL;
}

bool selector_is_open(const char *text) {
  return selector_tag(text) != NULL ||
         (selector_has_prefix(text, driver_prefix) && strchr(text, ',') == NULL);
}

bool selector_moves(const char *text) {
  for (const char *name = text; name != NULL;) {
    const size_t length = strcspn(name, ",");
    if ((length == strlen(latest) && strncmp(name, latest, length) == 0) ||
        (length == strlen(previous) && strncmp(name, previous, length) == 0)) {
      return true;
    }
    name = name[length] == ',' ? name + length + 1 : NULL;
  }
  return false;
}

/* The runs of one name, the latest last. */
static enum status selector_add_name(struct database *database, const char *selector,
                                     struct arena *arena, struct run_list *list,
                                     struct error *err) {
  for (size_t i = 0; i < COUNT_OF(GROUPS); i++) {
    const size_t length = strlen(GROUPS[i].prefix);
    if (!selector_has_prefix(selector, GROUPS[i].prefix)) {
      continue;
    }
    size_t count = 0;
    enum status status =
        selector_add_runs(database, GROUPS[i].runs, selector + length, arena, list, &count, err);
    if (status != STATUS_OK || count > 0) {
      return status;
    }
    const char *message = arena_format(arena, "%s \"%s\"", GROUPS[i].missing, selector + length);
    return selector_refuse(database, STATUS_NOT_FOUND, message, GROUPS[i].known, NULL, err);
  }
  if (strcmp(selector, latest) == 0) {
    return selector_add_latest(database, selector, "0", arena, list, err);
  }
  if (strcmp(selector, previous) == 0) {
    return selector_add_latest(database, selector, "1", arena, list, err);
  }
  const size_t skipped = selector_has_prefix(selector, run_prefix) ? strlen(run_prefix) : 0;
  return selector_add_by_id(database, selector + skipped, arena, list, err);
}

enum status selector_find(struct database *database, const char *selector, struct run_ref *run,
                          struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct run_list list = {0};
  if (strchr(selector, ',') != NULL) {
    return error_set(err, STATUS_INVALID, "one run is wanted here, and \"%s\" is a list", selector);
  }
  RETURN_ON_ERROR(selector_add_name(database, selector, &arena, &list, err));
  if (list.runs == NULL) {
    return error_set(err, STATUS_NOT_FOUND, "\"%s\" names no run", selector);
  }
  *run = list.runs[list.count - 1];
  return STATUS_OK;
}

ORDER_DEFINE(selector_compare_ids, int64_t, ORDER(*x, *y))

const char *selector_numbers(struct arena *arena, int64_t *ids, size_t count) {
  const char *text = "";
  size_t ranges = 0;
  ORDER_SORT(ids, count, selector_compare_ids);
  for (size_t i = 0, end = 0; i < count; i = end) {
    for (end = i + 1; end < count && ids[end] == ids[end - 1] + 1;) {
      end++;
    }
    if (ranges++ < RANGES_SHOWN) {
      text = arena_add_word(arena, text, arena_format(arena, "%" PRId64, ids[i]));
      text = end - i > 1 ? arena_add(arena, text, "-%" PRId64, ids[end - 1]) : text;
    }
  }
  return ranges > RANGES_SHOWN ? arena_add(arena, text, " ...") : text;
}

enum status selector_find_related(struct database *database, const char *statement, int64_t run,
                                  struct run_ref *found, struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct run_list list = {0};
  size_t count = 0;
  const char *number = arena_format(&arena, "%" PRId64, run);
  const enum status status =
      selector_add_runs(database, statement, number, &arena, &list, &count, err);
  *found = status == STATUS_OK && count > 0 ? list.runs[0] : (struct run_ref){0};
  return status;
}

enum status selector_find_sides(struct database *database, int64_t run, struct arena *arena,
                                const char **sides, struct error *err) {
  *sides = NULL;
  return database_read(database, "select/sides_to_compare", PARAMETERS(PARAMETER(":name", run)),
                       ROW_WORD, sides, arena, NULL, err);
}

const char *selector_join(struct arena *arena, const struct run_list *list) {
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(JOINED_MAX);
  for (size_t i = 0; i < list->count; i++) {
    strbuf_printf(&text, "%srun:%" PRId64, i > 0 ? "," : "", list->runs[i].id);
  }
  return arena_strdup(arena, text.text);
}

enum status selector_find_all(struct database *database, const char *selector, struct arena *arena,
                              struct run_list *list, struct error *err) {
  *list = (struct run_list){0};
  enum status status = STATUS_OK;
  for (const char *start = selector; status == STATUS_OK && start != NULL;) {
    const char *comma = strchr(start, ',');
    const size_t length = comma != NULL ? (size_t)(comma - start) : strlen(start);
    status = selector_add_name(database, arena_strndup(arena, start, length), arena, list, err);
    start = comma != NULL ? comma + 1 : NULL;
  }
  return status;
}

enum status selector_find_fleet(struct database *database, bool before, struct arena *arena,
                                struct run_list *list, struct error *err) {
  size_t count = 0;
  *list = (struct run_list){0};
  return selector_add_runs(database, "select/runs_of_fleet", before ? "1" : "0", arena, list,
                           &count, err);
}

enum status selector_find_named_fleet(struct database *database, const char *name,
                                      struct arena *arena, struct run_list *list,
                                      struct error *err) {
  size_t count = 0;
  *list = (struct run_list){0};
  return name == NULL ? selector_find_fleet(database, false, arena, list, err)
                      : selector_add_runs(database, "select/runs_of_named_fleet", name, arena, list,
                                          &count, err);
}

/* ---- baselines ---- */

static enum status selector_delete_runs(struct database *database, const char *name, bool *any,
                                        struct error *err) {
  const enum status status =
      database_do(database, "select/delete_baseline", PARAMETERS(PARAMETER(":name", name)), err);
  *any = status == STATUS_OK && sqlite3_changes(database->handle) > 0;
  return status;
}

enum status run_list_do(struct database *database, const char *name, const struct run_list *runs,
                        const struct parameter *parameters, struct error *err) {
  SCOPED(statement_finalize) struct statement statement = {0};
  enum status status = statement_prepare(database, name, &statement, err);
  for (size_t i = 0; i < runs->count && status == STATUS_OK; i++) {
    statement_bind(&statement, parameters);
    statement_bind_int(&statement, ":run", runs->runs[i].id);
    status = statement_run(&statement, err);
  }
  return status;
}

enum status baseline_set(struct database *database, const char *name, const struct run_list *runs,
                         bool *replaced, struct error *err) {
  RETURN_ON_ERROR(database_begin(database, err));
  enum status status = selector_delete_runs(database, name, replaced, err);
  status =
      THEN(status,
           run_list_do(database, "select/insert_baseline", runs,
                       PARAMETERS(PARAMETER(":name", name),
                                  PARAMETER(":set_at_ns", (int64_t)clock_read_ns(CLOCK_REALTIME))),
                       err));
  return database_end(database, status, err);
}

enum status baseline_remove(struct database *database, const char *name, struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct run_list runs = {0};
  const char *selector = arena_format(&arena, "baseline:%s", name);
  bool any = false;
  enum status status = selector_find_all(database, selector, &arena, &runs, err);
  return THEN(status, selector_delete_runs(database, name, &any, err));
}
