/* haul env: the machine and its software; --save keeps it for haul plan --machine. */
#include "runner/cli/planning.h"
#include "runner/cli/verbs.h"
#include "runner/render/env.h"
#include "schema/machine/machine_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPTION_SAVE = 0x700, OPTION_MACHINE };

struct env_verb_options {
  struct common_options common;
  char *save;
  char *machine;
};

static const struct argp_option options_table[] = {
    {"save", OPTION_SAVE, "FILE", 0, "write the machine to FILE as TOML instead of showing it", 1},
    {"machine", OPTION_MACHINE, "FILE", 0, "show the machine that was saved in FILE", 1},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct env_verb_options *options = state->input;
  switch (key) {
  case OPTION_SAVE:
    options->save = arg;
    return 0;
  case OPTION_MACHINE:
    options->machine = arg;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

/* Written beside and renamed: a full disk leaves what was there. */
static enum status save(const char *path, const struct machine *machine, struct error *err) {
  struct arena arena = {0};
  char *beside = arena_format(&arena, "%s.XXXXXX", path);
  int fd = mkstemp(beside);
  FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
  enum status status;
  if (file == NULL) {
    status = error_set_errno(err, errno, "cannot write %s", path);
    if (fd >= 0) {
      close(fd);
    }
  } else {
    /* mkstemp() lets nobody else read; a machine is no secret. */
    mode_t mask = umask(0);
    umask(mask);
    (void)fchmod(fd, 0666 & ~mask);
    status = machine_file_save(file, machine, err);
    if (fclose(file) != 0 && status == STATUS_OK) {
      status = error_set_errno(err, errno, "cannot write %s", path);
    }
    if (status == STATUS_OK && rename(beside, path) != 0) {
      status = error_set_errno(err, errno, "cannot write %s", path);
    }
  }
  if (status != STATUS_OK && fd >= 0) {
    unlink(beside);
  }
  arena_fini(&arena);
  return status;
}

/* The facts as rows. */
static enum status print_facts(const struct common_options *common, const struct machine *machine,
                               struct error *err) {
  static const char *const columns[] = {"gpu", "name", "state", "value"};
  struct rows *rows = open_rows(common, NULL);
  const struct row_sink *sink = rows_sink(rows);
  enum status status = sink->begin(sink->context, columns, 4, err);
  for (uint32_t i = 0; i < machine->fact_count && status == STATUS_OK; i++) {
    const struct fact *fact = &machine->facts[i];
    struct cell cells[] = {fact->gpu < 0 ? cell_null() : cell_integer(fact->gpu),
                           cell_text(fact->name), cell_text(fact_state_text(fact->state)),
                           cell_text(fact->value)};
    status = sink->row(sink->context, cells, err);
  }
  if (status == STATUS_OK) {
    status = sink->end(sink->context, err);
  }
  rows_free(rows);
  return status;
}

static enum status print(const struct common_options *common, const struct machine *machine,
                         struct error *err) {
  struct env_options options = {
      .stream = stdout, .width = terminal_width(stdout), .colour = use_colour(common, stdout)};
  switch (common->format) {
  case ROW_TABLE:
    return env_print(machine, &options, err);
  case ROW_JSON:
    return env_print_json(machine, stdout, err);
  case ROW_JSONL:
  case ROW_CSV:
  case ROW_MD:
  case row_format_name_count:
    break;
  }
  return print_facts(common, machine, err);
}

static int env(const struct verb *verb, int argc, char **argv) {
  struct env_verb_options options = {0};
  cli_parse(verb, argc, argv, &options);
  struct error err = {0};
  struct machine *machine = machine_new();
  enum status status = machine_get(options.machine, machine, &err);
  if (status == STATUS_OK) {
    status = options.save == NULL             ? print(&options.common, machine, &err)
             : strcmp(options.save, "-") == 0 ? machine_file_save(stdout, machine, &err)
                                              : save(options.save, machine, &err);
  }
  free(machine);
  return status == STATUS_OK ? EXIT_DONE : fail(&options.common, &err);
}

const struct verb VERB_ENV = {
    .name = "env",
    .summary = "show this machine: GPUs, links, NUMA nodes, software",
    .doc = "json has everything; jsonl, csv and md have one row a fact. --save - writes to stdout.",
    .options = options_table,
    .parse = parse,
    .argument_kind = ARGUMENTS_NONE,
    .main = env,
};
