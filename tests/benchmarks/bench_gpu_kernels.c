/* Rates of the kernels of streams, chases and arithmetic by shape, on one GPU: the measurements
 * behind the defaults of engine/workload/stream.h. Every case is verified. Run by hand:
 * - bench_gpu_kernels stream [MIB [GPU]]: GB/s of each operation by access, unroll, block, grid
 * - bench_gpu_kernels chase [GPU]: cycles per hop of shared memory, and of the GPU's own by
 *   footprint
 * - bench_gpu_kernels arithmetic [GPU]: cycles per instruction, operations per clock and SM */
#include "engine/base/order.h"
#include "engine/case/work.h"
#include "engine/engine.h"
#include "engine/machine/machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TRIALS_MAX = 256, MIB = 1 << 20 };

struct bench {
  union work work; /* of the case that runs */
  struct machine *machine;
  struct engine *engine;
  int32_t gpu;
  uint32_t count; /* trials of the case that runs */
  double ns[TRIALS_MAX];
  double cycles[TRIALS_MAX];
};

struct medians {
  bool ok;
  double ns; /* of an iteration, and so are cycles */
  double cycles;
};

static void take_trial(void *context, const struct trial *trial) {
  struct bench *bench = context;
  if (trial->phase == TRIAL_MEASURE && trial->status == TRIAL_OK && bench->count < TRIALS_MAX) {
    bench->ns[bench->count] = (double)trial->elapsed_ns / trial->iterations;
    bench->cycles[bench->count++] = (double)trial->cycles / trial->iterations;
  }
}

static void take_flow_trial(void *context, const struct flow_trial *flow_trial) {
  (void)context;
  (void)flow_trial;
}

static double median(double *values, uint32_t count) {
  order_sort_values(values, count);
  return values[count / 2];
}

static struct case_def new_case(enum case_kind kind) {
  return (struct case_def){.kind = kind,
                           .key = "",
                           .definition = "{}",
                           .block = "bench",
                           .name = "bench",
                           .path = "bench",
                           .measure = {.trials_min = 11,
                                       .trials_max = TRIALS_MAX,
                                       .warmup = 1,
                                       .max_time_ns = UINT64_C(100000000),
                                       .min_trial_ns = 200000,
                                       .precision = 0.002,
                                       .verify = VERIFY_ONCE}};
}

static struct medians run(struct bench *bench, const struct case_def *def) {
  const struct trial_sink sink = {
      .context = bench, .trial = take_trial, .flow_trial = take_flow_trial};
  struct case_outcome outcome;
  struct error err = {0};
  bench->count = 0;
  if (engine_run_case(bench->engine, def, &sink, &outcome, &err) != STATUS_OK ||
      outcome.status != CASE_OK || bench->count == 0) {
    (void)fprintf(stderr, "%s: %s\n", case_status_text(outcome.status), outcome.reason);
    return (struct medians){0};
  }
  return (struct medians){.ok = true,
                          .ns = median(bench->ns, bench->count),
                          .cycles = median(bench->cycles, bench->count)};
}

static void run_shapes(struct bench *bench, struct case_def *def) {
  const uint32_t blocks[] = {128, 256, 512, 1024};
  const uint32_t per_sm[] = {0, 1, 2, 4, 8, 16}; /* of 2048 threads; 0: a full grid */
  struct stream *stream = &bench->work.stream;
  const uint64_t bytes = stream_op_arrays(stream->op) * stream->size_bytes;
  for (stream->vector_bytes = stream->type == NUMBER_F64 ? 8 : 4; stream->vector_bytes <= 16;
       stream->vector_bytes *= 2) {
    for (stream->unroll = 1; stream->unroll <= 4; stream->unroll += 3) {
      for (int i = 0; i < 4 * 6; i++) {
        const uint32_t waves = per_sm[i % 6];
        stream->block = blocks[i / 6];
        stream->grid =
            waves == 0 ? STREAM_GRID_FULL
                       : waves * bench->machine->gpus[bench->gpu].sm_count * (2048 / stream->block);
        const struct medians found = run(bench, def);
        if (found.ok) {
          (void)printf("%8.1f GB/s  %-5s %s  %2u bytes  unroll %u  block %4u  grid ",
                       (double)bytes / found.ns, stream_op_text(stream->op),
                       number_type_text(stream->type), stream->vector_bytes, stream->unroll,
                       stream->block);
          (void)printf(waves == 0 ? "full\n" : "%u x resident\n", waves);
        }
      }
    }
  }
}

static void bench_stream(struct bench *bench, uint64_t mib) {
  for (int op = 0; op < (int)stream_op_name_count; op++) {
    struct case_def def = new_case(CASE_STREAM);
    def.work = &bench->work;
    bench->work.stream = (struct stream){
        .op = (enum stream_op)op,
        .type = NUMBER_F64,
        .memory = {.place = PLACE_GPU, .index = bench->gpu, .memory = MEMORY_DEVICE},
        .size_bytes = mib * MIB};
    const struct medians usual = run(bench, &def);
    if (usual.ok) {
      (void)printf("%8.1f GB/s  %-5s f64  defaults\n",
                   (double)stream_op_arrays((enum stream_op)op) * (double)(mib * MIB) / usual.ns,
                   stream_op_text((enum stream_op)op));
    }
    run_shapes(bench, &def);
  }
}

