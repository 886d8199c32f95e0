/* haul expect list | show | check FILE | learn RUNS...: what machines should reach. */
#include "engine/base/strings.h"
#include "engine/base/units.h"
#include "engine/case/stream.h"
#include "engine/case/transfer.h"
#include "runner/cli/analysis.h"
#include "runner/expect/learn.h"
#include "runner/run/expectations.h"
#include "runner/table/json_shape.h"

#include <fnmatch.h>
#include <string.h>
#include <time.h>

#define EXPECT_ACTION_LIST(X)                                                                      \
  X(EXPECT_LIST, "list")                                                                           \
  X(EXPECT_SHOW, "show")                                                                           \
  X(EXPECT_CHECK, "check")                                                                         \
  X(EXPECT_LEARN, "learn")
ENUM_NAMES_DECLARE(expect_action, EXPECT_ACTION_LIST)
ENUM_NAMES_DEFINE(expect_action, EXPECT_ACTION_LIST)

enum { EXPECT_TEXT_MAX = 64 << 20 };

struct expect_options {
  const char *gpu;
};

static bool verb_expect_take_of(const struct option_use *use) {
  static const char GPU[] = "gpu=";
  const size_t length = sizeof GPU - 1;
  if (strncmp(use->arg, GPU, length) != 0 || use->arg[length] == '\0') {
    return false;
  }
  *(const char **)use->field = use->arg + length;
  return true;
}

static const struct verb_option VERB_EXPECT_OPTIONS[] = {
    EXPECT_OPTION,
    {"of", "gpu=GLOB", "learn: only from GPUs whose name matches",
     OPTION_AT(verb_expect_take_of, struct expect_options, gpu),
     .needs = "gpu=GLOB, for example --of 'gpu=*H200*'"},
    FILTER_OPTIONS,
    {0}};

static void verb_expect_check(struct command *command, struct argp_state *state) {
  OPTIONS_REFUSE(command->choice == EXPECT_CHECK && command->word_count != 2, state,
                 "haul expect check takes one argument: FILE");
  OPTIONS_REFUSE((command->choice == EXPECT_LIST && command->word_count > 1) ||
                     (command->choice == EXPECT_SHOW && command->word_count > 2),
                 state, "too many arguments: \"%s\"", command->words[command->word_count - 1]);
}

/* "5 x16", "4 x18"; nothing where neither is asked for. */
static const char *verb_expect_link(struct arena *arena, uint32_t version, uint32_t width) {
  return version == 0 && width == 0 ? NULL
         : width == 0               ? arena_format(arena, "%u", version)
                                    : arena_format(arena, "%u x%u", version, width);
}

#define EXPECT_MACHINE_COLUMNS(X)                                                                  \
  X("machine", text, machine->name)                                                                \
  X("gpu_name", text, machine->gpu)                                                                \
  X("pcie", text, verb_expect_link(arena, machine->pcie_generation, machine->pcie_width))          \
  X("nvlink", text, verb_expect_link(arena, machine->nvlink_version, machine->nvlink_links))       \
  X("driver_version", text, machine->driver)                                                       \
  X("reports", integer, (int64_t)reports)                                                          \
  X("other_rows", integer, (int64_t)(machine->row_count - reports))                                \
  X("file", text, machines[m].path)                                                                \
  X("oldest", text, oldest)                                                                        \
  X("old_rows", known, old_rows > 0, (int64_t)old_rows)

JSON_DESCRIBER_STATIC(verb_expect_describe_machine, EXPECT_MACHINE_COLUMNS, JSON_COLUMN)

/* A machine, and the file that it is in. */
struct known_machine {
  const struct expect_machine *machine;
  const char *path;
};

/* Of both files, in their order. */
static size_t verb_expect_machines(const struct expect_set *set, struct arena *arena,
                                   struct known_machine **machines) {
  size_t count = 0;
  *machines = NULL;
  for (size_t f = 0; f < EXPECT_FILES_MAX; f++) {
    for (size_t m = 0; set->files[f] != NULL && m < set->files[f]->machine_count; m++) {
      *ARENA_ADD(arena, *machines, count) =
          (struct known_machine){&set->files[f]->machines[m], set->files[f]->path};
    }
  }
  return count;
}

