#include "runner/plan/builder.h"

#include "engine/base/strbuf.h"
#include "runner/plan/bound.h"
#include "runner/plan/estimate.h"
#include "runner/plan/expand.h"
#include "runner/plan/key.h"
#include "runner/plan/name.h"
#include "runner/plan/text_map.h"
#include "runner/plan/unsupported.h"
#include "schema/scenario/nearest.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <xxhash.h>

enum { NAME_MAX_BYTES = 4096, DEFINITION_MAX_BYTES = 1 << 20, BLOCKS_SHOWN_MAX = 8 };

/* A name that is taken. */
struct taken_name {
  const char *name;
  const char *key;
  size_t clones; /* cases that wanted the same name and were numbered */
};

struct plan_builder {
  const struct machine *machine;
  const char *only;
  struct plan *plan;
  struct expander *expander;
  struct text_map names; /* -> taken */
  struct text_map keys;  /* -> cases */
  struct taken_name *taken;
  size_t taken_count, taken_capacity;
  struct plan_case *cases;
  size_t case_count, case_capacity;
  struct plan_duplicate *duplicates;
  size_t duplicate_count, duplicate_capacity;
  const char **blocks;
  size_t block_count, block_capacity;
  struct strbuf path, axes, name, definition;
  /* The setting being added. */
  const char *block;
  bool block_wanted;
  const struct setting *setting;
};

static void *grow(void *items, size_t count, size_t *capacity, size_t size_bytes) {
  if (count < *capacity) {
    return items;
  }
  *capacity = *capacity == 0 ? 64 : *capacity * 2;
  void *larger = reallocarray(items, *capacity, size_bytes);
  if (larger == NULL) {
    abort(); /* as arena.h does: no condition to recover from */
  }
  return larger;
}

struct plan_builder *plan_builder_new(const struct machine *machine, const char *only) {
  struct plan_builder *b = calloc(1, sizeof *b);
  struct plan *plan = calloc(1, sizeof *plan);
  if (b == NULL || plan == NULL) {
    abort();
  }
  b->machine = machine;
  b->only = only;
  b->plan = plan;
  plan->machine = machine;
  b->expander = expander_new(machine, &plan->arena);
  strbuf_init(&b->path, NAME_MAX_BYTES);
  strbuf_init(&b->axes, NAME_MAX_BYTES);
  strbuf_init(&b->name, NAME_MAX_BYTES);
  strbuf_init(&b->definition, DEFINITION_MAX_BYTES);
  return b;
}

void plan_builder_free(struct plan_builder *builder) {
  if (builder == NULL) {
    return;
  }
  plan_free(builder->plan);
  expander_free(builder->expander);
  text_map_fini(&builder->names);
  text_map_fini(&builder->keys);
  free(builder->taken);
  free(builder->cases);
  free(builder->duplicates);
  free(builder->blocks);
  strbuf_fini(&builder->path);
  strbuf_fini(&builder->axes);
  strbuf_fini(&builder->name);
  strbuf_fini(&builder->definition);
  free(builder);
}

void plan_free(struct plan *plan) {
  if (plan != NULL) {
    arena_fini(&plan->arena);
    free(plan);
  }
}

static const char *keep(struct plan_builder *b, const struct strbuf *text) {
  return arena_strndup(&b->plan->arena, text->text, text->length);
}

/* Take b->name, numbered where another case has it. False: that other one is the same case. */
static bool take_name(struct plan_builder *b, const char *key) {
  size_t at = b->taken_count;
  const char *name = keep(b, &b->name);
  if (!text_map_add(&b->names, name, &at)) {
    if (strcmp(b->taken[at].key, key) == 0) {
      return false;
    }
    const size_t length = b->name.length;
    size_t again = 0;
    do {
      b->name.text[length] = '\0';
      b->name.length = length;
      strbuf_printf(&b->name, "/%zu", ++b->taken[at].clones + 1);
      name = keep(b, &b->name);
      again = b->taken_count;
    } while (!text_map_add(&b->names, name, &again));
  }
  b->taken = grow(b->taken, b->taken_count, &b->taken_capacity, sizeof *b->taken);
  b->taken[b->taken_count++] = (struct taken_name){.name = name, .key = key};
  return true;
}

static bool is_wanted(const struct plan_builder *b, const char *name) {
  return b->only == NULL || b->block_wanted || fnmatch(b->only, name, 0) == 0;
}

static void add_duplicate(struct plan_builder *b, const char *name, size_t same_as) {
  b->duplicates =
      grow(b->duplicates, b->duplicate_count, &b->duplicate_capacity, sizeof *b->duplicates);
  b->duplicates[b->duplicate_count++] =
      (struct plan_duplicate){.name = name, .same_as = b->cases[same_as].bench.name};
}

/* What was asked for, where the selectors came to nothing. */
static uint64_t asked_size(const struct setting *setting) {
  switch (setting->kind) {
  case CASE_TRANSFER:
    return setting->transfer.flow.size_bytes;
  case CASE_CHASE:
    return setting->chase.footprint_bytes;
  case CASE_STREAM:
    return setting->stream.size_bytes;
  case CASE_OVERHEAD:
    return setting->overhead.size_bytes;
  case CASE_ARITHMETIC:
  case case_kind_name_count:
    break;
  }
  return 0;
}

