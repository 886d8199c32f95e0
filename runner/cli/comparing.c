#include "runner/cli/comparing.h"

#include "engine/base/strbuf.h"
#include "runner/record/database.h"
#include "schema/scenario/nearest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SPLITS_USUAL = 20, SPLITS_MAX = 10000, LIST_MAX = 700, VALUES_SHOWN = 8 };
/* One seed, one result: nobody should be able to try until it looks well. */
#define NULL_SEED UINT64_C(1)

void comparing_init(struct comparing *comparing) {
  comparing->compare.diff =
      (struct diff_options){.method = DIFF_MODERATED, .false_discovery_rate = 0.05};
  comparing->splits = SPLITS_USUAL;
}

void comparing_fini(struct comparing *comparing) {
  selecting_fini(&comparing->selecting);
}

static void parse_delta(const char *arg, struct argp_state *state, struct comparing *comparing) {
  char *end = NULL;
  const double percent = strtod(arg, &end);
  if (end == arg || (*end != '\0' && strcmp(end, "%") != 0) || !(percent > 0 && percent < 100)) {
    argp_error(state, "--delta wants per cent above 0 and below 100, such as 1, not '%s'", arg);
  }
  comparing->compare.margin = percent / 100;
}

static void parse_method(const char *arg, struct argp_state *state, struct comparing *comparing) {
  if (!diff_method_parse(arg, &comparing->compare.diff.method)) {
    const char *meant = nearest_word(arg, diff_method_names);
    argp_error(state, "unknown method '%s'%s%s%s: moderated or rank", arg,
               meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
               meant != NULL ? "'?)" : "");
  }
}

static void parse_null(const char *arg, struct argp_state *state, struct comparing *comparing) {
  comparing->null = true;
  if (arg == NULL) {
    return;
  }
  char *end = NULL;
  const long splits = strtol(arg, &end, 10);
  if (end == arg || *end != '\0' || splits < 1 || splits > SPLITS_MAX) {
    argp_error(state, "--null wants a number of splits from 1 to %d, not '%s'", SPLITS_MAX, arg);
  }
  comparing->splits = (unsigned)splits;
}

error_t comparing_parse(int key, char *arg, struct argp_state *state, struct comparing *comparing) {
  switch (key) {
  case OPTION_BY:
    comparing->by = arg;
    return 0;
  case OPTION_FROM:
    comparing->from = arg;
    return 0;
  case OPTION_TO:
    comparing->to = arg;
    return 0;
  case OPTION_DELTA:
    parse_delta(arg, state, comparing);
    return 0;
  case OPTION_METHOD:
    parse_method(arg, state, comparing);
    return 0;
  case OPTION_ANY_HARDWARE:
    comparing->compare.any_hardware = true;
    return 0;
  case OPTION_NULL:
    parse_null(arg, state, comparing);
    return 0;
  case ARGP_KEY_ARG:
    if (comparing->name_count == SIDES) {
      argp_error(state, "two sides are compared; '%s' is a third", arg);
      return 0;
    }
    comparing->names[comparing->name_count++] = arg;
    return 0;
  case ARGP_KEY_END:
    if (comparing->by == NULL && (comparing->from != NULL || comparing->to != NULL)) {
      argp_error(state, "--from and --to go with --by FACT");
    }
    if (comparing->by != NULL && comparing->name_count > 0) {
      argp_error(state, "either two runs or --by FACT, not both");
    }
    return 0;
  default:
    return selecting_parse(key, arg, state, &comparing->selecting);
  }
}

/* ---- sides by name ---- */

static enum status sides_by_name(struct comparing *comparing, struct comparing_result *result,
                                 enum side **sides, struct error *err) {
  struct arena *arena = &comparing->selecting.arena;
  struct run_list lists[SIDES] = {{NULL, 0}, {NULL, 0}};
  for (size_t s = 0; s < comparing->name_count; s++) {
    enum status status =
        selector_find_all(result->database, comparing->names[s], arena, &lists[s], err);
    if (status != STATUS_OK) {
      return error_prefix(err, "side %c: ", s == SIDE_A ? 'A' : 'B');
    }
  }
  for (size_t a = 0; a < lists[0].count && comparing->name_count == SIDES; a++) {
    for (size_t b = 0; b < lists[1].count; b++) {
      if (lists[0].runs[a].id == lists[1].runs[b].id) {
        return error_set(err, STATUS_INVALID,
                         "run %lld is on both sides (\"%s\" and \"%s\"); --null shows what a run "
                         "against itself would report",
                         (long long)lists[0].runs[a].id, comparing->names[0], comparing->names[1]);
      }
    }
  }
  enum status status = selecting_runs(&comparing->selecting, result->database, result->measured,
                                      comparing->names, comparing->name_count, err);
  if (status != STATUS_OK) {
    return status;
  }
  *sides = arena_array(arena, result->measured->run_count, sizeof **sides);
  for (size_t i = 0; i < result->measured->run_count; i++) {
    (*sides)[i] = result->measured->runs[i].selector == 0 ? SIDE_A : SIDE_B;
  }
  return STATUS_OK;
}

