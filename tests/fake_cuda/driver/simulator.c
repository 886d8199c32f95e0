#include "tests/fake_cuda/driver/simulator.h"
#include "engine/base/arena.h"

#include "engine/base/clock.h"
#include "engine/base/random.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

static const uint64_t SILENCE_NS = 1000000000; /* of the host, before work goes on by itself */
static const uint64_t POLL_NS = 50000;         /* between two looks at a flag */
static const double TINY_NS = 1e-3;            /* durations below it are rounding errors */

/* Wait for a signal, at most that long. false: the time is over. */
static bool wait_signal(uint64_t duration_ns) {
  struct timespec until;
  (void)clock_gettime(CLOCK_MONOTONIC, &until);
  uint64_t ns = (uint64_t)until.tv_nsec + duration_ns;
  until.tv_sec += (time_t)(ns / 1000000000);
  until.tv_nsec = (long)(ns % 1000000000);
  return pthread_cond_timedwait(&simulator.work, &simulator.lock, &until) != ETIMEDOUT;
}

static double host_ns(void) {
  return (double)(clock_now_ns() - simulator.start_ns);
}

static void drop_all(struct stream *stream) {
  while (stream->first != NULL) {
    struct operation *operation = stream->first;
    if (operation->kind == OPERATION_RECORD) {
      operation->fence->done = true; /* whoever waits in another context goes on */
      operation->fence->time_ns = simulator.now_ns;
    }
    stream_pop(stream);
  }
}

/* The operation has taken its time: its effects, and out of the queue. The lock is released while
 * bytes move; only this thread removes operations. */
static void finish(struct stream *stream) {
  struct operation *operation = stream->first;
  struct context *context = stream->context;
  streams_unlock();
  bool good = operation_carry_out(operation);
  streams_lock();
  if (!good) {
    context_poison(context, CUDA_ERROR_ILLEGAL_ADDRESS);
  }
  if (operation->fault != NULL && operation->fault->kind == FAULT_STICKY) {
    context_poison(context, (CUresult)operation->fault->code);
  }
  stream_pop(stream);
}

/* Copies and kernels that are under way; the rest moves no bytes. */
static bool at_work(const struct operation *operation) {
  return operation != NULL && operation->state >= OPERATION_READY && operation->work.bytes > 0;
}

/* Dependent loads wait behind what else uses their way: by the mean wait of an M/D/1 queue
 * (Kleinrock, Queueing Systems, section 5.6), of which a tenth of the latency is the service. */
static double slowdown_of(const struct work *work) {
  double load = 0;
  for (const struct stream *stream = simulator.streams; stream != NULL; stream = stream->next) {
    if (at_work(stream->first) && &stream->first->work != work) {
      load += links_load(&simulator.links, work, &stream->first->work);
    }
  }
  load = fmin(load, 0.95);
  return 1 + 0.1 * load / (2 * (1 - load));
}

static void make_ready(struct stream *stream, struct operation *operation) {
  if (operation->kind == OPERATION_KERNEL && !kernel_work(&operation->kernel, &operation->work)) {
    context_poison(stream->context, CUDA_ERROR_ILLEGAL_ADDRESS);
  }
  if (operation->kind == OPERATION_KERNEL && kernel_is_chase(operation->kernel.kernel->kernel)) {
    operation->kernel.slowdown = slowdown_of(&operation->work);
    operation->work.latency_ns *= operation->kernel.slowdown;
  }
  operation->state = OPERATION_READY;
  operation->ready_ns = simulator.now_ns;
}

static bool hangs(const struct operation *operation) {
  return operation->fault != NULL && operation->fault->kind == FAULT_HANG;
}

/* A kernel that waits for a flag. true: it has ended. */
static bool poll_kernel(struct stream *stream, struct operation *operation) {
  struct kernel_launch *launch = &operation->kernel;
  uint64_t waited_ns = clock_now_ns() - operation->waiting_since_ns;
  if (launch->flag_ignored && !simulator.config->real_clock) {
    waited_ns = UINT64_MAX; /* its time-out would only be waited for */
  }
  if (hangs(operation) || !launch->kernel->poll(launch, waited_ns)) {
    return false;
  }
  if (launch->illegal) {
    context_poison(stream->context, CUDA_ERROR_ILLEGAL_ADDRESS);
  }
  finish(stream);
  return true;
}