/* Path, name and definition of an expansion into the scratch buffers. */
static void describe(struct plan_builder *b, const struct expansion *expansion) {
  const struct setting *setting = b->setting;
  const struct bench_case *work = expansion->work;
  uint64_t size_bytes = 0;
  strbuf_clear(&b->path);
  strbuf_clear(&b->axes);
  strbuf_clear(&b->name);
  strbuf_clear(&b->definition);
  if (expansion->asked != NULL) {
    strbuf_append(&b->path, expansion->asked);
    size_bytes = asked_size(setting);
  } else if (work != NULL) {
    name_work_path(work, &b->path);
    size_bytes = name_work_size(work);
  } else {
    name_path(expansion->flows, expansion->flow_count, &b->path);
    size_bytes = name_common_size(expansion->flows, expansion->flow_count);
  }
  name_axes(setting->axis_values, setting->axis_value_count, &b->axes);
  strbuf_append(&b->name, b->block);
  strbuf_append_char(&b->name, '/');
  strbuf_append(&b->name, b->path.text);
  name_settings(setting->axis_values, setting->axis_value_count, size_bytes, &b->name);
  if (expansion->asked != NULL) {
    key_define_unresolved(setting->kind, b->name.text, &b->definition);
  } else if (work != NULL) {
    key_define_work(work, &setting->measure, &b->definition);
  } else {
    key_define(expansion->flows, expansion->flow_count, &setting->measure, &b->definition);
  }
}

static void bound_case(const struct machine *machine, struct bench_case *bench) {
  struct bound bound; /* chases, instructions and calls move no bytes that count: they have none */
  if (bench->kind == CASE_STREAM && bench->work.stream.size_bytes > 0) {
    bound_of_stream(&bench->work.stream, bench->measure.device_cache, machine, &bound);
  } else {
    bound_of_flows(bench->flows, bench->flow_count, machine, &bound);
  }
  bench->payload_bytes = bound.payload_bytes;
  bench->traffic_bytes = bound.traffic_bytes;
  bench->limit = bound.limit;
  bench->peak_bytes_per_second = bound.peak_bytes_per_second;
}

static void fill_case(struct plan_builder *b, const struct expansion *expansion, const char *name,
                      const char *key, struct plan_case *c) {
  *c = (struct plan_case){.axes = keep(b, &b->axes), .skip_reason = expansion->reason};
  struct bench_case *bench = &c->bench;
  if (expansion->work != NULL) {
    *bench = *expansion->work;
  } else if (b->setting->kind == CASE_OVERHEAD) {
    bench->work.overhead.gpu = -1;
  }
  bench->kind = b->setting->kind;
  bench->key = key;
  bench->definition = keep(b, &b->definition);
  bench->block = b->block;
  bench->name = name;
  bench->path = keep(b, &b->path);
  bench->flows = expansion->flows;
  bench->flow_count = expansion->flow_count;
  bench->measure = b->setting->measure;
  bound_case(b->machine, bench);
  if (c->skip_reason == NULL) {
    char reason[CASE_REASON_MAX];
    const char *unsupported = unsupported_case_reason(c, b->machine, reason);
    c->skip_reason = unsupported != NULL ? arena_strdup(&b->plan->arena, unsupported) : NULL;
  }
}

static void receive(void *context, const struct expansion *expansion) {
  struct plan_builder *b = context;
  if (b->case_count > PLAN_CASES_MAX) {
    return; /* too many already: plan_builder_add() says so */
  }
  describe(b, expansion);
  char digits[CASE_KEY_MAX];
  key_of_definition(b->definition.text, b->definition.length, digits);
  const char *key = arena_strdup(&b->plan->arena, digits);
  if (!take_name(b, key)) {
    return;
  }
  const char *name = b->taken[b->taken_count - 1].name;
  if (!is_wanted(b, name)) {
    return;
  }
  size_t at = b->case_count;
  if (!text_map_add(&b->keys, key, &at)) {
    add_duplicate(b, name, at);
    return;
  }
  b->cases = grow(b->cases, b->case_count, &b->case_capacity, sizeof *b->cases);
  fill_case(b, expansion, name, key, &b->cases[b->case_count]);
  b->case_count++;
}

static void begin_block(struct plan_builder *b, const char *block) {
  if (b->block != NULL && strcmp(b->block, block) == 0) {
    return;
  }
  b->block = arena_strdup(&b->plan->arena, block);
  b->block_wanted = b->only != NULL && fnmatch(b->only, block, 0) == 0;
  b->blocks = grow(b->blocks, b->block_count, &b->block_capacity, sizeof *b->blocks);
  b->blocks[b->block_count++] = b->block;
}

enum status plan_builder_add(struct plan_builder *builder, const char *block,
                             const struct setting *setting, struct error *err) {
  begin_block(builder, block);
  builder->setting = setting;
  expand_setting(builder->expander, setting, receive, builder);
  builder->setting = NULL;
  if (builder->case_count > PLAN_CASES_MAX) {
    return error_set(err, STATUS_INVALID, "more than %d cases, reached in block \"%s\"",
                     PLAN_CASES_MAX, block);
  }
  return STATUS_OK;
}

