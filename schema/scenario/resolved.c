#include "schema/scenario/resolved.h"

#include <string.h>

enum { RESOLVED_MAX = 8 * SCENARIO_FILE_MAX };

/* A default as TOML: text that is no number and no flag needs quotes. */
static void write_default(struct strbuf *out, const struct field *field) {
  const bool quoted = field->type != FIELD_FLAG &&
                      strspn(field->default_text, "0123456789.") != strlen(field->default_text);
  strbuf_printf(out, "%s = ", field->name);
  if (quoted) {
    toml_write_text(out, field->default_text);
  } else {
    strbuf_append(out, field->default_text);
  }
  strbuf_append_char(out, '\n');
}

static void write_entries(struct strbuf *out, const struct entries *entries) {
  for (size_t i = 0; i < entries->count; i++) {
    strbuf_printf(out, "%s = ", entries->items[i].field->name);
    toml_write_value(out, entries->items[i].node);
    strbuf_append_char(out, '\n');
  }
}

const char *resolved_write(struct arena *arena, const struct scenario *scenario,
                           const struct entries *measure, const struct entries *checks) {
  struct strbuf out;
  strbuf_init(&out, RESOLVED_MAX);
  strbuf_append(&out, "schema_version = 1\nname = ");
  toml_write_text(&out, scenario->name);
  strbuf_append(&out, "\ndescription = ");
  toml_write_text(&out, scenario->description);
  strbuf_append(&out, "\n\n[measure]\n");
  write_entries(&out, measure);
  for (size_t i = 0; i < field_count; i++) {
    if ((fields[i].sections & (1U << SECTION_MEASURE)) != 0 && fields[i].default_text != NULL &&
        entries_find(measure, fields[i].name) == NULL) {
      write_default(&out, &fields[i]);
    }
  }
  if (checks->count > 0) {
    strbuf_append(&out, "\n[checks]\n");
    write_entries(&out, checks);
  }
  for (size_t i = 0; i < scenario->block_count; i++) {
    const struct block *block = scenario->blocks[i];
    for (size_t k = 0; k < block->slot_count; k++) {
      strbuf_printf(&out, "\n%s\n", sections[block->slots[k].section].title);
      write_entries(&out, &block->slots[k].entries);
    }
  }
  const char *text = arena_strndup(arena, out.text, out.length);
  strbuf_fini(&out);
  return text;
}