/* ---- sides by a fact ---- */

struct fact_values {
  const char **values; /* every different one, in the order of the runs */
  size_t count, capacity;
};

static void list_values(struct arena *arena, struct measured *measured, const char *fact,
                        struct fact_values *list) {
  for (size_t i = 0; i < measured->run_count; i++) {
    const char *value = measured_run_fact(measured, i, fact);
    bool known = value == NULL;
    for (size_t v = 0; v < list->count && !known; v++) {
      known = strcmp(list->values[v], value) == 0;
    }
    if (!known) {
      list->values =
          arena_grow(arena, list->values, list->count, &list->capacity, sizeof *list->values);
      list->values[list->count++] = value;
    }
  }
}

static enum status refuse_value(const struct fact_values *list, const char *message,
                                struct error *err) {
  struct strbuf text;
  strbuf_init(&text, LIST_MAX);
  for (size_t i = 0; i < list->count && i < VALUES_SHOWN; i++) {
    strbuf_printf(&text, "%s%s", i > 0 ? ", " : "", list->values[i]);
  }
  enum status status = error_set(
      err, STATUS_NOT_FOUND, "%s; there %s: %s%s", message, list->count == 1 ? "is" : "are",
      list->count > 0 ? text.text : "none", list->count > VALUES_SHOWN ? " ..." : "");
  strbuf_fini(&text);
  return status;
}

static enum status find_value(const struct fact_values *list, const char *by, const char *value,
                              struct error *err) {
  for (size_t i = 0; i < list->count; i++) {
    if (strcmp(list->values[i], value) == 0) {
      return STATUS_OK;
    }
  }
  char message[256];
  (void)snprintf(message, sizeof message, "no run has the %s \"%s\"", by, value);
  return refuse_value(list, message, err);
}

static enum status sides_by_fact(struct comparing *comparing, struct comparing_result *result,
                                 enum side **sides, struct error *err) {
  struct measured *measured = result->measured;
  struct arena *arena = &comparing->selecting.arena;
  struct fact_values list = {0};
  enum status status =
      selecting_runs(&comparing->selecting, result->database, measured, NULL, 0, err);
  if (status == STATUS_OK) {
    status = selecting_check_fact(measured, comparing->by, err);
  }
  if (status != STATUS_OK) {
    return status;
  }
  list_values(arena, measured, comparing->by, &list);
  if (comparing->from == NULL && comparing->to == NULL && list.count == 2) {
    comparing->from = list.values[0]; /* there is one way to compare: then with now */
    comparing->to = list.values[1];
  }
  if (comparing->from == NULL && comparing->to == NULL && list.count == 1) {
    return error_set(err, STATUS_NOT_FOUND,
                     "every run has the %s %s: there is nothing to compare it with", comparing->by,
                     list.values[0]);
  }
  if (comparing->from == NULL || comparing->to == NULL) {
    char message[256];
    (void)snprintf(message, sizeof message, "--by %s needs --from and --to, values of it",
                   comparing->by);
    return refuse_value(&list, message, err);
  }
  status = find_value(&list, comparing->by, comparing->from, err);
  if (status == STATUS_OK) {
    status = find_value(&list, comparing->by, comparing->to, err);
  }
  if (status == STATUS_OK && strcmp(comparing->from, comparing->to) == 0) {
    status = error_set(err, STATUS_INVALID, "--from and --to are the same: %s", comparing->from);
  }
  *sides = arena_array(arena, measured->run_count, sizeof **sides);
  for (size_t i = 0; i < measured->run_count; i++) {
    const char *value = measured_run_fact(measured, i, comparing->by);
    (*sides)[i] = value == NULL                         ? SIDE_NONE
                  : strcmp(value, comparing->from) == 0 ? SIDE_A
                  : strcmp(value, comparing->to) == 0   ? SIDE_B
                                                        : SIDE_NONE;
  }
  comparing->names[SIDE_A] = arena_format(arena, "%s=%s", comparing->by, comparing->from);
  comparing->names[SIDE_B] = arena_format(arena, "%s=%s", comparing->by, comparing->to);
  comparing->compare.by = comparing->by;
  return status;
}

