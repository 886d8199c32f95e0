/* haul schema scenario|results: the keys of a scenario, and the tables and views of a database. */
#include "engine/base/embed.h"
#include "runner/cli/cli.h"
#include "schema/results/results_sql.h"
#include "schema/scenario/reference.h"

#include <string.h>

extern const struct embedded_file results_reference[];

enum { SCHEMA_SCENARIO, SCHEMA_RESULTS };
static const char *const SCHEMAS[] = {"scenario", "results", NULL};

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
  verb_schema_print_sql("views");
  printf("```\n");
}

static enum status verb_schema_run(struct command *command, struct error *err) {
  if (command->choice == SCHEMA_SCENARIO) {
    return reference_write_schema(stdout, err);
  }
  verb_schema_print_results();
  return STATUS_OK;
}

const struct verb VERB_SCHEMA = {
    .name = "schema",
    .arguments = "scenario|results",
    .summary = "print the JSON Schema of scenarios, or describe the database",
    .doc =
        "Editors that know TOML schemas (taplo, Even Better TOML) complete and check the keys of "
        "a scenario: haul schema scenario > scenario.schema.json beside it, and as its first "
        "line: #:schema ./scenario.schema.json",
    .argument_kind = ARGUMENTS_WORDS,
    .words = SCHEMAS,
    .noun = "schema",
    .word_max = 1,
    .missing = "argument: scenario or results",
    .run = verb_schema_run,
};
