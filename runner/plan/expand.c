#include "runner/plan/expander.h"

#include <stdio.h>
#include <stdlib.h>

struct expander *expander_new(const struct machine *machine, struct arena *arena) {
  struct expander *x = calloc(1, sizeof *x);
  if (x == NULL) {
    abort(); /* as arena.h does: no condition to recover from */
  }
  x->machine = machine;
  x->set.machine = machine;
  x->arena = arena;
  return x;
}

void expander_free(struct expander *expander) {
  free(expander);
}

/* ---- pairs ---- */

static bool is_one_place(const struct selector *selector) {
  return selector->kind == SELECTOR_LIST && selector->count == 1;
}

static struct pair_rule rule_given(enum pairs pairs) {
  switch (pairs) {
  case PAIRS_ORDERED:
    return (struct pair_rule){.unequal = true};
  case PAIRS_UNORDERED:
    return (struct pair_rule){.unequal = true, .once = true};
  case PAIRS_SAME:
    return (struct pair_rule){.equal = true};
  case pairs_name_count:
    break;
  }
  return (struct pair_rule){.equal = true, .unequal = true};
}

static struct pair_rule rule_default(const struct flow_setting *setting) {
  const bool one = is_one_place(&setting->from.selector) && is_one_place(&setting->to.selector);
  return (struct pair_rule){.equal = one || setting->from.place == PLACE_NUMA, .unequal = true};
}

static struct pair_rule rule_of_transfer(const struct transfer_setting *transfer) {
  if (transfer->pairs_given) {
    return rule_given(transfer->pairs);
  }
  struct pair_rule rule = rule_default(&transfer->flow);
  const bool symmetric = transfer->direction == DIRECTION_BOTH &&
                         transfer->flow.from.memory == transfer->flow.to.memory;
  rule.once = symmetric &&
              (transfer->concurrent == CONCURRENT_NONE || transfer->concurrent == CONCURRENT_ALL);
  return rule;
}

/* ring and bisect: of the places of both ends together. */
static void make_pattern(struct expander *x, const struct transfer_setting *transfer,
                         char reason[CASE_REASON_MAX]) {
  if (transfer->flow.from.place == transfer->flow.to.place) {
    pairs_make_pattern(&x->set, transfer->concurrent, reason);
    return;
  }
  (void)snprintf(reason, CASE_REASON_MAX,
                 "concurrent = \"%s\" needs two ends of one kind, not a GPU and a NUMA node",
                 concurrent_text(transfer->concurrent));
  x->set.pair_count = 0;
}

/* ---- flows ---- */

/* The side whose processor starts a flow when nobody says. */
static enum initiator usual_initiator(const struct machine *machine, const struct endpoint *source,
                                      const struct endpoint *target) {
  if (source->place != target->place) {
    return source->place == PLACE_GPU ? INITIATOR_SOURCE : INITIATOR_TARGET;
  }
  if (source->place == PLACE_NUMA && !place_has_processors(machine, source->index) &&
      place_has_processors(machine, target->index)) {
    return INITIATOR_TARGET;
  }
  return INITIATOR_SOURCE;
}

static struct copy_shape normal_shape(struct copy_shape shape) {
  if (copy_shape_is_strided(&shape)) {
    shape.height = shape.height > 0 ? shape.height : 1;
    shape.depth = shape.depth > 0 ? shape.depth : 1;
    shape.pitch_bytes = shape.pitch_bytes > 0 ? shape.pitch_bytes : shape.width_bytes;
  }
  return shape;
}

static struct flow make_flow(const struct expander *x, const struct flow_setting *setting,
                             enum flow_role role, struct pair pair, bool reversed) {
  const struct endpoint from = {setting->from.place, pair.from, setting->from.memory};
  const struct endpoint to = {setting->to.place, pair.to, setting->to.memory};
  struct flow flow = {
      .role = role,
      .method = setting->method,
      .source = reversed ? to : from,
      .target = reversed ? from : to,
      .size_bytes = setting->size_bytes,
      .threads = setting->threads,
      .kernel = setting->kernel,
      .shape = normal_shape(setting->shape),
      .unified = setting->unified,
  };
  flow.initiator = setting->initiator_given
                       ? setting->initiator
                       : usual_initiator(x->machine, &flow.source, &flow.target);
  flow.staged =
      !setting->peer && from.place == PLACE_GPU && to.place == PLACE_GPU && pair.from != pair.to;
  if (copy_shape_is_strided(&flow.shape)) {
    flow.size_bytes = flow.shape.width_bytes * flow.shape.height * flow.shape.depth;
  }
  return flow;
}

static void add_flow(struct expander *x, struct flow flow) {
  if (x->flow_count < CASE_FLOWS_MAX) {
    x->flows[x->flow_count] = flow;
  }
  x->flow_count++;
}

static void add_flows(struct expander *x, const struct flow_setting *setting,
                      enum direction direction, struct pair pair) {
  if (direction != DIRECTION_REVERSE) {
    add_flow(x, make_flow(x, setting, FLOW_MEASURED, pair, false));
  }
  if (direction != DIRECTION_FORWARD) {
    add_flow(x, make_flow(x, setting, FLOW_MEASURED, pair, true));
  }
}

