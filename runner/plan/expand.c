#include "runner/plan/expand.h"

#include "runner/plan/place.h"

#include <stdio.h>
#include <stdlib.h>

enum { PAIRS_MAX = PLACES_MAX * PLACES_MAX, COMPLAINTS_MAX = MACHINE_GPUS_MAX + 2 };

struct pair {
  int32_t from, to;
};

/* Something that was asked for and is not there. near_gpu: the GPU for which it is not, or -1. */
struct complaint {
  int32_t near_gpu;
  char reason[CASE_REASON_MAX];
};

struct expander {
  const struct machine *machine;
  struct arena *arena;
  expansion_receiver *receive;
  void *context;
  size_t pair_count;
  struct pair pairs[PAIRS_MAX];
  bool grouped[PAIRS_MAX];
  size_t complaint_count;
  struct complaint complaints[COMPLAINTS_MAX];
  size_t flow_count; /* may pass CASE_FLOWS_MAX: then only counted */
  struct flow flows[CASE_FLOWS_MAX];
  size_t load_count;
  struct flow loads[CASE_FLOWS_MAX];
  char load_reason[CASE_REASON_MAX]; /* why the loads cannot be made; empty = they can */
};

struct expander *expander_new(const struct machine *machine, struct arena *arena) {
  struct expander *x = calloc(1, sizeof *x);
  if (x == NULL) {
    abort(); /* as arena.h does: no condition to recover from */
  }
  x->machine = machine;
  x->arena = arena;
  return x;
}

void expander_free(struct expander *expander) {
  free(expander);
}

/* ---- pairs ---- */

static void complain(struct expander *x, int32_t near_gpu, const char *reason) {
  if (reason[0] != '\0' && x->complaint_count < COMPLAINTS_MAX) {
    struct complaint *complaint = &x->complaints[x->complaint_count++];
    complaint->near_gpu = near_gpu;
    (void)snprintf(complaint->reason, sizeof complaint->reason, "%s", reason);
  }
}

static void add_pair(struct expander *x, int32_t from, int32_t to) {
  x->pairs[x->pair_count++] = (struct pair){from, to};
}

/* One end is local or remote to the GPUs of the other. */
static void resolve_relative(struct expander *x, const struct endpoint_setting *near,
                             const struct endpoint_setting *gpus, bool near_is_from) {
  struct place_list gpu_list;
  char reason[CASE_REASON_MAX];
  place_resolve(gpus, x->machine, -1, &gpu_list, reason);
  complain(x, -1, reason);
  for (size_t i = 0; i < gpu_list.count; i++) {
    const int32_t gpu = gpu_list.indices[i];
    struct place_list nodes;
    place_resolve(near, x->machine, gpu, &nodes, reason);
    complain(x, gpu, reason);
    for (size_t j = 0; j < nodes.count; j++) {
      const int32_t node = nodes.indices[j];
      add_pair(x, near_is_from ? node : gpu, near_is_from ? gpu : node);
    }
  }
}

/* from x to into x->pairs, and what is missing into x->complaints. */
static void resolve_product(struct expander *x, const struct endpoint_setting *from,
                            const struct endpoint_setting *to) {
  x->pair_count = 0;
  x->complaint_count = 0;
  if (place_is_relative(&from->selector) && to->place == PLACE_GPU) {
    resolve_relative(x, from, to, true);
    return;
  }
  if (place_is_relative(&to->selector) && from->place == PLACE_GPU) {
    resolve_relative(x, to, from, false);
    return;
  }
  struct place_list from_list;
  struct place_list to_list;
  char from_reason[CASE_REASON_MAX];
  char to_reason[CASE_REASON_MAX];
  place_resolve(from, x->machine, -1, &from_list, from_reason);
  place_resolve(to, x->machine, -1, &to_list, to_reason);
  const bool both =
      from_reason[0] != '\0' && to_reason[0] != '\0' && strcmp(from_reason, to_reason) != 0;
  char reason[CASE_REASON_MAX];
  (void)snprintf(reason, sizeof reason, "%.250s%s%.250s", from_reason, both ? "; " : "",
                 both || from_reason[0] == '\0' ? to_reason : "");
  complain(x, -1, reason);
  for (size_t i = 0; i < from_list.count; i++) {
    for (size_t j = 0; j < to_list.count; j++) {
      add_pair(x, from_list.indices[i], to_list.indices[j]);
    }
  }
}

static bool has_pair(const struct expander *x, int32_t from, int32_t to) {
  for (size_t i = 0; i < x->pair_count; i++) {
    if (x->pairs[i].from == from && x->pairs[i].to == to) {
      return true;
    }
  }
  return false;
}

