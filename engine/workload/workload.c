#include "engine/workload/workload.h"

#include "engine/base/units.h"
#include "engine/case/transfer.h"
#include "engine/case/work.h"
#include "engine/gpu/session.h"
#include "engine/host/numa.h"
#include "engine/machine/machine.h"

#include <inttypes.h>
#include <stdio.h>

#define WORKLOAD_EXTERN_(id, text, name) extern const struct workload_ops workload_##name;
CASE_KIND_LIST(WORKLOAD_EXTERN_)

#define WORKLOAD_ROW_(id, text, name) [id] = &workload_##name,
const struct workload_ops *const workloads[case_kind_name_count] = {CASE_KIND_LIST(WORKLOAD_ROW_)};

void workload_note_buffer(struct case_outcome *outcome, const struct buffer *buffer) {
  notes_add_kinds(&outcome->notes, buffer->notes);
  if (buffer->unverified[0] != '\0') {
    struct note note = {.kind = NOTE_PLACE_UNVERIFIED, .gpu = NOTE_NO_GPU};
    (void)snprintf(note.what, sizeof note.what, "%s", buffer->unverified);
    notes_add(&outcome->notes, &note);
  }
}

void workload_set_cpus(struct case_outcome *outcome, const struct cpu_set_bits *cpus) {
  char text[CASE_CPUS_MAX];
  numa_format_cpus(cpus, text, sizeof text);
  if (text[0] != '\0') {
    memcpy(outcome->cpus, text, sizeof text);
  }
}

static void workload_note_proof(const struct cache_flush_proof *proof, enum host_cache wanted,
                                struct case_outcome *outcome) {
  outcome->cache_warm_ns = proof->warm_ns;
  outcome->cache_flushed_ns = proof->flushed_ns;
  if (!proof->works) {
    const bool warm = wanted == HOST_CACHE_WARM;
    notes_add_kinds(&outcome->notes, proof->supported
                                         ? NOTE_BIT(warm ? NOTE_WARM_UNPROVEN : NOTE_FLUSH_UNPROVEN)
                                         : NOTE_BIT(warm ? NOTE_WARM_NO_FLUSH : NOTE_NO_FLUSH));
  }
}

void workload_prove_caches(struct engine *engine, enum host_cache wanted,
                           struct case_outcome *outcome) {
  if (wanted == HOST_CACHE_AS_IS) {
    return;
  }
  if (!engine->flush_proven) {
    cache_flush_prove(&engine->flush_proof);
    engine->flush_proven = true;
  }
  workload_note_proof(&engine->flush_proof, wanted, outcome);
}

enum status workload_prepare(const struct engine *engine, const struct case_def *def,
                             struct error *err) {
  return engine->context.cuda == NULL
             ? STATUS_OK
             : cuda_session_prepare(engine->context.cuda, workload_gpus(def),
                                    workload_kernel_modules(def), err);
}

enum status workload_prove_buffer(const struct engine *engine, enum host_cache wanted,
                                  const struct buffer *buffer, uint64_t size_bytes,
                                  struct case_outcome *outcome, struct error *err) {
  struct cache_flush_proof proof;
  struct numa_binding before;
  enum status status =
      numa_bind_thread(engine->context.machine, buffer->endpoint.index, &before, err);
  const bool bound = status == STATUS_OK;
  if (status != STATUS_OK && status != STATUS_DENIED && status != STATUS_UNSUPPORTED) {
    return status;
  }
  cache_flush_prove_at(buffer->host, size_bytes, &proof);
  if (bound) {
    numa_restore_thread(&before);
  }
  workload_note_proof(&proof, wanted, outcome);
  return STATUS_OK;
}

bool workload_is_unflushed(const struct case_outcome *outcome) {
  return notes_have(&outcome->notes, NOTE_WARM_UNPROVEN) ||
         notes_have(&outcome->notes, NOTE_FLUSH_UNPROVEN) ||
         notes_have(&outcome->notes, NOTE_WARM_NO_FLUSH) ||
         notes_have(&outcome->notes, NOTE_NO_FLUSH);
}

/* Where the scenario does not say. */
static const double FREE_SHARE_DEFAULT = 0.25;

static double managed_free_share(const struct measure *measure) {
  return measure->free_share == 0 ? FREE_SHARE_DEFAULT : measure->free_share;
}

