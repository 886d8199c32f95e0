#include "runner/plan/plan.h"

#include "engine/base/globs.h"
#include "engine/base/order.h"
#include "engine/base/strings.h"
#include "engine/base/text_index.h"
#include "engine/case/visits.h"
#include "engine/machine/check.h"
#include "runner/plan/definition.h"
#include "runner/plan/estimate.h"
#include "runner/plan/kind.h"
#include "runner/plan/name.h"
#include "schema/scenario/nearest.h"
#include "schema/scenario/scenario.h"
#include "schema/scenario/setting.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define PLAN_KIND_EXTERN_(id, text, name) extern const struct plan_kind plan_kind_##name;
CASE_KIND_LIST(PLAN_KIND_EXTERN_)

#define PLAN_KIND_ROW_(id, text, name) [id] = &plan_kind_##name,
const struct plan_kind *const plan_kinds[case_kind_name_count] = {CASE_KIND_LIST(PLAN_KIND_ROW_)};

/* ---- a plan in the making ---- */

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
  enum on_fail unflushed; /* check cache_flush */
  struct plan *plan;
  struct expander *expander; /* large */
  struct text_index names;   /* as taken */
  struct text_index keys;    /* as cases */
  struct text_index places;  /* of cases and duplicates: block, path, axes and case_key */
  struct taken_name *taken;
  size_t taken_count;
  struct plan_case *cases;
  size_t case_count;
  size_t *last_settings; /* by case: the number of the setting that came to it last */
  struct plan_duplicate *duplicates;
  size_t duplicate_count;
  const char **blocks;
  size_t block_count;
  struct strbuf path, axes, name, definition;
  size_t listed; /* cases and duplicates so far */
  /* The setting being added. */
  size_t setting_number;
  const char *block;
  bool block_wanted;
  const struct setting *setting;
  uint64_t size_bytes; /* that names of its case end with; 0 = none */
};