struct pair_rule {
  bool equal;   /* (a, a) is wanted */
  bool unequal; /* (a, b) is wanted */
  bool once;    /* of (a, b) and (b, a) only the first */
};

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
  case pairs_word_count:
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

/* Drop the pairs that the rule does not want. */
static void apply_rule(struct expander *x, const struct flow_setting *setting,
                       struct pair_rule rule) {
  if (setting->from.place != setting->to.place) {
    x->pair_count = rule.unequal ? x->pair_count : 0;
    return;
  }
  /* Decide before dropping: has_pair() looks at all of them. */
  for (size_t i = 0; i < x->pair_count; i++) {
    const struct pair pair = x->pairs[i];
    const bool wanted = pair.from == pair.to ? rule.equal : rule.unequal;
    const bool again = rule.once && pair.from > pair.to && has_pair(x, pair.to, pair.from);
    x->grouped[i] = !wanted || again;
  }
  size_t kept = 0;
  for (size_t i = 0; i < x->pair_count; i++) {
    if (!x->grouped[i]) {
      x->pairs[kept++] = x->pairs[i];
    }
  }
  x->pair_count = kept;
}

static void say_no_pairs(const struct expander *x, const struct flow_setting *setting,
                         struct pair_rule rule, char reason[CASE_REASON_MAX]) {
  const bool gpu = setting->from.place == PLACE_GPU;
  const uint32_t count = gpu ? x->machine->gpu_count : x->machine->node_count;
  const char *what = gpu ? "GPU" : "NUMA node";
  if (setting->from.place != setting->to.place) {
    (void)snprintf(reason, CASE_REASON_MAX,
                   "pairs = \"same\" needs two ends of one kind, not a GPU and a NUMA node");
  } else if (!rule.unequal) {
    (void)snprintf(reason, CASE_REASON_MAX, "no %s is in both from and to", what);
  } else if (count < 2) {
    (void)snprintf(reason, CASE_REASON_MAX, "needs two %ss, this machine has %u", what, count);
  } else {
    (void)snprintf(reason, CASE_REASON_MAX,
                   "from and to come to the same %s; pairs = \"same\" copies inside one", what);
  }
}

/* The places of both ends together, ascending; ends must be of one kind. */
static size_t places_of_both(const struct expander *x, int32_t places[2 * PLACES_MAX]) {
  size_t count = 0;
  for (size_t i = 0; i < x->pair_count; i++) {
    const int32_t ends[2] = {x->pairs[i].from, x->pairs[i].to};
    for (size_t e = 0; e < 2; e++) {
      size_t at = 0;
      while (at < count && places[at] < ends[e]) {
        at++;
      }
      if (at == count || places[at] != ends[e]) {
        memmove(&places[at + 1], &places[at], (count - at) * sizeof *places);
        places[at] = ends[e];
        count++;
      }
    }
  }
  return count;
}

