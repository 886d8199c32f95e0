#include "engine/workload/chase_host.h"

#include "engine/case/transfer.h"
#include "engine/host/thread_team.h"

#include <stdlib.h>

/* Fills a cache line, so that no thread's own store disturbs another. */
struct chase_place {
  _Alignas(64) uint64_t address;
};

struct chase_host {
  uint64_t hops;                      /* of one iteration */
  struct cpu_reservation reservation; /* of its team alone */
  struct thread_team *team;
  struct chase_place *places;
  uint64_t *positions; /* the same, without gaps */
};

/* One load after the other: the next address is what the last one brought. */
static void chase_host_work(void *context, uint32_t thread, uint32_t count, uint32_t iterations) {
  const struct chase_host *host = context;
  const uint64_t hops = host->hops * iterations;
  const volatile uint64_t *at = (const volatile uint64_t *)(uintptr_t)host->places[thread].address;
  (void)count;
  for (uint64_t i = 0; i < hops; i++) {
    at = (const volatile uint64_t *)(uintptr_t)*at;
  }
  host->places[thread].address = (uint64_t)(uintptr_t)at;
}

enum status chase_host_new(const struct machine *machine, const struct chase *chase,
                           struct chase_host **host, struct error *err) {
  const uint32_t threads = chase->threads > 0 ? chase->threads : 1;
  struct chase_host *made = calloc(1, sizeof *made);
  if (made == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for a chase");
  }
  made->hops = chase->hops;
  made->places = aligned_alloc(64, threads * sizeof *made->places);
  made->positions = calloc(threads, sizeof *made->positions);
  enum status status = STATUS_OK;
  if (made->places == NULL || made->positions == NULL) {
    status = error_set(err, STATUS_NO_MEMORY, "no memory for a chase by %u threads", threads);
  }
  status = THEN(
      status, thread_team_new(machine, chase->node, threads, &made->reservation, &made->team, err));
  if (status != STATUS_OK) {
    chase_host_free(made);
    return status;
  }
  *host = made;
  return STATUS_OK;
}

void chase_host_free(struct chase_host *host) {
  if (host != NULL) {
    thread_team_free(host->team);
    free(host->places);
    free(host->positions);
    free(host);
  }
}

uint64_t *chase_host_positions(struct chase_host *host) {
  return host->positions;
}

static void chase_host_begin(struct chase_host *host) {
  for (uint32_t i = 0; i < thread_team_size(host->team); i++) {
    host->places[i].address = host->positions[i];
  }
}

static void chase_host_end(struct chase_host *host) {
  for (uint32_t i = 0; i < thread_team_size(host->team); i++) {
    host->positions[i] = host->places[i].address;
  }
}

void chase_host_run(struct chase_host *host, uint64_t hops, uint64_t *elapsed_ns) {
  const uint64_t usual = host->hops;
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  host->hops = hops;
  chase_host_begin(host);
  thread_team_start(host->team, chase_host_work, host, 1, NULL);
  thread_team_wait(host->team, &start_ns, &end_ns);
  chase_host_end(host);
  host->hops = usual;
  *elapsed_ns = end_ns - start_ns;
}

static uint32_t chase_host_threads(const struct flow_run *run) {
  const struct chase_host *host = run->state;
  return thread_team_size(host->team);
}

static enum status chase_host_execute(struct flow_run *run, uint32_t iterations,
                                      struct host_start *start, struct error *err) {
  struct chase_host *host = run->state;
  (void)err;
  chase_host_begin(host);
  thread_team_start(host->team, chase_host_work, host, iterations, start);
  return STATUS_OK;
}

static void chase_host_wait(struct flow_run *run, uint64_t *start_ns, uint64_t *end_ns) {
  struct chase_host *host = run->state;
  thread_team_wait(host->team, start_ns, end_ns);
  chase_host_end(host);
}

struct flow_run chase_host_own(struct chase_host *host, const struct flow *flow) {
  static const struct method_ops ops = {
      .thread_count = chase_host_threads, .execute = chase_host_execute, .wait = chase_host_wait};
  return (struct flow_run){
      .flow = flow, .gpu = -1, .state = host, .reservation = &host->reservation, .host_ops = &ops};
}

const struct cpu_set_bits *chase_host_cpus(const struct chase_host *host) {
  return &host->reservation.taken;
}
