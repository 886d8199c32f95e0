/* haul import nvbandwidth FILE: results of another tool as a run. */
#include "engine/base/units.h"
#include "engine/machine/machine.h"
#include "runner/cli/options.h"
#include "runner/import/nvbandwidth_cases.h"
#include "runner/plan/kind.h"
#include "runner/record/content.h"
#include "runner/record/record.h"
#include "runner/record/selector.h"
#include "runner/table/json_shape.h"
#include "scenarios/scenarios.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)
#define SCENARIO "nvbandwidth"

struct import_options {
  const char *size, *host, *tag;
  int64_t date_ns; /* since 1970 */
  bool date_given;
};

static bool verb_import_take_size(const struct option_use *use) {
  uint64_t size_bytes = 0;
  return option_take_text(use) && units_parse_size(use->arg, &size_bytes) && size_bytes > 0;
}

static bool verb_import_take_date(const struct option_use *use) {
  struct import_options *options = use->command->options;
  static const char *const FORMATS[] = {"%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M",
                                        "%Y-%m-%d"};
  options->date_given = false;
  for (size_t i = 0; i < COUNT_OF(FORMATS) && !options->date_given; i++) {
    struct tm tm = {0};
    const char *end = strptime(use->arg, FORMATS[i], &tm);
    options->date_given = end != NULL && *end == '\0';
    options->date_ns = (int64_t)timegm(&tm) * NS_PER_S;
  }
  return options->date_given;
}

static const struct verb_option VERB_IMPORT_OPTIONS[] = {
    {"machine", "FILE",
     "the machine it was measured on, saved by haul env --save FILE: NUMA nodes, links, UUIDs",
     OPTION_TEXT(struct command, machine)},
    {"host", "NAME", "name of the host, if the file does not have it",
     OPTION_NON_EMPTY(struct import_options, host)},
    {"size", "SIZE", "the size of buffers that nvbandwidth was given with -b",
     OPTION_AT(verb_import_take_size, struct import_options, size),
     .needs = "a size such as 512MiB"},
    {"date", "DATE",
     "when it was measured, in UTC: 2025-11-20 or 2025-11-20T14:30:00 (default: the date of FILE)",
     verb_import_take_date, .needs = "a date in UTC such as 2025-11-20 or 2025-11-20T14:30:00"},
    {"tag", "NAME", "tag the run: tag:NAME selects it later",
     OPTION_NON_EMPTY(struct import_options, tag)},
    {0},
};

static void verb_import_check(struct command *command, struct argp_state *state) {
  const struct import_options *options = command->options;
  options_check_tag(options->tag, state);
  OPTIONS_REFUSE(command->word_count > 0 && strcmp(command->words[0], SCENARIO) != 0, state,
                 "unknown tool \"%s\": results of nvbandwidth can be imported: haul import "
                 "nvbandwidth FILE",
                 command->words[0]);
  OPTIONS_REFUSE(command->word_count < 2, state,
                 "missing argument: haul import nvbandwidth FILE, what nvbandwidth printed");
}

/* Everything of one import, with what must be freed. */
struct import {
  struct nvbandwidth_file file;
  struct machine *machine;
  struct scenario *scenario;
  struct plan *plan;
  int32_t gpu_of_device[MACHINE_GPUS_MAX];
  struct imported_cases cases;
  char uuid[CONTENT_KEY_MAX];
  int64_t started_at_ns;
  int64_t known_run; /* number of the run that is there already; 0 = none */
};

static void verb_import_fini(struct import *import) {
  plan_free(import->plan);
  scenario_free(import->scenario);
  free(import->machine);
}

static enum status verb_import_find_machine(struct command *command, struct import *import,
                                            struct error *err) {
  const struct import_options *options = command->options;
  import->machine = machine_new();
  if (command->machine != NULL) {
    RETURN_ON_ERROR(command_get_machine(command, err));
  }
  const enum status status = nvbandwidth_machine(&import->file, command->target, options->host,
                                                 import->machine, import->gpu_of_device, err);
  return status == STATUS_OK ? STATUS_OK : error_prefix(err, "%s: ", command->words[1]);
}

