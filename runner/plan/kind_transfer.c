/* Flows of bytes.
 *
 * Pairs: from x to, each selector resolved as place.h says, and of them
 *   different kinds of place   every pair
 *   pairs = "ordered"          every (a, b) with a != b
 *   pairs = "unordered"        each {a, b} with a != b once
 *   pairs = "same"             every (a, a)
 *   pairs = "sample"           n * samples of the n * (n - 1) ordered ones, with every place
 *                              `samples` times at either end; of direction = "both", of the
 *                              unordered ones
 *   pairs not given            GPU to GPU: ordered, so that 8 GPUs give 56.
 *                              NUMA to NUMA: every pair, (a, a) too, because a copy inside a node
 *                              is as much of interest as one between nodes.
 *                              Each end one place by number: that pair, whatever it is.
 *
 * direction
 *   forward    from -> to
 *   reverse    source and target exchanged
 *   both       two flows of each pair. a -> b with b -> a is the same measurement as b -> a with
 *              a -> b, and stands only once, where both ends name one kind of memory and concurrent
 *              is none or all.
 *
 * initiator is a property of each flow: "source" means the source of that flow.
 *   not given  between host and GPU the GPU; else the source, or the target where only the target's
 *              node has processors
 *
 * concurrent
 *   none                     one case per pair
 *   per_target, per_source   one case for all pairs into one target, out of one source, after
 *                            direction = reverse is applied; of `both` the forward flow decides
 *   all                      one case
 *   ring                     place i -> i + 1, the last to the first
 *   bisect                   place i -> i + n/2 modulo n, so that half of the flows cross the
 *                            middle in each direction; of an odd number of places the last is left
 *                            out
 *   ring and bisect take the places of both ends together and ignore `pairs`.
 *
 * [[transfer.flow]]  from x to of each by the rules of `pairs` not given, all in one case.
 * [[transfer.load]]  the same, added to every case with role load; flows of load do not reverse. A
 *                    load that names no ends mirrors: for every measured flow one of load, after
 *                    the others, with the same endpoints (exchanged for direction = "reverse") and
 *                    what else the load does not say itself; its initiator is the same end by role,
 *                    but between host and GPU the GPU. */
#include "runner/plan/definition.h"
#include "runner/plan/estimate.h"
#include "runner/plan/kind.h"
#include "runner/plan/name.h"

#include "engine/base/order.h"
#include "engine/engine.h"
#include "engine/machine/machine.h"
#include "schema/scenario/setting.h"

#include <math.h>
#include <stdio.h>

static bool plan_transfer_is_one_place(const struct selector *selector) {
  return selector->kind == SELECTOR_LIST && selector->count + selector->uuid_count == 1;
}

static struct pair_rule plan_transfer_rule_given(const struct expander *x,
                                                 const struct transfer_setting *transfer) {
  switch (transfer->pairs) {
  case PAIRS_ORDERED:
    return (struct pair_rule){.unequal = true};
  case PAIRS_UNORDERED:
    return (struct pair_rule){.unequal = true, .once = true};
  case PAIRS_SAME:
    return (struct pair_rule){.equal = true};
  case PAIRS_SAMPLE:
    return (struct pair_rule){.unequal = true, .samples = transfer->samples, .seed = x->seed};
  case pairs_name_count:
    break;
  }
  return (struct pair_rule){.equal = true, .unequal = true};
}

static struct pair_rule plan_transfer_rule_default(const struct flow_setting *setting) {
  const bool one = plan_transfer_is_one_place(&setting->from.selector) &&
                   plan_transfer_is_one_place(&setting->to.selector);
  return (struct pair_rule){.equal = one || setting->from.place == PLACE_NUMA, .unequal = true};
}

static struct pair_rule plan_transfer_rule_of_transfer(const struct expander *x,
                                                       const struct transfer_setting *transfer) {
  const bool symmetric = transfer->direction == DIRECTION_BOTH &&
                         transfer->flow.from.memory == transfer->flow.to.memory &&
                         transfer->flow.from.process == transfer->flow.to.process;
  const bool once = symmetric && (transfer->concurrent == CONCURRENT_NONE ||
                                  transfer->concurrent == CONCURRENT_ALL);
  struct pair_rule rule = transfer->pairs_given ? plan_transfer_rule_given(x, transfer)
                                                : plan_transfer_rule_default(&transfer->flow);
  rule.once = rule.once || (once && (!transfer->pairs_given || rule.samples > 0));
  rule.if_equal = "pairs = \"same\" copies inside one";
  return rule;
}

