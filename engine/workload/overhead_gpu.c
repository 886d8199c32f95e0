#include "engine/workload/overhead_gpu.h"

#include "engine/base/clock.h"
#include "engine/base/order.h"
#include "engine/case/summary.h"
#include "engine/host/thread_team.h"
#include "engine/machine/machine.h"
#include "engine/workload/overhead_calls.h"
#include "kernels/code.h"

#include <stdlib.h>

struct overhead_gpu {
  struct cuda_session *session;
  struct overhead_gpu_request request;
  struct overhead_caller *callers;
  uint32_t caller_count;
  struct thread_team *team; /* NULL: the caller's own thread */
  CUdeviceptr *alive;
  uint32_t alive_count;
  uint64_t clock_ns; /* between two readings */
  uint64_t first_ns;
  overhead_call call; /* that the threads make now; NULL: get ready */
  bool sampled;       /* each timed by itself */
};

/* ---- one thread, and several ---- */

/* Make calls 0 to count - 1 until one fails. */
static void caller_repeat(struct overhead_caller *c, overhead_call call, uint32_t count) {
  for (c->done = 0; c->done < count; c->done++) {
    c->result = call(c, c->done);
    if (c->result != CUDA_SUCCESS) {
      break;
    }
  }
}

static void caller_sample(struct overhead_caller *c, overhead_call call, uint32_t count,
                          uint64_t clock_ns) {
  for (c->done = 0; c->done < count; c->done++) {
    const uint64_t start_ns = clock_now_ns();
    c->result = call(c, c->done);
    const uint64_t took_ns = clock_now_ns() - start_ns;
    if (c->result != CUDA_SUCCESS) {
      break;
    }
    c->samples[c->sample_count++ % OVERHEAD_SAMPLES_MAX] =
        took_ns > clock_ns ? took_ns - clock_ns : 0;
  }
}

static void overhead_thread(void *context, uint32_t thread, uint32_t thread_count, uint32_t count) {
  struct overhead_gpu *overhead = context;
  struct overhead_caller *c = &overhead->callers[thread];
  (void)thread_count;
  if (overhead->call == NULL) {
    c->result = c->driver->cuCtxSetCurrent(c->context);
  } else if (overhead->sampled) {
    caller_sample(c, overhead->call, count, overhead->clock_ns);
  } else {
    caller_repeat(c, overhead->call, count);
  }
}

/* All threads make the call so often; of those that made fewer before (c->done), as few. */
static uint64_t overhead_all(struct overhead_gpu *overhead, overhead_call call, uint32_t count,
                             bool sampled) {
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  overhead->call = call;
  overhead->sampled = sampled;
  if (overhead->team == NULL) {
    start_ns = clock_now_ns();
    overhead_thread(overhead, 0, 1, count);
    end_ns = clock_now_ns();
  } else {
    thread_team_start(overhead->team, overhead_thread, overhead, count, NULL);
    thread_team_wait(overhead->team, &start_ns, &end_ns);
  }
  return end_ns - start_ns;
}

/* The first failure of any thread since the last time, and the fewest calls that one made. */
static CUresult overhead_result(struct overhead_gpu *overhead, uint32_t *done) {
  CUresult result = CUDA_SUCCESS;
  for (uint32_t i = 0; i < overhead->caller_count; i++) {
    struct overhead_caller *c = &overhead->callers[i];
    result = result != CUDA_SUCCESS ? result : c->result;
    *done = c->done < *done ? c->done : *done;
    c->result = CUDA_SUCCESS;
  }
  return result;
}

/* Before, timed and after. What a thread made before another one failed is left to the end of the
 * process: after such an error a new worker goes on, or the driver lacks the call. */