static enum status verb_import_make_plan(struct command *command, struct import *import,
                                         struct error *err) {
  const struct import_options *options = command->options;
  const struct scenario_override overrides[] = {{"transfer.size", options->size},
                                                {"stream.size", options->size}};
  struct diagnostics *diagnostics = diagnostics_new();
  const struct input input = {.name = SCENARIO, .embedded = scenarios_find(SCENARIO)};
  enum status status =
      input_read(&input, overrides, options->size != NULL ? COUNT_OF(overrides) : 0,
                 &import->scenario, diagnostics);
  if (status != STATUS_OK) {
    /* It is shipped: only --size can be wrong. */
    say_mistakes(&command->common, diagnostics);
    status = error_set(err, STATUS_INVALID, "--size %s does not go with the scenario " SCENARIO,
                       options->size != NULL ? options->size : "");
  } else {
    status = plan_new(import->scenario, import->machine, NULL, &import->plan, err);
  }
  diagnostics_free(diagnostics);
  return status;
}

/* The same values for the same cases of the same host are the same run, wherever they are imported:
 * a UUIDv8 (RFC 9562, 5.8). */
static void verb_import_name_run(struct import *import) {
  enum { VERSION_AT = 12, VARIANT_AT = 16 };
  struct content *content = content_new();
  content_text(content, SCENARIO);
  content_text(content, import->file.text);
  content_text(content, import->machine->host_name);
  content_int(content, import->machine->simulated);
  for (size_t i = 0; i < import->cases.plan.case_count; i++) {
    content_text(content, import->cases.plan.cases[i].def.key);
  }
  content_finish(content, import->uuid);
  import->uuid[VERSION_AT] = '8';
  import->uuid[VARIANT_AT] = "89ab"[import->uuid[VARIANT_AT] & 3];
}

static enum status verb_import_prepare(struct command *command, struct import *import,
                                       struct error *err) {
  const struct import_options *options = command->options;
  struct stat info;
  RETURN_ON_ERROR(nvbandwidth_read(command->words[1], &command->arena, &import->file, err));
  RETURN_ON_ERROR(verb_import_find_machine(command, import, err));
  RETURN_ON_ERROR(verb_import_make_plan(command, import, err));
  nvbandwidth_cases(&import->file, import->plan, import->gpu_of_device, &command->arena,
                    &import->cases);
  verb_import_name_run(import);
  import->started_at_ns = options->date_ns;
  if (!options->date_given && stat(command->words[1], &info) == 0) {
    import->started_at_ns = (int64_t)info.st_mtim.tv_sec * NS_PER_S + info.st_mtim.tv_nsec;
  }
  return STATUS_OK;
}

static enum status verb_import_write_run(struct command *command, struct import *import,
                                         int64_t *run, struct error *err) {
  const struct import_options *options = command->options;
  const char *path = NULL;
  struct record *record = NULL;
  RETURN_ON_ERROR(command_path(command, &path, err));
  RETURN_ON_ERROR(database_check_folder(&command->common, path, err));
  enum status status = record_open(path, &record, err);
  status = THEN(status, record_find_run(record, import->uuid, &import->known_run, err));
  if (status == STATUS_OK && import->known_run == 0) {
    const struct run_info info = {
        .tag = options->tag,
        .command_line =
            arena_format(&command->arena, "haul import " SCENARIO " %s", command->words[1]),
        .haul_version = HAUL_VERSION,
        .processes = 1,
        .imported = true,
        .uuid = import->uuid,
        .started_at_ns = import->started_at_ns};
    struct notes notes = {0};
    nvbandwidth_note(&import->file, &notes);
    status = record_import(record, &info, import->machine, &import->cases.plan,
                           import->cases.median_ns, &notes, err);
    status = THEN(status, record_find_run(record, import->uuid, run, err));
  }
  record_close(record);
  return status;
}

#define IMPORT_COLUMNS(X)                                                                          \
  X("test", text, test->name)                                                                      \
  X("values", integer, (int64_t)test->values)                                                      \
  X("imported", integer, (int64_t)test->taken)                                                     \
  X("left_out_because", text, test->reason)

JSON_DESCRIBER_STATIC(verb_import_describe, IMPORT_COLUMNS, JSON_COLUMN)

