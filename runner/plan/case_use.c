#include "runner/plan/case_use.h"

static void use_gpu(struct case_use *use, int32_t gpu) {
  if (gpu >= 0 && gpu < MACHINE_GPUS_MAX) {
    use->gpus |= UINT32_C(1) << gpu;
  }
}

static void use_gpu_and_link(struct case_use *use, int32_t gpu) {
  use_gpu(use, gpu);
  if (gpu >= 0 && gpu < MACHINE_GPUS_MAX) {
    use->links |= UINT32_C(1) << gpu;
  }
  use->host = true;
}

static bool use_is_gpu(const struct machine *machine, const struct endpoint *end) {
  return end->place == PLACE_GPU && end->index >= 0 && (uint32_t)end->index < machine->gpu_count;
}

/* Bytes go between two places. */
static void use_path(struct case_use *use, const struct machine *machine,
                     const struct endpoint *from, const struct endpoint *to, bool staged) {
  const bool from_gpu = use_is_gpu(machine, from);
  const bool to_gpu = use_is_gpu(machine, to);
  if (from_gpu && to_gpu) {
    const struct gpu_link *link = &machine->links[from->index][to->index];
    const bool direct = from->index == to->index || (link->peer_access && link->nvlink_count > 0);
    use_gpu(use, from->index);
    use_gpu(use, to->index);
    if (staged || !direct) {
      use_gpu_and_link(use, from->index);
      use_gpu_and_link(use, to->index);
    }
    return;
  }
  use->host = true;
  if (from_gpu) {
    use_gpu_and_link(use, from->index);
  }
  if (to_gpu) {
    use_gpu_and_link(use, to->index);
  }
}

void case_use_add(struct case_use *use, const struct machine *machine,
                  const struct bench_case *bench_case) {
  const union work *work = &bench_case->work;
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
  case CASE_ARITHMETIC:
    use_gpu(use, work->arithmetic.gpu);
    break;
  case CASE_OVERHEAD:
    use_gpu(use, work->overhead.gpu);
    use->host = true;
    break;
  case case_kind_name_count:
    break;
  }
}