/* ---- what is handed out ---- */

void expander_emit_unresolved(struct expander *x, const struct endpoint_setting *from,
                              const struct endpoint_setting *to, int32_t near_gpu,
                              const char *space, const char *reason) {
  const struct endpoint_setting *ends[2] = {from, to};
  struct strbuf asked;
  strbuf_init(&asked, CASE_REASON_MAX);
  for (size_t e = 0; e < 2 && ends[e] != NULL; e++) {
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
  };
  strbuf_fini(&asked);
  x->receive(x->context, &expansion);
}

static void emit_unresolved(struct expander *x, const struct endpoint_setting *from,
                            const struct endpoint_setting *to, int32_t near_gpu,
                            const char *reason) {
  expander_emit_unresolved(x, from, to, near_gpu, NULL, reason);
}

/* Who starts the mirror of a flow: the same end by its role, but never a node where the other end
 * is a GPU, nor one without processors where the other has some. */
static enum initiator initiator_of_mirror(const struct expander *x, const struct flow_setting *load,
                                          enum initiator measured, const struct flow *flow) {
  const enum initiator usual = usual_initiator(x->machine, &flow->source, &flow->target);
  const enum initiator wanted = load->initiator_given ? load->initiator : measured;
  const struct endpoint *starts = wanted == INITIATOR_SOURCE ? &flow->source : &flow->target;
  const bool able = starts->place == PLACE_GPU || (flow->source.place == flow->target.place &&
                                                   place_has_processors(x->machine, starts->index));
  return able ? wanted : usual;
}

/* The flow of load beside a measured one. */
static struct flow mirror(const struct expander *x, const struct flow_setting *load,
                          const struct flow *measured) {
  struct flow flow = *measured;
  flow.role = FLOW_LOAD;
  if (load->mirror_direction == DIRECTION_REVERSE) {
    flow.source = measured->target;
    flow.target = measured->source;
  }
  if (load->method_given) {
    flow.method = load->method;
    flow.threads = load->threads;
    flow.kernel = load->kernel;
    flow.unified = load->unified;
  }
  if (load->size_given) {
    flow.shape = normal_shape(load->shape);
    flow.size_bytes = load->size_bytes;
  }
  flow.initiator = initiator_of_mirror(x, load, measured->initiator, &flow);
  return flow;
}

/* One case of x->flows and the loads; setting is for the name of what cannot be. */
static void emit_case(struct expander *x, const struct flow_setting *setting,
                      const struct transfer_setting *transfer) {
  size_t count = x->flow_count + x->load_count;
  for (size_t i = 0; i < transfer->load_count; i++) {
    count += transfer->loads[i].mirrors ? x->flow_count : 0;
  }
  if (count > CASE_FLOWS_MAX) {
    char reason[CASE_REASON_MAX];
    (void)snprintf(reason, sizeof reason, "%zu flows at once, at most %d can be measured", count,
                   CASE_FLOWS_MAX);
    emit_unresolved(x, &setting->from, &setting->to, -1, reason);
    return;
  }
  struct flow *flows = arena_array(x->arena, count, sizeof *flows);
  memcpy(flows, x->flows, x->flow_count * sizeof *flows);
  memcpy(flows + x->flow_count, x->loads, x->load_count * sizeof *flows);
  struct flow *next = flows + x->flow_count + x->load_count;
  for (size_t i = 0; i < transfer->load_count; i++) {
    for (size_t k = 0; transfer->loads[i].mirrors && k < x->flow_count; k++) {
      *next++ = mirror(x, &transfer->loads[i], &flows[k]);
    }
  }
  const struct expansion expansion = {
      .flows = flows,
      .flow_count = (uint32_t)count,
      .reason = x->load_reason[0] != '\0' ? arena_strdup(x->arena, x->load_reason) : NULL,
  };
  x->receive(x->context, &expansion);
}

static void make_loads(struct expander *x, const struct transfer_setting *transfer) {
  x->load_count = 0;
  x->load_reason[0] = '\0';
  for (size_t i = 0; i < transfer->load_count; i++) {
    const struct flow_setting *load = &transfer->loads[i];
    if (load->mirrors) {
      continue; /* emit_case() makes them: they depend on the measured flows */
    }
    const struct pair_rule rule = rule_default(load);
    pairs_resolve(&x->set, &load->from, &load->to);
    pairs_apply(&x->set, load->from.place, load->to.place, rule);
    if (x->set.complaint_count > 0) {
      (void)snprintf(x->load_reason, sizeof x->load_reason, "load: %.500s",
                     x->set.complaints[0].reason);
    } else if (x->set.pair_count == 0) {
      char reason[CASE_REASON_MAX];
      pairs_say_none(&x->set, load->from.place, load->to.place, rule, reason);
      (void)snprintf(x->load_reason, sizeof x->load_reason, "load: %.500s", reason);
    } else if (x->load_count + x->set.pair_count > CASE_FLOWS_MAX) {
      (void)snprintf(x->load_reason, sizeof x->load_reason, "more than %d flows of load at once",
                     CASE_FLOWS_MAX);
      return;
    }
    for (size_t p = 0; p < x->set.pair_count; p++) {
      x->loads[x->load_count++] = make_flow(x, load, FLOW_LOAD, x->set.pairs[p], false);
    }
  }
}

