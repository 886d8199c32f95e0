/* A [[transfer]]: flows of bytes, by GPU streams or host threads; and the loads beside cases of
 * other kinds (engine/workload/loads.h). */
#include "engine/case/transfer.h"
#include "engine/base/clock.h"
#include "engine/method/method.h"
#include "engine/trial/event_trial.h"
#include "engine/trial/host_trial.h"
#include "engine/workload/loads.h"
#include "engine/workload/pieces.h"
#include "engine/workload/transfer_flows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { HOST_ITERATIONS_MAX = 1 << 20 };

/* How much longer the load flows are than the measured ones, at first as if they were as fast. */
static const double LOAD_FACTOR = 1.25;
enum { LOAD_SPLIT_MAX = 16 /* from so many repeats on they are whole */ };

struct transfer {
  struct engine *engine;
  const struct case_def *def;
  struct case_outcome *outcome;
  struct flow_run *runs; /* of def->flows; where they are loads, then the measured work itself */
  uint32_t run_count;
  uint32_t ready_count; /* runs prepared by their method */
  struct cpu_reservation reservation;
  struct event_trial *event;     /* of flows on GPU streams alone; else NULL */
  struct mixed_trial *mixed;     /* of some on streams and some on host threads; else NULL */
  struct flow_times *host_times; /* of the host clock */
  double load_iterations;        /* of the last trial */
  double load_factor;            /* repeats of the load flows for one of the measured ones */
  bool load_fitted;              /* to the rates of all flows */
  bool has_load;
};

static const struct method_ops *transfer_ops(const struct flow *flow) {
  return methods[flow->method];
}

/* Every flow has a pattern of its own, so that a flow's bytes in another's target show. */
static uint64_t seed_of(uint32_t flow) {
  return (uint64_t)(flow + 1) << 40;
}

/* Flows of the case whose kernels run on that GPU beside the flow, and the flow itself. */
static uint32_t count_kernels_on(const struct case_def *def, const struct flow *beside,
                                 int32_t gpu) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < def->flow_count; i++) {
    const struct flow *flow = &def->flows[i];
    const bool after = flow != beside && flow->stream != 0 && flow->stream == beside->stream;
    count += flow->method == METHOD_SM && transfer_ops(flow)->gpu(flow) == gpu && !after;
  }
  return count;
}

/* One buffer of managed memory; it belongs to a GPU of the flow. */
static enum status take_shared_buffer(const struct transfer *transfer, struct flow_run *run,
                                      struct error *err) {
  const struct flow *flow = run->flow;
  const struct endpoint *owner = flow->source.place == PLACE_GPU ? &flow->source : &flow->target;
  const struct buffer *buffer = NULL;
  enum status status = pool_take(transfer->engine->pool, owner, flow->size_bytes, &buffer, err);
  if (status == STATUS_OK) {
    run->shared[0] = *buffer;
    run->shared[0].endpoint = flow->source;
    run->shared[1] = *buffer;
    run->shared[1].endpoint = flow->target;
    run->source = &run->shared[0];
    run->target = &run->shared[1];
  }
  return status;
}

static enum status take_two_buffers(const struct transfer *transfer, struct flow_run *run,
                                    struct error *err) {
  const struct flow *flow = run->flow;
  struct pool *pool = transfer->engine->pool;
  const uint64_t size_bytes = transfer_buffer_bytes(flow);
  enum status status = pool_take_for(pool, run->gpu, &flow->source, size_bytes, &run->source, err);
  return THEN(status, pool_take_for(pool, run->gpu, &flow->target, size_bytes, &run->target, err));
}

/* The first of the case that another process has. */
static void transfer_note_share(struct case_outcome *outcome, const struct buffer *buffer) {
  if (buffer->endpoint.process != 0 && outcome->share_open_first_ns == 0) {
    outcome->share_export_ns = buffer->share.export_ns;
    outcome->share_open_first_ns = buffer->share.open_first_ns;
    outcome->share_open_ns = buffer->share.open_ns;
    outcome->share_close_ns = buffer->share.close_ns;
  }
}