/* Start the first operation of a stream. true: it took no time and is gone. */
static bool start_first(struct stream *stream) {
  struct operation *operation = stream->first;
  if (operation->state == OPERATION_WAITING) {
    return poll_kernel(stream, operation);
  }
  if (operation->state != OPERATION_QUEUED) {
    return false;
  }
  if (operation->kind == OPERATION_RECORD) {
    operation->fence->done = true;
    operation->fence->time_ns = simulator.now_ns;
    stream_pop(stream);
    return true;
  }
  if (operation->kind == OPERATION_WAIT) {
    if (operation->fence->done) {
      stream_pop(stream);
      return true;
    }
    return false;
  }
  if (operation->kind == OPERATION_KERNEL && operation->kernel.kernel->poll != NULL) {
    operation->state = OPERATION_WAITING;
    operation->waiting_since_ns = clock_now_ns();
    return poll_kernel(stream, operation);
  }
  make_ready(stream, operation);
  return false;
}

/* Until nothing more can start at this moment: gates that were opened together start their streams
 * together, whichever was looked at first. */
static void start_streams(void) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (struct stream *stream = simulator.streams; stream != NULL; stream = stream->next) {
      while (stream->first != NULL) {
        if (stream->context->error != 0) {
          drop_all(stream);
          changed = true;
        } else if (start_first(stream)) {
          changed = true;
        } else if (stream->context->error == 0) {
          break;
        }
      }
    }
  }
}

static void remove_destroyed(void) {
  struct stream **link = &simulator.streams;
  while (*link != NULL) {
    struct stream *stream = *link;
    if (stream->destroyed && stream_idle(stream)) {
      *link = stream->next;
      stream->magic = 0;
      free(stream);
    } else {
      link = &stream->next;
    }
  }
}

static void release_waiters(bool stuck) {
  struct waiter **link = &simulator.waiters;
  bool released = false;
  while (*link != NULL) {
    struct waiter *waiter = *link;
    if (waiter_met(waiter) || (stuck && waiter->kind == WAITER_STEP)) {
      *link = waiter->next;
      waiter->done = true;
      released = true;
    } else {
      link = &waiter->next;
    }
  }
  if (released) {
    (void)pthread_cond_broadcast(&simulator.done);
  }
}

static bool has_work(void) {
  for (const struct stream *stream = simulator.streams; stream != NULL; stream = stream->next) {
    if (!stream_idle(stream)) {
      return true;
    }
  }
  return false;
}

static bool running(const struct operation *operation) {
  return operation->state == OPERATION_LATENCY || operation->state == OPERATION_TRANSFER;
}

static uint32_t engines_busy(int32_t gpu) {
  uint32_t busy = 0;
  for (const struct stream *stream = simulator.streams; stream != NULL; stream = stream->next) {
    const struct operation *operation = stream->first;
    if (operation != NULL && stream->context->gpu == gpu && operation->takes_engine &&
        running(operation)) {
      busy++;
    }
  }
  return busy;
}

static bool may_run(const struct stream *stream, const struct operation *operation) {
  uint32_t engines = simulator.config->machine.gpus[stream->context->gpu].copy_engine_count;
  return !operation->takes_engine || engines == 0 || engines_busy(stream->context->gpu) < engines;
}

/* Of all that are ready, the one that has been for longest and finds a copy engine; or NULL. */
static struct operation *next_to_run(void) {
  struct operation *best = NULL;
  for (struct stream *stream = simulator.streams; stream != NULL; stream = stream->next) {
    struct operation *operation = stream->first;
    if (operation == NULL || operation->state != OPERATION_READY || !may_run(stream, operation)) {
      continue;
    }
    if (best == NULL || operation->ready_ns < best->ready_ns ||
        (operation->ready_ns <= best->ready_ns && operation->sequence < best->sequence)) {
      best = operation;
    }
  }
  return best;
}

