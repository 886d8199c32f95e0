/* haul merge: results of many databases into one. */
#include "engine/base/strings.h"
#include "runner/cli/fleet_gate.h"
#include "runner/console/console.h"
#include "runner/record/file.h"
#include "runner/record/merge.h"
#include "runner/record/node_list.h"
#include "runner/table/json_shape.h"
#include "runner/table/result_set.h"

#include <glob.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* With more inputs, one line for each is more than anyone reads. */
enum { LISTED_MAX = 20 };
/* Of nodes that are not ok: how many reasons are shown, and how many names of each. */
enum { GROUPS_SHOWN_MAX = 40, NODES_NAMED_MAX = 1000 };

struct merge_inputs {
  const char **paths;
  size_t count;
};

/* What came of all inputs together. */
struct merge_total {
  size_t merged, unchanged, skipped;
  int64_t added, completed, results;
  const char **fleets; /* whose nodes are shown */
  size_t fleet_count;
};

struct merge_options {
  const char *output;   /* the first argument */
  unsigned fleet_fails; /* bit i: enum fleet_reason i */
};

static const struct verb_option VERB_MERGE_OPTIONS[] = {
    {"fail-on", "REASONS",
     "exit with 1 if a node is one of these, several with commas: missing, partial, failed, "
     "different (from most nodes, in driver, Linux kernel, VBIOS, GPUs or failed checks), slow; "
     "print "
     "one line per such node",
     OPTION_AT(fleet_gate_take, struct merge_options, fleet_fails), .names = fleet_reason_names},
    {0}};

static void verb_merge_check(struct command *command, struct argp_state *state) {
  struct merge_options *options = command->options;
  OPTIONS_REFUSE(command->word_count < 2, state,
                 "missing arguments: the output first, then the inputs: haul merge all.db "
                 "node1.db node2.db");
  OPTIONS_REFUSE(command->common.db != NULL, state,
                 "--db cannot be combined with merge: the output is the first argument");
  options->output = command->words[0];
}

static void verb_merge_add_input(struct arena *arena, struct merge_inputs *inputs,
                                 const char *path) {
  *ARENA_ADD(arena, inputs->paths, inputs->count) = arena_strdup(arena, path);
}

/* The databases in a folder, and what nodes left there that could not write their shards. */
static enum status verb_merge_add_folder(struct arena *arena, struct merge_inputs *inputs,
                                         const char *folder, struct error *err) {
  const char **files[2] = {NULL};
  size_t counts[2] = {0};
  enum status status =
      input_find_files(folder, ".db", "database", false, arena, &files[0], &counts[0], err);
  const bool failures = input_find_files(folder, DATABASE_FAILURE_SUFFIX, "shard", false, arena,
                                         &files[1], &counts[1], NULL) == STATUS_OK;
  if (status != STATUS_OK && (status != STATUS_NOT_FOUND || !failures)) {
    return status;
  }
  for (size_t i = 0; i < counts[0] + counts[1]; i++) {
    verb_merge_add_input(arena, inputs, i < counts[0] ? files[0][i] : files[1][i - counts[0]]);
  }
  return STATUS_OK;
}

/* A file, a folder of *.db, or a pattern that no shell has expanded. A file that is not there is an
 * input like any other bad one. */
static enum status verb_merge_add_word(struct arena *arena, struct merge_inputs *inputs,
                                       const char *word, struct error *err) {
  struct stat info;
  if (stat(word, &info) == 0 && S_ISDIR(info.st_mode)) {
    return verb_merge_add_folder(arena, inputs, word, err);
  }
  glob_t found = {0};
  if (strpbrk(word, "*?[") == NULL || lstat(word, &info) == 0 || glob(word, 0, NULL, &found) != 0) {
    verb_merge_add_input(arena, inputs, word);
    return STATUS_OK;
  }
  for (size_t i = 0; i < found.gl_pathc; i++) {
    verb_merge_add_input(arena, inputs, found.gl_pathv[i]);
  }
  globfree(&found);
  return STATUS_OK;
}