/* Replace the pairs by a ring or by a bisection of their places. */
static void make_pattern(struct expander *x, const struct transfer_setting *transfer,
                         char reason[CASE_REASON_MAX]) {
  const bool ring = transfer->concurrent == CONCURRENT_RING;
  const char *word = concurrent_text(transfer->concurrent);
  if (transfer->flow.from.place != transfer->flow.to.place) {
    (void)snprintf(reason, CASE_REASON_MAX,
                   "concurrent = \"%s\" needs two ends of one kind, not a GPU and a NUMA node",
                   word);
    x->pair_count = 0;
    return;
  }
  int32_t places[2 * PLACES_MAX + 1];
  size_t count = places_of_both(x, places);
  x->pair_count = 0;
  if (count < 2) {
    (void)snprintf(reason, CASE_REASON_MAX, "concurrent = \"%s\" needs two places, there is %zu",
                   word, count);
    return;
  }
  count -= ring ? 0 : count % 2;
  const size_t step = ring ? 1 : count / 2;
  for (size_t i = 0; i < count; i++) {
    add_pair(x, places[i], places[(i + step) % count]);
  }
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
  if (shape.width_bytes > 0) {
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
  if (flow.shape.width_bytes > 0) {
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

static void emit_unresolved(struct expander *x, const struct flow_setting *setting,
                            int32_t near_gpu, const char *reason) {
  const struct endpoint_setting *ends[2] = {&setting->from, &setting->to};
  struct strbuf asked;
  strbuf_init(&asked, CASE_REASON_MAX);
  for (size_t e = 0; e < 2; e++) {
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
  const struct expansion expansion = {
      .asked = arena_strdup(x->arena, asked.text),
      .reason = arena_strdup(x->arena, reason),
  };
  strbuf_fini(&asked);
  x->receive(x->context, &expansion);
}

/* One case of x->flows and the loads. */
static void emit_case(struct expander *x, const struct flow_setting *setting) {
  const size_t count = x->flow_count + x->load_count;
  if (count > CASE_FLOWS_MAX) {
    char reason[CASE_REASON_MAX];
    (void)snprintf(reason, sizeof reason, "%zu flows at once, at most %d can be measured", count,
                   CASE_FLOWS_MAX);
    emit_unresolved(x, setting, -1, reason);
    return;
  }
  struct flow *flows = arena_array(x->arena, count, sizeof *flows);
  memcpy(flows, x->flows, x->flow_count * sizeof *flows);
  memcpy(flows + x->flow_count, x->loads, x->load_count * sizeof *flows);
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
    const struct pair_rule rule = rule_default(load);
    resolve_product(x, &load->from, &load->to);
    apply_rule(x, load, rule);
    if (x->complaint_count > 0) {
      (void)snprintf(x->load_reason, sizeof x->load_reason, "load: %.500s",
                     x->complaints[0].reason);
    } else if (x->pair_count == 0) {
      char reason[CASE_REASON_MAX];
      say_no_pairs(x, load, rule, reason);
      (void)snprintf(x->load_reason, sizeof x->load_reason, "load: %.500s", reason);
    } else if (x->load_count + x->pair_count > CASE_FLOWS_MAX) {
      (void)snprintf(x->load_reason, sizeof x->load_reason, "more than %d flows of load at once",
                     CASE_FLOWS_MAX);
      return;
    }
    for (size_t p = 0; p < x->pair_count; p++) {
      x->loads[x->load_count++] = make_flow(x, load, FLOW_LOAD, x->pairs[p], false);
    }
  }
}

static void expand_spelled(struct expander *x, const struct transfer_setting *transfer) {
  x->flow_count = 0;
  for (size_t i = 0; i < transfer->flow_count; i++) {
    const struct flow_setting *flow = &transfer->flows[i];
    const struct pair_rule rule = rule_default(flow);
    resolve_product(x, &flow->from, &flow->to);
    apply_rule(x, flow, rule);
    if (x->complaint_count > 0) {
      emit_unresolved(x, flow, x->complaints[0].near_gpu, x->complaints[0].reason);
      return;
    }
    if (x->pair_count == 0) {
      char reason[CASE_REASON_MAX];
      say_no_pairs(x, flow, rule, reason);
      emit_unresolved(x, flow, -1, reason);
      return;
    }
    for (size_t p = 0; p < x->pair_count; p++) {
      add_flows(x, flow, transfer->direction, x->pairs[p]);
    }
  }
  emit_case(x, transfer->flow_count > 0 ? &transfer->flows[0] : &transfer->flow);
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
  case concurrent_word_count:
    break;
  }
  return false;
}

static void expand_pairs(struct expander *x, const struct transfer_setting *transfer) {
  memset(x->grouped, 0, x->pair_count * sizeof *x->grouped);
  for (size_t i = 0; i < x->pair_count; i++) {
    if (x->grouped[i]) {
      continue;
    }
    x->flow_count = 0;
    add_flows(x, &transfer->flow, transfer->direction, x->pairs[i]);
    for (size_t j = i + 1; transfer->concurrent != CONCURRENT_NONE && j < x->pair_count; j++) {
      if (!x->grouped[j] && run_together(transfer, x->pairs[i], x->pairs[j])) {
        x->grouped[j] = true;
        add_flows(x, &transfer->flow, transfer->direction, x->pairs[j]);
      }
    }
    emit_case(x, &transfer->flow);
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
  resolve_product(x, &setting->from, &setting->to);
  for (size_t i = 0; i < x->complaint_count; i++) {
    emit_unresolved(x, setting, x->complaints[i].near_gpu, x->complaints[i].reason);
  }
  if (x->pair_count == 0) {
    return;
  }
  char reason[CASE_REASON_MAX] = "";
  if (transfer->concurrent == CONCURRENT_RING || transfer->concurrent == CONCURRENT_BISECT) {
    make_pattern(x, transfer, reason);
  } else {
    const struct pair_rule rule = rule_of_transfer(transfer);
    apply_rule(x, setting, rule);
    if (x->pair_count == 0) {
      say_no_pairs(x, setting, rule, reason);
    }
  }
  if (x->pair_count == 0) {
    emit_unresolved(x, setting, -1, reason);
    return;
  }
  expand_pairs(x, transfer);
}
