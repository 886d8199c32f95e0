/* haul schema scenario|results: what a scenario may say, and what the database holds. */
#include "engine/base/embed.h"
#include "runner/cli/verbs.h"
#include "schema/results/results_sql.h"
#include "schema/scenario/nearest.h"
#include "schema/scenario/reference.h"

#include <string.h>

extern const struct embedded_file results_reference[];

static const char *const schemas[] = {"scenario", "results", NULL};

struct schema_options {
  struct common_options common;
  const char *what;
};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct schema_options *options = state->input;
  switch (key) {
  case ARGP_KEY_ARG:
    if (options->what != NULL) {
      return ARGP_ERR_UNKNOWN;
    }
    options->what = arg;
    if (strcmp(arg, "scenario") != 0 && strcmp(arg, "results") != 0) {
      const char *meant = nearest_word(arg, schemas);
      argp_error(state, "there is a schema of scenario and of results, not of '%s'%s%s%s", arg,
                 meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                 meant != NULL ? "'?)" : "");
    }
    return 0;
  case ARGP_KEY_NO_ARGS:
    argp_error(state, "which schema: scenario or results?");
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static void print_sql(const char *folder) {
  for (size_t i = 0; i < results_sql_count; i++) {
    const struct embedded_file *file = &results_sql[i];
    if (strncmp(file->name, folder, strlen(folder)) == 0) {
      printf("\n-- schema/results/%s\n", file->name);
      (void)fwrite(file->data, 1, (size_t)(file->end - file->data), stdout);
    }
  }
}

/* The columns in words, then the SQL: Markdown as a whole. */
static void print_results(void) {
  (void)fwrite(results_reference[0].data, 1,
               (size_t)(results_reference[0].end - results_reference[0].data), stdout);
  printf("\n```sql");
  print_sql("migrations/");
  print_sql("views.sql");
  printf("```\n");
}

static int schema(const struct verb *verb, int argc, char **argv) {
  struct schema_options options = {0};
  cli_parse(verb, argc, argv, &options);
  if (strcmp(options.what, "results") == 0) {
    print_results();
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
    .summary = "print the JSON Schema of scenarios, or the tables and views of results",
    .parse = parse,
    .argument_kind = ARGUMENTS_WORDS,
    .words = schemas,
    .main = schema,
};
