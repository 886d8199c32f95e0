#include "schema/scenario/reference.h"

#include "engine/case/transfer.h"
#include "schema/scenario/field.h"

#include <string.h>

static const char opening[] =
    "# The scenario language\n"
    "\n"
    "This file is generated from the tables of keys in `field.c` and in the files of the kinds, "
    "together with the JSON "
    "Schema `schema/scenario.schema.json`. After a change `cmake --build BUILD "
    "--target update_reference` writes both again; a test compares them with the tables.\n"
    "\n"
    "A scenario is a TOML file: its name, how to measure (`[measure]`), the state in which the "
    "machine should be (`[checks]`), and blocks that say what to measure, such as "
    "`[[transfer]]`; every kind of block has a section below. `haul validate FILE` checks it "
    "without measuring; `haul show quick` prints a shipped scenario to start from.\n"
    "\n"
    "**One value, or many.** Where the column *sweep* says yes, an array is an axis: `[1, 2, 4]`; "
    "so is a range of numbers, `{ from = \"4KiB\", to = \"1GiB\", factor = 2 }` or `{ from = 1, to "
    "= 9, step = 2 }`, which ends at or before `to`. The cases of a block are the Cartesian "
    "product of its axes, the last axis of the file varying fastest; axes of `[measure]` come "
    "first, those of loads and flows last. `zip = [[\"from.memory\", \"to.memory\"]]` varies axes "
    "in lockstep instead; they need the same number of values. An axis of a load or flow is called "
    "`load.NAME.size`; a load or flow without a name has its number, from 1, as NAME.\n"
    "\n"
    "**Sizes and durations.** Sizes are whole numbers (bytes) or text: `\"64KiB\"` = 65536, "
    "`\"64kB\"` = 64000. Durations are text: `\"200us\"`, `\"1.5s\"`, `\"5min\"`, "
    "`\"2.5h\"`.\n"
    "\n"
    "**Endpoints.** `from = { gpu = 0 }`, `from = { numa = \"local\", memory = \"pinned\" }`. "
    "Numbers of GPUs and nodes are sets, never a sweep: `0`, `[0, 1]`, `\"0-3\"`, `\"*\"`; for "
    "nodes also `\"local\"` (nearest to the GPU at the other end) and `\"remote\"` (every other "
    "node). A GPU has `device` and `managed` memory, a node every kind except `device`.\n"
    "\n"
    "**Includes.** `include = [\"common/careful.toml\"]` takes `[measure]` and `[checks]` of that "
    "file as defaults. Files are looked up beside the including file, then among the shipped "
    "scenarios.\n"
    "\n"
    "**On the command line.** `--set measure.max_time=20ms`, `--set checks.gpu_idle.on_fail=skip`, "
    "`--set transfer.size=64MiB` for every block of a kind, `--set BLOCK.size=64MiB` for one "
    "block.\n";

static void reference_print_cell(FILE *stream, const char *text) {
  for (const char *p = text; *p != '\0'; p++) {
    (void)fprintf(stream, *p == '|' ? "\\%c" : "%c", *p);
  }
}

static void reference_print_row(FILE *stream, const struct field *field) {
  char expected[FIELD_EXPECTED_MAX];
  field_expected(field, expected);
  (void)fprintf(stream, "| `%s` | ", field->name);
  reference_print_cell(stream, expected);
  (void)fprintf(stream, " | %s | ", field_is_axis(field) ? "yes" : "no");
  if (field->required) {
    (void)fputs("required", stream);
  } else if (field->default_text != NULL && field->default_text[0] != '\0') {
    (void)fprintf(stream, "`%s`", field->default_text);
  }
  (void)fputs(" | ", stream);
  reference_print_cell(stream, field->help);
  const char *before = "; method ";
  for (unsigned i = 0; i < method_name_count; i++) {
    if ((field->methods & (1U << i)) != 0) {
      (void)fprintf(stream, "%s%s", before, method_text((enum method)i));
      before = ", ";
    }
  }
  (void)fputs(" |\n", stream);
}

/* A key is described in the first section that has it; later sections list its name. The help of
 * [measure] says that its keys are allowed in blocks. */
static bool reference_is_first(const struct field *field, enum section section) {
  const unsigned before = (1U << section) - 1;
  return (field->sections & (1U << section)) != 0 && (field->sections & before) == 0;
}

static void reference_print_shared(FILE *stream, enum section section) {
  const char *before = "\nKeys described above: ";
  for (size_t i = 0; i < field_count(); i++) {
    if ((field_at(i)->sections & (1U << section)) != 0 &&
        !reference_is_first(field_at(i), section) &&
        (field_at(i)->sections & (1U << SECTION_MEASURE)) == 0) {
      (void)fprintf(stream, "%s`%s`", before, field_at(i)->name);
      before = ", ";
    }
  }
  (void)fputs(".\n", stream);
}

static void reference_print_section(FILE *stream, enum section section) {
  (void)fprintf(stream, "\n## %s\n\n%s\n",
                section == SECTION_ROOT ? "Head" : section_row(section)->title,
                section_row(section)->help);
  if (section > SECTION_TRANSFER) {
    reference_print_shared(stream, section);
  }
  bool has_own = false;
  for (size_t i = 0; i < field_count(); i++) {
    has_own = has_own || reference_is_first(field_at(i), section);
  }
  if (!has_own) {
    return;
  }
  (void)fputs("\n| key | values | sweep | default | meaning |\n|---|---|---|---|---|\n", stream);
  for (size_t i = 0; i < field_count(); i++) {
    if (reference_is_first(field_at(i), section)) {
      reference_print_row(stream, field_at(i));
    }
  }
}

/* Every section, each before those that stand in it. */
enum status reference_write_markdown(FILE *stream, struct error *err) {
  (void)fputs(opening, stream);
  for (unsigned i = 0; i < section_count; i++) {
    if (section_row((enum section)i)->parent == SECTION_ROOT) {
      reference_print_section(stream, (enum section)i);
    }
    for (unsigned k = SECTION_LOAD; i != SECTION_ROOT && k < section_count; k++) {
      if (section_row((enum section)k)->parent == (enum section)i) {
        reference_print_section(stream, (enum section)k);
      }
    }
  }
  if (fflush(stream) != 0 || ferror(stream) != 0) {
    return error_set(err, STATUS_IO, "cannot write the reference");
  }
  return STATUS_OK;
}

/* --set cannot change the keys that decide how and which files are read. */
static bool reference_can_be_set(const struct field *field, enum section section) {
  return section != SECTION_ROOT || strcmp(field->name, "description") == 0 ||
         (strcmp(field->name, "name") == 0);
}

void reference_keys(void (*visit)(void *context, const struct reference_key *key), void *context) {
  static const char *const flags[] = {"true", "false", NULL};
  for (unsigned s = SECTION_ROOT; s < SECTION_LOAD; s++) {
    const enum section section = (enum section)s;
    for (size_t i = 0; i < field_count(); i++) {
      const struct field *field = field_at(i);
      char key[128];
      if ((field->sections & (1U << section)) == 0 || !reference_can_be_set(field, section)) {
        continue;
      }
      if (section == SECTION_ROOT) {
        (void)snprintf(key, sizeof key, "%s", field->name);
      } else {
        (void)snprintf(key, sizeof key, "%s.%s", section_row(section)->key, field->name);
      }
      const struct reference_key shown_key = {key, field->type == FIELD_FLAG ? flags : field->words,
                                              field->help};
      visit(context, &shown_key);
    }
  }
}
