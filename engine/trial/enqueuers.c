#include "engine/trial/enqueuers.h"

#include "engine/base/macros.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Looks at an atomic before the processor is offered to others: they may be who is waited for. */
enum { SPINS_BEFORE_YIELD = 4096 };

struct enqueuer {
  struct enqueuers *all;
  pthread_t thread;
  sem_t wake;
  uint32_t flow;
  struct flow_cpu cpu;
  struct cpu_set_bits cpus; /* where it really is */
  enum status status;       /* of the last trial */
  struct error err;
};

struct enqueuers {
  const struct machine *machine;
  const struct enqueuers_ops *ops;
  void *context;
  uint32_t capacity;
  uint32_t count;
  bool quit;
  bool works; /* in this trial */
  atomic_uint ready;
  atomic_uint turn; /* goes up by one when all are let go */
  sem_t done;
  struct enqueuer items[];
};

static void enqueuers_wait(sem_t *semaphore) {
  while (sem_wait(semaphore) != 0) { /* EINTR */
  }
}

static void enqueuers_spin(const atomic_uint *value, uint32_t until) {
  for (uint32_t spins = 0; atomic_load_explicit(value, memory_order_acquire) != until; spins++) {
    if (spins >= SPINS_BEFORE_YIELD) {
      (void)sched_yield();
    }
  }
}

static void *enqueuer_main(void *argument) {
  struct enqueuer *self = argument;
  struct enqueuers *all = self->all;
  enum status bound = STATUS_OK;
  struct error bind_error = {0};
  if (self->cpu.choice != CPU_ANY) {
    bound = numa_pin_thread(all->machine, self->cpu.node, &bind_error);
  }
  numa_add_own_cpus(&self->cpus);
  for (uint32_t turn = 1;; turn++) {
    enqueuers_wait(&self->wake);
    if (all->quit) {
      return NULL;
    }
    self->status = bound;
    self->err = bind_error;
    self->status = THEN(self->status, all->ops->prepare(all->context, self->flow, &self->err));
    (void)atomic_fetch_add_explicit(&all->ready, 1, memory_order_acq_rel);
    enqueuers_spin(&all->turn, turn);
    if (all->works && self->status == STATUS_OK) {
      self->status = all->ops->enqueue(all->context, self->flow, &self->err);
    }
    (void)sem_post(&all->done);
  }
}

enum status enqueuers_new(const struct machine *machine, const struct enqueuers_ops *ops,
                          void *context, uint32_t capacity, struct enqueuers **enqueuers,
                          struct error *err) {
  struct enqueuers *made = calloc(1, sizeof *made + capacity * sizeof made->items[0]);
  if (made == NULL || sem_init(&made->done, 0, 0) != 0) {
    free(made);
    return error_set(err, STATUS_NO_MEMORY, "no memory for %u threads", capacity);
  }
  made->machine = machine;
  made->ops = ops;
  made->context = context;
  made->capacity = capacity;
  *enqueuers = made;
  return STATUS_OK;
}

enum status enqueuers_add(struct enqueuers *enqueuers, uint32_t flow, const struct flow_cpu *cpu,
                          struct error *err) {
  if (enqueuers->count == enqueuers->capacity) {
    return error_set(err, STATUS_INVALID, "more than %u threads", enqueuers->capacity);
  }
  struct enqueuer *added = &enqueuers->items[enqueuers->count];
  *added = (struct enqueuer){.all = enqueuers, .flow = flow, .cpu = *cpu};
  (void)sem_init(&added->wake, 0, 0); /* of threads of this process: it cannot fail */
  int result = pthread_create(&added->thread, NULL, enqueuer_main, added);
  if (result != 0) {
    (void)sem_destroy(&added->wake);
    return error_set_errno(err, result, "starting a thread to enqueue a flow");
  }
  enqueuers->count++;
  return STATUS_OK;
}

void enqueuers_free(struct enqueuers *enqueuers) {
  if (enqueuers == NULL) {
    return;
  }
  enqueuers->quit = true;
  for (uint32_t i = 0; i < enqueuers->count; i++) {
    (void)sem_post(&enqueuers->items[i].wake);
    (void)pthread_join(enqueuers->items[i].thread, NULL);
    (void)sem_destroy(&enqueuers->items[i].wake);
  }
  (void)sem_destroy(&enqueuers->done);
  free(enqueuers);
}

void enqueuers_wake(struct enqueuers *enqueuers) {
  atomic_store(&enqueuers->ready, 0);
  for (uint32_t i = 0; i < enqueuers->count; i++) {
    (void)sem_post(&enqueuers->items[i].wake);
  }
  enqueuers_spin(&enqueuers->ready, enqueuers->count);
}

enum status enqueuers_run(struct enqueuers *enqueuers, enum status status, struct error *err) {
  enqueuers->works = status == STATUS_OK;
  (void)atomic_fetch_add_explicit(&enqueuers->turn, 1, memory_order_acq_rel);
  for (uint32_t i = 0; i < enqueuers->count; i++) {
    enqueuers_wait(&enqueuers->done);
  }
  for (uint32_t i = 0; status == STATUS_OK && i < enqueuers->count; i++) {
    const struct enqueuer *enqueuer = &enqueuers->items[i];
    status = enqueuer->status;
    if (status != STATUS_OK && err != NULL) {
      *err = enqueuer->err;
    }
  }
  return status;
}

void enqueuers_cpus(const struct enqueuers *enqueuers, struct cpu_set_bits *cpus) {
  for (uint32_t i = 0; i < enqueuers->count; i++) {
    for (size_t word = 0; word < COUNT_OF(cpus->bits); word++) {
      cpus->bits[word] |= enqueuers->items[i].cpus.bits[word];
    }
  }
}