/* What a driver may lack is found where it is asked for: memory of other processes, green contexts.
 */
static bool transfer_may_be_unsupported(const struct case_def *def) {
  bool may = workload_processes(def) != 0;
  for (uint32_t i = 0; i < def->flow_count; i++) {
    may = may || def->flows[i].compute.sm_share == SM_SHARE_GREEN;
  }
  return may;
}

static enum status take_buffers(struct transfer *transfer, struct error *err) {
  uint64_t managed[MACHINE_GPUS_MAX] = {0};
  transfer_managed_bytes(transfer->def, managed);
  enum status status = managed_share_admit(transfer->engine, &transfer->def->measure, managed, err);
  for (uint32_t i = 0; status == STATUS_OK && i < transfer->def->flow_count; i++) {
    const struct flow *flow = &transfer->def->flows[i];
    struct flow_run *run = &transfer->runs[i];
    *run = (struct flow_run){.flow = flow,
                             .gpu = transfer_ops(flow)->gpu(flow),
                             .reservation = &transfer->reservation,
                             .seed = seed_of(i)};
    run->kernels_on_gpu = count_kernels_on(transfer->def, flow, run->gpu);
    status = transfer_ops(flow)->shares_buffer ? take_shared_buffer(transfer, run, err)
                                               : take_two_buffers(transfer, run, err);
    if (status == STATUS_OK && flow_is_scattered(flow)) {
      status = pieces_take(transfer->engine, run, err);
    }
    if (status == STATUS_OK) {
      transfer_note_share(transfer->outcome, run->source);
      transfer_note_share(transfer->outcome, run->target);
      workload_note_buffer(transfer->outcome, run->source);
      workload_note_buffer(transfer->outcome, run->target);
    }
  }
  return status;
}

/* Of two flows that one kernel moves, a measured one leads, the first of two. A load that follows
 * ends with its leader and needs no repeats of its own. */
static void pair_flows(struct transfer *transfer) {
  for (uint32_t i = 0; i < transfer->def->flow_count; i++) {
    struct flow_run *run = &transfer->runs[i];
    struct flow_run *partner = &transfer->runs[transfer_partner(transfer->def, i)];
    const bool load = run->flow->role == FLOW_LOAD;
    if (partner != run && (load || (partner < run && partner->flow->role == FLOW_MEASURED))) {
      run->leader = partner;
      partner->follower = run;
    }
    transfer->has_load = transfer->has_load || (load && run->leader == NULL);
  }
}

/* Where the window begins on the host's clock, no primer stands between gate and work. */
static bool is_primed(const struct transfer *transfer, const struct flow *flow) {
  return transfer_ops(flow)->prime != NULL && flow->role == FLOW_MEASURED &&
         transfer->def->measure.gating == GATING_ON && !transfer_ops(flow)->blocks_host(flow) &&
         !transfer_is_mixed(transfer->def);
}

/* After all other buffers: they are small and fit into whatever is left. */
static enum status take_primers(const struct transfer *transfer, struct error *err) {
  enum status status = STATUS_OK;
  for (uint32_t i = 0; status == STATUS_OK && i < transfer->def->flow_count; i++) {
    struct flow_run *run = &transfer->runs[i];
    if (is_primed(transfer, run->flow)) {
      const struct endpoint source =
          endpoint_own(run->flow->source.place, run->flow->source.index, run->flow->source.memory);
      const struct endpoint target =
          endpoint_own(run->flow->target.place, run->flow->target.index, run->flow->target.memory);
      status = pool_take(transfer->engine->pool, &source, PRIMER_BYTES, &run->primer, err);
      status = THEN(status, pool_take(transfer->engine->pool, &target, PRIMER_BYTES,
                                      &run->primer_target, err));
    }
  }
  return status;
}

static bool transfer_blocks_host(const struct transfer *transfer) {
  bool blocks = false;
  for (uint32_t i = 0; i < transfer->def->flow_count; i++) {
    blocks =
        blocks || transfer_ops(&transfer->def->flows[i])->blocks_host(&transfer->def->flows[i]);
  }
  return blocks;
}