static enum status verb_import_show_tests(const struct import *import, const struct row_sink *sink,
                                          struct error *err) {
  enum status status = SINK_COLUMNS(sink, IMPORT_COLUMNS, err);
  for (size_t i = 0; i < import->cases.test_count && status == STATUS_OK; i++) {
    const struct imported_test *test = &import->cases.tests[i];
    status = SINK_ROW(sink, err, IMPORT_COLUMNS(COLUMN_CELL));
  }
  return THEN(status, sink_end(sink, err));
}

static void verb_import_say_result(const struct command *command, const struct import *import,
                                   int64_t run) {
  const struct import_options *options = command->options;
  const struct common_options *common = &command->common;
  size_t values = 0;
  for (size_t i = 0; i < import->cases.test_count; i++) {
    values += import->cases.tests[i].values;
  }
  const size_t taken = import->cases.plan.case_count;
  if (import->known_run != 0) {
    say_note(common, "already imported as run %" PRId64 " (" RUN_NAME "); nothing was added",
             import->known_run, import->uuid);
    return;
  }
  say_note(common,
           "imported %zu of %zu values as run %" PRId64 " (" RUN_NAME
           "), measured on %s under driver %s: one "
           "process and one value per case, so that a diff with it alone stays undecided",
           taken, values, run, import->uuid, import->machine->host_name,
           import->file.driver_version != NULL ? import->file.driver_version : "(unknown version)");
  const uint64_t usual_bytes = nvbandwidth_usual_size_bytes(&import->file);
  const struct case_def *first = &import->cases.plan.cases[0].def;
  if (options->size == NULL && plan_kinds[first->kind]->size_bytes(first) != usual_bytes) {
    say_note(common,
             "the sizes of scenario " SCENARIO " were assumed, but nvbandwidth 0.%u copies %" PRIu64
             " MiB unless -b is given; use --size if it copied another size",
             import->file.version, usual_bytes >> 20);
  }
  if (command->target == NULL) {
    say_note(common, "the file has no NUMA nodes: host memory is assumed to be on node 0 "
                     "(--machine FILE, made by haul env --save, has them)");
  }
}

static enum status verb_import_record(struct command *command, struct import *import,
                                      struct error *err) {
  int64_t run = 0;
  enum status status = verb_import_prepare(command, import, err);
  const bool nothing = status == STATUS_OK && import->cases.plan.case_count == 0;
  if (status == STATUS_OK && !nothing) {
    status = verb_import_write_run(command, import, &run, err);
  }
  status = THEN(
      status, verb_import_show_tests(import, command_rows(command, "the file has no tests"), err));
  if (status == STATUS_OK && nothing) {
    command->code = EXIT_NOT_MEASURED;
    status = error_set(err, STATUS_UNSUPPORTED, "%s: haul measures none of its values the same way",
                       command->words[1]);
  } else if (status == STATUS_OK) {
    verb_import_say_result(command, import, run);
  }
  return status;
}

static enum status verb_import_run(struct command *command, struct error *err) {
  struct import import = {0};
  const enum status status = verb_import_record(command, &import, err);
  verb_import_fini(&import);
  return status;
}

static const char *const TOOLS[] = {SCENARIO, NULL};

const struct verb VERB_IMPORT = {
    .name = "import",
    .group = VERBS_KEEP,
    .arguments = "nvbandwidth FILE",
    .summary = "record the results of another tool as a run",
    .doc = "FILE is the output of nvbandwidth " NVBANDWIDTH_VERSIONS
           ", as JSON (-j) or as text, which is rounded to 0.01 GB/s. Each value becomes a result "
           "of the same case of the scenario nvbandwidth; other values are left out with a reason. "
           "Importing a file again adds nothing. With another --size, --host or --machine its "
           "values become another run; haul delete removes a wrong one.",
    .options = VERB_IMPORT_OPTIONS,
    .options_size = sizeof(struct import_options),
    .argument_kind = ARGUMENTS_WORDS,
    .words = TOOLS,
    .word_max = 2,
    .too_many = "; one file can be imported at a time",
    .check = verb_import_check,
    .rows = (const struct verb_rows[]){{verb_import_describe, NULL}, {0}},
    .run = verb_import_run,
};