struct plan_builder *plan_builder_new(const struct machine *machine, const char *only) {
  struct plan_builder *b = memory_new(1, sizeof *b);
  struct plan *plan = memory_new(1, sizeof *plan);
  b->machine = machine;
  b->only = only;
  b->plan = plan;
  plan->machine = machine;
  b->expander = memory_new(1, sizeof *b->expander);
  b->expander->machine = machine;
  b->expander->set.machine = machine;
  b->expander->arena = &plan->arena;
  b->names.arena = b->keys.arena = b->places.arena = &plan->arena;
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
  free(builder->expander);
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

void plan_describe_rate(const struct case_def *def, double median_ns, char *text, size_t size) {
  const char *operation = plan_kinds[def->kind]->operation;
  const double amount = (double)def->figure_amount;
  if (def->figure == FIGURE_RATE) {
    const bool above = bound_is_exceeded(def->traffic_bytes, def->peak_bytes_per_second, median_ns);
    (void)snprintf(text, size, "%.4g GB/s%s", amount / median_ns, above ? ", above its peak" : "");
  } else if (def->figure == FIGURE_FLOPS) {
    (void)snprintf(text, size, "%.4g TFLOP/s", amount / median_ns / 1e3);
  } else {
    (void)snprintf(text, size, "%.4g ns%s%s", median_ns / amount, operation != NULL ? " per " : "",
                   operation != NULL ? operation : "");
  }
}

static const char *plan_keep(struct plan_builder *b, const struct strbuf *text) {
  return arena_strndup(&b->plan->arena, text->text, text->length);
}

/* Take b->name, numbered where another case has it. False: that other one is the same case. */
static bool plan_take_name(struct plan_builder *b, const char *key) {
  size_t at = 0;
  const char *name = plan_keep(b, &b->name);
  if (!text_index_add(&b->names, name, &at)) {
    if (strcmp(b->taken[at].key, key) == 0) {
      return false;
    }
    const size_t length = b->name.length;
    do {
      b->name.text[length] = '\0';
      b->name.length = length;
      strbuf_printf(&b->name, "/%zu", ++b->taken[at].clones + 1);
      name = plan_keep(b, &b->name);
    } while (!text_index_add(&b->names, name, NULL));
  }
  *ARENA_ADD(&b->plan->arena, b->taken, b->taken_count) =
      (struct taken_name){.name = name, .key = key};
  return true;
}

static bool plan_is_wanted(const struct plan_builder *b, const char *name) {
  return b->only == NULL || b->block_wanted || globs_match(b->only, name);
}

/* What case_key leaves out: how carefully a case is measured. */
static bool plan_same_measure(const struct measure *a, const struct measure *b) {
  return a->trials_min == b->trials_min && a->trials_max == b->trials_max &&
         a->warmup == b->warmup && a->iterations == b->iterations &&
         a->max_time_ns == b->max_time_ns && a->min_time_ns == b->min_time_ns &&
         a->min_trial_ns == b->min_trial_ns && !(a->precision < b->precision) &&
         !(a->precision > b->precision) && !(a->free_share < b->free_share) &&
         !(a->free_share > b->free_share) && !(a->delta < b->delta) && !(a->delta > b->delta) &&
         a->verify == b->verify && a->host_cache == b->host_cache &&
         a->device_cache == b->device_cache && a->gating == b->gating && a->callers == b->callers;
}

static void plan_add_duplicate(struct plan_builder *b, const char *name, size_t measured) {
  *ARENA_ADD(&b->plan->arena, b->duplicates, b->duplicate_count) = (struct plan_duplicate){
      .name = name,
      .block = b->block,
      .axes = plan_keep(b, &b->axes),
      .same_as = b->cases[measured].def.name,
      .same_measure = plan_same_measure(&b->cases[measured].def.measure, &b->setting->measure),
      .measured = measured,
      .listed = b->listed++};
}

/* false: a case or duplicate of the block has this path, these axes and this case_key already. */
static bool plan_take_place(struct plan_builder *b, const char *key) {
  const char *place =
      arena_format(&b->plan->arena, "%s/%s/%s/%s", b->block, b->path.text, b->axes.text, key);
  return text_index_add(&b->places, place, NULL);
}

/* Block, path and settings into b->name. in_full: axes that names leave out as well. */
static void plan_name(struct plan_builder *b, bool in_full) {
  const struct setting *setting = b->setting;
  strbuf_clear(&b->name);
  strbuf_append(&b->name, b->block);
  strbuf_append_char(&b->name, '/');
  strbuf_append(&b->name, b->path.text);
  if (in_full) {
    name_hidden_settings(setting->axis_values, setting->axis_value_count, &b->name);
  }
  name_settings(setting->axis_values, setting->axis_value_count, b->size_bytes, &b->name);
}

/* Path, name and definition into the scratch buffers. */
static void plan_describe(struct plan_builder *b, const struct case_def *def,
                          const struct expansion *expansion) {
  const char *asked = expansion->asked;
  const struct setting *setting = b->setting;
  const struct plan_kind *kind = plan_kinds[def->kind];
  strbuf_clear(&b->path);
  strbuf_clear(&b->axes);
  strbuf_clear(&b->definition);
  struct case_def sized = *def;
  if (asked != NULL) { /* its size is as asked for, too */
    strbuf_append(&b->path, asked);
    sized.work = &setting->work;
    sized.flows = &setting->transfer.flow.base;
    sized.flow_count = 1;
  } else {
    kind->path(def, &b->path);
  }
  name_axes(setting->axis_values, setting->axis_value_count, &b->axes);
  b->size_bytes = kind->size_bytes != NULL ? kind->size_bytes(&sized) : 0;
  plan_name(b, false);
  if (asked != NULL || expansion->incomplete) {
    definition_append_unresolved(&b->definition, def->kind, b->name.text);
  } else {
    definition_append(&b->definition, def);
  }
}

static void plan_bound_case(const struct machine *machine, struct case_def *def) {
  struct bound bound = {.limit = LIMIT_UNKNOWN};
  plan_kinds[def->kind]->bound(def, machine, &bound);
  def->payload_bytes = bound.payload_bytes;
  def->traffic_bytes = bound.traffic_bytes;
  def->limit = bound.limit;
  def->peak_bytes_per_second = bound.peak_bytes_per_second;
}

void plan_set_figure(struct case_def *def, bool resolved) {
  const struct plan_kind *kind = plan_kinds[def->kind];
  def->figure = FIGURE_TIME;
  def->figure_amount = 1;
  if (!resolved) {
    return;
  }
  if (def->payload_bytes > 0) {
    def->figure = FIGURE_RATE;
    def->figure_amount = def->payload_bytes;
    return;
  }
  def->figure = kind->figure != FIGURE_RATE ? kind->figure : FIGURE_TIME;
  if (kind->by_operation) {
    def->figure_amount = def->operations;
  }
}

/* NULL: all zero. */
static const union work *plan_keep_work(struct plan_builder *b, const union work *work) {
  static const union work nothing = {0};
  if (work == NULL) {
    return &nothing;
  }
  union work *kept = arena_alloc(&b->plan->arena, sizeof *kept);
  *kept = *work;
  return kept;
}

static void plan_fill_case(struct plan_builder *b, const struct case_def *def,
                           const struct expansion *expansion, const char *name, const char *key,
                           struct plan_case *c) {
  *c = (struct plan_case){.def = *def,
                          .axes = plan_keep(b, &b->axes),
                          .skip_reason = expansion->reason,
                          .listed = b->listed++};
  c->def.work = plan_keep_work(b, def->work);
  c->def.key = key;
  c->def.definition = plan_keep(b, &b->definition);
  c->def.block = b->block;
  c->def.name = name;
  c->def.path = plan_keep(b, &b->path);
  if (expansion->asked == NULL && plan_kinds[def->kind]->bound != NULL) {
    plan_bound_case(b->machine, &c->def);
  }
  plan_set_figure(&c->def, expansion->asked == NULL && !expansion->incomplete);
  if (c->skip_reason == NULL) {
    char reason[CASE_REASON_MAX];
    const char *unsupported = skipped_case_reason(c, b->machine, reason);
    c->skip_reason = unsupported != NULL ? arena_strdup(&b->plan->arena, unsupported) : NULL;
  }
  b->plan->for_gpus = b->plan->for_gpus || expansion->for_gpu || c->gpus != 0;
}

/* What the check cache_flush asks of a case. */
static enum on_fail plan_on_unflushed(const struct scenario *scenario) {
  const size_t i =
      FIRST_OF(k, scenario->check_count, scenario->checks[k].kind == CHECK_CACHE_FLUSH);
  return i < scenario->check_count ? scenario->checks[i].on_fail : ON_FAIL_RECORD;
}

/* Duplicates take memory too. */
static bool plan_is_full(const struct plan_builder *b) {
  return b->case_count + b->duplicate_count > PLAN_CASES_MAX;
}

static void plan_receive(void *context, const struct expansion *expansion) {
  struct plan_builder *b = context;
  if (plan_is_full(b)) {
    return; /* too many already: plan_builder_add() says so */
  }
  struct case_def def = {.kind = b->setting->kind};
  if (expansion->def != NULL) {
    def = *expansion->def;
    def.kind = b->setting->kind;
  }
  def.measure = b->setting->measure;
  def.measure.unflushed = b->unflushed;
  plan_describe(b, &def, expansion);
  char digits[CASE_KEY_MAX];
  definition_key(b->definition.text, b->definition.length, digits);
  const char *key = arena_strdup(&b->plan->arena, digits);
  const bool named_before = !plan_take_name(b, key);
  if (named_before) {
    plan_name(b, true);
  }
  const char *name = named_before ? plan_keep(b, &b->name) : b->taken[b->taken_count - 1].name;
  if (!plan_is_wanted(b, name)) {
    return;
  }
  size_t at = 0;
  if (!text_index_add(&b->keys, key, &at)) {
    const struct plan_case *same = &b->cases[at];
    const bool vanishes = b->last_settings[at] == b->setting_number || !plan_take_place(b, key) ||
                          (named_before && same->skip_reason != NULL);
    b->last_settings[at] = b->setting_number;
    if (!vanishes) {
      plan_add_duplicate(b, name, at);
    }
    return;
  }
  b->cases = arena_grow(&b->plan->arena, b->cases, b->case_count, sizeof *b->cases);
  b->last_settings =
      arena_grow(&b->plan->arena, b->last_settings, b->case_count, sizeof *b->last_settings);
  (void)plan_take_place(b, key);
  plan_fill_case(b, &def, expansion, name, key, &b->cases[b->case_count]);
  b->last_settings[b->case_count++] = b->setting_number;
}

static void plan_begin_block(struct plan_builder *b, const char *block) {
  if (b->block != NULL && strcmp(b->block, block) == 0) {
    return;
  }
  b->block = arena_strdup(&b->plan->arena, block);
  b->block_wanted = b->only != NULL && globs_match(b->only, block);
  *ARENA_ADD(&b->plan->arena, b->blocks, b->block_count) = b->block;
}

enum status plan_builder_add(struct plan_builder *builder, const char *block,
                             const struct setting *setting, struct error *err) {
  plan_begin_block(builder, block);
  builder->setting = setting;
  builder->setting_number++;
  builder->expander->receive = plan_receive;
  builder->expander->context = builder;
  plan_kinds[setting->kind]->expand(builder->expander, setting);
  builder->setting = NULL;
  if (plan_is_full(builder)) {
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

ORDER_DEFINE(plan_compare_ranks, struct rank, ORDER(x->hash, y->hash) ?: ORDER(x->index, y->index))

/* The cases in the order of measuring; duplicates follow them. */
static struct plan_case *plan_order_cases(struct plan_builder *b, enum case_order order,
                                          uint64_t seed) {
  if (order == CASE_ORDER_FILE || b->case_count == 0) {
    return b->cases;
  }
  struct plan_case *cases = arena_array(&b->plan->arena, b->case_count, sizeof *cases);
  struct rank *ranks = arena_array(&b->plan->arena, b->case_count, sizeof *ranks);
  for (size_t i = 0; i < b->case_count; i++) {
    const char *key = b->cases[i].def.key;
    ranks[i] = (struct rank){XXH3_64bits_withSeed(key, strlen(key), seed), i};
  }
  ORDER_SORT(ranks, b->case_count, plan_compare_ranks);
  size_t *positions = arena_array(&b->plan->arena, b->case_count, sizeof *positions);
  for (size_t i = 0; i < b->case_count; i++) {
    cases[i] = b->cases[ranks[i].index];
    positions[ranks[i].index] = i;
  }
  for (size_t i = 0; i < b->duplicate_count; i++) {
    b->duplicates[i].measured = positions[b->duplicates[i].measured];
  }
  return cases;
}

static void plan_total(struct plan *plan, struct plan_case *cases) {
  struct estimate_pool pool = {.count = 0};
  uint32_t gpus = 0;
  for (size_t i = 0; i < plan->case_count; i++) {
    struct plan_case *c = &cases[i];
    if (c->skip_reason != NULL) {
      plan->skip_count++;
      continue;
    }
    struct estimate estimate;
    estimate_case(&c->def, plan->machine, &estimate);
    const uint64_t allocation_ns = estimate_allocation(&pool, &c->def);
    c->estimate_ns = estimate.usual_ns + allocation_ns;
    c->longest_ns = estimate.longest_ns + allocation_ns;
    plan->estimate_ns += c->estimate_ns;
    gpus |= c->gpus;
    plan->host_bytes = c->host_bytes > plan->host_bytes ? c->host_bytes : plan->host_bytes;
    plan->gpu_bytes = c->gpu_bytes > plan->gpu_bytes ? c->gpu_bytes : plan->gpu_bytes;
  }
  if (plan->skip_count < plan->case_count) {
    plan->start_ns = estimate_process_start(plan->machine, gpus);
    plan->estimate_ns += plan->start_ns;
  }
}

/* `only` matched nothing: say what is near, and what there is. */
static enum status plan_say_no_match(const struct plan_builder *b, struct error *err) {
  struct nearest nearest = nearest_start(b->only);
  for (size_t i = 0; i < b->block_count; i++) {
    nearest_offer(&nearest, b->blocks[i]);
  }
  for (size_t i = 0; i < b->taken_count; i++) {
    nearest_offer(&nearest, b->taken[i].name);
  }
  SCOPED(strbuf_fini) struct strbuf there = STRBUF(ERROR_MESSAGE_MAX / 2);
  for (size_t i = 0; i < b->block_count && i < BLOCKS_SHOWN_MAX; i++) {
    strbuf_printf(&there, "%s\"%s\"", i > 0 ? ", " : "", b->blocks[i]);
  }
  if (b->block_count > BLOCKS_SHOWN_MAX) {
    strbuf_printf(&there, " and %zu more", b->block_count - BLOCKS_SHOWN_MAX);
  }
  const char *example = b->taken_count > 0 ? b->taken[0].name : "";
  return error_set(
      err, STATUS_NOT_FOUND, "no block and no case matches \"%s\"%s%s%s; there are blocks %s%s%s%s",
      b->only, nearest.word != NULL ? "; did you mean \"" : "",
      nearest.word != NULL ? nearest.word : "", nearest.word != NULL ? "\"" : "", there.text,
      example[0] != '\0' ? " and cases such as \"" : "", example, example[0] != '\0' ? "\"" : "");
}

/* Of several globs those that matched neither a block nor a case. */
static const char *plan_list_unmatched(struct plan_builder *b) {
  const char *unmatched = NULL;
  const char *rest = b->only != NULL && strchr(b->only, ',') != NULL ? b->only : "";
  for (const char *pattern; (pattern = globs_next(&rest, &b->plan->arena)) != NULL;) {
    const bool found = ANY_OF(i, b->block_count, fnmatch(pattern, b->blocks[i], 0) == 0) ||
                       ANY_OF(i, b->taken_count, fnmatch(pattern, b->taken[i].name, 0) == 0);
    unmatched = found ? unmatched : globs_add(unmatched, pattern, &b->plan->arena);
  }
  return unmatched;
}

enum status plan_builder_finish(struct plan_builder *builder, enum case_order order, uint64_t seed,
                                struct plan **plan, struct error *err) {
  if (builder->only != NULL && builder->case_count == 0) {
    return plan_say_no_match(builder, err);
  }
  struct plan *made = builder->plan;
  struct plan_case *cases = plan_order_cases(builder, order, seed);
  made->cases = cases;
  made->case_count = builder->case_count;
  made->duplicates = builder->duplicates;
  made->duplicate_count = builder->duplicate_count;
  made->unmatched_only = plan_list_unmatched(builder);
  plan_total(made, cases);
  *plan = made;
  builder->plan = NULL;
  return STATUS_OK;
}

/* ---- of a scenario ---- */

static enum status plan_add_block(struct plan_builder *builder, const struct block *block,
                                  struct error *err) {
  enum status status = STATUS_OK;
  for (size_t i = 0; status == STATUS_OK && i < block_setting_count(block); i++) {
    struct setting setting;
    block_setting(block, i, &setting);
    status = plan_builder_add(builder, block_name(block), &setting, err);
  }
  return status;
}

/* Leaves out all other cases. */
static void plan_builder_keep(struct plan_builder *builder, const struct case_keys *keys) {
  if (keys->count == 0) {
    return;
  }
  SCOPED(arena_fini) struct arena arena = {0};
  const char **sorted = arena_array(&arena, keys->count, sizeof *sorted);
  memcpy(sorted, keys->items, keys->count * sizeof *sorted);
  ORDER_SORT(sorted, keys->count, strings_compare);
  size_t kept = 0;
  for (size_t i = 0; i < builder->case_count; i++) {
    const char *key = builder->cases[i].def.key;
    if (bsearch(&key, sorted, keys->count, sizeof *sorted, strings_compare) != NULL) {
      builder->cases[kept++] = builder->cases[i];
    }
  }
  builder->case_count = kept;
  builder->duplicate_count = 0;
}

enum status plan_new(const struct scenario *scenario, const struct machine *machine,
                     const struct plan_options *options, struct plan **plan, struct error *err) {
  struct plan_builder *builder = plan_builder_new(machine, options != NULL ? options->only : NULL);
  enum status status = STATUS_OK;
  builder->expander->seed = scenario->run.seed;
  builder->unflushed = plan_on_unflushed(scenario);
  for (size_t i = 0; status == STATUS_OK && i < scenario->block_count; i++) {
    status = plan_add_block(builder, scenario->blocks[i], err);
  }
  if (status == STATUS_OK) {
    builder->plan->scenario = scenario;
    if (options != NULL) {
      plan_builder_keep(builder, &options->keys);
    }
    status = plan_builder_finish(builder, scenario->run.order, scenario->run.seed, plan, err);
  }
  plan_builder_free(builder);
  return status;
}

uint64_t plan_total_ns(const struct plan *plan, uint32_t processes) {
  const uint64_t pause_ns = plan->scenario != NULL ? plan->scenario->run.pause_ns : 0;
  return plan->estimate_ns * processes + (processes > 0 ? processes - 1 : 0) * pause_ns;
}

uint64_t plan_settle_ns(const struct plan *plan, uint32_t processes) {
  const struct run_settings *run = plan->scenario != NULL ? &plan->scenario->run : NULL;
  const uint64_t round_ns = plan->estimate_ns * processes;
  const bool any = ANY_OF(i, plan->case_count,
                          plan->cases[i].skip_reason == NULL &&
                              visits_are_allowed(&plan->cases[i].def.measure) &&
                              !visits_follow(&plan->cases[i].def.measure));
  return run == NULL || !any ? 0 : plan_settle_of(run->settle_ns, round_ns);
}