static enum note_kind why_not_gated(const struct transfer *transfer) {
  if (transfer_is_scattered(transfer->def)) {
    return NOTE_SCATTERED_TIME;
  }
  if (transfer->def->measure.gating == GATING_OFF) {
    return NOTE_GATE_OFF;
  }
  return transfer_blocks_host(transfer) ? NOTE_BLOCKS_HOST : NOTE_GATE_FULL;
}

static enum status prepare_flows(struct transfer *transfer, struct error *err) {
  const uint32_t count = transfer->def->flow_count;
  const struct memory_context *context = &transfer->engine->context;
  enum status status = STATUS_OK;
  for (uint32_t i = 0; i < count; i++) {
    const struct flow *flow = transfer->runs[i].flow;
    if (transfer_ops(flow)->expect_cpus != NULL) {
      transfer_ops(flow)->expect_cpus(flow, context->machine, &transfer->reservation);
    }
  }
  for (uint32_t i = 0; status == STATUS_OK && i < count; i++) {
    struct flow_run *run = &transfer->runs[i];
    const struct flow *flow = run->flow;
    status = transfer_ops(flow)->prepare(context, run, err);
    transfer->ready_count += status == STATUS_OK;
    notes_add_kinds(&transfer->outcome->notes, run->notes);
    if (run->part != NULL) {
      notes_add(&transfer->outcome->notes, &(struct note){.kind = NOTE_GREEN_CONTEXT,
                                                          .gpu = run->gpu,
                                                          .amounts = {run->part_sm_count}});
    }
    transfer->outcome->unproven |= run->unproven && flow->role == FLOW_MEASURED;
  }
  return status;
}

static enum status make_trial(struct transfer *transfer, struct error *err) {
  const struct case_def *def = transfer->def;
  const struct memory_context *context = &transfer->engine->context;
  enum status status = STATUS_OK;
  if (transfer_is_mixed(def)) {
    status = mixed_trial_new(context, transfer->runs, transfer->run_count, &transfer->mixed, err);
    transfer->outcome->gated = status == STATUS_OK;
  } else if (transfer_is_on_streams(def)) {
    const struct event_options options = {
        .gating = def->measure.gating, .callers = def->measure.callers, .order = &def->order};
    status = event_trial_new(context, transfer->runs, transfer->run_count, &options,
                             &transfer->event, err);
    transfer->outcome->gated = status == STATUS_OK && event_trial_is_gated(transfer->event);
    if (status == STATUS_OK && !transfer->outcome->gated) {
      notes_add_kinds(&transfer->outcome->notes, NOTE_BIT(why_not_gated(transfer)));
    }
  }
  return status;
}

/* The GPU that may fill and compare host memory. Managed memory is left to the processor that shall
 * have it: any other would move its pages. */
static int32_t data_gpu(const struct flow_run *run) {
  return transfer_ops(run->flow)->shares_buffer ? -1 : run->gpu;
}

/* Fill with the pattern or with poison. In a strided copy only the rows hold it and the gaps hold
 * the opposite, so that a target which was copied right, and written nowhere else, holds the
 * pattern without gaps. */
static enum status transfer_fill(const struct transfer *transfer, uint32_t flow,
                                 const struct buffer *buffer, bool poison, struct error *err) {
  const struct flow_run *run = &transfer->runs[flow];
  struct data *data = transfer->engine->data;
  if (transfer_ops(run->flow)->fill != NULL) {
    return transfer_ops(run->flow)->fill(&transfer->engine->context, &transfer->runs[flow], poison,
                                         err);
  }
  const bool strided = copy_shape_is_strided(&run->flow->shape);
  if (flow_is_scattered(run->flow)) {
    return poison ? pieces_poison_target(data, run, err) : pieces_fill_source(data, run, err);
  }
  enum status status = data_fill(data, buffer, transfer_buffer_bytes(run->flow), seed_of(flow),
                                 strided ? !poison : poison, data_gpu(run), err);
  return status == STATUS_OK && strided ? data_fill_rows(data, buffer, &run->flow->shape,
                                                         seed_of(flow), poison, data_gpu(run), err)
                                        : status;
}