static enum status verb_expect_list(struct command *command, const struct expect_set *set,
                                    struct error *err) {
  struct arena *arena = &command->arena;
  const struct row_sink *sink = command_rows(command, "no machines");
  const int64_t now_ns = (int64_t)time(NULL) * 1000000000;
  struct known_machine *machines;
  const size_t count = verb_expect_machines(set, arena, &machines);
  size_t old = 0;
  const char *oldest_machine = NULL; /* the first with such a row */
  table_narrow(command->table, "file,oldest,driver_version,gpu_name,other_rows", 0);
  RETURN_ON_ERROR(SINK_COLUMNS(sink, EXPECT_MACHINE_COLUMNS, err));
  for (size_t m = 0; m < count; m++) {
    const struct expect_machine *machine = machines[m].machine;
    const struct expect_row *rows = machine->rows;
    const size_t reports = SUM_OF(r, machine->row_count, rows[r].statement == EXPECT_REPORTS);
    const size_t old_rows = SUM_OF(r, machine->row_count, expect_is_old(&rows[r], now_ns));
    const char *oldest = NULL;
    for (size_t r = 0; r < machine->row_count; r++) {
      const char *date = rows[r].date;
      oldest = date != NULL && (oldest == NULL || strcmp(date, oldest) < 0) ? date : oldest;
    }
    old += old_rows;
    oldest_machine = old_rows > 0 && oldest_machine == NULL ? machine->name : oldest_machine;
    RETURN_ON_ERROR(SINK_ROW(sink, err, EXPECT_MACHINE_COLUMNS(COLUMN_CELL)));
  }
  RETURN_ON_ERROR(sink_end(sink, err));
  if (old > 0) {
    say_note(&command->common,
             "%zu row%s older than two years, or without a date (haul expect show \"%s\")", old,
             strings_plural(old, " is", "s are"), oldest_machine);
  }
  return STATUS_OK;
}

static const char *verb_expect_word(unsigned word, const char *const *names) {
  return word == EXPECT_ANY ? NULL : names[word];
}

static const char *verb_expect_size(struct arena *arena, const struct expect_row *row) {
  const char *least = units_format_size(row->size_min, UNITS_TEXT);
  const char *most = units_format_size(row->size_max, UNITS_TEXT);
  return row->size_min == row->size_max && row->size_min > 0 ? arena_strdup(arena, least)
         : row->size_min > 0 && row->size_max > 0 ? arena_format(arena, "%s-%s", least, most)
         : row->size_min > 0                      ? arena_format(arena, ">= %s", least)
         : row->size_max > 0                      ? arena_format(arena, "<= %s", most)
                                                  : NULL;
}

#define EXPECT_LIMIT_COLUMNS(X)                                                                    \
  X("size", text, verb_expect_size(&command->arena, row))                                          \
  X("low", finite, row->low)                                                                       \
  X("high", finite, row->high)                                                                     \
  X("unit", text, expect_unit_text((enum expect_unit)row->unit))                                   \
  X("statement", text, expect_statement_text((enum expect_statement)row->statement))               \
  X("count", known, row->count > 0, row->count)

#define EXPECT_ROW_COLUMNS(X)                                                                      \
  X("machine", text, machine->name)                                                                \
  X("kind", text, case_kind_text((enum case_kind)row->kind))                                       \
  X("path", text, verb_expect_word(row->path, expect_path_names))                                  \
  X("method", text, verb_expect_word(row->method, method_names))                                   \
  X("operation", text, verb_expect_word(row->operation, stream_op_names))                          \
  X("initiator", text, verb_expect_word(row->initiator, initiator_names))                          \
  X("block", text, row->block)                                                                     \
  X("axes", text, row->axes)                                                                       \
  EXPECT_LIMIT_COLUMNS(X)                                                                          \
  X("tolerance_percent", finite, 100 * expect_tolerance(row))                                      \
  X("driver_version", text, row->driver)                                                           \
  X("source", text, row->source)                                                                   \
  X("date", text, row->date)                                                                       \
  X("remark", text, is_old ? "older than two years" : NULL)

JSON_DESCRIBER_STATIC(verb_expect_describe_row, EXPECT_ROW_COLUMNS, JSON_COLUMN)