static void expand_spelled(struct expander *x, const struct transfer_setting *transfer) {
  x->flow_count = 0;
  for (size_t i = 0; i < transfer->flow_count; i++) {
    const struct flow_setting *flow = &transfer->flows[i];
    const struct pair_rule rule = rule_default(flow);
    pairs_resolve(&x->set, &flow->from, &flow->to);
    pairs_apply(&x->set, flow->from.place, flow->to.place, rule);
    if (x->set.complaint_count > 0) {
      emit_unresolved(x, &flow->from, &flow->to, x->set.complaints[0].near_gpu,
                      x->set.complaints[0].reason);
      return;
    }
    if (x->set.pair_count == 0) {
      char reason[CASE_REASON_MAX];
      pairs_say_none(&x->set, flow->from.place, flow->to.place, rule, reason);
      emit_unresolved(x, &flow->from, &flow->to, -1, reason);
      return;
    }
    for (size_t p = 0; p < x->set.pair_count; p++) {
      add_flows(x, flow, transfer->direction, x->set.pairs[p]);
    }
  }
  emit_case(x, &transfer->flows[0], transfer);
}

/* Whether pair b runs together with pair a. */
static bool run_together(const struct transfer_setting *transfer, struct pair a, struct pair b) {
  const bool reversed = transfer->direction == DIRECTION_REVERSE;
  switch (transfer->concurrent) {
  case CONCURRENT_NONE:
    return false;
  case CONCURRENT_PER_TARGET:
    return reversed ? a.from == b.from : a.to == b.to;
  case CONCURRENT_PER_SOURCE:
    return reversed ? a.to == b.to : a.from == b.from;
  case CONCURRENT_ALL:
  case CONCURRENT_RING:
  case CONCURRENT_BISECT:
    return true;
  case concurrent_name_count:
    break;
  }
  return false;
}

static int by_target(const void *left, const void *right) {
  const struct pair *a = left;
  const struct pair *b = right;
  return a->to != b->to ? (a->to > b->to) - (a->to < b->to)
                        : (a->from > b->from) - (a->from < b->from);
}

static void expand_pairs(struct expander *x, const struct transfer_setting *transfer) {
  const bool reversed = transfer->direction == DIRECTION_REVERSE;
  if (transfer->concurrent == (reversed ? CONCURRENT_PER_SOURCE : CONCURRENT_PER_TARGET)) {
    qsort(x->set.pairs, x->set.pair_count, sizeof *x->set.pairs, by_target);
  }
  memset(x->grouped, 0, x->set.pair_count * sizeof *x->grouped);
  for (size_t i = 0; i < x->set.pair_count; i++) {
    if (x->grouped[i]) {
      continue;
    }
    x->flow_count = 0;
    add_flows(x, &transfer->flow, transfer->direction, x->set.pairs[i]);
    for (size_t j = i + 1; transfer->concurrent != CONCURRENT_NONE && j < x->set.pair_count; j++) {
      if (!x->grouped[j] && run_together(transfer, x->set.pairs[i], x->set.pairs[j])) {
        x->grouped[j] = true;
        add_flows(x, &transfer->flow, transfer->direction, x->set.pairs[j]);
      }
    }
    emit_case(x, &transfer->flow, transfer);
  }
}

void expand_transfer(struct expander *expander, const struct transfer_setting *transfer,
                     expansion_receiver *receive, void *context) {
  struct expander *x = expander;
  x->receive = receive;
  x->context = context;
  make_loads(x, transfer);
  if (transfer->flow_count > 0) {
    expand_spelled(x, transfer);
    return;
  }
  const struct flow_setting *setting = &transfer->flow;
  pairs_resolve(&x->set, &setting->from, &setting->to);
  for (size_t i = 0; i < x->set.complaint_count; i++) {
    emit_unresolved(x, &setting->from, &setting->to, x->set.complaints[i].near_gpu,
                    x->set.complaints[i].reason);
  }
  if (x->set.pair_count == 0) {
    return;
  }
  char reason[CASE_REASON_MAX] = "";
  if (transfer->concurrent == CONCURRENT_RING || transfer->concurrent == CONCURRENT_BISECT) {
    make_pattern(x, transfer, reason);
  } else {
    const struct pair_rule rule = rule_of_transfer(transfer);
    pairs_apply(&x->set, setting->from.place, setting->to.place, rule);
    if (x->set.pair_count == 0) {
      pairs_say_none(&x->set, setting->from.place, setting->to.place, rule, reason);
    }
  }
  if (x->set.pair_count == 0) {
    emit_unresolved(x, &setting->from, &setting->to, -1, reason);
    return;
  }
  expand_pairs(x, transfer);
}