/* The bytes of a shared buffer that a trial writes; the rest is the pattern that must survive. */
static enum status invalidate(const struct transfer *transfer, struct flow_run *run,
                              struct error *err) {
  const struct method_ops *ops = transfer_ops(run->flow);
  return ops->invalidate != NULL ? ops->invalidate(&transfer->engine->context, run, err)
                                 : STATUS_OK;
}

static enum status fill_sources(const struct transfer *transfer, struct error *err) {
  enum status status = STATUS_OK;
  for (uint32_t i = 0; status == STATUS_OK && i < transfer->def->flow_count; i++) {
    const struct flow_run *run = &transfer->runs[i];
    status = transfer_fill(transfer, i, run->source, false, err);
    if (status == STATUS_OK && run->primer != NULL) {
      status = data_fill(transfer->engine->data, run->primer, PRIMER_BYTES, seed_of(i), true,
                         data_gpu(run), err);
    }
  }
  return data_fill_wait(transfer->engine->data, status, err);
}

/* Of buffers that a processor has and that are large enough to tell; of others once per engine. */
static enum status prove_caches(const struct transfer *transfer, struct error *err) {
  const enum host_cache wanted = transfer->def->measure.host_cache;
  enum status status = STATUS_OK;
  bool proven = wanted == HOST_CACHE_AS_IS;
  for (uint32_t i = 0;
       status == STATUS_OK && wanted != HOST_CACHE_AS_IS && i < transfer->def->flow_count; i++) {
    const struct flow_run *run = &transfer->runs[i];
    const struct buffer *ends[] = {run->source, run->target};
    const uint64_t size_bytes = transfer_buffer_bytes(run->flow);
    for (size_t k = 0; status == STATUS_OK && k < 2 && !transfer_ops(run->flow)->shares_buffer;
         k++) {
      if (ends[k]->host != NULL && ends[k]->endpoint.place == PLACE_NUMA &&
          ends[k]->endpoint.memory != MEMORY_WRITE_COMBINED && size_bytes >= CACHE_PROOF_LEAST) {
        status = workload_prove_buffer(transfer->engine, wanted, ends[k], size_bytes,
                                       transfer->outcome, err);
        proven = true;
      }
    }
  }
  if (!proven) {
    workload_prove_caches(transfer->engine, wanted, transfer->outcome);
  }
  return status;
}

static enum status set_up_beside(struct engine *engine, const struct case_def *def,
                                 struct case_outcome *outcome, const struct flow_run *own,
                                 void **state, struct error *err) {
  uint64_t start_ns = clock_now_ns();
  struct transfer *transfer = calloc(1, sizeof *transfer);
  *state = transfer;
  if (transfer == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for a case");
  }
  transfer->engine = engine;
  transfer->def = def;
  transfer->outcome = outcome;
  transfer->load_factor = own == NULL ? LOAD_FACTOR : 0; /* of other work: found out */
  transfer->run_count = def->flow_count + (own != NULL);
  if (own != NULL && own->reservation != NULL) {
    transfer->reservation = *own->reservation; /* loads take other processors */
  }
  transfer->runs = calloc(transfer->run_count, sizeof *transfer->runs);
  transfer->host_times = calloc(transfer->run_count, sizeof *transfer->host_times);
  enum status status = STATUS_OK;
  if (transfer->runs == NULL || transfer->host_times == NULL) {
    status = error_set(err, STATUS_NO_MEMORY, "no memory for %u flows", def->flow_count);
  }
  status = THEN(status, take_buffers(transfer, err));
  if (status == STATUS_OK) {
    pair_flows(transfer);
  }
  status = THEN(status, take_primers(transfer, err));
  status = THEN(status, prepare_flows(transfer, err));
  if (status == STATUS_UNSUPPORTED && transfer_may_be_unsupported(def)) {
    outcome->status = CASE_SKIPPED;
  }
  if (status == STATUS_OK && own != NULL) {
    transfer->runs[def->flow_count] = *own;
  }
  status = THEN(status, make_trial(transfer, err));
  uint64_t ready_ns = clock_now_ns();
  outcome->allocate_ns += ready_ns - start_ns;
  if (status == STATUS_OK) {
    status = prove_caches(transfer, err);
    status = THEN(status, fill_sources(transfer, err));
  }
  outcome->verify_ns += clock_now_ns() - ready_ns;
  return status;
}

