/* A [[compute]]: its keys and their defaults. What is measured is the one flow of the setting. */
#include "schema/scenario/block.h"
#include "schema/scenario/kind.h"

#define COMPUTE(member) SETTING(transfer.flow.base.member)

static const struct field compute_fields[] = {
    KIND_KEY(COMPUTE, "op", NULL, WORDS(compute_op_names), COMPUTE(compute.op), .required = true,
             HELP("What is computed\nmatmul: the product of two matrices of bf16 by tensor cores, "
                  "with sums in f32\nfma: multiply-adds of f32 in registers only\ntriad: a + "
                  "intensity x b over two arrays of f32 in the GPU's memory")),
    KIND_KEY(COMPUTE, "at.gpu", NULL, .type = FIELD_GPUS, SETTING(at),
             HELP("GPUs, numbered in the order of PCI addresses. Default: all")),
    KIND_KEY(COMPUTE, "size", NULL, SIZE(1, SIZE_LIMIT), COMPUTE(size_bytes),
             HELP("Bytes of both operands together. matmul: the largest square matrices that fit "
                  "and whose side is a multiple of 256; default 64MiB for 4096 x 4096. triad: "
                  "default 512MiB. fma: memory for its results; default 4MiB")),
    KIND_KEY(COMPUTE, "sm_percent", NULL, COUNT(1, 100), COMPUTE(compute.sm_percent),
             .default_text = "100",
             HELP("Percentage of the GPU's SMs that run a block of the kernel. The other SMs are "
                  "free for loads")),
    KIND_KEY(
        COMPUTE, "sm_share", NULL, WORDS(sm_share_names), COMPUTE(compute.sm_share),
        .default_text = "blocks",
        HELP(
            "How the kernel is limited to its share of SMs. \"blocks\": by the number of its "
            "blocks, which the GPU places. \"green_context\": in a green context with as many SMs, "
            "or the next number that the driver gives (cuGreenCtxCreate, from CUDA 12.5 on)")),
    KIND_KEY(COMPUTE, "priority", NULL, WORDS(stream_priority_names), COMPUTE(priority),
             .default_text = "default",
             HELP("Priority of the kernel's stream: the driver's lowest or highest")),
    KIND_KEY(COMPUTE, "intensity", NULL, COUNT(1, COMPUTE_INTENSITY_MAX),
             COMPUTE(compute.intensity), .default_text = "1",
             HELP("For triad: multiply-adds per element. With 1, memory limits the rate, with many "
                  "the arithmetic units")),
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
                "The rate of a kernel that computes, alone or beside loads. It is in "
                "floating-point operations per second (a multiply-add is two), for triad in bytes "
                "per second. One thread block runs on each SM that the kernel may use, until all "
                "is done. haul verifies every result."},
    .fields = compute_fields,
    .field_count = COUNT_OF(compute_fields),
    .finish = compute_finish,
};