/* ---- order and totals ---- */

struct rank {
  uint64_t hash;
  size_t index;
};

static int compare_ranks(const void *a, const void *b) {
  const struct rank *x = a;
  const struct rank *y = b;
  if (x->hash != y->hash) {
    return x->hash < y->hash ? -1 : 1;
  }
  return (x->index > y->index) - (x->index < y->index);
}

/* Cases into the arena, in the order of measuring. */
static struct plan_case *order_cases(struct plan_builder *b, enum case_order order, uint64_t seed) {
  struct plan_case *cases = arena_array(&b->plan->arena, b->case_count, sizeof *cases);
  if (order == CASE_ORDER_FILE || b->case_count == 0) {
    if (b->case_count > 0) {
      memcpy(cases, b->cases, b->case_count * sizeof *cases);
    }
    return cases;
  }
  struct rank *ranks = reallocarray(NULL, b->case_count, sizeof *ranks);
  if (ranks == NULL) {
    abort();
  }
  for (size_t i = 0; i < b->case_count; i++) {
    const char *key = b->cases[i].bench.key;
    ranks[i] = (struct rank){XXH3_64bits_withSeed(key, strlen(key), seed), i};
  }
  qsort(ranks, b->case_count, sizeof *ranks, compare_ranks);
  for (size_t i = 0; i < b->case_count; i++) {
    cases[i] = b->cases[ranks[i].index];
  }
  free(ranks);
  return cases;
}

static void total(struct plan *plan, struct plan_case *cases) {
  struct estimate_pool pool = {.count = 0};
  for (size_t i = 0; i < plan->case_count; i++) {
    struct plan_case *c = &cases[i];
    if (c->skip_reason != NULL) {
      plan->skip_count++;
      continue;
    }
    struct estimate estimate;
    estimate_case(&c->bench, plan->machine, &estimate);
    const uint64_t allocation_ns = estimate_allocation(&pool, &c->bench);
    c->estimate_ns = estimate.usual_ns + allocation_ns;
    c->longest_ns = estimate.longest_ns + allocation_ns;
    plan->estimate_ns += c->estimate_ns;
    plan->host_bytes = c->host_bytes > plan->host_bytes ? c->host_bytes : plan->host_bytes;
    plan->gpu_bytes = c->gpu_bytes > plan->gpu_bytes ? c->gpu_bytes : plan->gpu_bytes;
  }
  if (plan->skip_count < plan->case_count) {
    plan->estimate_ns += estimate_process_start(plan->machine);
  }
}

/* `only` matched nothing: say what is near, and what there is. */
static enum status say_no_match(const struct plan_builder *b, struct error *err) {
  struct nearest nearest = nearest_start(b->only);
  for (size_t i = 0; i < b->block_count; i++) {
    nearest_offer(&nearest, b->blocks[i]);
  }
  for (size_t i = 0; i < b->taken_count; i++) {
    nearest_offer(&nearest, b->taken[i].name);
  }
  struct strbuf there;
  strbuf_init(&there, ERROR_MESSAGE_MAX / 2);
  for (size_t i = 0; i < b->block_count && i < BLOCKS_SHOWN_MAX; i++) {
    strbuf_printf(&there, "%s\"%s\"", i > 0 ? ", " : "", b->blocks[i]);
  }
  if (b->block_count > BLOCKS_SHOWN_MAX) {
    strbuf_printf(&there, " and %zu more", b->block_count - BLOCKS_SHOWN_MAX);
  }
  const char *example = b->taken_count > 0 ? b->taken[0].name : "";
  const enum status status = error_set(
      err, STATUS_INVALID, "no block and no case is called \"%s\"%s%s%s; there are blocks %s%s%s%s",
      b->only, nearest.word != NULL ? "; did you mean \"" : "",
      nearest.word != NULL ? nearest.word : "", nearest.word != NULL ? "\"" : "", there.text,
      example[0] != '\0' ? " and cases such as \"" : "", example, example[0] != '\0' ? "\"" : "");
  strbuf_fini(&there);
  return status;
}

enum status plan_builder_finish(struct plan_builder *builder, enum case_order order, uint64_t seed,
                                struct plan **plan, struct error *err) {
  if (builder->only != NULL && builder->case_count == 0) {
    return say_no_match(builder, err);
  }
  struct plan *made = builder->plan;
  struct plan_case *cases = order_cases(builder, order, seed);
  made->cases = cases;
  made->case_count = builder->case_count;
  struct plan_duplicate *duplicates =
      arena_array(&made->arena, builder->duplicate_count, sizeof *duplicates);
  if (builder->duplicate_count > 0) {
    memcpy(duplicates, builder->duplicates, builder->duplicate_count * sizeof *duplicates);
  }
  made->duplicates = duplicates;
  made->duplicate_count = builder->duplicate_count;
  total(made, cases);
  *plan = made;
  builder->plan = NULL;
  return STATUS_OK;
}