static enum status transfer_set_up(struct engine *engine, const struct case_def *def,
                                   struct case_outcome *outcome, void **state, struct error *err) {
  return set_up_beside(engine, def, outcome, NULL, state, err);
}

static void note_uncertainty(const struct transfer *transfer) {
  const double late_ns = (double)mixed_trial_uncertainty_ns(transfer->mixed);
  notes_add(&transfer->outcome->notes,
            &(struct note){.kind = NOTE_END_POLLED, .gpu = NOTE_NO_GPU, .amounts = {late_ns}});
}

static void transfer_tear_down(void *state) {
  struct transfer *transfer = state;
  if (transfer == NULL) {
    return;
  }
  const bool of_loads = transfer->run_count > transfer->def->flow_count;
  if (!of_loads && transfer->event != NULL) {
    event_trial_cpus(transfer->event, &transfer->reservation.taken);
  }
  if (!of_loads) {
    workload_set_cpus(transfer->outcome, &transfer->reservation.taken);
  }
  event_trial_free(transfer->event);
  if (transfer->mixed != NULL) {
    if (!of_loads && mixed_trial_uncertainty_ns(transfer->mixed) > 0) {
      note_uncertainty(transfer);
    }
    mixed_trial_free(transfer->mixed);
  }
  for (uint32_t i = 0; i < transfer->ready_count; i++) {
    transfer_ops(transfer->runs[i].flow)->release(&transfer->engine->context, &transfer->runs[i]);
  }
  pool_give_back_all(transfer->engine->pool);
  /* Advice and pages stay with the memory, and it counts against the share of the next case. */
  pool_trim_kind(transfer->engine->pool, MEMORY_MANAGED);
  free(transfer->runs);
  free(transfer->host_times);
  free(transfer);
}

static uint32_t transfer_iterations_max(const void *state) {
  const struct transfer *transfer = state;
  if (transfer_is_scattered(transfer->def)) {
    return 1; /* from the call to the end: a second call would overlap with the first */
  }
  uint32_t most = transfer->event != NULL || transfer->mixed != NULL ? EVENT_ITERATIONS_MAX
                                                                     : HOST_ITERATIONS_MAX;
  for (uint32_t i = 0; i < transfer->def->flow_count; i++) {
    const struct flow *flow = &transfer->def->flows[i];
    const uint32_t own = flow->stream != 0             ? 1
                         : flow->role == FLOW_MEASURED ? transfer_ops(flow)->iterations_max
                                                       : 0;
    most = own > 0 && own < most ? own : most;
    most = flow_copies(flow) < most ? most / flow_copies(flow) : 1;
  }
  /* Load flows are queued behind the same gate and must outlast the measured ones. */
  return transfer->has_load && most > LOAD_SHARE ? most / LOAD_SHARE : most;
}

static enum status flush_device_caches(const struct transfer *transfer, const struct flow *flow,
                                       struct error *err) {
  enum status status = STATUS_OK;
  if (flow->source.place == PLACE_GPU) {
    status = data_flush_gpu_cache(transfer->engine->data, flow->source.index, err);
  }
  if (status == STATUS_OK && flow->target.place == PLACE_GPU &&
      (flow->source.place != PLACE_GPU || flow->source.index != flow->target.index)) {
    status = data_flush_gpu_cache(transfer->engine->data, flow->target.index, err);
  }
  return status;
}