/* Tables for people lack the last column: reasons stand in the warnings beside. */
#define MERGE_COLUMNS(X)                                                                           \
  X("input", text, path)                                                                           \
  X("outcome", text, status == STATUS_OK ? verb_merge_outcome_of(&result) : "skipped")             \
  X("runs", integer, result.runs)                                                                  \
  X("added", integer, result.added)                                                                \
  X("completed", integer, result.completed)                                                        \
  X("results", integer, result.results)                                                            \
  X("reason", text, status == STATUS_OK ? NULL : err.message)
JSON_DESCRIBER_STATIC(verb_merge_describe, MERGE_COLUMNS, JSON_COLUMN)

static const char *const COLUMNS[] = {MERGE_COLUMNS(COLUMN_NAME)};

static size_t verb_merge_column_count(const struct common_options *common) {
  const size_t count = COUNT_OF(COLUMNS);
  return output_layout_of(common->format) == LAYOUT_PAGE ? count - 1 : count;
}

static const char *verb_merge_outcome_of(const struct merge_result *result) {
  if (result->same) {
    return "output";
  }
  return result->added + result->completed + result->results > 0 ? "merged" : "unchanged";
}

/* One line that is rewritten, on a terminal; path NULL: it is cleared. */
static void verb_merge_show_progress(const struct common_options *common, size_t done, size_t count,
                                     const char *path) {
  char line[256] = "";
  if (path != NULL) {
    (void)snprintf(line, sizeof line, "merging %zu of %zu: %s", done + 1, count, path);
  }
  (void)(count >= 2 && say_progress(common, line));
}

static void verb_merge_count_input(struct merge_total *total, const struct merge_result *result) {
  total->added += result->added;
  total->completed += result->completed;
  total->results += result->results;
  if (strcmp(verb_merge_outcome_of(result), "merged") == 0) {
    total->merged++;
  } else {
    total->unchanged++;
  }
}

/* Merge them one by one. Returns the exit code. */
static int verb_merge_all(struct command *command, const struct merge_inputs *inputs,
                          const struct row_sink *sink, struct merge_total *total) {
  const struct merge_options *options = command->options;
  const volatile sig_atomic_t *interrupted = watch_interrupts();
  struct error err = {0};
  if (database_check_folder(&command->common, options->output, &err) != STATUS_OK) {
    return fail(&command->common, &err);
  }
  struct merge *merge = merge_new(options->output, interrupted);
  int code = EXIT_DONE;
  bool fatal = false;
  for (size_t i = 0; i < inputs->count && !fatal; i++) {
    const char *path = inputs->paths[i];
    struct merge_result result = {0};
    verb_merge_show_progress(&command->common, i, inputs->count, path);
    enum status status = merge_add(merge, path, &result, &fatal, &err);
    if (status == STATUS_OK) {
      verb_merge_count_input(total, &result);
    } else {
      verb_merge_show_progress(&command->common, i, inputs->count, NULL);
    }
    if (status != STATUS_OK && fatal) {
      code = worse(code, fail(&command->common, &err));
    } else if (status != STATUS_OK) {
      const bool judged = options->fleet_fails != 0 && database_file_is_failure(path);
      total->skipped++;
      code = judged ? code : worse(code, EXIT_NOT_MEASURED);
      say_warning(&command->common, "skipped %s: %s", path, err.message);
    }
    const struct cell cells[] = {MERGE_COLUMNS(COLUMN_CELL)};
    struct error unwritten = {0};
    if (sink != NULL && !fatal && sink_row(sink, cells, &unwritten) != STATUS_OK) {
      code = worse(code, fail(&command->common, &unwritten));
      break;
    }
    if (*interrupted != 0 && !fatal) {
      fatal = true;
      code = EXIT_INTERRUPTED;
    }
  }
  verb_merge_show_progress(&command->common, 0, inputs->count, NULL);
  struct error unfinished = {0};
  if (!fatal && merge_finish(merge, &command->arena, &total->fleets, &total->fleet_count,
                             &unfinished) != STATUS_OK) {
    code = worse(code, fail(&command->common, &unfinished));
  }
  merge_free(merge);
  return code;
}