/* ---- comparing ---- */

/* Runs on no side are not read. */
struct side_filter {
  const enum side *sides;
};

static bool keep_sided(const struct measured *measured, size_t run, const void *context) {
  const struct side_filter *filter = context;
  (void)measured;
  return filter->sides[run] != SIDE_NONE;
}

static void drop_unsided(struct measured *measured, enum side *sides) {
  const size_t count = measured->run_count;
  measured_keep_runs(measured, keep_sided, &(struct side_filter){sides});
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (sides[i] != SIDE_NONE) {
      sides[kept++] = sides[i];
    }
  }
}

/* Why a case has no result on a side where it was tried. */
static enum status find_reasons(struct comparing_result *result, struct error *err) {
  enum status status = STATUS_OK;
  for (size_t i = 0; i < result->comparison->row_count && status == STATUS_OK; i++) {
    struct comparison_row *row = &result->comparison->rows[i];
    const enum verdict verdict = row->result.verdict;
    if (row->reason != NULL || (verdict != VERDICT_MISSING && verdict != VERDICT_NEW)) {
      continue;
    }
    const struct comparison_side *side = &row->sides[verdict == VERDICT_MISSING ? SIDE_B : SIDE_A];
    if (side->tried) {
      status = measured_reason(result->measured, result->database, side->run, side->bench,
                               &row->reason, err);
    }
  }
  return status;
}

enum status comparing_run(const struct common_options *common, struct comparing *comparing,
                          struct comparing_result *result, struct error *err) {
  enum side *sides = NULL;
  *result = (struct comparing_result){.measured = measured_new()};
  enum status status = selecting_open(common, &comparing->selecting, &result->database, err);
  if (status == STATUS_OK) {
    status = comparing->by != NULL ? sides_by_fact(comparing, result, &sides, err)
                                   : sides_by_name(comparing, result, &sides, err);
  }
  if (status == STATUS_OK) {
    drop_unsided(result->measured, sides);
    result->sides = sides;
    status = measured_load(result->measured, result->database, comparing->selecting.only, err);
  }
  if (status == STATUS_OK && result->measured->case_count == 0) {
    status = error_set(err, STATUS_NOT_FOUND, "no case of these runs is named like \"%s\"",
                       comparing->selecting.only != NULL ? comparing->selecting.only : "*");
  }
  if (status == STATUS_OK) {
    comparing->compare.one_side = comparing->null && comparing->name_count == 1;
    status = compare(result->measured, sides, &comparing->compare, &result->comparison, err);
  }
  if (status == STATUS_OK) {
    status = find_reasons(result, err);
  }
  if (status == STATUS_OK && comparing->null) {
    null_split(result->comparison->inputs, result->comparison->input_count,
               &comparing->compare.diff, comparing->splits, NULL_SEED, &result->null);
  }
  return status;
}

void comparing_result_fini(struct comparing_result *result) {
  comparison_free(result->comparison);
  measured_free(result->measured);
  database_close(result->database);
}

static enum status show(const struct comparing_verb *options, comparing_choose *choose,
                        const struct comparing_result *result, struct error *err) {
  const struct common_options *common = &options->common;
  struct diff_show what = {.all = common->verbose};
  for (size_t s = 0; s < SIDES; s++) {
    what.names[s] = options->comparing.names[s] != NULL ? options->comparing.names[s] : "";
  }
  choose(options, result, &what);
  if (common->junit) {
    return diff_print_junit(result->measured, result->comparison, &what, stdout, err);
  }
  if (common->format == ROW_JSON) {
    return diff_print_json(result->measured, result->comparison, &what, stdout, err);
  }
  const struct rows_options rows = rows_to_stdout(common);
  return diff_print(result->measured, result->comparison, &what, &rows, err);
}

int comparing_main(struct comparing_verb *options, comparing_choose *choose,
                   comparing_judge *judge) {
  struct error err = {0};
  struct comparing_result result;
  int code = EXIT_DONE;
  enum status status = comparing_run(&options->common, &options->comparing, &result, &err);
  if (status == STATUS_OK) {
    status = show(options, choose, &result, &err);
  }
  if (status != STATUS_OK) {
    code = fail(&options->common, &err);
  } else {
    comparing_say_what_helps(&options->common, &options->comparing, &result);
    code = judge != NULL ? judge(options, result.comparison) : EXIT_DONE;
  }
  comparing_result_fini(&result);
  comparing_fini(&options->comparing);
  return code;
}