/* What is not cached, write-combined memory, is neither. */
static void set_host_cache(const struct transfer *transfer, const struct buffer *buffer,
                           uint64_t size_bytes) {
  if (buffer->host == NULL || buffer->endpoint.place != PLACE_NUMA) {
    return;
  }
  /* workload_prove_caches() says what they can do. */
  if (transfer->def->measure.host_cache == HOST_CACHE_FLUSHED) {
    (void)cache_flush(buffer->host, size_bytes);
  } else if (buffer->endpoint.memory != MEMORY_WRITE_COMBINED) {
    numa_write_lines(transfer->engine->context.machine, buffer->host, size_bytes,
                     cache_line_bytes(), buffer->endpoint.index);
  }
}

/* Both ends of the flow, of which the caches then hold the source; managed memory only where its
 * pages are on the host, since a flush or a write would bring the others there. */
static void set_host_caches(const struct transfer *transfer, const struct flow_run *run) {
  const uint64_t size_bytes = transfer_buffer_bytes(run->flow); /* the pool's may be larger */
  if (!transfer_ops(run->flow)->shares_buffer) {
    set_host_cache(transfer, run->target, size_bytes);
  }
  set_host_cache(transfer, run->source, size_bytes);
}

static enum status transfer_before_trial(void *state, struct error *err) {
  const struct transfer *transfer = state;
  const struct measure *measure = &transfer->def->measure;
  enum status status = STATUS_OK;
  for (uint32_t i = 0; status == STATUS_OK && i < transfer->def->flow_count; i++) {
    struct flow_run *run = &transfer->runs[i];
    if (transfer_ops(run->flow)->before_trial != NULL) {
      status = transfer_ops(run->flow)->before_trial(&transfer->engine->context, run, err);
    }
    if (status == STATUS_OK && measure->host_cache != HOST_CACHE_AS_IS) {
      set_host_caches(transfer, run);
    }
    if (status == STATUS_OK && measure->device_cache == CACHE_FLUSHED) {
      status = flush_device_caches(transfer, run->flow, err);
    }
  }
  return status;
}

static enum status after_trial(const struct transfer *transfer, struct error *err) {
  enum status status = STATUS_OK;
  for (uint32_t i = 0; status == STATUS_OK && i < transfer->def->flow_count; i++) {
    struct flow_run *run = &transfer->runs[i];
    if (transfer_ops(run->flow)->after_trial != NULL) {
      status = transfer_ops(run->flow)->after_trial(&transfer->engine->context, run, err);
      notes_add_kinds(&transfer->outcome->notes, run->notes);
    }
  }
  return status;
}

/* The window of flows that no gate holds back: from the first call to the end. */
static void take_host_times(const struct transfer *transfer, struct trial_times *times) {
  uint64_t first_ns = UINT64_MAX;
  uint64_t last_ns = 0;
  for (uint32_t i = 0; i < transfer->def->flow_count; i++) {
    struct flow_run *run = &transfer->runs[i];
    if (run->flow->role == FLOW_MEASURED) {
      first_ns = run->called_ns < first_ns ? run->called_ns : first_ns;
      last_ns = run->returned_ns > last_ns ? run->returned_ns : last_ns;
    }
    run->called_ns = 0;
  }
  times->submit_ns = last_ns - first_ns;
  times->gpu_ns = times->window_ns;
  times->window_ns = times->ended_ns - first_ns;
}

static enum status run_flows(struct transfer *transfer, uint32_t iterations,
                             struct trial_times *times, struct error *err) {
  if (transfer->mixed != NULL) {
    return mixed_trial_run(transfer->mixed, iterations, (uint32_t)transfer->load_iterations, times,
                           err);
  }
  if (transfer->event != NULL) {
    enum status status =
        event_trial_run(transfer->event, iterations, transfer->load_iterations, times, err);
    if (transfer_is_scattered(transfer->def)) {
      take_host_times(transfer, times);
    }
    return status;
  }
  times->flows = transfer->host_times;
  return host_trial_run(transfer->runs, transfer->run_count, iterations, times, err);
}

