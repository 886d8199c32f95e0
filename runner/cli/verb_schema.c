/* haul schema scenario|results: the keys of a scenario, and the tables and views of a database. */
#include "engine/base/embed.h"
#include "runner/cli/options.h"
#include "schema/results/results_sql.h"
#include "schema/scenario/reference.h"

#include <string.h>

extern const struct embedded_file results_reference[];

static const char *const schemas[] = {"scenario", "results", NULL};

struct schema_options {
  struct common_options common;
  const char *what;
};

static error_t verb_schema_parse(int key, char *arg, struct argp_state *state) {
  struct schema_options *options = state->input;
  switch (key) {
  case ARGP_KEY_ARG:
    if (options->what != NULL) {
      return ARGP_ERR_UNKNOWN;
    }
    options->what = arg;
    if (strcmp(arg, "scenario") != 0 && strcmp(arg, "results") != 0) {
      options_reject_name(state, "schema", arg, schemas);
    }
    return 0;
  case ARGP_KEY_NO_ARGS:
    argp_error(state, "missing argument: scenario or results");
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static void verb_schema_print_sql(const char *folder) {
  for (size_t i = 0; i < results_sql_count; i++) {
    const struct embedded_file *file = &results_sql[i];
    if (strncmp(file->name, folder, strlen(folder)) == 0) {
      printf("\n-- schema/results/%s\n", file->name);
      (void)fwrite(file->data, 1, (size_t)(file->end - file->data), stdout);
    }
  }
}

/* The columns in words, then the SQL: Markdown as a whole. */
static void verb_schema_print_results(void) {
  (void)fwrite(results_reference[0].data, 1,
               (size_t)(results_reference[0].end - results_reference[0].data), stdout);
  printf("\n```sql");
  verb_schema_print_sql("migrations/");
  verb_schema_print_sql("views.sql");
  printf("```\n");
}

static int verb_schema_main(const struct verb *verb, int argc, char **argv) {
  struct schema_options options = {0};
  cli_parse(verb, argc, argv, &options);
  if (strcmp(options.what, "results") == 0) {
    verb_schema_print_results();
    return EXIT_DONE;
  }
  struct error err = {0};
  if (reference_write_schema(stdout, &err) != STATUS_OK) {
    return fail(&options.common, &err);
  }
  return EXIT_DONE;
}

const struct verb VERB_SCHEMA = {
    .name = "schema",
    .arguments = "scenario|results",
    .summary = "print the JSON Schema of scenarios, or describe the results database",
    .parse = verb_schema_parse,
    .argument_kind = ARGUMENTS_WORDS,
    .words = schemas,
    .main = verb_schema_main,
};
