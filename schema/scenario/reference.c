#include "schema/scenario/reference.h"

#include "engine/case/transfer.h"
#include "schema/scenario/field.h"

#include <string.h>

static void reference_print_cell(FILE *stream, const char *text) {
  for (const char *p = text; *p != '\0'; p++) {
    if (*p == '\n') {
      (void)fputs("<br>", stream);
    } else {
      (void)fprintf(stream, *p == '|' ? "\\%c" : "%c", *p);
    }
  }
}

/* Without words that their meanings repeat. */
static void reference_print_values(FILE *stream, const struct field *field) {
  enum { WORDS_MAX = 16 };
  size_t words = 0;
  while (field->words != NULL && field->words[words] != NULL) {
    words++;
  }
  char values[FIELD_EXPECTED_MAX] = "a name from the last column";
  if (words <= WORDS_MAX) {
    field_values(field, values);
  }
  reference_print_cell(stream, values);
}

/* All checks have the same two keys beside `want`. */
static bool reference_is_of_checks(const struct field *field) {
  return field->owner == OWNER_CHECK && strcmp(strchr(field->name, '.'), ".want") != 0;
}

static void reference_print_row(FILE *stream, const struct field *field) {
  if (reference_is_of_checks(field)) {
    (void)fprintf(stream, "| `CHECK%s` | ", strchr(field->name, '.'));
  } else {
    (void)fprintf(stream, "| `%s` | ", field->name);
  }
  reference_print_values(stream, field);
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
