#include "runner/plan/case_use.h"

static bool use_is_gpu(const struct machine *machine, const struct endpoint *end) {
  return end->place == PLACE_GPU && end->index >= 0 && (uint32_t)end->index < machine->gpu_count;
}

/* The link of a GPU to the host. */
static void use_link(struct case_use *use, const struct machine *machine,
                     const struct endpoint *end) {
  use->links |= use_is_gpu(machine, end) ? UINT32_C(1) << end->index : 0;
}

/* Bytes go between two places: through the host, but within a GPU or over NVLink. */
static void use_path(struct case_use *use, const struct machine *machine,
                     const struct endpoint *from, const struct endpoint *to, bool staged) {
  if (use_is_gpu(machine, from) && use_is_gpu(machine, to) && !staged) {
    const struct gpu_link *link = &machine->links[from->index][to->index];
    if (from->index == to->index || (link->peer_access && link->nvlink_count > 0)) {
      return;
    }
  }
  use->host = true;
  use_link(use, machine, from);
  use_link(use, machine, to);
}

void case_use_add(struct case_use *use, const struct machine *machine,
                  const struct bench_case *bench_case) {
  const union work *work = &bench_case->work;
  use->gpus |= bench_case_gpus(bench_case);
  switch (bench_case->kind) {
  case CASE_TRANSFER:
    for (uint32_t i = 0; i < bench_case->flow_count; i++) {
      const struct flow *flow = &bench_case->flows[i];
      use_path(use, machine, &flow->source, &flow->target, flow->staged);
    }
    break;
  case CASE_CHASE:
    use_path(use, machine, &work->chase.memory,
             &(struct endpoint){.place = PLACE_GPU, .index = work->chase.gpu}, false);
    break;
  case CASE_STREAM:
    use_path(use, machine, &work->stream.memory, &work->stream.memory, false);
    break;
  case CASE_OVERHEAD:
    use->host = true;
    break;
  case CASE_ARITHMETIC:
  case case_kind_name_count:
    break;
  }
}