static struct case_def chase_case(struct bench *bench, enum chase_space space) {
  struct case_def def = new_case(CASE_CHASE);
  def.work = &bench->work;
  bench->work.chase =
      (struct chase){.space = space,
                     .gpu = bench->gpu,
                     .memory = {.place = PLACE_GPU, .index = bench->gpu, .memory = MEMORY_DEVICE},
                     .footprint_bytes = 64 << 10,
                     .order = CHASE_STRIDED,
                     .hops = 4096};
  return def;
}

static void bench_chase(struct bench *bench) {
  struct case_def shared = chase_case(bench, CHASE_SHARED);
  (void)printf("shared, cycles per hop; rows: threads, columns: stride of 1 to 32 words\n");
  for (bench->work.chase.threads = 1; bench->work.chase.threads <= 1024;
       bench->work.chase.threads *= 2) {
    (void)printf("%4u", bench->work.chase.threads);
    for (bench->work.chase.stride_bytes = 4; bench->work.chase.stride_bytes <= 128;
         bench->work.chase.stride_bytes *= 2) {
      if (bench->work.chase.threads * bench->work.chase.stride_bytes <=
          bench->work.chase.footprint_bytes) {
        (void)printf(" %8.2f", run(bench, &shared).cycles / 4096);
      }
    }
    (void)printf("\n");
  }
  (void)printf(
      "own memory, 128 bytes apart in random order, cycles per hop: through L1, past it\n");
  for (uint64_t kib = 16; kib <= 512 << 10; kib += kib < 192 || kib >= 256 ? kib / 2 : 8) {
    struct case_def global = chase_case(bench, CHASE_GLOBAL);
    bench->work.chase.order = CHASE_RANDOM;
    bench->work.chase.stride_bytes = 128;
    bench->work.chase.footprint_bytes = kib << 10;
    const double through = run(bench, &global).cycles / 4096;
    bench->work.chase.cache = CACHE_L2;
    (void)printf("%8" PRIu64 " KiB %8.2f %8.2f\n", kib, through, run(bench, &global).cycles / 4096);
  }
}

static void bench_arithmetic(struct bench *bench) {
  const uint32_t sm_count = bench->machine->gpus[bench->gpu].sm_count;
  for (int op = 0; op < (int)arithmetic_op_name_count; op++) {
    for (int type = op == ARITHMETIC_ADD3 ? NUMBER_I32 : 0; type < (int)number_type_name_count;
         type++) {
      struct case_def def = new_case(CASE_ARITHMETIC);
      def.work = &bench->work;
      bench->work.arithmetic = (struct arithmetic){.op = (enum arithmetic_op)op,
                                                   .type = (enum number_type)type,
                                                   .gpu = bench->gpu,
                                                   .ilp = 1,
                                                   .block = 1,
                                                   .grid = 1,
                                                   .instructions = 8192};
      struct arithmetic *arithmetic = &bench->work.arithmetic;
      (void)printf("%s %s  %6.3f cycles;  operations per clock and SM, ilp 1 to 8:",
                   arithmetic_op_text(arithmetic->op), number_type_text(arithmetic->type),
                   run(bench, &def).cycles / arithmetic->instructions);
      arithmetic->measure = ARITHMETIC_THROUGHPUT;
      arithmetic->block = 1024;
      arithmetic->grid = 2 * sm_count;
      for (arithmetic->ilp = 1; arithmetic->ilp <= 8; arithmetic->ilp *= 2) {
        const double operations = 2.0 * arithmetic->block * arithmetic->instructions *
                                  (arithmetic->type == NUMBER_F16 ? 2 : 1);
        (void)printf(" %7.2f", operations / run(bench, &def).cycles);
      }
      (void)printf("\n");
    }
  }
}

static int usage(void) {
  (void)fprintf(stderr,
                "usage: bench_gpu_kernels stream [MIB [GPU]] | chase [GPU] | arithmetic [GPU]\n");
  return 2;
}

int main(int argc, char **argv) {
  struct bench bench = {0};
  struct error err = {0};
  if (argc < 2) {
    return usage();
  }
  const bool stream = strcmp(argv[1], "stream") == 0;
  const int gpu_at = stream ? 3 : 2;
  bench.gpu = argc > gpu_at ? (int32_t)strtol(argv[gpu_at], NULL, 10) : 0;
  bench.machine = calloc(1, sizeof *bench.machine);
  if (bench.machine == NULL || machine_probe(bench.machine, &err) != STATUS_OK ||
      engine_new(bench.machine, NULL, &bench.engine, &err) != STATUS_OK) {
    (void)fprintf(stderr, "%s\n", err.message);
    return 3;
  }
  if (stream) {
    bench_stream(&bench, argc > 2 ? strtoull(argv[2], NULL, 10) : 2048);
  } else if (strcmp(argv[1], "chase") == 0) {
    bench_chase(&bench);
  } else if (strcmp(argv[1], "arithmetic") == 0) {
    bench_arithmetic(&bench);
  } else {
    return usage();
  }
  engine_free(bench.engine);
  free(bench.machine);
  return 0;
}
