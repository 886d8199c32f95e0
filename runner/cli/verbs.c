/* The table of verbs, haul --help, and picking the verb. */
#include "engine/base/strings.h"
#include "engine/base/units.h"
#include "engine/machine/machine.h"
#include "kernels/code.h"
#include "runner/cli/options.h"
#include "runner/console/console.h"
#include "runner/record/beside.h"
#include "runner/record/manage.h"
#include "scenarios/scenarios.h"
#include "schema/machine/machine_file.h"
#include "schema/scenario/nearest.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROBE_LIMIT_NS UINT64_C(45000000000) /* a driver may take long to wake its GPUs */

/* In the order of haul --help; runner/cli/verb_NAME.c defines each. */
#define VERB_TABLE(X)                                                                              \
  X(VERB_RUN)                                                                                      \
  X(VERB_COPY)                                                                                     \
  X(VERB_PLAN)                                                                                     \
  X(VERB_VALIDATE)                                                                                 \
  X(VERB_ENV)                                                                                      \
  X(VERB_SCHEMA)                                                                                   \
  X(VERB_SHOW)                                                                                     \
  X(VERB_LIST)                                                                                     \
  X(VERB_QUERY)                                                                                    \
  X(VERB_REPORT)                                                                                   \
  X(VERB_EXPLAIN)                                                                                  \
  X(VERB_EXPORT)                                                                                   \
  X(VERB_COMPLETION)                                                                               \
  X(VERB_DIFF)                                                                                     \
  X(VERB_CHECK)                                                                                    \
  X(VERB_HISTORY)                                                                                  \
  X(VERB_OUTLIERS)                                                                                 \
  X(VERB_EXPECT)                                                                                   \
  X(VERB_IDENTIFY)                                                                                 \
  X(VERB_BASELINE)                                                                                 \
  X(VERB_TAG)                                                                                      \
  X(VERB_DELETE)                                                                                   \
  X(VERB_PRUNE)                                                                                    \
  X(VERB_COMPACT)                                                                                  \
  X(VERB_MIGRATE)                                                                                  \
  X(VERB_MERGE)                                                                                    \
  X(VERB_IMPORT)

#define VERB_DECLARE(name) extern const struct verb name;
VERB_TABLE(VERB_DECLARE)

#define VERB_POINTER(name) &name,
const struct verb *const VERBS[] = {VERB_TABLE(VERB_POINTER) NULL};

const struct verb *verb_find(const char *name) {
  for (const struct verb *const *verb = VERBS; *verb != NULL; verb++) {
    if (strcmp((*verb)->name, name) == 0) {
      return *verb;
    }
  }
  return NULL;
}

static void cli_print_help(FILE *stream) {
#define VERB_GROUP_HEADING(id, heading) [id] = (heading),
  static const char *const GROUPS[] = {VERB_GROUP_LIST(VERB_GROUP_HEADING)};
  fprintf(stream, "Usage: haul VERB [OPTION...] [ARGUMENT...]\n"
                  "Measures how data moves inside a GPU machine. To begin: haul run quick\n");
  for (const struct verb *const *verb = VERBS; *verb != NULL; verb++) {
    if (verb == VERBS || (*verb)->group != verb[-1]->group) {
      fprintf(stream, "\n%s\n", GROUPS[(*verb)->group]);
    }
    fprintf(stream, "  %-11s %s\n", (*verb)->name, (*verb)->summary);
  }
  fprintf(stream, "\n"
                  "  haul VERB --help   arguments and options of a verb\n"
                  "  haul --version     versions of haul and of its parts\n"
                  "\n"
                  "Exit codes:\n");
  for (const struct exit_code_text *code = EXIT_CODE_TEXTS; code->text != NULL; code++) {
    fprintf(stream, "  %-3d", code->code);
    for (const char *line = code->text; line != NULL;) {
      const size_t length = strcspn(line, "\n");
      fprintf(stream, "%s%.*s\n", line == code->text ? "  " : "       ", (int)length, line);
      line = line[length] != '\0' ? line + length + 1 : NULL;
    }
  }
}

/* Of the sources, with "-dirty" where they were edited: generated in every build. */
extern const char cli_commit[];

static void cli_print_version(FILE *stream) {
  fprintf(stream, "haul %s\ncommit %s, %s\nkernels: %s\nSQLite %s\n", HAUL_VERSION, cli_commit,
          HAUL_BUILD_TYPE[0] != '\0' ? HAUL_BUILD_TYPE : "no build type", kernel_code_built(),
          sqlite3_libversion());
}