static void verb_merge_say_total(struct command *command, const struct merge_inputs *inputs,
                                 const struct merge_total *total) {
  const struct merge_options *options = command->options;
  struct arena *arena = &command->arena;
  const size_t done = total->merged + total->unchanged;
  const size_t left = inputs->count - done - total->skipped;
  const char *rest = total->skipped > 0 ? arena_format(arena, "; %zu skipped", total->skipped) : "";
  rest = left > 0 ? arena_format(arena, "%s; %zu not reached", rest, left) : rest;
  if (done == 0) {
    say_note(&command->common, "nothing was merged into %s%s", options->output, rest);
    return;
  }
  if (total->merged == 0) {
    say_note(&command->common, "%s: nothing new in %zu %s%s", options->output, done,
             strings_plural(done, "database", "databases"), rest);
    return;
  }
  say_note(&command->common,
           "%s: %" PRId64 " %s added%s, %" PRId64
           " results (one per case and process), from %zu of %zu databases%s%s",
           options->output, total->added, strings_plural((size_t)total->added, "run", "runs"),
           total->completed > 0
               ? arena_format(arena, ", %" PRId64 " resumed %s completed", total->completed,
                              strings_plural((size_t)total->completed, "run", "runs"))
               : "",
           total->results, done, inputs->count,
           total->unchanged > 0 ? arena_format(arena, "; %zu had nothing new", total->unchanged)
                                : "",
           rest);
}

static enum status verb_merge_print(const struct command *command, const struct result_set *rows,
                                    const char *title, struct error *err) {
  if (rows->row_count == 0) {
    return STATUS_OK;
  }
  struct table_options options = table_to_stdout(&command->common);
  options.drop_empty = true;
  options.narrow = "ended_at,others,started_at,of"; /* of a fleet, and of differences */
  struct table *table = table_new(&options);
  printf("\n%s", title);
  enum status status = result_set_send(rows, table_sink(table), err);
  status = THEN(status, table_end_all(table, err));
  table_free(table);
  return status;
}

/* A saved query of one fleet, below a line that says what it is; nothing where it has no rows. */
static enum status verb_merge_show_query(struct command *command, const char *name,
                                         const struct query_parameter *fleet, const char *title,
                                         struct error *err) {
  SCOPED(result_set_fini) struct result_set rows;
  result_set_init(&rows, SIZE_MAX);
  enum status status = query_run_saved(command->query, name, fleet, 1, NULL, &rows.sink, err);
  return THEN(status, verb_merge_print(command, &rows, title, err));
}

/* Nodes that have the same state for the same reason, which stand one after the other, become one
 * row. */
static void verb_merge_group_nodes(const struct result_set *nodes, struct arena *arena,
                                   struct result_set *groups) {
  static const struct column GROUP_COLUMNS[] = {
      {.name = "state"}, {.name = "nodes"}, {.name = "which"}, {.name = "reason"}};
  for (size_t i = 0; i < COUNT_OF(GROUP_COLUMNS); i++) {
    (void)result_set_add_column(groups, &GROUP_COLUMNS[i]);
  }
  const char **names = arena_array(arena, nodes->row_count, sizeof *names);
  for (size_t first = 0, end; first < nodes->row_count && groups->row_count < GROUPS_SHOWN_MAX;
       first = end) {
    const char *state = result_set_text(nodes, first, "state");
    const char *reason = result_set_optional(nodes, first, "reason");
    for (end = first;
         end < nodes->row_count && strings_equal(state, result_set_text(nodes, end, "state")) &&
         strings_equal(reason, result_set_optional(nodes, end, "reason"));
         end++) {
      names[end - first] = result_set_text(nodes, end, "node");
    }
    const struct cell cells[] = {
        cell_text(state), cell_integer((int64_t)(end - first)),
        cell_text(node_list_join(names, end - first, NODES_NAMED_MAX, arena)), cell_text(reason)};
    const size_t row = result_set_add_row(groups);
    for (size_t i = 0; i < COUNT_OF(cells); i++) {
      result_set_put(groups, row, i, cells[i]);
    }
  }
}

static enum status verb_merge_show_nodes(struct command *command,
                                         const struct query_parameter *fleet, struct error *err) {
  const struct merge_options *options = command->options;
  const struct query_parameter parameters[] = {*fleet, {"but", "ok"}};
  SCOPED(result_set_fini) struct result_set nodes;
  SCOPED(result_set_fini) struct result_set groups;
  result_set_init(&nodes, SIZE_MAX);
  result_set_init(&groups, GROUPS_SHOWN_MAX);
  RETURN_ON_ERROR(query_run_saved(command->query, "nodes", parameters, 2, NULL, &nodes.sink, err));
  verb_merge_group_nodes(&nodes, &command->arena, &groups);
  return verb_merge_print(command, &groups,
                          arena_format(&command->arena,
                                       "not ok (node by node: haul query --saved nodes --db %s)\n",
                                       shell_word(&command->arena, options->output)),
                          err);
}

