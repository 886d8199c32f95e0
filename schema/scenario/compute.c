/* A [[compute]]: its keys and their defaults. What is measured is the one flow of the setting. */
#include "schema/scenario/kind.h"

#define COMPUTE(member) SETTING(transfer.flow.base.member)

static const struct field compute_fields[] = {
    KIND_KEY(COMPUTE, "op", NULL, WORDS(compute_op_names), COMPUTE(compute.op), .required = true,
             HELP("What is computed; matmul: the product of two matrices of bf16 by tensor cores, "
                  "with sums in f32; fma: multiply-adds of f32 in registers alone; triad: a + "
                  "intensity x b over two arrays of f32 in the GPU's memory")),
    KIND_KEY(COMPUTE, "at.gpu", NULL, .type = FIELD_GPUS, SETTING(at),
             HELP("GPUs, numbered in the order of PCI addresses; by default all")),
    KIND_KEY(COMPUTE, "size", NULL, SIZE(1, SIZE_LIMIT), COMPUTE(size_bytes),
             HELP("Bytes of both operands together: of matmul the largest square matrices that "
                  "fit, whose side is a multiple of 256, by default 64MiB for 4096 x 4096; of "
                  "triad by default 512MiB; of fma the room for its results, by default 4MiB")),
    KIND_KEY(COMPUTE, "sm_percent", NULL, COUNT(1, 100), COMPUTE(compute.sm_percent),
             .default_text = "100",
             HELP("Share of the GPU's SMs that have a block of the kernel; the other SMs are free "
                  "for what runs beside it")),
    KIND_KEY(COMPUTE, "sm_share", NULL, WORDS(sm_share_names), COMPUTE(compute.sm_share),
             .default_text = "blocks",
             HELP("How the kernel is kept to its share: by the number of its blocks, which the GPU "
                  "places, or in a green context (cuGreenCtxCreate, from CUDA 12.5 on) that has "
                  "as many SMs, or the next number that the driver gives")),
    KIND_KEY(COMPUTE, "priority", NULL, WORDS(stream_priority_names), COMPUTE(priority),
             .default_text = "default",
             HELP("Priority of the kernel's stream: the driver's lowest or highest")),
    KIND_KEY(COMPUTE, "intensity", NULL, COUNT(1, COMPUTE_INTENSITY_MAX),
             COMPUTE(compute.intensity), .default_text = "1",
             HELP("Of triad: multiply-adds for each element. With 1 memory limits it, with many "
                  "the units that multiply and add")),
};

/* Only what the operation has, so that a sweep over operations has no case twice. */
static void compute_finish(const struct block *block, struct setting *setting) {
  struct flow *flow = &setting->transfer.flow.base;
  (void)block;
  kind_finish_end(&setting->at, PLACE_GPU, SELECTOR_ALL);
  setting->at.memory = MEMORY_DEVICE;
  flow->method = METHOD_COMPUTE;
  flow->size_bytes =
      flow->size_bytes > 0 ? flow->size_bytes : compute_usual_bytes(flow->compute.op);
  if (flow->compute.op != COMPUTE_TRIAD) {
    flow->compute.intensity = 0;
  }
}

const struct scenario_kind scenario_kind_compute = {
    .section = {SECTION_ROOT, "compute", true, "[[compute]]",
                "The rate of a kernel that computes, alone or beside loads: in floating-point "
                "operations per second, a multiply-add being two, and of triad in bytes per "
                "second. One block runs on each SM that it may have, until all is done. Every "
                "result is verified."},
    .fields = compute_fields,
    .field_count = sizeof compute_fields / sizeof *compute_fields,
    .finish = compute_finish,
};