static int cli_reject_verb(const char *name) {
  const struct common_options plain = {0};
  if (name[0] == '-') {
    say_error(&plain, "unknown option \"%s\": options of a verb follow it; see haul --help", name);
    return EXIT_USAGE;
  }
  SCOPED(arena_fini) struct arena arena = {0};
  for (size_t i = 0; i < scenarios_count(); i++) {
    if (strcmp(input_shipped_name(&arena, scenarios_at(i)), name) == 0) {
      say_error(&plain, "unknown verb \"%s\": did you mean \"haul run %s\"?", name, name);
      return EXIT_USAGE;
    }
  }
  struct nearest nearest = nearest_start(name);
  for (const struct verb *const *verb = VERBS; *verb != NULL; verb++) {
    nearest_offer(&nearest, (*verb)->name);
  }
  if (nearest.word != NULL) {
    say_error(&plain, "unknown verb \"%s\": did you mean \"%s\"? See haul --help", name,
              nearest.word);
  } else {
    say_error(&plain, "unknown verb \"%s\"; see haul --help", name);
  }
  return EXIT_USAGE;
}

const char *command_join_words(struct command *command) {
  const char *text = "";
  for (size_t i = 0; i < command->word_count; i++) {
    text = arena_join(&command->arena, text, ",", command->words[i]);
  }
  return text;
}

enum status command_path(struct command *command, const char **path, struct error *err) {
  return database_path(&command->common, &command->arena, path, err);
}

/* Once, however often it is opened. */
static void command_note_opening(struct command *command, const struct database *database) {
  const char *note = command->copy_noted ? NULL : database_copy_note(database, &command->arena);
  if (note != NULL) {
    say_note(&command->common, "%s", note);
  }
  const char *foreign =
      command->copy_noted ? NULL : database_foreign_note(database, &command->arena);
  if (foreign != NULL) {
    say_note(&command->common, "%s", foreign);
  }
  const size_t beside = command->copy_noted ? 0 : beside_count(database->path);
  if (beside > 0) {
    say_note(&command->common,
             "%zu %s beside %s, which others held (%s-run-*.db): the next run there adds %s",
             beside, strings_plural(beside, "run is", "runs are"), database->path, database->path,
             strings_plural(beside, "it", "them"));
  }
  command->copy_noted = command->copy_noted || note != NULL || foreign != NULL || beside > 0;
}

enum status command_open_database(struct command *command, enum database_access access,
                                  struct error *err) {
  const char *path = NULL;
  database_close(command->database);
  command->database = NULL;
  RETURN_ON_ERROR(command_path(command, &path, err));
  RETURN_ON_ERROR(database_check_folder(NULL, path, err));
  RETURN_ON_ERROR(database_open(path, access, &command->database, err));
  command_note_opening(command, command->database);
  return STATUS_OK;
}

enum status command_open_query(struct command *command, struct error *err) {
  const char *path = NULL;
  RETURN_ON_ERROR(command_path(command, &path, err));
  RETURN_ON_ERROR(database_check_folder(NULL, path, err));
  RETURN_ON_ERROR(query_open(path, &command->query, err));
  command_note_opening(command, query_database(command->query));
  return STATUS_OK;
}

static void command_say_waits(void *context, uint64_t limit_ns) {
  const struct command *command = context;
  say_note(&command->common, "the GPU driver does not answer yet: it has up to %s",
           units_format_duration_short(limit_ns, UNITS_TEXT));
}

enum status command_get_machine(struct command *command, struct error *err) {
  const struct probe_looks looks = {
      machine_probe, machine_probe_cuda, machine_probe_host, command_say_waits,
      command,       &command->probe};
  if (command->target == NULL) {
    command->target = machine_new();
  }
  return command->machine != NULL ? machine_file_load(command->machine, command->target, err)
                                  : probe_in_child(&looks, PROBE_LIMIT_NS, command->target, err);
}

enum status command_claiming(struct command *command, struct claim_request *claiming,
                             struct error *err) {
  const char *locks = getenv("HAUL_LOCKS");
  *claiming = (struct claim_request){
      .common = &command->common,
      .folder = locks != NULL && locks[0] != '\0' ? locks : NULL,
  };
  return command_path(command, &claiming->database, err);
}

enum status command_find_killed(struct command *command, struct database *database,
                                struct run_list *killed, struct error *err) {
  struct claim_request claiming;
  char host[HOST_NAME_MAX + 1] = "";
  struct run_list running;
  (void)gethostname(host, sizeof host - 1);
  RETURN_ON_ERROR(command_claiming(command, &claiming, err));
  RETURN_ON_ERROR(running_runs_read(database, host, &command->arena, &running, err));
  *killed = (struct run_list){.runs = running.runs};
  for (size_t i = 0; i < running.count; i++) {
    if (!claim_is_measured(&claiming, running.runs[i].uuid)) {
      killed->runs[killed->count++] = running.runs[i];
    }
  }
  return STATUS_OK;
}