static enum status overhead_round(struct overhead_gpu *overhead, uint32_t count, bool sampled,
                                  uint64_t *elapsed_ns, struct error *err) {
  const enum overhead_operation operation = overhead->request.overhead->operation;
  uint32_t ready = count;
  uint32_t done = count;
  uint32_t undone = count;
  (void)overhead_all(overhead, overhead_calls[operation].before, count, false);
  CUresult result = overhead_result(overhead, &ready);
  *elapsed_ns = overhead_all(overhead, overhead_calls[operation].timed, ready, sampled);
  const CUresult timed = overhead_result(overhead, &done);
  result = result != CUDA_SUCCESS ? result : timed;
  (void)overhead_all(overhead, overhead_calls[operation].after, done, false);
  const CUresult after = overhead_result(overhead, &undone);
  result = result != CUDA_SUCCESS ? result : after;
  for (uint32_t i = 0; i < overhead->caller_count; i++) {
    const struct overhead_caller *c = &overhead->callers[i];
    const CUresult drained = c->driver->cuStreamSynchronize(c->stream);
    result = result != CUDA_SUCCESS ? result : drained;
  }
  return cuda_check(&overhead->session->driver, result, err, "%s of %s, %u times",
                    overhead_calls[operation].entry, overhead_operation_text(operation), count);
}

enum status overhead_gpu_run(struct overhead_gpu *overhead, uint32_t count, uint64_t *elapsed_ns,
                             struct error *err) {
  uint64_t ignored_ns = 0;
  RETURN_ON_ERROR(cuda_session_use(overhead->session, overhead->request.overhead->gpu, err));
  RETURN_ON_ERROR(overhead_round(overhead, count, count == 1, elapsed_ns, err));
  return count == 1
             ? STATUS_OK
             : overhead_round(overhead, count < CALL_SAMPLES_PER_RUN ? count : CALL_SAMPLES_PER_RUN,
                              true, &ignored_ns, err);
}

void overhead_gpu_calls(const struct overhead_gpu *overhead, struct case_outcome *outcome) {
  size_t count = 0;
  double *values = calloc(overhead->caller_count * (size_t)OVERHEAD_SAMPLES_MAX, sizeof *values);
  for (uint32_t i = 0; values != NULL && i < overhead->caller_count; i++) {
    const struct overhead_caller *c = &overhead->callers[i];
    for (uint64_t k = 0; k < c->sample_count && k < OVERHEAD_SAMPLES_MAX; k++) {
      values[count++] = (double)c->samples[k];
    }
  }
  struct summary summary;
  if (count > 0) {
    summary_of_values(values, count, &summary); /* leaves them sorted */
    outcome->call_first_ns = overhead->first_ns;
    outcome->call_median_ns = (uint64_t)summary.median_ns;
    outcome->call_p99_ns = (uint64_t)sorted_quantile(values, count, 0.99);
  }
  free(values);
}

/* ---- life ---- */

static enum status caller_init(struct overhead_caller *c, struct overhead_gpu *overhead,
                               uint32_t thread, struct error *err) {
  const struct overhead *what = overhead->request.overhead;
  const struct cuda_session *session = overhead->session;
  const struct gpu *facts = &session->machine->gpus[what->gpu];
  const struct cuda_driver *driver = &session->driver;
  const CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE,
                              .id = session->gpus[what->gpu].device};
  const struct kernel_target target = {facts->compute_major, facts->compute_minor, driver->version};
  c->what = what;
  c->session = overhead->session;
  c->memory = overhead->request.memory;
  c->alive = overhead->alive;
  c->alive_count = overhead->alive_count;
  c->slot_bytes = overhead->request.slot_bytes;
  c->driver = driver;
  c->context = session->gpus[what->gpu].context;
  c->gpu = session->gpus[what->gpu].device;
  c->bytes = what->size_bytes;
  c->image = kernel_image(KERNEL_MODULE_GATE, &target);
  c->properties = (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = here};
  c->access = (CUmemAccessDesc){.location = here, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  c->slots = overhead->request.host == NULL
                 ? NULL
                 : overhead->request.host + (uint64_t)thread * overhead->request.operations_max *
                                                overhead->request.slot_bytes;
  c->made = calloc(OVERHEAD_MADE_MAX, sizeof *c->made);
  if (c->made == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for a case");
  }
  enum status status = cuda_check(
      driver, driver->cuStreamCreate(&c->stream, CU_STREAM_NON_BLOCKING), err, "cuStreamCreate");
  status = THEN(status, cuda_check(driver, driver->cuEventCreate(&c->event, CU_EVENT_DEFAULT), err,
                                   "cuEventCreate"));
  status = THEN(
      status, cuda_check(driver, driver->cuEventRecord(c->event, c->stream), err, "cuEventRecord"));
  status = THEN(status, overhead_calls[what->operation].ready(c, err));
  return THEN(status, cuda_check(driver, driver->cuStreamSynchronize(c->stream), err,
                                 "waiting for an idle stream"));
}