static uint32_t load_repeats_max(const struct transfer *transfer) {
  if (transfer->event != NULL && event_trial_feeds_loads(transfer->event)) {
    return EVENT_LOAD_FED_MAX;
  }
  const uint32_t copies = transfer_load_copies(transfer->def);
  return copies < EVENT_LOAD_ITERATIONS_MAX ? EVENT_LOAD_ITERATIONS_MAX / copies : 1;
}

static bool splits_loads(const struct transfer *transfer) {
  return transfer->event != NULL && transfer->run_count == transfer->def->flow_count &&
         event_trial_splits_loads(transfer->event);
}

/* As few as outlast the measured flows: the trial waits for what runs on after the window. Where
 * they are whole, at least one more than these have. */
static double load_repeats(const struct transfer *transfer, uint32_t iterations) {
  const double wanted = iterations * transfer->load_factor;
  if (wanted < LOAD_SPLIT_MAX && splits_loads(transfer)) {
    return fmax(wanted, 1);
  }
  const double least = transfer->run_count > transfer->def->flow_count ? 1 : iterations + 1.0;
  return fmin(fmax(ceil(wanted), least), load_repeats_max(transfer));
}

/* By the first trial whose loads outlasted it. */
static void fit_loads(struct transfer *transfer, uint32_t iterations,
                      const struct trial_times *times) {
  const double load_ns = transfer_fastest_load_ns(transfer->def, times->flows);
  transfer->load_fitted = load_ns > 0;
  if (transfer->load_fitted) {
    transfer->load_factor = LOAD_FACTOR * (double)times->window_ns / (load_ns * iterations);
  }
}

/* Where a GPU runs one thing at a time, for which gates are switched off, no load outlasts. */
static bool accept_early_load(const struct transfer *transfer, const struct trial_times *times) {
  const bool accepted = transfer->def->measure.gating == GATING_OFF &&
                        (transfer->load_iterations >= load_repeats_max(transfer) ||
                         transfer_loads_fill_window(transfer->def, times));
  if (accepted) {
    notes_add_kinds(&transfer->outcome->notes, NOTE_BIT(NOTE_LOAD_ENDED));
  }
  return accepted;
}

/* Where the load flows ended too early, the trial is made again with longer ones. More repeats are
 * of no use to loads that run faster than the host can enqueue them. */
static enum status transfer_run(void *state, uint32_t iterations, struct trial_times *times,
                                struct error *err) {
  struct transfer *transfer = state;
  transfer->load_iterations = load_repeats(transfer, iterations);
  RETURN_ON_ERROR(run_flows(transfer, iterations, times, err));
  if (times->load_paused) {
    notes_add_kinds(&transfer->outcome->notes, NOTE_BIT(NOTE_LOAD_PAUSED));
  } else if (transfer->has_load && !times->load_outlasted && !accept_early_load(transfer, times)) {
    if (transfer->load_iterations >= load_repeats_max(transfer)) {
      return error_set(err, STATUS_UNSUPPORTED,
                       "the load flows end before the measured ones even with %.0f repeats: give "
                       "them a larger size",
                       transfer->load_iterations);
    }
    transfer->load_factor = 1.5 * transfer->load_iterations / iterations;
    times->again = true;
  } else if (transfer->has_load && !transfer->load_fitted && !times->gate_timed_out &&
             splits_loads(transfer)) {
    fit_loads(transfer, iterations, times);
  }
  return after_trial(transfer, err);
}

static enum status transfer_poison(void *state, struct error *err) {
  const struct transfer *transfer = state;
  enum status status = STATUS_OK;
  for (uint32_t i = 0; status == STATUS_OK && i < transfer->def->flow_count; i++) {
    struct flow_run *run = &transfer->runs[i];
    if (transfer_ops(run->flow)->shares_buffer) {
      status = invalidate(transfer, run, err);
    } else if (run->flow->role == FLOW_MEASURED) { /* what loads write is not compared */
      status = transfer_fill(transfer, i, run->target, true, err);
    }
  }
  return data_fill_wait(transfer->engine->data, status, err);
}

