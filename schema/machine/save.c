#include "schema/machine/keys.h"
#include "schema/machine/machine_file.h"
#include "schema/toml/toml.h"

#include <errno.h>
#include <inttypes.h>

static int64_t number_at(const void *object, const struct key *key) {
  const void *member = (const char *)object + key->offset;
  switch (key->type) {
  case KEY_TEXT:
    return 0;
  case KEY_BOOL:
    return *(const bool *)member ? 1 : 0;
  case KEY_I32:
    return *(const int32_t *)member;
  case KEY_U32:
    return *(const uint32_t *)member;
  case KEY_U64:
    return (int64_t) * (const uint64_t *)member;
  }
  return 0;
}

static void write_scalar(struct strbuf *out, const void *object, const struct key *key) {
  if (key->type == KEY_TEXT) {
    toml_write_text(out, (const char *)object + key->offset);
  } else if (key->type == KEY_BOOL) {
    strbuf_append(out, number_at(object, key) != 0 ? "true" : "false");
  } else {
    strbuf_printf(out, "%" PRId64, number_at(object, key));
  }
}

static bool is_absent(const void *object, const struct key *key) {
  if (key->type == KEY_TEXT) {
    return !key->required && *((const char *)object + key->offset) == '\0';
  }
  return number_at(object, key) == key->absent;
}

static void write_keys(struct strbuf *out, const void *object, const struct key *keys,
                       size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!is_absent(object, &keys[i])) {
      strbuf_printf(out, "%s = ", keys[i].name);
      write_scalar(out, object, &keys[i]);
      strbuf_append_char(out, '\n');
    }
  }
}

/* name = "value", or name = { denied = "why" }. */
static void write_facts(struct strbuf *out, const struct machine *machine, const char *header,
                        int32_t gpu) {
  bool any = false;
  for (uint32_t i = 0; i < machine->fact_count; i++) {
    const struct fact *fact = &machine->facts[i];
    if (fact->gpu != gpu) {
      continue;
    }
    if (!any) {
      strbuf_printf(out, "\n%s\n", header);
      any = true;
    }
    toml_write_key(out, fact->name);
    strbuf_append(out, " = ");
    if (fact->state == FACT_OK) {
      toml_write_text(out, fact->value);
    } else {
      strbuf_printf(out, "{ %s = ", fact_state_text(fact->state));
      toml_write_text(out, fact->value);
      strbuf_append(out, " }");
    }
    strbuf_append_char(out, '\n');
  }
}

static void write_nodes(struct strbuf *out, const struct machine *machine) {
  for (uint32_t i = 0; i < machine->node_count; i++) {
    strbuf_append(out, "\n[[numa_node]]\n");
    write_keys(out, &machine->nodes[i], NODE_KEYS, NODE_KEY_COUNT);
    strbuf_append(out, "distance = [");
    for (uint32_t to = 0; to < machine->node_count; to++) {
      strbuf_printf(out, "%s%u", to > 0 ? ", " : "", machine->node_distance[i][to]);
    }
    strbuf_append(out, "]\n");
  }
}

static void write_gpus(struct strbuf *out, const struct machine *machine) {
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    strbuf_printf(out, "\n[[gpu]] # %u\n", i);
    write_keys(out, &machine->gpus[i], GPU_KEYS, GPU_KEY_COUNT);
    write_facts(out, machine, "[gpu.facts]", (int32_t)i);
  }
}

static void write_matrix(struct strbuf *out, const struct machine *machine, const struct key *key) {
  strbuf_printf(out, "%s = [\n", key->name);
  for (uint32_t from = 0; from < machine->gpu_count; from++) {
    strbuf_append(out, "  [");
    for (uint32_t to = 0; to < machine->gpu_count; to++) {
      strbuf_append(out, to > 0 ? ", " : "");
      write_scalar(out, &machine->links[from][to], key);
    }
    strbuf_append(out, "],\n");
  }
  strbuf_append(out, "]\n");
}

static void write_machine(struct strbuf *out, const struct machine *machine) {
  strbuf_printf(out,
                "# A machine as haul sees it: sizes in bytes, rates in bytes per second and one\n"
                "# direction, clocks in kHz. What is not known is left out.\n"
                "format = %d\n\n[machine]\n",
                MACHINE_FILE_FORMAT);
  write_keys(out, machine, MACHINE_KEYS, MACHINE_KEY_COUNT);
  write_facts(out, machine, "[facts]", -1);
  write_nodes(out, machine);
  write_gpus(out, machine);
  if (machine->gpu_count > 1) {
    strbuf_append(out, "\n[links] # row: from this GPU; column: to that GPU\n");
    for (size_t i = 0; i < LINK_KEY_COUNT; i++) {
      write_matrix(out, machine, &LINK_KEYS[i]);
    }
  }
}

enum status machine_file_save(FILE *stream, const struct machine *machine, struct error *err) {
  struct strbuf out;
  strbuf_init(&out, MACHINE_FILE_MAX);
  write_machine(&out, machine);
  enum status status = STATUS_OK;
  errno = 0;
  if (out.truncated) {
    status = error_set(err, STATUS_NO_MEMORY, "the machine does not fit into memory as text");
  } else if (fwrite(out.text, 1, out.length, stream) != out.length || fflush(stream) != 0) {
    status = error_set_errno(err, errno, "the machine cannot be written");
  }
  strbuf_fini(&out);
  return status;
}