/* ---- noise ----
 *
 * Durations of operations scatter, and the mean of a path differs a little from process to process.
 * The draws of operations depend on the seed alone, those of a process on config_process() as well.
 */

static double uniform(uint64_t *state) {
  return ((double)(random_next(state) >> 11) + 0.5) * 0x1p-53;
}

/* Box and Muller, one of the two values. */
static double normal(uint64_t *state) {
  double radius = sqrt(-2 * log(uniform(state)));
  return radius * cos(2 * 3.14159265358979323846 * uniform(state));
}

/* The same path in the same process has the same factor. */
static double process_factor(const struct fake_config *config, const struct work *work) {
  uint64_t state = config->seed ^ (simulator.process << 32);
  for (uint32_t i = 0; i < work->use_count; i++) {
    state ^= work->uses[i].resource + 1;
    state = random_next(&state);
  }
  return 1 + config->noise_between * normal(&state);
}

static double noise_factor(const struct work *work) {
  const struct fake_config *config = simulator.config;
  if (config->noise_within <= 0 && config->noise_between <= 0) {
    return 1;
  }
  if (simulator.random == 0) {
    simulator.random = config->seed + 1;
    simulator.process = config_process();
  }
  double factor =
      process_factor(config, work) * (1 + config->noise_within * normal(&simulator.random));
  return fmax(factor, 0.1); /* a duration is positive, whatever was drawn */
}

/* The share of the speed that other programs leave, by the host's clock, which all processes share;
 * simulated time comes on top. */
static double undisturbed_share(const struct work *work) {
  const struct fake_config *config = simulator.config;
  const double at_ns = (double)clock_now_ns() + (config->real_clock ? 0 : simulator.now_ns);
  double factor = 1;
  for (uint32_t i = 0; i < config->disturbance_count; i++) {
    if (links_go(work, config->disturbances[i].from, config->disturbances[i].to)) {
      factor *= episodes_factor(&config->disturbances[i], at_ns);
    }
  }
  return factor;
}

static void run_ready(void) {
  for (struct operation *operation; (operation = next_to_run()) != NULL;) {
    const double factor = noise_factor(&operation->work) / undisturbed_share(&operation->work);
    operation->state = OPERATION_LATENCY;
    operation->latency_end_ns =
        hangs(operation) ? HUGE_VAL : simulator.now_ns + operation->work.latency_ns * factor;
    operation->bytes_left = operation->work.bytes * factor;
  }
}

/* Streams whose first operation runs. */
struct running_set {
  struct stream **streams;
  size_t count;
};

static struct running_set collect_running(void) {
  size_t capacity = 0;
  for (struct stream *stream = simulator.streams; stream != NULL; stream = stream->next) {
    capacity++;
  }
  struct running_set set = {.streams = calloc(capacity + 1, sizeof(struct stream *))};
  if (set.streams == NULL) {
    abort();
  }
  for (struct stream *stream = simulator.streams; stream != NULL; stream = stream->next) {
    if (stream->first != NULL && running(stream->first)) {
      set.streams[set.count++] = stream;
    }
  }
  return set;
}

static void share_links(const struct running_set *set) {
  const struct work **work = calloc(set->count + 1, sizeof(struct work *));
  SCOPED(memory_free) double *rates = calloc(set->count + 1, sizeof *rates);
  if (work == NULL || rates == NULL) {
    abort();
  }
  size_t count = 0;
  for (size_t i = 0; i < set->count; i++) {
    if (set->streams[i]->first->state == OPERATION_TRANSFER) {
      work[count++] = &set->streams[i]->first->work;
    }
  }
  links_share(&simulator.links, work, count, rates);
  count = 0;
  for (size_t i = 0; i < set->count; i++) {
    if (set->streams[i]->first->state == OPERATION_TRANSFER) {
      set->streams[i]->first->rate = rates[count++];
    }
  }
  free((void *)work);
}

static double end_ns(const struct operation *operation) {
  return operation->state == OPERATION_LATENCY
             ? operation->latency_end_ns
             : simulator.now_ns + operation->bytes_left / operation->rate;
}