/* For people: how far each fleet is, whom to look at, and who differs from the others. */
static enum status verb_merge_show_fleets(struct command *command, const struct merge_total *total,
                                          struct error *err) {
  const struct merge_options *options = command->options;
  if (total->fleet_count == 0 || output_layout_of(command->common.format) != LAYOUT_PAGE) {
    return STATUS_OK;
  }
  command->common.db = options->output;
  RETURN_ON_ERROR(command_open_query(command, err));
  for (size_t i = 0; i < total->fleet_count; i++) {
    const struct query_parameter fleet = {"fleet", total->fleets[i]};
    RETURN_ON_ERROR(verb_merge_show_query(command, "fleets", &fleet, "", err));
    RETURN_ON_ERROR(verb_merge_show_nodes(command, &fleet, err));
    RETURN_ON_ERROR(
        verb_merge_show_query(command, "node-differences", &fleet, "different from most\n", err));
  }
  return STATUS_OK;
}

static enum status verb_merge_run(struct command *command, struct error *err) {
  const struct merge_options *options = command->options;
  const struct common_options *common = &command->common;
  struct merge_inputs inputs = {0};
  struct merge_total total = {0};
  for (size_t i = 1; i < command->word_count; i++) {
    RETURN_ON_ERROR(verb_merge_add_word(&command->arena, &inputs, command->words[i], err));
  }
  const struct row_sink *sink = NULL;
  /* Of a gate, standard output has the lines of nodes alone. */
  if (options->fleet_fails == 0 &&
      (common->format_given || common->verbose || inputs.count <= LISTED_MAX)) {
    sink = command_rows(command, NULL);
    RETURN_ON_ERROR(sink_begin(sink, COLUMNS, verb_merge_column_count(common), err));
  }
  command->code = verb_merge_all(command, &inputs, sink, &total);
  if (sink != NULL) {
    RETURN_ON_ERROR(sink_end(sink, err));
  }
  verb_merge_say_total(command, &inputs, &total);
  if (options->fleet_fails == 0) {
    return verb_merge_show_fleets(command, &total, err);
  }
  if (total.fleet_count == 0 && command->code == EXIT_DONE) {
    return error_set(
        err, STATUS_NOT_FOUND,
        "--fail-on judged nothing: no input is a shard of a fleet, as haul run --shard "
        "writes them. To find slow parts in any databases:\nhaul outliers --all --db %s",
        shell_word(&command->arena, options->output));
  }
  command->common.db = options->output;
  for (size_t i = 0; i < total.fleet_count; i++) {
    RETURN_ON_ERROR(fleet_gate_check(command, total.fleets[i], options->fleet_fails, err));
  }
  return STATUS_OK;
}

const struct verb VERB_MERGE = {
    .name = "merge",
    .group = VERBS_KEEP,
    .arguments = "OUT.db IN.db|DIR...",
    .summary = "add the results of several databases to one",
    .doc = "An input is a database or a folder of them (*.db). Inputs are only read. OUT.db is "
           "created if it does not exist. Merging an input again adds only what is new, for "
           "example the rest of a resumed run; an unchanged file is not read again. A damaged "
           "input, or one of a newer haul, is reported and skipped, and the exit code is then "
           "3.\n\nFor the shards of a fleet (haul run --shard), merge names the nodes that are "
           "missing, partial or failed, and why. It also names the nodes that differ from most in "
           "driver, Linux kernel, VBIOS, GPUs or failed checks; v_node has a row for each node. "
           "--fail-on prints one line per node and reason, and exits with 1 where a node is not "
           "well. A node that could not write its shard is one of them then. The exit code is 2 "
           "if no input is a shard.",
    .options = VERB_MERGE_OPTIONS,
    .options_size = sizeof(struct merge_options),
    .word_max = SIZE_MAX,
    .check = verb_merge_check,
    .rows = (const struct verb_rows[]){{verb_merge_describe, NULL}, {0}},
    .run = verb_merge_run,
};