/* Whether its target is compared with the pattern. */
static bool is_compared(const struct flow_run *run) {
  return run->flow->role == FLOW_MEASURED && transfer_ops(run->flow)->verify == NULL;
}

static enum status compare_flow(const struct transfer *transfer, uint32_t i, struct error *err) {
  const struct flow_run *run = &transfer->runs[i];
  const uint64_t size_bytes = transfer_buffer_bytes(run->flow);
  struct data_difference difference;
  RETURN_ON_ERROR(data_compare(transfer->engine->data, run->target, size_bytes, seed_of(i),
                               data_gpu(run), &difference, err));
  if (difference.bad_bytes != 0) {
    char place[96] = "";
    if (flow_is_scattered(run->flow)) {
      pieces_describe(run, difference.first_offset, place, sizeof place);
    }
    return error_set(err, STATUS_CORRUPT,
                     "flow %u: %llu of %llu bytes differ, the first at offset %llu%s%s: expected "
                     "0x%02x, found 0x%02x",
                     i, (unsigned long long)difference.bad_bytes, (unsigned long long)size_bytes,
                     (unsigned long long)difference.first_offset, place[0] != '\0' ? ", " : "",
                     place, difference.expected, difference.found);
  }
  return STATUS_OK;
}

static enum status transfer_verify(void *state, struct error *err) {
  const struct transfer *transfer = state;
  struct data *data = transfer->engine->data;
  enum status status = STATUS_OK;
  for (uint32_t i = 0; status == STATUS_OK && i < transfer->def->flow_count; i++) {
    const struct flow_run *run = &transfer->runs[i];
    if (is_compared(run)) {
      status = data_compare_ahead(data, run->target, transfer_buffer_bytes(run->flow), seed_of(i),
                                  data_gpu(run), err);
    }
  }
  for (uint32_t i = 0; status == STATUS_OK && i < transfer->def->flow_count; i++) {
    const struct flow_run *run = &transfer->runs[i];
    status = is_compared(run) ? compare_flow(transfer, i, err)
             : run->flow->role == FLOW_MEASURED
                 ? transfer_ops(run->flow)->verify(&transfer->engine->context, run, err)
                 : STATUS_OK;
  }
  data_compare_drop(data);
  return status;
}

/* workload_path() has given those of the flows. */
static bool transfer_path(const struct case_def *def, uint32_t i, struct case_path *path) {
  (void)def, (void)i, (void)path;
  return false;
}

/* struct loads is a struct transfer whose flows are all loads. */

enum status loads_new(struct engine *engine, const struct case_def *def,
                      struct case_outcome *outcome, const struct flow_run *own,
                      struct loads **loads, struct error *err) {
  void *state = NULL;
  enum status status = set_up_beside(engine, def, outcome, own, &state, err);
  *loads = state;
  return status;
}

void loads_free(struct loads *loads) {
  transfer_tear_down(loads);
}

enum status loads_before_trial(struct loads *loads, struct error *err) {
  return transfer_before_trial(loads, err);
}

enum status loads_run(struct loads *loads, uint32_t iterations, struct trial_times *times,
                      struct error *err) {
  const uint32_t own = ((const struct transfer *)(const void *)loads)->def->flow_count;
  enum status status = transfer_run(loads, iterations, times, err);
  if (status == STATUS_OK) {
    times->window_ns = times->flows[own].elapsed_ns;
  }
  return status;
}

/* Every kind whose work is flows. */
#define TRANSFER_OPS                                                                               \
  .unsupported_reason = transfer_unsupported_reason, .memory_needs = transfer_memory_needs,        \
  .path = transfer_path, .clock = transfer_clock, .set_up = transfer_set_up,                       \
  .iterations_max = transfer_iterations_max, .before_trial = transfer_before_trial,                \
  .run = transfer_run, .poison = transfer_poison, .verify = transfer_verify,                       \
  .tear_down = transfer_tear_down

const struct workload_ops workload_transfer = {.kind = CASE_TRANSFER, TRANSFER_OPS};
const struct workload_ops workload_compute = {.kind = CASE_COMPUTE, TRANSFER_OPS};
