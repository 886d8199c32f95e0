#include "schema/scenario/reference.h"

#include "engine/case/transfer.h"
#include "schema/scenario/field.h"

#include <string.h>

static const char opening[] =
    "# How do I write a scenario?\n"
    "\n"
    "A scenario is a TOML file that says what to measure and how carefully:\n"
    "\n"
    "```toml\n"
    "schema_version = 1\n"
    "name = \"pinned-or-pageable\"\n"
    "\n"
    "[measure]                         # how carefully; all keys have defaults\n"
    "precision = 0.01\n"
    "\n"
    "[checks]                          # the state in which the machine should be\n"
    "governor = { want = \"performance\", on_fail = \"warn\" }\n"
    "\n"
    "[[transfer]]                      # what: one block, here of four cases\n"
    "name = \"host_gpu\"\n"
    "method = \"ce\"                     # a copy engine\n"
    "from = { numa = \"local\", memory = [\"pinned\", \"pageable\"] }\n"
    "to = { gpu = 0 }\n"
    "size = [\"64KiB\", \"256MiB\"]\n"
    "```\n"
    "\n"
    "```\n"
    "haul validate FILE       # all mistakes at once, each with its line; needs no GPU\n"
    "haul plan FILE           # what would be measured here, and why a case is skipped\n"
    "haul run FILE\n"
    "haul show quick          # a scenario that comes with haul, to start from; haul list "
    "scenarios lists all\n"
    "```\n"
    "\n"
    "[docs/MEASURE.md](../../docs/MEASURE.md#what-do-the-words-mean) defines case, flow, trial and "
    "the methods.\n"
    "\n"
    "| question | keys |\n"
    "|---|---|\n"
    "| How do I measure copies? | [`[[transfer]]`](#transfer): `method`, `from`, `to`, `size` |\n"
    "| Both directions, or both at once? | `direction = [\"forward\", \"reverse\", \"both\"]` |\n"
    "| All pairs of GPUs, or several at once? | `gpu = \"*\"` on both sides, `pairs`, `concurrent` "
    "|\n"
    "| Which end starts the copy? | `initiator`, `peer` |\n"
    "| Unified memory? | `method = \"um\"`, `unified.*` |\n"
    "| Strided copies? | `shape.*` |\n"
    "| Many small pieces, as of a KV cache? | `piece_size`, `pieces`, `submit` |\n"
    "| What an application copies? | [`[[transfer.flow]]`](#transferflow), `stream`, `from_csv` |\n"
    "| While something else runs? | [`[[transfer.load]]`](#transferload) |\n"
    "| Memory of another process? | `from.process`, `from.share` |\n"
    "| Latency of memory? | [`[[chase]]`](#chase) |\n"
    "| Bandwidth of memory? | [`[[stream]]`](#stream) |\n"
    "| Instructions? Kernels that compute? | [`[[arithmetic]]`](#arithmetic), "
    "[`[[compute]]`](#compute) |\n"
    "| Calls of the driver? Flags, events, atomic additions? | [`[[overhead]]`](#overhead), "
    "[`[[signal]]`](#signal) |\n"
    "| Flushed caches? | `host_cache`, `device_cache` of [`[measure]`](#measure), and the check "
    "`cache_flush` |\n"
    "\n"
    "## How do I measure many values of a key?\n"
    "\n"
    "Give an array, `[1, 2, 4]`, or a range, `{ from = \"4KiB\", to = \"1GiB\", factor = 2 }` or "
    "`{ from = 1, to = 9, step = 2 }`. The key is then an axis. This works for keys with yes in "
    "the column *sweep*. A range ends at or before `to`.\n"
    "\n"
    "The cases of a block are all combinations of its axes. The last axis of the file varies "
    "fastest. Axes of `[measure]` come first and vary slowest, those of loads and flows come last. "
    "To vary axes together "
    "instead, use `zip = [[\"from.memory\", \"to.memory\"]]`. They need the same number of values. "
    "`load.NAME.size` is an axis of a load. A load or flow without a name has its number as NAME, "
    "from 1.\n"
    "\n"
    "## How do I name places?\n"
    "\n"
    "`from = { gpu = 0 }`, or `from = { numa = \"local\", memory = \"pinned\" }`. GPUs and nodes "
    "are sets, not axes: `0`, `[0, 1]`, `\"0-3\"`, `\"*\"`. Nodes can also be `\"local\"` (nearest "
    "to the GPU at the other end) and `\"remote\"` (every other node). A GPU has `device`, "
    "`managed`, `pool` and `vmm` memory. A node has `managed` and the other kinds.\n"
    "\n"
    "## How do I write sizes and durations?\n"
    "\n"
    "Sizes are whole numbers (bytes) or text: `\"64KiB\"` = 65536, `\"64kB\"` = 64000. Durations "
    "are text: `\"200us\"`, `\"1.5s\"`, `\"5min\"`, `\"2.5h\"`.\n"
    "\n"
    "## How do I share settings between files?\n"
    "\n"
    "`include = [\"common/careful.toml\"]` takes `[measure]` and `[checks]` of that file as "
    "defaults. haul looks beside the including file, then among the shipped scenarios.\n"
    "\n"
    "## How do I change a key on the command line?\n"
    "\n"
    "`--set measure.max_time=20ms`, `--set checks.gpu_idle.on_fail=skip`, `--set "
    "transfer.size=64MiB` for every block of a kind, `--set BLOCK.size=64MiB` for one block.\n"
    "\n"
    "The sections below describe every key. They are generated from the tables of keys in "
    "`schema/scenario`, as is the JSON Schema `schema/scenario.schema.json`: `cmake --build BUILD "
    "--target update_reference`.\n";

