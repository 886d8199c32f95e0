/* env.h - what `haul env` prints: a machine, its links and its facts. */
#pragma once

#include "engine/machine/machine.h"
#include "runner/table/table.h"

struct arena;
struct json_shape;

/* table, md: GPUs with their links and peaks, a matrix of these links, NUMA nodes, facts; facts
 * that all GPUs share stand once. json: one object, keys and units as in schema/machine/README.md,
 * peaks and links beside them; what is not known is null. Others: one row per fact. Writing fails
 * as in runner/table/table.h. */
enum status env_print(const struct machine *machine, const struct table_options *options,
                      struct error *err) CHECK_RESULT;
/* The value of a fact for people: facts are bare numbers in base units for queries, "700000" is
 * "700 W". May be value itself. */
const char *env_fact_words(struct arena *arena, const char *fact, const char *value);
/* "55.2 GB/s"; what leads to the host, "PCIe 5 x16", "C2C". NULL = not known. */
const char *env_rate_words(struct arena *arena, uint64_t bytes_per_second);
const char *env_host_link_words(struct arena *arena, const struct gpu *gpu, enum limit limit);
/* The members of env_print_json(). */
void env_describe_json(struct json_shape *shape);
/* What env_print() does for LAYOUT_OBJECT. */
enum status env_print_json(const struct machine *machine, FILE *stream,
                           struct error *err) CHECK_RESULT;