void command_say_killed(struct command *command, const struct run_list *killed, int64_t run) {
  const char *names = "";
  int64_t last = 0;
  size_t count = 0;
  for (size_t i = 0; i < killed->count; i++) {
    const int64_t id = killed->runs[i].id;
    if (run == 0 || run == id) {
      names = arena_format(&command->arena, "%s%s%" PRId64, names, count++ > 0 ? ", " : "", id);
      last = id;
    }
  }
  if (count > 0) {
    say_note(&command->common,
             "%s %s: haul was killed, or measures %s elsewhere with other locks (HAUL_LOCKS, a "
             "container). If it was killed, haul run --resume run:%" PRId64 "%s measures the "
             "rest",
             strings_plural(count, "run", "runs"), names, strings_plural(count, "it", "them"), last,
             console_db_option(&command->common, &command->arena));
  }
}

const struct row_sink *command_rows(struct command *command, const char *empty) {
  command->table = open_table(&command->common, empty);
  return table_sink(command->table);
}

bool command_read_scenarios(struct command *command) {
  command->code =
      inputs_read(&command->common, command->words, command->word_count, &command->inputs);
  return command->code == EXIT_DONE;
}

static void command_fini(struct command *command) {
  table_free(command->table);
  free(command->target);
  probe_await(&command->probe);
  results_free(command->results);
  query_close(command->query);
  database_close(command->database);
  compare_request_fini(&command->request);
  inputs_fini(&command->inputs);
  arena_fini(&command->arena);
}

/* ["run", "quick", "--tag", "a b"] */
static const char *cli_words(struct arena *arena, const struct verb *verb, int argc, char **argv) {
  json_t *words = json_array();
  (void)json_array_append_new(words, json_string(verb->name));
  for (int i = 1; i < argc;
       i++) { /* what is not UTF-8 is no word of JSON, and then nothing is known */
    if (json_array_append_new(words, json_string(argv[i])) != 0) {
      json_decref(words);
      return NULL;
    }
  }
  SCOPED(memory_free) char *text = json_dumps(words, JSON_COMPACT);
  const char *kept = text != NULL ? arena_strdup(arena, text) : NULL;
  json_decref(words);
  return kept;
}

static int cli_run_verb(const struct verb *verb, int argc, char **argv) {
  struct command command = {.verb = verb, .common = {.verb = verb->name}};
  struct error err = {0};
  /* What usage lines and mistakes begin with. */
  argv[0] = arena_format(&command.arena, "haul %s", verb->name);
  command.argv = cli_words(&command.arena, verb, argc, argv);
  command.line = argv[0];
  for (int i = 1; i < argc; i++) {
    command.line =
        arena_format(&command.arena, "%s %s", command.line, shell_word(&command.arena, argv[i]));
  }
  compare_request_init(&command.request);
  command.options = arena_alloc(&command.arena, verb->options_size);
  options_parse(&command, argc, argv);
  const enum status status = verb->run(&command, &err);
  /* A reader that went away is no error, unless the verb says that it did not do its work. */
  const bool reader_gone = command.table != NULL && table_reader_gone(command.table);
  if (status != STATUS_OK && (command.code != EXIT_DONE || !reader_gone)) {
    table_free(command.table); /* ends the line that it is in */
    command.table = NULL;
    command.code = worse(command.code, fail(&command.common, &err));
  }
  command_fini(&command);
  return command.code;
}

int cli_main(int argc, char **argv) {
  if (argc < 2) {
    cli_print_help(stderr);
    return EXIT_USAGE;
  }
  const char *first = argv[1];
  if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
    cli_print_version(stdout);
    return EXIT_DONE;
  }
  bool help_word = strcmp(first, "help") == 0;
  if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || (help_word && argc == 2)) {
    cli_print_help(stdout);
    return EXIT_DONE;
  }
  const struct verb *verb = verb_find(help_word ? argv[2] : first);
  if (verb == NULL) {
    return cli_reject_verb(help_word ? argv[2] : first);
  }
  if (help_word) {
    char help[] = "--help";
    char *help_argv[] = {argv[1], help, NULL};
    return cli_run_verb(verb, 2, help_argv);
  }
  return cli_run_verb(verb, argc - 1, argv + 1);
}