static void reference_print_cell(FILE *stream, const char *text) {
  for (const char *p = text; *p != '\0'; p++) {
    if (*p == '\n') {
      (void)fputs("<br>", stream);
    } else {
      (void)fprintf(stream, *p == '|' ? "\\%c" : "%c", *p);
    }
  }
}

/* All checks have the same two keys beside `want`. */
static bool reference_is_of_checks(const struct field *field) {
  return field->owner == OWNER_CHECK && strcmp(strchr(field->name, '.'), ".want") != 0;
}

static void reference_print_row(FILE *stream, const struct field *field) {
  char expected[FIELD_EXPECTED_MAX];
  field_expected(field, expected);
  if (reference_is_of_checks(field)) {
    (void)fprintf(stream, "| `CHECK%s` | ", strchr(field->name, '.'));
  } else {
    (void)fprintf(stream, "| `%s` | ", field->name);
  }
  reference_print_cell(stream, expected);
  (void)fprintf(stream, " | %s | ", field_is_axis(field) ? "yes" : "no");
  if (field->required) {
    (void)fputs("required", stream);
  } else if (field->default_text != NULL && field->default_text[0] != '\0') {
    (void)fprintf(stream, "`%s`", field->default_text);
  }
  (void)fputs(" | ", stream);
  reference_print_cell(stream, field->help);
  const char *before = ". Methods: ";
  for (unsigned i = 0; i < method_name_count; i++) {
    if ((field->methods & (1U << i)) != 0) {
      (void)fprintf(stream, "%s%s", before, method_text((enum method)i));
      before = ", ";
    }
  }
  (void)fputs(" |\n", stream);
}

/* A key is described in the first section that has it, one of all checks at the last of them; later
 * sections list its name. The help of [measure] says that its keys are allowed in blocks. */
static bool reference_is_first(const struct field *field, enum section section) {
  const unsigned before = (1U << section) - 1;
  const bool again = reference_is_of_checks(field) && field->check + 1 < check_kind_name_count;
  return (field->sections & (1U << section)) != 0 && (field->sections & before) == 0 && !again;
}

static bool reference_is_shared(const struct field *field, enum section section) {
  return (field->sections & (1U << section)) != 0 && !reference_is_first(field, section) &&
         (field->sections & (1U << SECTION_MEASURE)) == 0;
}

/* Keys of one group, "from.gpu" and "from.numa", are told once: `from.*`. */
static void reference_print_shared(FILE *stream, enum section section) {
  const char *before = "\nKeys described above: ";
  const char *last = "";
  for (size_t i = 0; i < field_count(); i++) {
    const char *name = field_at(i)->name;
    const size_t length = strcspn(name, ".");
    const bool told = name[length] == '.' && strncmp(last, name, length + 1) == 0;
    if (reference_is_shared(field_at(i), section)) {
      if (!told) {
        (void)fprintf(stream, "%s`%.*s%s`", before, (int)length, name,
                      name[length] == '.' ? ".*" : "");
      }
      before = ", ";
      last = name;
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