/* The side whose processor starts a flow when nobody says. */
static enum initiator plan_transfer_usual_initiator(const struct machine *machine,
                                                    const struct endpoint *source,
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

/* Rows and planes that are not given are one, a pitch that is not given is the width; the size is
 * that of all rows. */
static void plan_transfer_normalise_shape(struct flow *flow) {
  struct copy_shape *shape = &flow->shape;
  if (copy_shape_is_strided(shape)) {
    shape->height = shape->height > 0 ? shape->height : 1;
    shape->depth = shape->depth > 0 ? shape->depth : 1;
    shape->pitch_bytes = shape->pitch_bytes > 0 ? shape->pitch_bytes : shape->width_bytes;
    flow->size_bytes = shape->width_bytes * shape->height * shape->depth;
  }
}

/* The node of the flow's host memory, where processors reach it as their own; else the one nearest
 * to the GPU that the bytes come from, or are. -1: not known. */
static int32_t plan_transfer_local_node(const struct machine *machine, const struct flow *flow) {
  const struct endpoint *end = flow->source.place == PLACE_NUMA ? &flow->source : &flow->target;
  const int gpu = end->place == PLACE_NUMA ? machine_node_gpu(machine, end->index) : -1;
  if (end->place == PLACE_NUMA && gpu < 0) {
    return end->index;
  }
  return place_near_gpu(machine, gpu >= 0 ? gpu : flow->source.index);
}

/* Where the thread runs that makes the copy, if one does. What is written in several ways and is
 * the same is one choice: the number of the memory's own node is "local". */
static struct flow_cpu plan_transfer_cpu(const struct machine *machine,
                                         const struct flow_setting *setting,
                                         const struct flow *flow) {
  struct flow_cpu cpu = setting->cpu;
  if (!flow_blocks_host(flow) || cpu.choice == CPU_ANY) {
    return (struct flow_cpu){.choice = CPU_ANY};
  }
  const int32_t local = plan_transfer_local_node(machine, flow);
  if (cpu.choice == CPU_LOCAL) {
    cpu.node = local;
  } else if (cpu.choice == CPU_REMOTE) {
    cpu.node = place_far_node(machine, local);
  } else if (!flow->staged && cpu.node == local) {
    cpu.choice = CPU_LOCAL;
  }
  return cpu;
}

static struct flow plan_transfer_make_flow(const struct expander *x,
                                           const struct flow_setting *setting, enum flow_role role,
                                           struct pair pair, bool reversed) {
  const struct endpoint from = place_endpoint(&setting->from, pair.from);
  const struct endpoint to = place_endpoint(&setting->to, pair.to);
  struct flow flow = setting->base;
  flow.role = role;
  if (role == FLOW_LOAD) { /* repeats for as long as it takes, beside the others */
    flow.copies = 0;
    flow.stream = 0;
  }
  flow.source = reversed ? to : from;
  flow.target = reversed ? from : to;
  if (!setting->initiator_given) {
    flow.initiator = plan_transfer_usual_initiator(x->machine, &flow.source, &flow.target);
  }
  flow.staged =
      !setting->peer && from.place == PLACE_GPU && to.place == PLACE_GPU && pair.from != pair.to;
  plan_transfer_normalise_shape(&flow);
  expand_make_compute(setting, &flow);
  flow.cpu = plan_transfer_cpu(x->machine, setting, &flow);
  return flow;
}

/* Divided among so many streams, the first of which have a byte more where it does not go evenly.
 */
static void plan_transfer_add_flow(struct expander *x, uint32_t streams, struct flow flow) {
  const uint64_t size_bytes = flow.size_bytes;
  const uint32_t shares = streams > 1 && size_bytes >= streams ? streams : 1;
  for (uint32_t i = 0; i < shares; i++) {
    flow.size_bytes = size_bytes / shares + (i < size_bytes % shares);
    if (x->flow_count < CASE_FLOWS_MAX) {
      x->flows[x->flow_count] = flow;
    }
    x->flow_count++;
  }
}

static void plan_transfer_add_flows(struct expander *x, const struct flow_setting *setting,
                                    enum direction direction, struct pair pair) {
  if (direction != DIRECTION_REVERSE) {
    plan_transfer_add_flow(x, setting->streams,
                           plan_transfer_make_flow(x, setting, FLOW_MEASURED, pair, false));
  }
  if (direction != DIRECTION_FORWARD) {
    plan_transfer_add_flow(x, setting->streams,
                           plan_transfer_make_flow(x, setting, FLOW_MEASURED, pair, true));
  }
}

/* Who starts the mirror of a flow: the same end by its role, but never a node where the other end
 * is a GPU, nor one without processors where the other has some. */
static enum initiator plan_transfer_initiator_of_mirror(const struct expander *x,
                                                        const struct flow_setting *load,
                                                        enum initiator measured,
                                                        const struct flow *flow) {
  const enum initiator usual =
      plan_transfer_usual_initiator(x->machine, &flow->source, &flow->target);
  const enum initiator wanted = load->initiator_given ? load->base.initiator : measured;
  const struct endpoint *starts = wanted == INITIATOR_SOURCE ? &flow->source : &flow->target;
  const bool able = starts->place == PLACE_GPU || (flow->source.place == flow->target.place &&
                                                   place_has_processors(x->machine, starts->index));
  return able ? wanted : usual;
}

/* Pages of unified memory would move under any other method: such a load has memory of its own. */
static void plan_transfer_leave_managed(struct endpoint *end) {
  if (end->memory == MEMORY_MANAGED) {
    end->memory = end->place == PLACE_GPU ? MEMORY_DEVICE : MEMORY_PINNED;
  }
}

/* The same pieces, given to the engine as the load says; other methods have none. */
static void plan_transfer_take_submit(struct flow *flow, const struct flow *load) {
  flow->scatter.submit = load->scatter.submit;
  flow->scatter.order = load->scatter.order;
  flow->scatter.overlap = load->scatter.overlap;
  if (flow->method != METHOD_CE && flow->method != METHOD_SM) {
    flow->scatter = (struct scatter_shape){0};
  }
}

/* The flow of load beside a measured one. */
static struct flow plan_transfer_mirror(const struct expander *x, const struct flow_setting *load,
                                        const struct flow *measured) {
  struct flow flow = *measured;
  flow.role = FLOW_LOAD;
  flow.copies = 0;
  flow.stream = 0;
  if (load->mirror_direction == DIRECTION_REVERSE) {
    flow.source = measured->target;
    flow.target = measured->source;
  }
  if (load->method_given) {
    flow.method = load->base.method;
    flow.threads = load->base.threads;
    flow.kernel = load->base.kernel;
    flow.priority = load->base.priority;
    flow.unified = load->base.unified;
    plan_transfer_take_submit(&flow, &load->base);
  }
  if (flow.method == METHOD_UM) {
    flow.source.memory = flow.target.memory = MEMORY_MANAGED;
  } else {
    plan_transfer_leave_managed(&flow.source);
    plan_transfer_leave_managed(&flow.target);
  }
  if (load->size_given) {
    flow.shape = load->base.shape;
    flow.scatter = load->base.scatter;
    flow.size_bytes = load->base.size_bytes;
    plan_transfer_normalise_shape(&flow);
  }
  expand_make_compute(load, &flow);
  expand_place_compute(measured, &flow);
  flow.initiator = plan_transfer_initiator_of_mirror(x, load, measured->initiator, &flow);
  flow.cpu = plan_transfer_cpu(x->machine, load, &flow);
  return flow;
}

/* The loads beside that many measured flows, at the end of an array that has room for
 * `before` others; NULL after the case was handed out as one that cannot be. */
static struct flow *plan_transfer_add_loads(struct expander *x, const struct setting *setting,
                                            const struct flow *measured, size_t measured_count,
                                            size_t before, struct case_def *def) {
  const struct transfer_setting *transfer = &setting->transfer;
  size_t count = before + x->load_count;
  for (size_t i = 0; i < transfer->load_count; i++) {
    count += expand_mirror_count(&transfer->loads[i], measured_count);
  }
  if (count > CASE_FLOWS_MAX) {
    char reason[CASE_REASON_MAX];
    (void)snprintf(reason, sizeof reason, "%zu flows at once, at most %d can be measured", count,
                   CASE_FLOWS_MAX);
    const struct flow_setting *named =
        transfer->flow_count > 0 ? &transfer->flows[0] : &transfer->flow;
    expand_emit_unresolved(x, &named->from, &named->to, -1, NULL, reason);
    return NULL;
  }
  struct flow *flows = arena_array(x->arena, count, sizeof *flows);
  if (x->load_count > 0) {
    memcpy(flows + before, x->loads, x->load_count * sizeof *flows);
  }
  struct flow *next = flows + before + x->load_count;
  for (size_t i = 0; i < transfer->load_count; i++) {
    const size_t mirrors = expand_mirror_count(&transfer->loads[i], measured_count);
    for (size_t k = 0; k < mirrors && k < measured_count; k++) {
      *next++ = plan_transfer_mirror(x, &transfer->loads[i], &measured[k]);
    }
  }
  def->flows = flows;
  def->flow_count = (uint32_t)count;
  return flows;
}

static const char *plan_transfer_load_reason(struct expander *x) {
  return x->load_reason[0] != '\0' ? arena_strdup(x->arena, x->load_reason) : NULL;
}

static void plan_transfer_emit(struct expander *x, const struct case_def *def, const char *reason) {
  const struct expansion expansion = {
      .def = def, .reason = reason, .incomplete = x->load_reason[0] != '\0'};
  x->receive(x->context, &expansion);
}

void expand_emit_flows(struct expander *x, const struct setting *setting, uint64_t operations) {
  struct case_def def = {.operations = operations};
  struct flow *flows =
      plan_transfer_add_loads(x, setting, x->flows, x->flow_count, x->flow_count, &def);
  if (flows != NULL) {
    memcpy(flows, x->flows, x->flow_count * sizeof *flows);
    const char *reason = plan_transfer_load_reason(x);
    if (setting->transfer.stream_order == CASE_ORDER_SHUFFLED && !expand_shuffle_copies(x, &def)) {
      reason = arena_format(x->arena, "more than %d copies in shuffled order", COPIES_MAX);
    }
    plan_transfer_emit(x, &def, reason);
  }
}

void expand_emit_beside(struct expander *x, const struct setting *setting, struct endpoint from,
                        struct endpoint to, struct case_def *def, const char *reason) {
  const struct flow way = {
      .role = FLOW_MEASURED, .source = from, .target = to, .initiator = INITIATOR_TARGET};
  if (setting->transfer.load_count == 0) {
    expand_emit(x, def, reason);
  } else if (plan_transfer_add_loads(x, setting, &way, 1, 0, def) != NULL) {
    plan_transfer_emit(x, def, reason != NULL ? reason : plan_transfer_load_reason(x));
  }
}

/* The pairs of a flow that is listed, into x->set. False: something is missing, or no pair is left;
 * *why says what. */
static bool plan_transfer_resolve(struct expander *x, const struct flow_setting *flow,
                                  struct place_complaint *why) {
  pairs_resolve(&x->set, &flow->from, &flow->to);
  *why = (struct place_complaint){.near_gpu = -1};
  pairs_apply(&x->set, flow->from.place, flow->to.place, plan_transfer_rule_default(flow),
              why->reason);
  if (x->set.complaint_count > 0) {
    *why = x->set.complaints[0];
  }
  return why->reason[0] == '\0';
}

void expand_resolve_loads(struct expander *x, const struct setting *setting) {
  const struct transfer_setting *transfer = &setting->transfer;
  x->load_count = 0;
  x->load_reason[0] = '\0';
  for (size_t i = 0; i < transfer->load_count; i++) {
    const struct flow_setting *load = &transfer->loads[i];
    struct place_complaint why;
    if (load->mirrors) {
      continue; /* plan_transfer_add_loads() makes them: they depend on the measured flows */
    }
    if (!plan_transfer_resolve(x, load, &why)) {
      (void)snprintf(x->load_reason, sizeof x->load_reason, "load: %.500s", why.reason);
    }
    if (x->load_count + x->set.pair_count > CASE_FLOWS_MAX) {
      (void)snprintf(x->load_reason, sizeof x->load_reason, "more than %d flows of load at once",
                     CASE_FLOWS_MAX);
      return;
    }
    for (size_t p = 0; p < x->set.pair_count; p++) {
      x->loads[x->load_count++] =
          plan_transfer_make_flow(x, load, FLOW_LOAD, x->set.pairs[p], false);
    }
  }
}

static void plan_transfer_expand_spelled(struct expander *x, const struct setting *setting) {
  const struct transfer_setting *transfer = &setting->transfer;
  x->flow_count = 0;
  for (size_t i = 0; i < transfer->flow_count; i++) {
    const struct flow_setting *flow = &transfer->flows[i];
    struct place_complaint why;
    if (!plan_transfer_resolve(x, flow, &why)) {
      expand_emit_unresolved(x, &flow->from, &flow->to, why.near_gpu, NULL, why.reason);
      return;
    }
    for (size_t p = 0; p < x->set.pair_count; p++) {
      plan_transfer_add_flows(x, flow, transfer->direction, x->set.pairs[p]);
    }
  }
  expand_emit_flows(x, setting, 0);
}

static bool plan_transfer_run_together(const struct transfer_setting *transfer, struct pair a,
                                       struct pair b) {
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

ORDER_DEFINE(plan_transfer_by_target, struct pair, ORDER(x->to, y->to) ?: ORDER(x->from, y->from))

static void plan_transfer_expand_pairs(struct expander *x, const struct setting *setting) {
  const struct transfer_setting *transfer = &setting->transfer;
  const bool reversed = transfer->direction == DIRECTION_REVERSE;
  if (transfer->concurrent == (reversed ? CONCURRENT_PER_SOURCE : CONCURRENT_PER_TARGET)) {
    ORDER_SORT(x->set.pairs, x->set.pair_count, plan_transfer_by_target);
  }
  memset(x->grouped, 0, x->set.pair_count * sizeof *x->grouped);
  for (size_t i = 0; i < x->set.pair_count; i++) {
    if (x->grouped[i]) {
      continue;
    }
    x->flow_count = 0;
    plan_transfer_add_flows(x, &transfer->flow, transfer->direction, x->set.pairs[i]);
    for (size_t j = i + 1; transfer->concurrent != CONCURRENT_NONE && j < x->set.pair_count; j++) {
      if (!x->grouped[j] &&
          plan_transfer_run_together(transfer, x->set.pairs[i], x->set.pairs[j])) {
        x->grouped[j] = true;
        plan_transfer_add_flows(x, &transfer->flow, transfer->direction, x->set.pairs[j]);
      }
    }
    expand_emit_flows(x, setting, 0);
  }
}

static void plan_transfer_expand(struct expander *x, const struct setting *whole) {
  const struct transfer_setting *transfer = &whole->transfer;
  expand_resolve_loads(x, whole);
  if (transfer->flow_count > 0) {
    plan_transfer_expand_spelled(x, whole);
    return;
  }
  expand_resolve_pairs(x, &transfer->flow.from, &transfer->flow.to,
                       plan_transfer_rule_of_transfer(x, transfer), transfer->concurrent);
  plan_transfer_expand_pairs(x, whole);
}

static void plan_transfer_path(const struct case_def *def, struct strbuf *text) {
  name_append_flows(text, def->flows, def->flow_count);
}

/* What the measured flows have in common; 0 when they differ. */
static uint64_t plan_transfer_size(const struct case_def *def) {
  uint64_t size_bytes = 0;
  for (uint32_t i = 0; i < def->flow_count; i++) {
    const struct flow *flow = &def->flows[i];
    if (flow->role != FLOW_MEASURED) {
      continue;
    }
    if (size_bytes != 0 && flow->size_bytes != size_bytes) {
      return 0;
    }
    size_bytes = flow->size_bytes;
  }
  return size_bytes;
}

/* What is not the default. */
static void plan_transfer_define_cpu(const struct flow *flow, struct strbuf *text) {
  if (!flow_blocks_host(flow) || flow->cpu.choice == CPU_LOCAL) {
    return;
  }
  if (flow->cpu.choice == CPU_ANY || flow->cpu.node < 0) {
    definition_append_text(text, ",\"cpu\":", cpu_choice_text(flow->cpu.choice));
  } else {
    definition_append_number(text, ",\"cpu\":", (uint64_t)flow->cpu.node);
  }
}

static void plan_transfer_define(const struct case_def *def, struct strbuf *text) {
  strbuf_append(text, ",\"flows\":[");
  for (uint32_t i = 0; i < def->flow_count; i++) {
    const struct flow *flow = &def->flows[i];
    strbuf_append(text, i > 0 ? "," : "");
    definition_append_text(text, "{\"role\":", flow_role_text(flow->role));
    definition_append_text(text, ",\"method\":", method_text(flow->method));
    definition_append_number(text, ",\"method_version\":",
                             flow_blocks_host(flow) ? METHOD_VERSION_BY_HOST
                                                    : method_version(flow->method));
    definition_append_endpoint(text, ",\"source\":", &flow->source);
    definition_append_endpoint(text, ",\"target\":", &flow->target);
    definition_append_text(text, ",\"initiator\":", initiator_text(flow->initiator));
    definition_append_number(text, ",\"staged\":", flow->staged ? 1 : 0);
    definition_append_number(text, ",\"size_bytes\":", flow->size_bytes);
    definition_append_options(text, flow);
    plan_transfer_define_cpu(flow, text);
    if (engine_flow_is_paired(def, i)) {
      definition_append_number(text, ",\"paired\":", 1);
    }
    strbuf_append_char(text, '}');
  }
  strbuf_append_char(text, ']');
  if (def->order.flows != NULL) {
    definition_append_number(text, ",\"stream_order\":{\"shuffled\":", def->order.seed);
    strbuf_append_char(text, '}');
  }
}

/* Managed pages may be on either side. */
static bool plan_transfer_has_caches(const struct case_def *def, enum place place) {
  const struct flow *flows = def->flows;
  return ANY_OF(i, def->flow_count,
                flows[i].role == FLOW_MEASURED &&
                    (flows[i].source.place == place || flows[i].target.place == place ||
                     flows[i].source.memory == MEMORY_MANAGED ||
                     flows[i].target.memory == MEMORY_MANAGED));
}

/* Whether the thread that copies has no processor to run on there; reason says why. */
static bool plan_transfer_cpu_unsupported(const struct flow *flow, const struct machine *machine,
                                          char reason[CASE_REASON_MAX]) {
  const struct flow_cpu *cpu = &flow->cpu;
  if (cpu->choice == CPU_ANY || (cpu->node >= 0 && place_has_processors(machine, cpu->node))) {
    return false;
  }
  if (cpu->choice == CPU_NODE && machine_node_index(machine, cpu->node) < 0) {
    (void)snprintf(reason, CASE_REASON_MAX,
                   "cpu = %d: this machine has no NUMA node %d for the thread that copies",
                   cpu->node, cpu->node);
  } else if (cpu->node >= 0) {
    (void)snprintf(reason, CASE_REASON_MAX,
                   "cpu = \"%s\": the thread that copies would run on NUMA node %d, of whose "
                   "processors this process may use none (taskset, numactl or a cpuset; or it is "
                   "memory alone); name another node, or \"any\"",
                   cpu_choice_text(cpu->choice), cpu->node);
  } else if (cpu->choice == CPU_REMOTE) {
    (void)snprintf(reason, CASE_REASON_MAX,
                   "cpu = \"remote\": no NUMA node with processors is remote to the thread that "
                   "copies");
  } else {
    (void)snprintf(reason, CASE_REASON_MAX,
                   "cpu = \"local\": which NUMA node is nearest to GPU %d is not known; name the "
                   "node by its number, or \"any\"",
                   flow->source.index);
  }
  return true;
}

/* alone: the only flow of its case, whose path names the GPUs; then all pairs share one reason,
 * which groups well. */
static const char *plan_transfer_flow_unsupported(const struct flow *flow, bool alone,
                                                  const struct machine *machine,
                                                  char reason[CASE_REASON_MAX]) {
  const struct endpoint *source = &flow->source;
  const struct endpoint *target = &flow->target;
  if (source->place == PLACE_GPU && target->place == PLACE_GPU && source->index != target->index &&
      !flow->staged && !machine->links[source->index][target->index].peer_access) {
    if (alone) {
      return "no peer access between the two GPUs (to copy through the host instead: peer = false)";
    }
    (void)snprintf(
        reason, CASE_REASON_MAX,
        "GPU %d and GPU %d have no peer access (to copy through the host instead: peer = false)",
        source->index, target->index);
    return reason;
  }
  if (plan_transfer_cpu_unsupported(flow, machine, reason)) {
    return reason;
  }
  const struct endpoint *starts = flow->initiator == INITIATOR_SOURCE ? source : target;
  if (flow_is_of_host_threads(flow) && starts->place == PLACE_NUMA &&
      !place_has_processors(machine, starts->index)) {
    const int gpu = machine_node_gpu(machine, starts->index);
    return CASE_REASON(
        reason,
        gpu < 0 ? "NUMA node %d has no processors to run threads on"
                : "NUMA node %d, the memory of GPU %d, has no processors to run threads on",
        starts->index, gpu);
  }
  return NULL;
}

static const char *plan_transfer_unsupported(const struct case_def *def,
                                             const struct machine *machine,
                                             char reason[CASE_REASON_MAX]) {
  const char *unsupported = NULL;
  for (uint32_t i = 0; unsupported == NULL && i < def->flow_count; i++) {
    unsupported =
        plan_transfer_flow_unsupported(&def->flows[i], def->flow_count == 1, machine, reason);
  }
  return unsupported;
}

static bool plan_transfer_memory(const struct case_def *def, uint32_t i, struct endpoint *memory,
                                 uint64_t *size_bytes) {
  if (i / 2 >= def->flow_count) {
    return false;
  }
  const struct flow *flow = &def->flows[i / 2];
  *memory = i % 2 == 0 ? flow->source : flow->target;
  *size_bytes = flow_is_scattered(flow) ? SCATTER_SPREAD * flow->size_bytes : flow->size_bytes;
  return true;
}

static void plan_transfer_bound(const struct case_def *def, const struct machine *machine,
                                struct bound *bound) {
  bound_of_flows(def->flows, def->flow_count, machine, bound);
}

static bool plan_transfer_is_on_host_clock(const struct flow *flow) {
  return flow_is_of_host_threads(flow) || flow_is_scattered(flow) ||
         (flow->source.place == PLACE_NUMA && flow->target.place == PLACE_NUMA);
}

/* What pieces cost besides their bytes, about: a call each, or an entry of a batch. */
static double plan_transfer_pieces_ns(const struct flow *flow) {
  const double piece_ns = flow->method == METHOD_SM              ? 1
                          : flow->scatter.submit == SUBMIT_BATCH ? 1000
                                                                 : 2600;
  return piece_ns * (double)flow->scatter.pieces;
}

/* A GPU compares what it copied, wherever that is. */
static double plan_transfer_pass_ns(const struct flow *flow, const struct endpoint *endpoint) {
  return endpoint->place == PLACE_NUMA && !flow_is_of_host_threads(flow)
             ? (double)flow->size_bytes * 1e9 / ESTIMATE_LINK_PASS_RATE
             : estimate_pass_ns(endpoint->place, flow->size_bytes);
}

static void plan_transfer_cost(const struct case_def *def, const struct machine *machine,
                               struct cost *cost) {
  const struct measure *measure = &def->measure;
  double pieces_ns = 0;
  bool host_clock = false;
  for (uint32_t i = 0; i < def->flow_count; i++) {
    const struct flow *flow = &def->flows[i];
    pieces_ns = fmax(pieces_ns, plan_transfer_pieces_ns(flow));
    host_clock = host_clock || plan_transfer_is_on_host_clock(flow);
    cost->host_spread =
        cost->host_spread || host_clock || flow->method == METHOD_UM || flow_blocks_host(flow);
    const double source_ns = plan_transfer_pass_ns(flow, &flow->source);
    cost->fill_ns += source_ns;
    /* Poison the target; compare both. */
    cost->check_ns += source_ns + 2 * plan_transfer_pass_ns(flow, &flow->target);
    if (measure->host_cache != HOST_CACHE_AS_IS) {
      const double buffers = (flow->source.place == PLACE_NUMA ? 1.0 : 0.0) +
                             (flow->target.place == PLACE_NUMA ? 1.0 : 0.0);
      cost->flush_ns += buffers * (double)flow->size_bytes * 1e9 / ESTIMATE_HOST_FLUSH_RATE;
    }
  }
  cost->iterations_max = pieces_ns > 0 ? 1 : host_clock ? INFINITY : ESTIMATE_GATED_ITERATIONS_MAX;
  cost->flush_ns += measure->device_cache == CACHE_FLUSHED ? ESTIMATE_GPU_FLUSH_NS : 0;
  cost->work_ns = bound_typical_ns(def->flows, def->flow_count, machine) / ESTIMATE_TYPICAL_SHARE +
                  ESTIMATE_GPU_ITERATION_NS + pieces_ns;
}

const struct plan_kind plan_kind_transfer = {
    .expand = plan_transfer_expand,
    .path = plan_transfer_path,
    .size_bytes = plan_transfer_size,
    .define = plan_transfer_define,
    .has_caches = plan_transfer_has_caches,
    .unsupported_reason = plan_transfer_unsupported,
    .memory = plan_transfer_memory,
    .bound = plan_transfer_bound,
    .cost = plan_transfer_cost,
};
