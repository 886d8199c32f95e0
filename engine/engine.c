#include "engine/engine.h"

#include "engine/case/work.h"
#include "engine/gpu/session.h"
#include "engine/machine/machine.h"
#include "engine/machine/memory_limit.h"
#include "engine/memory/peer.h"
#include "engine/workload/transfer_flows.h"
#include "engine/workload/workload.h"

#include <stdlib.h>

bool engine_flow_is_paired(const struct case_def *def, uint32_t flow) {
  return transfer_partner(def, flow) != flow;
}

const char *engine_case_unsupported_reason(const struct case_def *def,
                                           const struct machine *machine,
                                           char reason[CASE_REASON_MAX]) {
  const char *unsupported = workloads[def->kind]->unsupported_reason(def, machine, reason);
  return unsupported != NULL ? unsupported : loads_unsupported_reason(def, machine, reason);
}

bool engine_case_path(const struct case_def *def, uint32_t i, struct case_path *path) {
  return workload_path(def, i, path);
}

uint32_t engine_case_gpus(const struct case_def *def) {
  return workload_gpus(def);
}

void engine_memory_needs(const struct case_def *def, const struct machine *machine,
                         uint64_t *host_bytes, uint64_t gpu_bytes[MACHINE_GPUS_MAX]) {
  *host_bytes = 0;
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    gpu_bytes[i] = 0;
  }
  workloads[def->kind]->memory_needs(def, host_bytes, gpu_bytes);
  if (!case_kind_is_of_flows(def->kind)) {
    transfer_memory_needs(def, host_bytes, gpu_bytes);
  }
}

/* The worker holds what the plan calculated for the largest case so far; and where that is little
 * of what is there, some times as much, so that buffers are kept while endpoints alternate. */
enum { ENGINE_SPARE_FACTOR = 4, ENGINE_SPARE_SHARE = 16 };

static uint64_t engine_bound_bytes(uint64_t need_bytes, uint64_t spare_bytes) {
  const uint64_t several =
      need_bytes > UINT64_MAX / ENGINE_SPARE_FACTOR ? UINT64_MAX : ENGINE_SPARE_FACTOR * need_bytes;
  const uint64_t kept = several < spare_bytes ? several : spare_bytes;
  return kept > need_bytes ? kept : need_bytes;
}

static void engine_init_bounds(struct engine *engine) {
  const struct machine *machine = engine->context.machine;
  uint64_t host_bytes = 0;
  for (uint32_t i = 0; i < machine->node_count; i++) {
    host_bytes += machine->nodes[i].free_memory_bytes;
  }
  const uint64_t left_bytes = memory_limit_left("");
  engine->host_spare_bytes =
      (left_bytes < host_bytes ? left_bytes : host_bytes) / ENGINE_SPARE_SHARE;
}

uint32_t engine_case_processes(const struct case_def *def) {
  return workload_processes(def);
}

void engine_serve(int fd, const struct machine *machine, uint32_t process) {
  peer_serve(fd, machine, process);
}

enum status engine_new(const struct machine *machine, struct peers *peers, struct engine **engine,
                       struct error *err) {
  struct engine *made = calloc(1, sizeof *made);
  if (made == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for the engine");
  }
  made->context.machine = machine;
  made->context.peers = peers;
  enum status status = STATUS_OK;
  if (machine->gpu_count > 0) {
    status = cuda_session_new(machine, &made->context.cuda, err);
  }
  if (status == STATUS_OK) {
    made->pool = pool_new(&made->context, memory_kinds);
    made->data = data_new(&made->context);
    if (made->pool == NULL || made->data == NULL) {
      status = error_set(err, STATUS_NO_MEMORY, "no memory for the engine");
    }
  }
  if (status != STATUS_OK) {
    engine_free(made);
    return status;
  }
  engine_init_bounds(made);
  *engine = made;
  return STATUS_OK;
}

void engine_free(struct engine *engine) {
  if (engine == NULL) {
    return;
  }
  pool_free(engine->pool);
  data_free(engine->data);
  cuda_session_free(engine->context.cuda);
  free(engine);
}

void engine_expect(struct engine *engine, const struct case_def *def) {
  uint64_t host_bytes = 0;
  uint64_t unused[MACHINE_GPUS_MAX];
  engine_memory_needs(def, engine->context.machine, &host_bytes, unused);
  if (host_bytes > engine->host_expected_bytes) {
    engine->host_expected_bytes = host_bytes;
  }
  for (uint32_t i = 0; i < def->flow_count; i++) {
    const struct flow *flow = &def->flows[i];
    pool_expect(engine->pool, &flow->source, transfer_buffer_bytes(flow));
    pool_expect(engine->pool, &flow->target, transfer_buffer_bytes(flow));
  }
}

void engine_prepare(struct engine *engine, const struct case_def *def) {
  (void)!workload_prepare(engine, def, NULL);
}

static void engine_bound_pool(struct engine *engine, const struct case_def *def) {
  const struct machine *machine = engine->context.machine;
  uint64_t host_bytes = 0;
  uint64_t gpu_bytes[MACHINE_GPUS_MAX] = {0};
  engine_memory_needs(def, machine, &host_bytes, gpu_bytes);
  if (host_bytes > engine->host_need_bytes) {
    engine->host_need_bytes = host_bytes;
  }
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    if (gpu_bytes[i] > engine->gpu_need_bytes[i]) {
      engine->gpu_need_bytes[i] = gpu_bytes[i];
    }
    gpu_bytes[i] = engine_bound_bytes(engine->gpu_need_bytes[i],
                                      machine->gpus[i].memory_bytes / ENGINE_SPARE_SHARE);
  }
  const uint64_t spare_bytes = engine->host_spare_bytes;
  const uint64_t bound_bytes = engine_bound_bytes(engine->host_need_bytes, spare_bytes);
  const uint64_t later_bytes =
      engine->host_expected_bytes < spare_bytes ? engine->host_expected_bytes : spare_bytes;
  pool_bound(engine->pool, later_bytes > bound_bytes ? later_bytes : bound_bytes, gpu_bytes);
  pool_begin_case(engine->pool, host_bytes);
}

enum status engine_run_case(struct engine *engine, const struct case_def *def,
                            const struct trial_sink *sink, struct case_outcome *outcome,
                            struct error *err) {
  engine_bound_pool(engine, def);
  const struct workload_ops *ops = workloads[def->kind];
  enum status status = case_run_measure(ops, engine, def, sink, outcome, err);
  /* What later cases need must not cost this one. */
  if (status == STATUS_OK && outcome->status == CASE_FAILED && outcome->measure_ns == 0 &&
      pool_forget_expected(engine->pool)) {
    status = case_run_measure(ops, engine, def, sink, outcome, err);
  }
  /* What tears a case down ignores errors, and a code that is harmless by itself may come from a
   * context that is not: the next case must not pay for it. */
  if (status == STATUS_OK && engine->context.cuda != NULL) {
    status = cuda_session_check(engine->context.cuda, workload_gpus(def), err);
  }
  if (status == STATUS_OK && outcome->status != CASE_SKIPPED) {
    status = peer_check(&engine->context, workload_processes(def), err);
    status = status == STATUS_OK ? STATUS_OK : STATUS_STICKY;
  }
  return status;
}
