/* env_json.c - a machine as one JSON object. */
#include "engine/machine/machine.h"
#include "runner/render/env.h"
#include "runner/table/json_shape.h"
#include "schema/machine/machine_file.h"

enum { JSON_MAX = 64 << 20 };

static void env_json_key(struct json_out *json, const void *object, const struct key *key) {
  const int64_t number = machine_key_number(object, key);
  if (key->type == KEY_TEXT) {
    json_out_text(json, key->name, machine_key_text(object, key));
  } else if (key->type == KEY_BOOL) {
    json_out_boolean(json, key->name, number != 0);
  } else if (number == key->absent) {
    json_out_null(json, key->name);
  } else {
    json_out_integer(json, key->name, number);
  }
}

static void env_json_keys(struct json_out *json, const void *object, const struct key *keys,
                          size_t count) {
  for (size_t i = 0; i < count; i++) {
    env_json_key(json, object, &keys[i]);
  }
}

static void env_describe_keys(struct json_shape *shape, const struct key *keys, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (keys[i].type == KEY_TEXT) {
      json_shape_value(shape, keys[i].name, SHAPE_TEXT | SHAPE_NULL);
    } else if (keys[i].type == KEY_BOOL) {
      json_shape_value(shape, keys[i].name, SHAPE_BOOLEAN);
    } else {
      json_shape_value(shape, keys[i].name, SHAPE_INTEGER | SHAPE_NULL);
    }
  }
}

#define ENV_FACT(X)                                                                                \
  X("state", text, fact_state_text(fact->state))                                                   \
  X("value", text, fact->state == FACT_OK ? fact->value : NULL)                                    \
  X("reason", text, fact->state == FACT_OK ? NULL : fact->value)
JSON_OBJECT(env_json_fact, ENV_FACT, const struct fact *fact)

/* gpu: -1 = of the whole machine. */
static void env_json_facts(struct json_out *json, const struct machine *machine, int32_t gpu) {
  for (uint32_t i = 0; i < machine->fact_count; i++) {
    const struct fact *fact = &machine->facts[i];
    if (fact->gpu == gpu) {
      JSON_PUT_object(fact->name, env_json_fact, fact)
    }
  }
}

static void env_json_node(struct json_out *json, const struct machine *machine, size_t i) {
  env_json_keys(json, &machine->nodes[i], NODE_KEYS, NODE_KEY_COUNT);
  json_out_open(json, "distance", '[');
  for (uint32_t to = 0; to < machine->node_count; to++) {
    const uint8_t distance = machine->node_distance[i][to];
    JSON_PUT_known(NULL, distance > 0, distance)
  }
  json_out_close(json);
}

static void env_json_node_shape(struct json_shape *shape) {
  env_describe_keys(shape, NODE_KEYS, NODE_KEY_COUNT);
  json_shape_knowns(shape, "distance");
}

/* After the keys of a GPU. */
#define ENV_GPU(X)                                                                                 \
  X("memory_peak_bytes_per_second", known, memory_peak > 0, memory_peak)                           \
  X("host_peak_bytes_per_second", known, host_peak > 0, host_peak)                                 \
  X("host_link", text, limit_text(limit))                                                          \
  X("facts", map, env_json_fact, env_json_facts(json, machine, (int32_t)i))

static void env_json_gpu(struct json_out *json, const struct machine *machine, size_t i) {
  enum limit limit;
  const uint64_t host_peak = peak_gpu_host(&machine->gpus[i], &limit);
  const uint64_t memory_peak = peak_dram(&machine->gpus[i]);
  json_out_integer(json, "gpu", (int64_t)i);
  env_json_keys(json, &machine->gpus[i], GPU_KEYS, GPU_KEY_COUNT);
  ENV_GPU(JSON_PUT)
}

static void env_json_gpu_shape(struct json_shape *shape) {
  json_shape_value(shape, "gpu", SHAPE_INTEGER);
  env_describe_keys(shape, GPU_KEYS, GPU_KEY_COUNT);
  ENV_GPU(JSON_DESCRIBE)
}

#define ENV_LINK(X)                                                                                \
  X("from", integer, from)                                                                         \
  X("to", integer, to)                                                                             \
  X("peer_access", boolean, link->peer_access)                                                     \
  X("nvlink_count", integer, link->nvlink_count)                                                   \
  X("link", text, limit_text(limit))                                                               \
  X("peak_bytes_per_second", known, peak > 0, peak)

static JSON_DESCRIBER(env_json_link_shape, ENV_LINK, JSON_DESCRIBE)

    static void env_json_links(struct json_out *json, const struct machine *machine) {
  for (uint32_t i = 0; i < machine->gpu_count * machine->gpu_count; i++) {
    const uint32_t from = i / machine->gpu_count;
    const uint32_t to = i % machine->gpu_count;
    const struct gpu_link *link = &machine->links[from][to];
    enum limit limit;
    if (from != to) {
      const uint64_t peak = peak_gpu_gpu(machine, from, to, &limit);
      JSON_PUT_nested(NULL, '{', ENV_LINK(JSON_PUT))
    }
  }
}

/* After the keys of a machine. */
#define ENV_MEMBERS(X)                                                                             \
  X("source", text, machine->source)                                                               \
  X("facts", map, env_json_fact, env_json_facts(json, machine, -1))                                \
  X("numa_nodes", array, env_json_node, i, machine->node_count, machine, i)                        \
  X("gpus", array, env_json_gpu, i, machine->gpu_count, machine, i)                                \
  X("links", list, env_json_link, env_json_links(json, machine))

void env_describe_json(struct json_shape *shape) {
  env_describe_keys(shape, MACHINE_KEYS, MACHINE_KEY_COUNT);
  ENV_MEMBERS(JSON_DESCRIBE)
}

enum status env_print_json(const struct machine *machine, FILE *stream, struct error *err) {
  SCOPED(strbuf_fini) struct strbuf text = STRBUF(JSON_MAX);
  struct json_out out = json_out_begin(&text, "env", 2);
  struct json_out *json = &out;
  env_json_keys(json, machine, MACHINE_KEYS, MACHINE_KEY_COUNT);
  ENV_MEMBERS(JSON_PUT)
  return json_out_end(json, stream, err);
}
