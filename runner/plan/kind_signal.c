/* Flags and atomic additions. In the definition and in the database a signal is one flow from the
 * responder, or the memory that is added to, to the GPU. */
#include "engine/machine/machine.h"
#include "runner/plan/definition.h"
#include "runner/plan/estimate.h"
#include "runner/plan/kind.h"
#include "runner/plan/name.h"
#include "schema/scenario/setting.h"

/* A round, an addition with its answer, and one without where many are under way, in ns. */
#define ROUND_NS  2500.0
#define ATOMIC_NS 1300.0
#define MANY_NS   1.0

static void plan_signal_expand(struct expander *x, const struct setting *setting) {
  const struct signal *given = &setting->work.signal;
  const bool within = given->op != SIGNAL_FLAG && given->op != SIGNAL_STREAM;
  const struct pair_rule rule = {
      .equal = within, .unequal = true, .if_equal = "give `of` another GPU, or a node"};
  expand_resolve_pairs(x, &setting->at, &setting->of, rule, CONCURRENT_NONE);
  for (size_t i = 0; i < x->set.pair_count; i++) {
    const struct pair pair = x->set.pairs[i];
    union work work = {.signal = *given};
    work.signal.gpu = pair.from;
    work.signal.other = place_endpoint(&setting->of, pair.to);
    const struct case_def def = {.work = &work, .operations = signal_operations(&work.signal)};
    expand_emit(x, &def, NULL);
  }
}

static void plan_signal_path(const struct case_def *def, struct strbuf *text) {
  name_append_gpu(text, def->work->signal.gpu);
  strbuf_append_char(text, '-');
  name_append_endpoint(text, &def->work->signal.other);
}

static void plan_signal_define(const struct case_def *def, struct strbuf *text) {
  const struct signal *signal = &def->work->signal;
  const struct endpoint gpu = endpoint_own(PLACE_GPU, signal->gpu, MEMORY_DEVICE);
  strbuf_append(text, ",\"flows\":[{\"role\":\"measured\",\"method\":\"signal\"");
  definition_append_number(text, ",\"method_version\":", SIGNAL_METHOD_VERSION);
  definition_append_endpoint(text, ",\"source\":", &signal->other);
  definition_append_endpoint(text, ",\"target\":", &gpu);
  definition_append_text(text, ",\"initiator\":", initiator_text(INITIATOR_TARGET));
  definition_append_number(text, ",\"staged\":", 0);
  definition_append_number(text, ",\"size_bytes\":",
                           signal->op == SIGNAL_EVENT                                 ? 0
                           : signal->op == SIGNAL_FLAG || signal->op == SIGNAL_STREAM ? 4
                                                                                      : 8);
  definition_append_work_keys(text, def);
  strbuf_append(text, "}]");
}

static const char *plan_signal_unsupported(const struct case_def *def,
                                           const struct machine *machine,
                                           char reason[CASE_REASON_MAX]) {
  const struct signal *signal = &def->work->signal;
  const bool answered = signal->op == SIGNAL_FLAG || signal->op == SIGNAL_STREAM;
  if (answered && signal->other.place == PLACE_NUMA &&
      !place_has_processors(machine, signal->other.index)) {
    return CASE_REASON(reason, "NUMA node %d has no processors to run threads on",
                       signal->other.index);
  }
  return NULL;
}

static bool plan_signal_memory(const struct case_def *def, uint32_t i, struct endpoint *memory,
                               uint64_t *size_bytes) {
  const struct signal *signal = &def->work->signal;
  *memory = i == 0 ? signal->other : endpoint_own(PLACE_GPU, signal->gpu, MEMORY_DEVICE);
  *size_bytes = 4096;
  return i < 2;
}

static void plan_signal_cost(const struct case_def *def, const struct machine *machine,
                             struct cost *cost) {
  const enum signal_op op = def->work->signal.op;
  (void)machine;
  cost->work_ns = (double)def->operations * (op == SIGNAL_ATOMICS  ? MANY_NS
                                             : op == SIGNAL_ATOMIC ? ATOMIC_NS
                                                                   : ROUND_NS);
  cost->iterations_max = (double)signal_rounds_max(&def->work->signal) / def->work->signal.rounds;
}

const struct plan_kind plan_kind_signal = {
    .expand = plan_signal_expand,
    .path = plan_signal_path,
    .operation = "round",
    .by_operation = true,
    .define = plan_signal_define,
    .unsupported_reason = plan_signal_unsupported,
    .memory = plan_signal_memory,
    .cost = plan_signal_cost,
};