static void move_to(const struct running_set *set, double time_ns) {
  for (size_t i = 0; i < set->count; i++) {
    struct operation *operation = set->streams[i]->first;
    if (operation->state == OPERATION_TRANSFER) {
      operation->bytes_left -= operation->rate * (time_ns - simulator.now_ns);
    }
  }
  simulator.now_ns = time_ns;
}

static bool due(const struct operation *operation) {
  return end_ns(operation) <= simulator.now_ns + TINY_NS || end_ns(operation) <= simulator.now_ns;
}

/* End, in the order in which they were queued, what is due now. */
static void finish_due(const struct running_set *set) {
  for (;;) {
    struct stream *earliest = NULL;
    for (size_t i = 0; i < set->count; i++) {
      struct operation *operation = set->streams[i]->first;
      if (operation == NULL || !running(operation) || !due(operation)) {
        continue;
      }
      if (operation->state == OPERATION_LATENCY && operation->work.bytes > 0) {
        operation->state = OPERATION_TRANSFER; /* gets its rate at the next step */
        operation->rate = TINY_NS;
      } else if (earliest == NULL || operation->sequence < earliest->first->sequence) {
        earliest = set->streams[i];
      }
    }
    if (earliest == NULL) {
      return;
    }
    finish(earliest);
  }
}

static bool any_waiting(void) {
  for (const struct stream *stream = simulator.streams; stream != NULL; stream = stream->next) {
    if (stream->first != NULL && stream->first->state == OPERATION_WAITING) {
      return true;
    }
  }
  return false;
}

/* Nothing has an end: only a flag, or a new call, can change that. */
static void wait_stuck(void) {
  release_waiters(true);
  bool watched = simulator.waiters != NULL || simulator.config->real_clock;
  (void)wait_signal(watched && any_waiting() ? POLL_NS : 20 * POLL_NS);
  if (simulator.config->real_clock) {
    simulator.now_ns = fmax(simulator.now_ns, host_ns());
  }
}

/* Let time pass until the next operation ends. */
static void step(void) {
  run_ready();
  struct running_set set = collect_running();
  share_links(&set);
  double next_ns = HUGE_VAL;
  for (size_t i = 0; i < set.count; i++) {
    next_ns = fmin(next_ns, end_ns(set.streams[i]->first));
  }
  if (isinf(next_ns)) {
    wait_stuck();
  } else if (simulator.config->real_clock && next_ns > host_ns()) {
    double left_ns = fmax(next_ns - host_ns(), 1);
    (void)wait_signal((uint64_t)(any_waiting() ? fmin(left_ns, (double)POLL_NS) : left_ns));
    move_to(&set, fmin(host_ns(), next_ns));
  } else {
    simulator.steps++;
    move_to(&set, next_ns);
    finish_due(&set);
  }
  free(set.streams);
}

/* On the virtual clock time passes only while somebody waits, or after a long silence. */
static bool time_may_pass(void) {
  if (simulator.config->real_clock || simulator.waiters != NULL || simulator.unattended) {
    return true;
  }
  uint64_t seen = simulator.activity;
  const uint64_t until_ns = clock_now_ns() + SILENCE_NS;
  bool signalled = false;
  while (!signalled && simulator.activity == seen && clock_now_ns() < until_ns && has_work()) {
    signalled = wait_signal(any_waiting() ? POLL_NS : SILENCE_NS);
    start_streams(); /* flags need no time to pass */
  }
  if (!signalled && simulator.activity == seen && has_work()) {
    simulator.unattended = true;
  }
  return false;
}

void *simulator_run(void *unused) {
  streams_lock();
  for (;;) {
    start_streams();
    remove_destroyed();
    release_waiters(false);
    if (!has_work()) {
      release_waiters(true);
      simulator.asleep = true;
      (void)pthread_cond_wait(&simulator.work, &simulator.lock);
      simulator.asleep = false;
      if (simulator.config->real_clock) {
        simulator.now_ns = fmax(simulator.now_ns, host_ns());
      }
    } else if (time_may_pass()) {
      step();
    }
  }
  return NULL;
}
