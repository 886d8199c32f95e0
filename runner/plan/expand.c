#include "runner/plan/expand.h"

#include "engine/machine/machine.h"
#include "schema/scenario/setting.h"

void expand_emit(struct expander *x, const struct case_def *def, const char *reason) {
  const struct expansion expansion = {.def = def, .reason = reason};
  x->receive(x->context, &expansion);
}

void expand_emit_unresolved(struct expander *x, const struct endpoint_setting *from,
                            const struct endpoint_setting *to, int32_t near_gpu, const char *space,
                            const char *reason) {
  const struct endpoint_setting *ends[2] = {from, to};
  SCOPED(strbuf_fini) struct strbuf asked = STRBUF(CASE_REASON_MAX);
  bool for_gpu = false;
  for (size_t e = 0; e < 2 && ends[e] != NULL; e++) {
    for_gpu = for_gpu || ends[e]->place == PLACE_GPU;
    strbuf_append(&asked, e > 0 ? "-" : "");
    if (ends[e]->place == PLACE_GPU && near_gpu >= 0) {
      strbuf_printf(&asked, "gpu%d", near_gpu);
    } else {
      place_format_asked(ends[e], &asked);
    }
    if (ends[e]->memory != MEMORY_DEVICE) {
      strbuf_printf(&asked, ":%s", memory_kind_text(ends[e]->memory));
    }
  }
  if (space != NULL) {
    strbuf_printf(&asked, ":%s", space);
  }
  const struct expansion expansion = {
      .asked = arena_strdup(x->arena, asked.text),
      .reason = arena_strdup(x->arena, reason),
      .for_gpu = for_gpu,
  };
  x->receive(x->context, &expansion);
}

void expand_resolve_end(struct expander *x, const struct endpoint_setting *end, const char *space,
                        struct place_list *list) {
  char reason[CASE_REASON_MAX];
  place_resolve(end, x->machine, -1, list, reason);
  if (reason[0] != '\0') {
    expand_emit_unresolved(x, end, NULL, -1, space, reason);
  }
}

void expand_resolve_pairs(struct expander *x, const struct endpoint_setting *from,
                          const struct endpoint_setting *to, struct pair_rule rule,
                          enum concurrent pattern) {
  char reason[CASE_REASON_MAX] = "";
  pairs_resolve(&x->set, from, to);
  for (size_t i = 0; i < x->set.complaint_count; i++) {
    expand_emit_unresolved(x, from, to, x->set.complaints[i].near_gpu, NULL,
                           x->set.complaints[i].reason);
  }
  if (x->set.pair_count == 0) {
    return;
  }
  if (pattern == CONCURRENT_RING || pattern == CONCURRENT_BISECT) {
    pairs_make_pattern(&x->set, from->place, to->place, pattern, reason);
  } else {
    pairs_apply(&x->set, from->place, to->place, rule, reason);
  }
  if (x->set.pair_count == 0) {
    expand_emit_unresolved(x, from, to, -1, NULL, reason);
  }
}

void expand_resolve_others(struct expander *x, const struct endpoint_setting *from,
                           const struct endpoint_setting *to) {
  expand_resolve_pairs(x, from, to, (struct pair_rule){.unequal = true}, CONCURRENT_NONE);
}

uint32_t expand_grid(const struct grid_setting *grid, const struct machine *machine, int32_t gpu,
                     const char **reason) {
  const uint32_t sm_count = machine->gpus[gpu].sm_count;
  switch (grid->kind) {
  case GRID_AUTO:
    return 0;
  case GRID_BLOCKS:
    return grid->count;
  case GRID_FULL:
    return STREAM_GRID_FULL;
  case GRID_PER_SM:
    break;
  }
  if (sm_count == 0) {
    *reason = "how many SMs the GPU has is not known: give the grid as a number";
  }
  return grid->count * sm_count;
}

bool expand_shuffle_copies(struct expander *x, struct case_def *def) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < def->flow_count; i++) {
    count += def->flows[i].stream != 0 ? flow_copies(&def->flows[i]) : 0;
  }
  uint16_t *order = arena_array(x->arena, count <= COPIES_MAX ? count : 0, sizeof *order);
  for (uint32_t i = 0; i < def->flow_count && count <= COPIES_MAX; i++) {
    const struct flow *flow = &def->flows[i];
    for (uint32_t copy = 0; flow->stream != 0 && copy < flow_copies(flow); copy++) {
      order[def->order.count++] = (uint16_t)i;
    }
  }
  for (size_t i = def->order.count; i > 1; i--) { /* Fisher and Yates */
    const size_t at = place_random(i, SHUFFLE_COPIES, x->seed) % i;
    const uint16_t copy = order[at];
    order[at] = order[i - 1];
    order[i - 1] = copy;
  }
  def->order.flows = def->order.count > 0 ? order : NULL;
  def->order.seed = x->seed;
  return count <= COPIES_MAX;
}