static const char *unsupported_reason_of(const struct measure *measure, int32_t gpu, uint64_t bytes,
                                         uint64_t free_bytes, char reason[CASE_REASON_MAX]) {
  const double share = managed_free_share(measure);
  if (!(share > 0 && share < 1)) {
    return CASE_REASON(reason, "free_share = %g: above 0 and below 1 is wanted", share);
  }
  if ((double)bytes <= share * (double)free_bytes) {
    return NULL;
  }
  const char *wanted = units_format_size(bytes, UNITS_TEXT);
  const char *available = units_format_size(free_bytes, UNITS_TEXT);
  return CASE_REASON(reason,
                     "%s of managed memory for GPU %" PRId32
                     " are more than free_share = %g of its free memory, %s",
                     wanted, gpu, share, available);
}

const char *managed_share_unsupported_reason(const struct measure *measure,
                                             const struct machine *machine,
                                             const uint64_t bytes[MACHINE_GPUS_MAX],
                                             char reason[CASE_REASON_MAX]) {
  const char *unsupported = NULL;
  for (uint32_t gpu = 0; unsupported == NULL && gpu < machine->gpu_count; gpu++) {
    const struct gpu *facts = &machine->gpus[gpu];
    if (bytes[gpu] > 0) {
      unsupported = unsupported_reason_of(
          measure, (int32_t)gpu, bytes[gpu],
          facts->free_memory_bytes > 0 ? facts->free_memory_bytes : facts->memory_bytes, reason);
    }
  }
  return unsupported;
}

static enum status admit(struct engine *engine, const struct measure *measure, int32_t gpu,
                         uint64_t bytes, struct error *err) {
  char reason[CASE_REASON_MAX];
  const char *unsupported = NULL;
  for (int attempt = 0; attempt < 2; attempt++) {
    uint64_t free_bytes = 0;
    enum status status = cuda_session_free_bytes(engine->context.cuda, gpu, &free_bytes, err);
    RETURN_ON_ERROR(status);
    unsupported = unsupported_reason_of(measure, gpu, bytes, free_bytes, reason);
    if (unsupported == NULL) {
      return STATUS_OK;
    }
    pool_trim(engine->pool);
  }
  return error_set(err, STATUS_UNSUPPORTED, "%s", unsupported);
}

enum status managed_share_admit(struct engine *engine, const struct measure *measure,
                                const uint64_t bytes[MACHINE_GPUS_MAX], struct error *err) {
  enum status status = STATUS_OK;
  for (uint32_t gpu = 0; status == STATUS_OK && gpu < engine->context.machine->gpu_count; gpu++) {
    if (bytes[gpu] > 0) {
      status = admit(engine, measure, (int32_t)gpu, bytes[gpu], err);
    }
  }
  return status;
}

enum { GPU_BITS = 32 };

/* A case may name a GPU that no machine has, until it is refused: that has no bit. */
static uint32_t endpoint_gpu(const struct endpoint *end) {
  const bool is_gpu = end->place == PLACE_GPU && end->index >= 0 && end->index < GPU_BITS;
  return is_gpu ? UINT32_C(1) << end->index : 0;
}

bool workload_path(const struct case_def *def, uint32_t i, struct case_path *path) {
  if (i >= def->flow_count) {
    return workloads[def->kind]->path(def, i - def->flow_count, path);
  }
  const struct flow *flow = &def->flows[i];
  *path = (struct case_path){flow->source, flow->target, flow->staged};
  return true;
}

uint32_t workload_kernel_modules(const struct case_def *def) {
  uint32_t modules = workloads[def->kind]->kernel_modules;
  for (uint32_t i = 0; i < def->flow_count; i++) {
    const struct flow *flow = &def->flows[i];
    modules |= flow->method == METHOD_SM ? UINT32_C(1) << KERNEL_MODULE_COPY : 0;
    modules |= flow->method == METHOD_COMPUTE ? UINT32_C(1) << KERNEL_MODULE_COMPUTE : 0;
    if (copy_shape_is_strided(&flow->shape) || flow_is_scattered(flow)) {
      modules |= UINT32_C(1) << KERNEL_MODULE_STRIDED;
    }
  }
  return modules;
}

uint32_t workload_processes(const struct case_def *def) {
  uint32_t processes = 0;
  struct case_path path;
  for (uint32_t i = 0; workload_path(def, i, &path); i++) {
    processes |= 1U << path.from.process | 1U << path.to.process;
  }
  if (def->kind == CASE_OVERHEAD &&
      (overhead_traits_of(def->work->overhead.operation) & OVERHEAD_IMPORTED) != 0) {
    processes |= 1U << 1;
  }
  return processes & ~1U;
}

uint32_t workload_gpus(const struct case_def *def) {
  uint32_t gpus = 0;
  struct case_path path;
  for (uint32_t i = 0; workload_path(def, i, &path); i++) {
    gpus |= endpoint_gpu(&path.from) | endpoint_gpu(&path.to);
  }
  return gpus;
}