/* For people, the cases of a row in one text: "local stream read". */
static const char *verb_expect_cases(struct arena *arena, const struct expect_row *row) {
  const char *const words[] = {
      verb_expect_word(row->path, expect_path_names),
      row->kind == CASE_TRANSFER ? NULL : case_kind_text((enum case_kind)row->kind),
      verb_expect_word(row->method, method_names),
      verb_expect_word(row->operation, stream_op_names),
      verb_expect_word(row->initiator, initiator_names),
      row->block,
      row->axes};
  const char *text = "";
  for (size_t i = 0; i < COUNT_OF(words); i++) {
    text = words[i] != NULL ? arena_join(arena, text, " ", words[i]) : text;
  }
  return text;
}

/* The source is the last: where there is no room beside the rows, it stands below them. */
#define EXPECT_TABLE_COLUMNS(X)                                                                    \
  X("machine", text, machine->name)                                                                \
  X("cases", text, verb_expect_cases(&command->arena, row))                                        \
  EXPECT_LIMIT_COLUMNS(X)                                                                          \
  X("tolerance %", finite, 100 * expect_tolerance(row))                                            \
  X("driver", text, row->driver)                                                                   \
  X("date", text, row->date)                                                                       \
  X("remark", text, is_old ? row->date == NULL ? "no date" : "older than two years" : NULL)        \
  X("source", text, row->source)

/* Keeps the machines that the word means: as a glob, else names that begin with it, else names that
 * it is a part of: "H200" is not "GH200". */
static enum status verb_expect_select(const char *word, struct arena *arena,
                                      struct known_machine *machines, size_t *count,
                                      struct error *err) {
  const bool is_glob = strpbrk(word, "*?[") != NULL;
  const char *const globs[] = {word, arena_format(arena, "%s *", word),
                               arena_format(arena, "*%s*", word)};
  for (size_t i = 0; i < (is_glob ? 1 : COUNT_OF(globs)); i++) {
    size_t kept = 0;
    for (size_t m = 0; m < *count; m++) {
      if (fnmatch(globs[i], machines[m].machine->name, FNM_CASEFOLD) == 0) {
        machines[kept++] = machines[m];
      }
    }
    if (kept > 0) {
      *count = kept;
      return STATUS_OK;
    }
  }
  const char *names = "";
  for (size_t m = 0; m < *count; m++) {
    names = arena_add_word(arena, names, machines[m].machine->name);
  }
  return error_set(err, STATUS_NOT_FOUND, "no machine is called \"%s\"; there are %s", word, names);
}

static enum status verb_expect_show(struct command *command, const struct expect_set *set,
                                    struct error *err) {
  struct known_machine *machines;
  size_t count = verb_expect_machines(set, &command->arena, &machines);
  if (command->word_count > 1) {
    RETURN_ON_ERROR(verb_expect_select(command->words[1], &command->arena, machines, &count, err));
  }
  const struct row_sink *sink = command_rows(command, "no machines");
  const bool people = output_is_for_people(command->common.format);
  table_narrow(command->table,
               count == 1 ? "date,tolerance %,driver,count,machine"
                          : "date,tolerance %,driver,count,statement;machine,cases",
               0);
  RETURN_ON_ERROR(people ? SINK_COLUMNS(sink, EXPECT_TABLE_COLUMNS, err)
                         : SINK_COLUMNS(sink, EXPECT_ROW_COLUMNS, err));
  for (size_t m = 0; m < count; m++) {
    const struct expect_machine *machine = machines[m].machine;
    for (size_t r = 0; r < machine->row_count; r++) {
      const struct expect_row *row = &machine->rows[r];
      const bool is_old = expect_is_old(row, (int64_t)time(NULL) * 1000000000);
      RETURN_ON_ERROR(people ? SINK_ROW(sink, err, EXPECT_TABLE_COLUMNS(COLUMN_CELL))
                             : SINK_ROW(sink, err, EXPECT_ROW_COLUMNS(COLUMN_CELL)));
    }
  }
  return sink_end(sink, err);
}

static void verb_expect_check_file(struct command *command) {
  SCOPED(expectations_fini) struct expectations expectations = {0};
  if (expectations_open(&expectations, &command->common, command->words[1])) {
    const struct expect_file *file = expectations.files[0];
    const size_t rows = SUM_OF(m, file->machine_count, file->machines[m].row_count);
    say_note(&command->common, "%s: %zu machine%s, %zu row%s", file->path, file->machine_count,
             strings_plural(file->machine_count, "", "s"), rows, strings_plural(rows, "", "s"));
  } else {
    command->code = EXIT_USAGE; /* its mistakes were printed */
  }
}

