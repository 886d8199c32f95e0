#include "runner/run/launch.h"

#include "engine/base/input_file.h"
#include "engine/base/strbuf.h"
#include "engine/machine/machine.h"
#include "runner/record/node_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 16 << 20 };
static const char SEPARATORS[] = ", \t\r\n";

/* https://slurm.schedmd.com/srun.html, "OUTPUT ENVIRONMENT VARIABLES" */
static const struct {
  const char *variable, *fact;
} SLURM_FACTS[] = {
    {"SLURM_CLUSTER_NAME", "slurm_cluster"},    {"SLURM_JOB_ID", "slurm_job_id"},
    {"SLURM_STEP_ID", "slurm_step_id"},         {"SLURM_JOB_NAME", "slurm_job_name"},
    {"SLURM_JOB_PARTITION", "slurm_partition"}, {"SLURM_JOB_RESERVATION", "slurm_reservation"},
    {"SLURM_JOB_NODELIST", "slurm_job_nodes"},  {"SLURM_STEP_NODELIST", "slurm_step_nodes"},
    {"SLURM_NNODES", "slurm_node_count"},       {"SLURM_NODEID", "slurm_node_id"},
    {"SLURMD_NODENAME", "slurm_node_name"},     {"SLURM_RESTART_COUNT", "slurm_restart_count"},
};
_Static_assert(COUNT_OF(SLURM_FACTS) <=
                   sizeof((struct run_launch){0}).facts / sizeof *(struct run_launch){0}.facts,
               "every fact has a place");

/* NULL: not set, or empty. */
static const char *launch_variable(const char *name) {
  const char *value = getenv(name);
  return value != NULL && value[0] != '\0' ? value : NULL;
}

static void launch_read_facts(struct arena *arena, struct run_launch *run) {
  for (size_t i = 0; i < COUNT_OF(SLURM_FACTS); i++) {
    const char *value = launch_variable(SLURM_FACTS[i].variable);
    if (value != NULL) {
      run->facts[run->fact_count].name = SLURM_FACTS[i].fact;
      run->facts[run->fact_count++].value = arena_strdup(arena, value);
    }
  }
}

/* The last part of a path, whatever slashes end it. */
static const char *launch_base_name(struct arena *arena, const char *path) {
  SCOPED(memory_free) char *full = realpath(path, NULL);
  const char *text = full != NULL ? full : path;
  size_t length = strlen(text);
  while (length > 1 && text[length - 1] == '/') {
    length--;
  }
  const char *slash = memrchr(text, '/', length);
  const char *begin = slash != NULL && length > 1 ? slash + 1 : text;
  const char *name = arena_strndup(arena, begin, length - (size_t)(begin - text));
  return name;
}

static const char *launch_fleet_name(const struct launch_options *options, struct arena *arena) {
  const char *job = launch_variable("SLURM_JOB_ID");
  const char *step = launch_variable("SLURM_STEP_ID");
  const char *cluster = launch_variable("SLURM_CLUSTER_NAME");
  if (job != NULL) {
    return arena_format(arena, "%s/%s%s%s", cluster != NULL ? cluster : "slurm", job,
                        step != NULL ? "." : "", step != NULL ? step : "");
  }
  return options->tag != NULL ? options->tag : launch_base_name(arena, options->shard);
}

/* Names in a file, with comments from # to the end of the line. */
static enum status launch_read_file(const char *path, struct arena *arena, const char **text,
                                    struct error *err) {
  const char *read = NULL;
  size_t length = 0;
  if (input_file_read(path, true, "a list of nodes", FILE_BYTES_MAX, arena, &read, &length, err) !=
      STATUS_OK) {
    return error_prefix(err, "cannot read the list of nodes %s: ", path);
  }
  if (strlen(read) != length) {
    return error_set(err, STATUS_INVALID,
                     "%s is not a list of nodes: a text with one name or a[1-3] in a line", path);
  }
  char *bytes = arena_strdup(arena, read);
  for (char *comment = strchr(bytes, '#'); comment != NULL; comment = strchr(comment, '#')) {
    memset(comment, ' ', strcspn(comment, "\n"));
  }
  *text = bytes;
  return STATUS_OK;
}

/* The list as one text with commas alone, proven to be one. */
static enum status launch_read_expected(const char *given, struct arena *arena, const char **text,
                                        struct error *err) {
  struct stat info;
  struct node_list list = {0};
  const char *from = given;
  const bool path = strchr(given, '/') != NULL; /* no name of a node has one */
  if (path || (stat(given, &info) == 0 && S_ISREG(info.st_mode))) {
    RETURN_ON_ERROR(launch_read_file(given, arena, &from, err));
  }
  RETURN_ON_ERROR(node_list_expand(from, arena, &list, err));
  if (list.count == 0) {
    return error_set(err, STATUS_INVALID, "no node is named in %s", given);
  }
  SCOPED(strbuf_fini) struct strbuf joined = STRBUF(FILE_BYTES_MAX);
  for (const char *at = from + strspn(from, SEPARATORS); *at != '\0';) {
    const size_t length = strcspn(at, SEPARATORS);
    strbuf_append(&joined, joined.length > 0 ? "," : "");
    strbuf_append_n(&joined, at, length);
    at += length;
    at += strspn(at, SEPARATORS);
  }
  *text = arena_strdup(arena, joined.text);
  return STATUS_OK;
}

enum status launch_read(const struct launch_options *options, struct arena *arena,
                        struct launch *launch, struct error *err) {
  struct launch read = {.node = options->node_name};
  if (read.node == NULL) {
    const char *name = launch_variable("SLURMD_NODENAME");
    read.node = name != NULL ? arena_strdup(arena, name) : NULL;
  }
  launch_read_facts(arena, &read.run);
  if (options->shard != NULL) {
    const char *expected = options->expected_nodes;
    expected = expected != NULL ? expected : launch_variable("SLURM_STEP_NODELIST");
    expected = expected != NULL ? expected : launch_variable("SLURM_JOB_NODELIST");
    read.run.fleet = launch_fleet_name(options, arena);
    if (expected != NULL) {
      RETURN_ON_ERROR(launch_read_expected(expected, arena, &read.run.expected, err));
    }
  }
  *launch = read;
  return STATUS_OK;
}

void launch_name_machine(const struct launch *launch, struct machine *machine) {
  machine->node_name[0] = '\0';
  if (launch->node == NULL) {
    return;
  }
  const size_t length = strlen(launch->node);
  const bool same = strncmp(machine->host_name, launch->node, length) == 0 &&
                    (machine->host_name[length] == '\0' || machine->host_name[length] == '.');
  if (!same) {
    (void)snprintf(machine->node_name, sizeof machine->node_name, "%s", launch->node);
  }
}