static enum status overhead_make_alive(struct overhead_gpu *overhead, struct error *err) {
  const uint32_t wanted = (uint32_t)overhead->request.overhead->alive; /* OVERHEAD_ALIVE_MAX */
  const struct cuda_driver *driver = &overhead->session->driver;
  enum status status = STATUS_OK;
  overhead->alive = calloc(wanted + 1, sizeof *overhead->alive);
  if (overhead->alive == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for %u addresses", wanted);
  }
  while (status == STATUS_OK && overhead->alive_count < wanted) {
    status = cuda_check(
        driver, driver->cuMemAlloc(&overhead->alive[overhead->alive_count], OVERHEAD_ALIVE_BYTES),
        err, "making allocation %u of %u", overhead->alive_count + 1, wanted);
    overhead->alive_count += status == STATUS_OK;
  }
  return status;
}

static uint64_t time_of_clock(void) {
  uint64_t least_ns = UINT64_MAX;
  for (int i = 0; i < 1000; i++) {
    const uint64_t start_ns = clock_now_ns();
    const uint64_t took_ns = clock_now_ns() - start_ns;
    least_ns = took_ns < least_ns ? took_ns : least_ns;
  }
  return least_ns;
}

static enum status overhead_make_ready(struct overhead_gpu *overhead, struct error *err) {
  const struct overhead *what = overhead->request.overhead;
  const struct machine *machine = overhead->session->machine;
  const uint32_t count = what->threads > 1 ? what->threads : 1;
  enum status status = cuda_session_use(overhead->session, what->gpu, err);
  if (status == STATUS_OK && !overhead_calls[what->operation].has(&overhead->session->driver)) {
    status = error_set(err, STATUS_UNSUPPORTED, "the driver has no %s",
                       overhead_calls[what->operation].entry);
  }
  status = THEN(status, overhead_make_alive(overhead, err));
  for (uint32_t i = 0; status == STATUS_OK && i < count; i++) {
    overhead->caller_count++; /* also when it fails half way: overhead_caller_fini() */
    status = caller_init(&overhead->callers[i], overhead, i, err);
  }
  if (status == STATUS_OK && count > 1) {
    status = thread_team_new(machine, machine_memory_node(machine, what->gpu), count, NULL,
                             &overhead->team, err);
    if (status == STATUS_OK) {
      (void)overhead_all(overhead, NULL, 1, false);
    }
  }
  overhead->clock_ns = time_of_clock();
  uint64_t ignored_ns = 0;
  status = THEN(status, overhead_round(overhead, 1, true, &ignored_ns, err));
  if (status == STATUS_OK) {
    overhead->first_ns = overhead->callers[0].samples[0];
  }
  for (uint32_t i = 0; i < overhead->caller_count; i++) {
    overhead->callers[i].sample_count = 0;
  }
  return status;
}

enum status overhead_gpu_new(struct cuda_session *session,
                             const struct overhead_gpu_request *request,
                             struct overhead_gpu **overhead, struct error *err) {
  const uint32_t threads = request->overhead->threads;
  struct overhead_gpu *made = calloc(1, sizeof *made);
  struct overhead_caller *callers = calloc(threads > 1 ? threads : 1, sizeof *callers);
  if (made == NULL || callers == NULL) {
    free(made);
    free(callers);
    return error_set(err, STATUS_NO_MEMORY, "no memory for a case");
  }
  *made = (struct overhead_gpu){.session = session, .request = *request, .callers = callers};
  enum status status = overhead_make_ready(made, err);
  if (status != STATUS_OK) {
    overhead_gpu_free(made);
    return status;
  }
  *overhead = made;
  return STATUS_OK;
}

void overhead_gpu_free(struct overhead_gpu *overhead) {
  if (overhead == NULL) {
    return;
  }
  thread_team_free(overhead->team);
  for (uint32_t i = 0; i < overhead->caller_count; i++) {
    overhead_caller_fini(&overhead->callers[i]);
  }
  for (uint32_t i = 0; i < overhead->alive_count; i++) {
    (void)overhead->session->driver.cuMemFree(overhead->alive[i]);
  }
  free(overhead->alive);
  free(overhead->callers);
  free(overhead);
}