/* runs: how many were learned from. */
static enum status verb_expect_print_learned(struct command *command, const struct learned *learned,
                                             size_t runs, struct error *err) {
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(EXPECT_TEXT_MAX);
  expect_write(
      &text,
      arena_format(&command->arena, "Learned from runs: %zu, on hosts: %zu", runs, learned->hosts),
      learned->machines, learned->machine_count);
  const enum status status = stream_print(stdout, &text, NULL, err);
  for (size_t i = 0; i < learned->left_out_count; i++) {
    say_note(&command->common, "left out: %s", learned->left_out[i]);
  }
  const size_t imported = command->results->run_count - runs;
  if (imported > 0) {
    say_note(&command->common, "left out: %zu imported run%s, for other tools measure otherwise",
             imported, strings_plural(imported, "", "s"));
  }
  say_note(&command->common, "%zu row%s of %zu host%s", learned->rows,
           strings_plural(learned->rows, "", "s"), learned->hosts,
           strings_plural(learned->hosts, "", "s"));
  return status;
}

static enum status verb_expect_learn(struct command *command, struct error *err) {
  const struct expect_options *options = command->options;
  RETURN_ON_ERROR(analysis_load(command, command->words + 1, command->word_count - 1, err));
  RETURN_ON_ERROR(command_open_query(command, err));
  RETURN_ON_ERROR(results_load_undisturbed(command->results, command->database, err));
  struct learn *learn = learn_new();
  size_t runs = 0;
  enum status status = learn_add(learn, command->query, command->results, options->gpu, &runs, err);
  if (status == STATUS_OK) {
    const struct learned learned = learn_finish(learn);
    status =
        learned.rows > 0
            ? verb_expect_print_learned(command, &learned, runs, err)
            : error_set(err, STATUS_UNSUPPORTED,
                        "nothing to learn: no case of these runs has a number that haul measured "
                        "on such a GPU");
  }
  learn_free(learn);
  return status;
}

static enum status verb_expect_run(struct command *command, struct error *err) {
  if (command->choice == EXPECT_LEARN) {
    return verb_expect_learn(command, err);
  }
  if (command->choice == EXPECT_CHECK) {
    verb_expect_check_file(command);
    return STATUS_OK;
  }
  SCOPED(expectations_fini) struct expectations expectations = {0};
  enum status status = STATUS_OK;
  if (!expectations_open(&expectations, &command->common, command->expect)) {
    command->code = EXIT_USAGE; /* its mistakes were printed */
  } else {
    status = command->choice == EXPECT_LIST ? verb_expect_list(command, &expectations.set, err)
                                            : verb_expect_show(command, &expectations.set, err);
  }
  return status;
}

const struct verb VERB_EXPECT = {
    .name = "expect",
    .group = VERBS_COMPARE,
    .arguments = "list|show [MACHINE]|check FILE|learn [RUN...]",
    .summary = "show what machines should reach, or learn it from your runs",
    .doc =
        "haul run and haul check --expect compare results with a data file of expectations: the "
        "shipped one, and before it your own (--expect FILE, HAUL_EXPECT, "
        "~/.config/haul/expect.toml). For the same cases, your reports replace the shipped ones. "
        "list shows the machines. show prints the rows of machines whose names match a glob, begin "
        "with that word or contain it. check FILE shows the mistakes of a file. The comment at the "
        "top of schema/expect/expectations.toml describes every key.\n\nlearn prints a file made "
        "from your own runs, by default all of the database. It has the range of each kind of case "
        "on machines with the same GPUs and links. Outliers are left out, so that a slow host does "
        "not count as usual. haul expect learn --of 'gpu=*H200*' > ~/.config/haul/expect.toml. "
        "Rows of a simulated machine hold for simulated machines alone.",
    .options = VERB_EXPECT_OPTIONS,
    .options_size = sizeof(struct expect_options),
    .argument_kind = ARGUMENTS_WORDS,
    .runs_after = "learn",
    .words = expect_action_names,
    .noun = "action",
    .word_max = SIZE_MAX,
    .missing = "argument: list, show, check or learn",
    .check = verb_expect_check,
    .rows = (const struct verb_rows[]){{verb_expect_describe_machine, NULL},
                                       {verb_expect_describe_row, NULL},
                                       {0}},
    .run = verb_expect_run,
};
