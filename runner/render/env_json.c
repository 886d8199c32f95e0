#include "runner/render/env.h"

#include "schema/machine/machine_file.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

/* json_object_set_new() that gives up only for want of memory. */
static void set(json_t *object, const char *key, json_t *value) {
  if (json_object_set_new_nocheck(object, key, value) != 0) {
    abort();
  }
}

static void append(json_t *array, json_t *value) {
  if (json_array_append_new(array, value) != 0) {
    abort();
  }
}

/* Text that is not UTF-8 (a broken name) becomes null. */
static json_t *text_value(const char *text) {
  json_t *value = json_string(text);
  return value != NULL ? value : json_null();
}

static json_t *known(uint64_t value) {
  return value > 0 ? json_integer((json_int_t)value) : json_null();
}

static json_t *key_value(const void *object, const struct key *key) {
  const void *member = (const char *)object + key->offset;
  json_int_t number = 0;
  switch (key->type) {
  case KEY_TEXT:
    return text_value(member);
  case KEY_BOOL:
    return json_boolean(*(const bool *)member);
  case KEY_I32:
    number = *(const int32_t *)member;
    break;
  case KEY_U32:
    number = *(const uint32_t *)member;
    break;
  case KEY_U64:
    number = (json_int_t) * (const uint64_t *)member;
    break;
  }
  return number == key->absent ? json_null() : json_integer(number);
}

static void set_keys(json_t *target, const void *object, const struct key *keys, size_t count) {
  for (size_t i = 0; i < count; i++) {
    set(target, keys[i].name, key_value(object, &keys[i]));
  }
}

static json_t *facts_value(const struct machine *machine, int32_t gpu) {
  json_t *facts = json_object();
  for (uint32_t i = 0; i < machine->fact_count; i++) {
    const struct fact *fact = &machine->facts[i];
    if (fact->gpu == gpu) {
      json_t *value = json_object();
      set(value, "state", json_string(fact_state_text(fact->state)));
      set(value, fact->state == FACT_OK ? "value" : "reason", text_value(fact->value));
      set(facts, fact->name, value);
    }
  }
  return facts;
}

static json_t *nodes_value(const struct machine *machine) {
  json_t *nodes = json_array();
  for (uint32_t i = 0; i < machine->node_count; i++) {
    json_t *node = json_object();
    json_t *distance = json_array();
    set_keys(node, &machine->nodes[i], NODE_KEYS, NODE_KEY_COUNT);
    for (uint32_t to = 0; to < machine->node_count; to++) {
      append(distance, known(machine->node_distance[i][to]));
    }
    set(node, "distance", distance);
    append(nodes, node);
  }
  return nodes;
}

static json_t *gpus_value(const struct machine *machine) {
  json_t *gpus = json_array();
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    json_t *gpu = json_object();
    enum limit limit;
    uint64_t host_peak = peak_gpu_host(&machine->gpus[i], &limit);
    set(gpu, "gpu", json_integer((json_int_t)i));
    set_keys(gpu, &machine->gpus[i], GPU_KEYS, GPU_KEY_COUNT);
    set(gpu, "memory_peak_bytes_per_second", known(peak_dram(&machine->gpus[i])));
    set(gpu, "host_peak_bytes_per_second", known(host_peak));
    set(gpu, "host_link", json_string(limit_text(limit)));
    set(gpu, "facts", facts_value(machine, (int32_t)i));
    append(gpus, gpu);
  }
  return gpus;
}

static json_t *links_value(const struct machine *machine) {
  json_t *links = json_array();
  for (uint32_t from = 0; from < machine->gpu_count; from++) {
    for (uint32_t to = 0; to < machine->gpu_count; to++) {
      if (from == to) {
        continue;
      }
      json_t *link = json_object();
      enum limit limit;
      uint64_t peak = peak_gpu_gpu(machine, from, to, &limit);
      set(link, "from", json_integer((json_int_t)from));
      set(link, "to", json_integer((json_int_t)to));
      set(link, "peer_access", json_boolean(machine->links[from][to].peer_access));
      set(link, "nvlink_count", json_integer(machine->links[from][to].nvlink_count));
      set(link, "link", json_string(limit_text(limit)));
      set(link, "peak_bytes_per_second", known(peak));
      append(links, link);
    }
  }
  return links;
}

enum status env_print_json(const struct machine *machine, FILE *stream, struct error *err) {
  json_t *root = json_object();
  set_keys(root, machine, MACHINE_KEYS, MACHINE_KEY_COUNT);
  set(root, "source", text_value(machine->source));
  set(root, "facts", facts_value(machine, -1));
  set(root, "numa_nodes", nodes_value(machine));
  set(root, "gpus", gpus_value(machine));
  set(root, "links", links_value(machine));
  errno = 0;
  bool failed = json_dumpf(root, stream, JSON_INDENT(2)) != 0 || fputc('\n', stream) == EOF;
  failed = fflush(stream) != 0 || failed;
  int cause = errno;
  json_decref(root);
  return failed && cause != EPIPE ? error_set_errno(err, cause, "the output cannot be written")
                                  : STATUS_OK;
}
