/* The kernels that signal, and the values that streams wait for and write. Flags pass as fast as
 * the simulator looks at them; the times that kernels note are those of an H200. */
#include "tests/fake_cuda/driver/kernels.h"

#include "engine/machine/machine.h"
#include "tests/fake_cuda/driver/simulator.h"

static const double ROUND_NS = 1600;
static const double ATOMIC_NS = 1000;
static const double WAIT_NS = 700; /* of a stream, for what it waited for */
static const double MANY_NS = 0.5; /* of an addition without answer, all threads together */

static void note_signal(struct kernel_launch *launch, uint64_t address, double elapsed_ns,
                        bool in_time) {
  const struct gpu *gpu = &streams_links()->config->machine.gpus[launch->context->gpu];
  struct signal_time *time = kernel_memory(launch, address, sizeof *time);
  if (time != NULL) {
    *time =
        (struct signal_time){.cycles = (uint64_t)(elapsed_ns * (double)gpu->sm_clock_max_khz / 1e6),
                             .elapsed_ns = (uint64_t)elapsed_ns,
                             .in_time = in_time};
  }
}

void signal_flag_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses) {
  ARGUMENTS(signal_flag_arguments, x, launch);
  *accesses = (struct kernel_accesses){.count = 3,
                                       .items = {{x.watched, 4, 0, false},
                                                 {x.answer, 4, 0, true},
                                                 {x.time, sizeof(struct signal_time), 0, true}}};
}

/* As many rounds as can go on now. */
bool signal_flag_poll(struct kernel_launch *launch, uint64_t waited_ns) {
  ARGUMENTS(signal_flag_arguments, x, launch);
  uint32_t *watched = kernel_memory(launch, x.watched, sizeof *watched);
  uint32_t *answer = kernel_memory(launch, x.answer, sizeof *answer);
  const uint32_t rounds = x.warm_rounds + x.rounds;
  while (!launch->illegal && launch->rounds < rounds) {
    const uint32_t value = x.first + launch->rounds;
    if (x.begins) {
      __atomic_store_n(answer, value, __ATOMIC_RELEASE);
    }
    if (launch->flag_ignored || __atomic_load_n(watched, __ATOMIC_ACQUIRE) != value) {
      launch->timed_out = waited_ns >= x.timeout_ns;
      return launch->timed_out;
    }
    if (!x.begins) {
      __atomic_store_n(answer, value, __ATOMIC_RELEASE);
    }
    launch->rounds++;
  }
  return true;
}

void signal_flag_run(struct kernel_launch *launch) {
  ARGUMENTS(signal_flag_arguments, x, launch);
  note_signal(launch, x.time, x.rounds * ROUND_NS, !launch->timed_out);
}

void signal_atomic_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses) {
  ARGUMENTS(signal_atomic_arguments, x, launch);
  const bool many = launch->kernel->kernel == KERNEL_SIGNAL_ATOMICS;
  const double additions = (double)x.count * launch->grid * launch->block;
  *accesses = (struct kernel_accesses){
      .count = 2,
      .items = {{x.address, many ? x.addresses * (uint64_t)SIGNAL_STRIDE : 8, 0, true},
                {many ? x.spans : x.time,
                 many ? SM_SPANS * sizeof(struct sm_span) : sizeof(struct signal_time), 0, true}},
      .extra_ns = additions * (many ? MANY_NS : ATOMIC_NS)};
}

void signal_atomic_run(struct kernel_launch *launch) {
  ARGUMENTS(signal_atomic_arguments, x, launch);
  const bool many = launch->kernel->kernel == KERNEL_SIGNAL_ATOMICS;
  const uint64_t threads = (uint64_t)launch->grid * launch->block;
  const uint32_t addresses = many ? x.addresses : 1;
  bool right = true;
  for (uint64_t thread = 0; !launch->illegal && thread < threads; thread++) {
    uint64_t *sum =
        kernel_memory(launch, x.address + thread % addresses * SIGNAL_STRIDE, sizeof *sum);
    if (sum != NULL) {
      right = right && (many || *sum == x.first);
      *sum += x.count;
    }
  }
  if (many) {
    write_spans(launch, x.spans, (double)threads * x.count * MANY_NS);
  } else {
    note_signal(launch, x.time, x.count * ATOMIC_NS, right);
  }
}

/* ---- what a stream does by itself ---- */

static void stream_value_accesses(const struct kernel_launch *launch,
                                  struct kernel_accesses *accesses) {
  ARGUMENTS(stream_value_arguments, x, launch);
  *accesses = (struct kernel_accesses){.count = 1, .items = {{x.address, 4, 0, true}}};
}

static bool stream_wait_poll(struct kernel_launch *launch, uint64_t waited_ns) {
  ARGUMENTS(stream_value_arguments, x, launch);
  const uint32_t *value = kernel_memory(launch, x.address, sizeof *value);
  return value == NULL || (int32_t)(__atomic_load_n(value, __ATOMIC_ACQUIRE) - x.value) >= 0;
}

/* Run by the simulator alone, which has the clock. */
static void stream_wait_run(struct kernel_launch *launch) {
  simulator.now_ns += WAIT_NS;
}

/* At once: a host that watches the value does not wait in the driver, so that no time passes. */
static bool stream_write_poll(struct kernel_launch *launch, uint64_t waited_ns) {
  return true;
}

static void stream_write_run(struct kernel_launch *launch) {
  ARGUMENTS(stream_value_arguments, x, launch);
  uint32_t *value = kernel_memory(launch, x.address, sizeof *value);
  if (value != NULL) {
    __atomic_store_n(value, x.value, __ATOMIC_RELEASE);
  }
}

const struct fake_kernel stream_wait_value = {.argument_bytes =
                                                  sizeof(struct stream_value_arguments),
                                              .accesses = stream_value_accesses,
                                              .run = stream_wait_run,
                                              .poll = stream_wait_poll};
const struct fake_kernel stream_write_value = {.argument_bytes =
                                                   sizeof(struct stream_value_arguments),
                                               .accesses = stream_value_accesses,
                                               .run = stream_write_run,
                                               .poll = stream_write_poll};

/* ---- events that processes share ---- */

static void event_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses) {
  *accesses = (struct kernel_accesses){.count = 0};
}

static bool event_wait_poll(struct kernel_launch *launch, uint64_t waited_ns) {
  ARGUMENTS(stream_value_arguments, x, launch);
  const uint32_t *done = (const uint32_t *)(uintptr_t)x.address;
  return (int32_t)(__atomic_load_n(done, __ATOMIC_ACQUIRE) - x.value) >= 0;
}

static void event_pass_run(struct kernel_launch *launch) {
  ARGUMENTS(stream_value_arguments, x, launch);
  __atomic_store_n((uint32_t *)(uintptr_t)x.address, x.value, __ATOMIC_RELEASE);
}

const struct fake_kernel event_wait = {.argument_bytes = sizeof(struct stream_value_arguments),
                                       .accesses = event_accesses,
                                       .run = stream_wait_run,
                                       .poll = event_wait_poll};
const struct fake_kernel event_waited = {.argument_bytes = sizeof(struct stream_value_arguments),
                                         .accesses = event_accesses,
                                         .run = stream_wait_run,
                                         .poll = stream_write_poll};
const struct fake_kernel event_pass = {.argument_bytes = sizeof(struct stream_value_arguments),
                                       .accesses = event_accesses,
                                       .run = event_pass_run,
                                       .poll = stream_write_poll};
