#include "engine/gpu/session.h"

#include "engine/machine/machine.h"
#include "kernels/code.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_BYTES = 4096 };

/* The GPU of that CUDA ordinal must be where the probed one was: when one has fallen off its bus
 * since, the driver counts the others anew, and numbers would go to the wrong GPU. */
static enum status find_device(struct cuda_session *session, int32_t gpu, struct error *err) {
  const struct cuda_driver *driver = &session->driver;
  const struct gpu *probed = &session->machine->gpus[gpu];
  char text[32] = "";
  char pci_address[sizeof probed->pci_address] = "";
  CUdevice device;
  RETURN_ON_ERROR(cuda_check(driver, driver->cuDeviceGet(&device, probed->cuda_ordinal), err,
                             "cuDeviceGet for GPU %d", gpu));
  if (driver->cuDeviceGetPCIBusId(text, (int)sizeof text, device) == CUDA_SUCCESS &&
      machine_normalise_pci(text, pci_address) && strcmp(pci_address, probed->pci_address) != 0) {
    return error_set(err, STATUS_CUDA,
                     "GPU %d was at %s when haul began, and the driver now has one at %s there: a "
                     "GPU was lost or their order has changed; run again",
                     gpu, probed->pci_address, pci_address);
  }
  session->gpus[gpu].device = device;
  return STATUS_OK;
}

enum status cuda_session_new(const struct machine *machine, struct cuda_session **session,
                             struct error *err) {
  struct cuda_session *made = calloc(1, sizeof *made);
  if (made == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for the CUDA session");
  }
  made->machine = machine;
  enum status status = cuda_driver_load(&made->driver, err);
  for (uint32_t gpu = 0; status == STATUS_OK && gpu < machine->gpu_count; gpu++) {
    if (find_device(made, (int32_t)gpu, NULL) != STATUS_OK) {
      made->gpus[gpu].device = CU_DEVICE_INVALID; /* an error at its first use */
    }
  }
  if (status != STATUS_OK) {
    cuda_session_free(made);
    return status;
  }
  *session = made;
  return STATUS_OK;
}

static void free_device(const struct cuda_driver *driver, CUdeviceptr address) {
  if (address != 0) {
    (void)driver->cuMemFree(address);
  }
}

/* Results are ignored: a lost context answers every call with an error, and the process ends. */
void cuda_session_free(struct cuda_session *session) {
  if (session == NULL) {
    return;
  }
  const struct cuda_driver *driver = &session->driver;
  for (uint32_t i = 0; i < session->machine->gpu_count; i++) {
    struct cuda_gpu *gpu = &session->gpus[i];
    if (gpu->context != NULL) {
      (void)driver->cuCtxSetCurrent(gpu->context);
      cuda_session_free_page(session, session->gate.host);
      session->gate.host = NULL;
      free_device(driver, gpu->compare_result);
      free_device(driver, gpu->flush_buffer);
      for (int pool = 1; pool <= PEERS_MAX; pool++) { /* the first is the device's own */
        if (gpu->pools[pool] != NULL) {
          (void)driver->cuMemPoolDestroy(gpu->pools[pool]);
        }
      }
      if (gpu->stream != NULL) {
        (void)driver->cuStreamDestroy(gpu->stream);
      }
      for (int module = 0; module < (int)kernel_module_name_count; module++) {
        if (gpu->modules[module] != NULL) {
          (void)driver->cuModuleUnload(gpu->modules[module]);
        }
      }
      (void)driver->cuDevicePrimaryCtxRelease(gpu->device);
    }
  }
  cuda_driver_unload(&session->driver);
  free(session);
}

/* Have the kernel on the device now, not at its first launch. */
static enum status load_kernel(struct cuda_session *session, struct cuda_gpu *gpu,
                               enum kernel_module module, enum kernel kernel, struct error *err) {
  const struct cuda_driver *driver = &session->driver;
  const char *name = kernel_text(kernel);
  CUfunction function = NULL;
  RETURN_ON_ERROR(cuda_check(driver,
                             driver->cuModuleGetFunction(&function, gpu->modules[module], name),
                             err, "finding kernel %s", name));
  int registers; /* drivers that load lazily load the function when asked for an attribute */
  const CUresult result =
      driver->cuFuncLoad != NULL
          ? driver->cuFuncLoad(function)
          : driver->cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function);
  RETURN_ON_ERROR(cuda_check(driver, result, err, "loading kernel %s", name));
  gpu->kernels[kernel] = function;
  return STATUS_OK;
}

/* The GPU's context is current. */
static enum status load_module(struct cuda_session *session, int32_t index,
                               enum kernel_module module, struct error *err) {
  const struct gpu *facts = &session->machine->gpus[index];
  struct cuda_gpu *gpu = &session->gpus[index];
  const struct kernel_target target = {facts->compute_major, facts->compute_minor,
                                       session->driver.version};
  const void *image = kernel_image(module, &target);
  if (gpu->modules[module] != NULL) {
    return STATUS_OK;
  }
  if (image == NULL) {
    return error_set(err, STATUS_UNSUPPORTED,
                     "this haul has no kernels for compute capability %u.%u, which GPU %d has: it "
                     "has %s",
                     facts->compute_major, facts->compute_minor, index, kernel_code_built());
  }
  enum status status =
      cuda_check(&session->driver, session->driver.cuModuleLoadData(&gpu->modules[module], image),
                 err, "loading the %s kernels", kernel_module_text(module));
  const enum kernel_module next = (enum kernel_module)(module + 1);
  for (enum kernel kernel = kernel_module_first(module);
       status == STATUS_OK && kernel < kernel_module_first(next); kernel++) {
    status = load_kernel(session, gpu, module, kernel, err);
  }
  return status;
}

static enum status load_modules(struct cuda_session *session, int32_t gpu, uint32_t modules,
                                struct error *err) {
  enum status status = STATUS_OK;
  for (int i = 0; status == STATUS_OK && i < (int)kernel_module_name_count; i++) {
    if ((modules >> i & 1) != 0) {
      status = load_module(session, gpu, (enum kernel_module)i, err);
    }
  }
  return status;
}

enum { MODULES_OF_EVERY_CASE = 1 << KERNEL_MODULE_GATE | 1 << KERNEL_MODULE_PATTERN };

static enum status create_context(struct cuda_session *session, int32_t index, struct error *err) {
  const struct cuda_driver *driver = &session->driver;
  struct cuda_gpu *gpu = &session->gpus[index];
  CUcontext context;
  if (gpu->device == CU_DEVICE_INVALID) {
    RETURN_ON_ERROR(find_device(session, index, err));
  }
  /* Not inside the context of another GPU, which may be lost. */
  (void)driver->cuCtxSetCurrent(NULL);
  RETURN_ON_ERROR(cuda_check(driver, driver->cuDevicePrimaryCtxRetain(&context, gpu->device), err,
                             "creating a context on GPU %d", index));
  gpu->context = context;
  enum status status = cuda_check(driver, driver->cuCtxSetCurrent(context), err, "cuCtxSetCurrent");
  status = THEN(status, load_modules(session, index, MODULES_OF_EVERY_CASE, err));
  return THEN(status,
              cuda_check(driver, driver->cuStreamCreate(&gpu->stream, CU_STREAM_NON_BLOCKING), err,
                         "cuStreamCreate"));
}

enum status cuda_session_use(struct cuda_session *session, int32_t gpu, struct error *err) {
  if (session->gpus[gpu].stream == NULL) {
    return create_context(session, gpu, err);
  }
  return cuda_check(&session->driver, session->driver.cuCtxSetCurrent(session->gpus[gpu].context),
                    err, "cuCtxSetCurrent for GPU %d", gpu);
}

enum status cuda_session_prepare(struct cuda_session *session, uint32_t gpus, uint32_t modules,
                                 struct error *err) {
  enum status status = STATUS_OK;
  for (uint32_t i = 0; i < session->machine->gpu_count && status == STATUS_OK; i++) {
    if ((gpus >> i & 1) != 0) {
      status = cuda_session_use(session, (int32_t)i, err);
      status = THEN(status, load_modules(session, (int32_t)i, modules, err));
    }
  }
  return status;
}

enum status cuda_session_check(struct cuda_session *session, uint32_t gpus, struct error *err) {
  enum status status = STATUS_OK;
  session->cases++;
  for (uint32_t i = 0; i < session->machine->gpu_count && status == STATUS_OK; i++) {
    const struct cuda_gpu *gpu = &session->gpus[i];
    CUresult result = CUDA_SUCCESS;
    if ((gpus >> i & 1) != 0 && gpu->context != NULL) {
      result = session->driver.cuCtxSetCurrent(gpu->context);
      result = result == CUDA_SUCCESS ? session->driver.cuCtxSynchronize() : result;
    }
    if (cuda_check(&session->driver, result, err, "the context of GPU %u after the case", i) !=
        STATUS_OK) {
      status = STATUS_STICKY; /* whatever the code: nothing was asked of it */
    }
  }
  return status;
}

enum status cuda_session_free_bytes(struct cuda_session *session, int32_t gpu, uint64_t *free_bytes,
                                    struct error *err) {
  size_t unused = 0;
  size_t total = 0;
  enum status status = cuda_session_use(session, gpu, err);
  status = THEN(status, cuda_check(&session->driver, session->driver.cuMemGetInfo(&unused, &total),
                                   err, "asking for the free memory of GPU %d", gpu));
  *free_bytes = unused;
  return status;
}

/* The current context's access to `peer`. */
static CUresult change_peer(struct cuda_session *session, int32_t gpu, int32_t peer, bool enabled) {
  const struct cuda_driver *driver = &session->driver;
  CUcontext other = session->gpus[peer].context;
  const CUresult result =
      enabled ? driver->cuCtxEnablePeerAccess(other, 0) : driver->cuCtxDisablePeerAccess(other);
  if (result == CUDA_SUCCESS) {
    session->gpus[gpu].peer_enabled[peer] = enabled;
  }
  return result;
}

/* A GPU may reach only so many peers at a time (eight without NVSwitch): those go that no flow of
 * this case asked for. */
static void drop_idle_peers(struct cuda_session *session, int32_t gpu) {
  const struct cuda_gpu *state = &session->gpus[gpu];
  for (uint32_t peer = 0; peer < session->machine->gpu_count; peer++) {
    if (state->peer_enabled[peer] && state->peer_case[peer] != session->cases) {
      (void)change_peer(session, gpu, (int32_t)peer, false);
    }
  }
}

enum status cuda_session_set_peer(struct cuda_session *session, int32_t gpu, int32_t peer,
                                  bool enabled, struct error *err) {
  struct cuda_gpu *state = &session->gpus[gpu];
  state->peer_case[peer] = session->cases;
  if (gpu == peer || state->peer_enabled[peer] == enabled) {
    return STATUS_OK;
  }
  if (enabled && !session->machine->links[gpu][peer].peer_access) {
    return error_set(err, STATUS_UNSUPPORTED, "GPU %d has no peer access to GPU %d", gpu, peer);
  }
  enum status status = cuda_session_use(session, peer, err);
  status = THEN(status, cuda_session_use(session, gpu, err));
  RETURN_ON_ERROR(status);
  CUresult result = change_peer(session, gpu, peer, enabled);
  if (result == CUDA_ERROR_TOO_MANY_PEERS) {
    drop_idle_peers(session, gpu);
    result = change_peer(session, gpu, peer, enabled);
  }
  return cuda_check(&session->driver, result, err, "%s peer access of GPU %d to GPU %d",
                    enabled ? "enabling" : "disabling", gpu, peer);
}

/* The numbers of priorities are the driver's: the highest has the lowest. */
enum status cuda_session_new_stream(struct cuda_session *session, int priority, CUgreenCtx part,
                                    CUstream *stream, struct error *err) {
  const struct cuda_driver *driver = &session->driver;
  int least = 0;
  int greatest = 0;
  if (priority != 0 && driver->cuStreamCreateWithPriority != NULL &&
      driver->cuCtxGetStreamPriorityRange != NULL) {
    RETURN_ON_ERROR(cuda_check(driver, driver->cuCtxGetStreamPriorityRange(&least, &greatest), err,
                               "cuCtxGetStreamPriorityRange"));
  }
  if (priority != 0 && least == greatest) {
    return error_set(err, STATUS_UNSUPPORTED, "streams have no priorities here");
  }
  const int level = priority > 0 ? greatest : priority < 0 ? least : 0;
  if (part != NULL) {
    return cuda_check(driver,
                      driver->cuGreenCtxStreamCreate(stream, part, CU_STREAM_NON_BLOCKING, level),
                      err, "cuGreenCtxStreamCreate");
  }
  return priority == 0
             ? cuda_check(driver, driver->cuStreamCreate(stream, CU_STREAM_NON_BLOCKING), err,
                          "cuStreamCreate")
             : cuda_check(driver,
                          driver->cuStreamCreateWithPriority(stream, CU_STREAM_NON_BLOCKING, level),
                          err, "cuStreamCreateWithPriority");
}

enum status cuda_session_new_part(struct cuda_session *session, int32_t gpu, uint32_t sm_count,
                                  CUgreenCtx *part, uint32_t *part_sm_count, struct error *err) {
  const struct cuda_driver *driver = &session->driver;
  const CUdevice device = session->gpus[gpu].device;
  CUdevResource whole;
  CUdevResource some;
  CUdevResourceDesc description = NULL;
  unsigned count = 1;
  if (driver->cuDeviceGetDevResource == NULL || driver->cuDevSmResourceSplitByCount == NULL ||
      driver->cuDevResourceGenerateDesc == NULL || driver->cuGreenCtxCreate == NULL ||
      driver->cuGreenCtxDestroy == NULL || driver->cuGreenCtxStreamCreate == NULL) {
    return error_set(err, STATUS_UNSUPPORTED,
                     "the driver has no green contexts: they came with CUDA 12.5, and this one is "
                     "of CUDA %d.%d",
                     driver->version / 1000, driver->version % 1000 / 10);
  }
  RETURN_ON_ERROR(cuda_session_use(session, gpu, err));
  RETURN_ON_ERROR(
      cuda_check(driver, driver->cuDeviceGetDevResource(device, &whole, CU_DEV_RESOURCE_TYPE_SM),
                 err, "cuDeviceGetDevResource"));
  RETURN_ON_ERROR(cuda_check(
      driver,
      driver->cuDevSmResourceSplitByCount(
          &some, &count, &whole, NULL, CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, sm_count),
      err, "cuDevSmResourceSplitByCount for %u of %u SMs", sm_count, whole.sm.smCount));
  if (count != 1) {
    return error_set(err, STATUS_UNSUPPORTED, "the driver has no part of %u of the %u SMs",
                     sm_count, whole.sm.smCount);
  }
  RETURN_ON_ERROR(cuda_check(driver, driver->cuDevResourceGenerateDesc(&description, &some, 1), err,
                             "cuDevResourceGenerateDesc"));
  *part_sm_count = some.sm.smCount;
  return cuda_check(
      driver, driver->cuGreenCtxCreate(part, description, device, CU_GREEN_CTX_DEFAULT_STREAM), err,
      "cuGreenCtxCreate with %u SMs", some.sm.smCount);
}

enum status cuda_session_launch_shared(struct cuda_session *session, int32_t gpu,
                                       enum kernel kernel, uint32_t grid, uint32_t block,
                                       uint32_t shared_bytes, CUstream stream, void *arguments,
                                       struct error *err) {
  void *parameters[] = {arguments};
  if (session->gpus[gpu].kernels[kernel] == NULL) {
    return error_set(err, STATUS_INVALID, "%s was not loaded before the case", kernel_text(kernel));
  }
  return cuda_check(&session->driver,
                    session->driver.cuLaunchKernel(session->gpus[gpu].kernels[kernel], grid, 1, 1,
                                                   block, 1, 1, shared_bytes, stream, parameters,
                                                   NULL),
                    err, "launching %s on GPU %d", kernel_text(kernel), gpu);
}

enum status cuda_session_launch(struct cuda_session *session, int32_t gpu, enum kernel kernel,
                                uint32_t grid, uint32_t block, CUstream stream, void *arguments,
                                struct error *err) {
  return cuda_session_launch_shared(session, gpu, kernel, grid, block, 0, stream, arguments, err);
}

enum status cuda_session_fitting_blocks(struct cuda_session *session, int32_t gpu,
                                        enum kernel kernel, uint32_t block, uint32_t *blocks,
                                        struct error *err) {
  int fitting = 0;
  RETURN_ON_ERROR(cuda_check(&session->driver,
                             session->driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                                 &fitting, session->gpus[gpu].kernels[kernel], (int)block, 0),
                             err, "asking how many blocks of %s an SM holds", kernel_text(kernel)));
  *blocks = fitting > 0 ? (uint32_t)fitting : 0;
  return STATUS_OK;
}

enum status cuda_session_new_page(struct cuda_session *session, uint64_t size_bytes,
                                  const char *what, void **host, CUdeviceptr *device,
                                  struct error *err) {
  const struct cuda_driver *driver = &session->driver;
  void *page = NULL;
  RETURN_ON_ERROR(
      cuda_check(driver,
                 driver->cuMemHostAlloc(&page, size_bytes,
                                        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
                 err, "allocating %s", what));
  memset(page, 0, size_bytes);
  enum status status = cuda_check(driver, driver->cuMemHostGetDevicePointer(device, page, 0), err,
                                  "mapping %s", what);
  if (status != STATUS_OK) {
    cuda_session_free_page(session, page);
    return status;
  }
  *host = page;
  return STATUS_OK;
}

void cuda_session_free_page(struct cuda_session *session, void *host) {
  if (host != NULL) {
    (void)session->driver.cuMemFreeHost(host);
  }
}

enum status cuda_session_take_gate(struct cuda_session *session, uint64_t size_bytes, void **host,
                                   CUdeviceptr *device, struct error *err) {
  struct cuda_page *kept = &session->gate;
  if (!kept->taken && kept->size_bytes >= size_bytes) {
    memset(kept->host, 0, kept->size_bytes);
  } else {
    struct cuda_page made = {.size_bytes = size_bytes > PAGE_BYTES ? size_bytes : PAGE_BYTES};
    RETURN_ON_ERROR(
        cuda_session_new_page(session, made.size_bytes, "the gate", &made.host, &made.device, err));
    if (kept->taken) { /* by what it runs beside */
      *host = made.host;
      *device = made.device;
      return STATUS_OK;
    }
    cuda_session_free_page(session, kept->host);
    *kept = made;
  }
  kept->taken = true;
  *host = kept->host;
  *device = kept->device;
  return STATUS_OK;
}

void cuda_session_give_gate(struct cuda_session *session, void *host) {
  if (host != NULL && host == session->gate.host) {
    session->gate.taken = false;
  } else {
    cuda_session_free_page(session, host);
  }
}

enum status cuda_session_wait(struct cuda_session *session, CUstream stream, const char *what,
                              struct error *err) {
  return cuda_check(&session->driver, session->driver.cuStreamSynchronize(stream), err, "%s", what);
}

enum { SPANS_BYTES = SM_SPANS * sizeof(struct sm_span) };

enum status spans_init(struct cuda_session *session, struct spans *spans, struct error *err) {
  *spans = (struct spans){.host = calloc(SM_SPANS, sizeof *spans->host)};
  if (spans->host == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "no memory for the times of a kernel");
  }
  return cuda_check(&session->driver, session->driver.cuMemAlloc(&spans->device, SPANS_BYTES), err,
                    "allocating the times of a kernel");
}

void spans_fini(struct cuda_session *session, struct spans *spans) {
  if (spans->device != 0) {
    (void)session->driver.cuMemFree(spans->device);
  }
  free(spans->host);
  *spans = (struct spans){0};
}

enum status spans_reset(struct cuda_session *session, struct spans *spans, CUstream stream,
                        struct error *err) {
  for (int sm = 0; sm < SM_SPANS; sm++) {
    spans->host[sm] = (struct sm_span){.first_cycle = UINT64_MAX, .first_ns = UINT64_MAX};
  }
  enum status status =
      cuda_check(&session->driver,
                 session->driver.cuMemcpyHtoDAsync(spans->device, spans->host, SPANS_BYTES, stream),
                 err, "clearing the times of a kernel");
  return THEN(status,
              cuda_session_wait(session, stream, "waiting for a kernel that times itself", err));
}

enum status spans_read(struct cuda_session *session, struct spans *spans, CUstream stream,
                       struct spans_total *total, struct error *err) {
  enum status status =
      cuda_check(&session->driver,
                 session->driver.cuMemcpyDtoHAsync(spans->host, spans->device, SPANS_BYTES, stream),
                 err, "reading the times of a kernel");
  status = THEN(status,
                cuda_session_wait(session, stream, "waiting for a kernel that times itself", err));
  RETURN_ON_ERROR(status);
  uint64_t first_ns = UINT64_MAX;
  uint64_t last_ns = 0;
  *total = (struct spans_total){0};
  for (int sm = 0; sm < SM_SPANS; sm++) {
    const struct sm_span *span = &spans->host[sm];
    if (span->last_cycle > span->first_cycle) {
      const uint64_t cycles = span->last_cycle - span->first_cycle;
      total->cycles = cycles > total->cycles ? cycles : total->cycles;
      first_ns = span->first_ns < first_ns ? span->first_ns : first_ns;
      last_ns = span->last_ns > last_ns ? span->last_ns : last_ns;
    }
  }
  if (total->cycles == 0) {
    return error_set(err, STATUS_CUDA, "no SM noted when the kernel ran");
  }
  total->elapsed_ns = last_ns > first_ns ? last_ns - first_ns : 1;
  return STATUS_OK;
}

/* ---- What buffers hold ---- */

enum { DATA_BLOCK = 512, DATA_BLOCKS_PER_SM = 4, DATA_BLOCK_BYTES = 16 * DATA_BLOCK };

static uint32_t data_gpu_grid(const struct cuda_session *session, int32_t gpu,
                              uint64_t size_bytes) {
  uint64_t most = (uint64_t)session->machine->gpus[gpu].sm_count * DATA_BLOCKS_PER_SM;
  uint64_t useful = (size_bytes + DATA_BLOCK_BYTES - 1) / DATA_BLOCK_BYTES;
  uint64_t grid = useful < most ? useful : most;
  return grid > 0 ? (uint32_t)grid : 1;
}

enum status data_gpu_fill(struct cuda_session *session, int32_t gpu, uint64_t address,
                          uint64_t size_bytes, uint64_t seed, bool complement, struct error *err) {
  enum status status = cuda_session_use(session, gpu, err);
  struct pattern_fill_arguments arguments = {
      .address = address, .size_bytes = size_bytes, .seed = seed, .complement = complement};
  status = THEN(status, cuda_session_launch(session, gpu, KERNEL_PATTERN_FILL,
                                            data_gpu_grid(session, gpu, size_bytes), DATA_BLOCK,
                                            session->gpus[gpu].stream, &arguments, err));
  return status;
}

enum status data_gpu_fill_wait(struct cuda_session *session, int32_t gpu, struct error *err) {
  enum status status = cuda_session_use(session, gpu, err);
  return THEN(status,
              cuda_session_wait(session, session->gpus[gpu].stream, "filling a buffer", err));
}

/* Launch a kernel that fills size_bytes, and wait for it. */
static enum status data_gpu_fill_part(struct cuda_session *session, int32_t gpu, enum kernel kernel,
                                      uint64_t size_bytes, void *arguments, struct error *err) {
  enum status status = cuda_session_use(session, gpu, err);
  status = THEN(status,
                cuda_session_launch(session, gpu, kernel, data_gpu_grid(session, gpu, size_bytes),
                                    DATA_BLOCK, session->gpus[gpu].stream, arguments, err));
  return THEN(status, cuda_session_wait(session, session->gpus[gpu].stream,
                                        "filling parts of a buffer", err));
}

enum status data_gpu_fill_rows(struct cuda_session *session, int32_t gpu,
                               struct pattern_rows_arguments *rows, struct error *err) {
  return data_gpu_fill_part(session, gpu, KERNEL_PATTERN_ROWS, rows->width_bytes * rows->rows, rows,
                            err);
}

enum status data_gpu_fill_pieces(struct cuda_session *session, int32_t gpu,
                                 struct pattern_pieces_arguments *pieces, struct error *err) {
  return data_gpu_fill_part(session, gpu, KERNEL_PATTERN_PIECES,
                            pieces->piece_bytes * pieces->pieces, pieces, err);
}

enum status data_gpu_compare_begin(struct cuda_session *session, uint64_t verdict, CUstream stream,
                                   struct error *err) {
  static const struct pattern_compare_result nothing = {.first_offset = UINT64_MAX};
  return cuda_check(&session->driver,
                    session->driver.cuMemcpyHtoDAsync(verdict, &nothing, sizeof nothing, stream),
                    err, "preparing a comparison");
}

enum status data_gpu_compare_end(struct cuda_session *session, uint64_t verdict, CUstream stream,
                                 uint64_t most, struct pattern_compare_result *result,
                                 struct error *err) {
  /* The verdict travels by the same kind of copy as the data it is about, and a lost copy must not
   * read as "nothing differs". */
  *result = (struct pattern_compare_result){.bad_bytes = UINT64_MAX};
  enum status status = cuda_check(
      &session->driver, session->driver.cuMemcpyDtoHAsync(result, verdict, sizeof *result, stream),
      err, "reading the result of a comparison");
  status = THEN(status, cuda_session_wait(session, stream, "comparing a buffer", err));
  if (status == STATUS_OK && result->bad_bytes > most) {
    status = error_set(err, STATUS_CORRUPT,
                       "the copies that bring the verdict of a comparison on a GPU are themselves "
                       "lost or wrong");
  }
  return status;
}

enum status data_gpu_compare_start(struct cuda_session *session, int32_t gpu, uint64_t address,
                                   uint64_t size_bytes, uint64_t seed, struct error *err) {
  enum status status = cuda_session_use(session, gpu, err);
  RETURN_ON_ERROR(status);
  const struct cuda_driver *driver = &session->driver;
  struct cuda_gpu *state = &session->gpus[gpu];
  if (state->compare_result == 0) {
    status = cuda_check(
        driver, driver->cuMemAlloc(&state->compare_result, sizeof(struct pattern_compare_result)),
        err, "allocating the result of a comparison");
  }
  struct pattern_compare_arguments arguments = {
      .address = address, .size_bytes = size_bytes, .seed = seed, .result = state->compare_result};
  status = THEN(status, data_gpu_compare_begin(session, state->compare_result, state->stream, err));
  return THEN(status, cuda_session_launch(session, gpu, KERNEL_PATTERN_COMPARE,
                                          data_gpu_grid(session, gpu, size_bytes), DATA_BLOCK,
                                          state->stream, &arguments, err));
}

enum status data_gpu_compare_finish(struct cuda_session *session, int32_t gpu, uint64_t size_bytes,
                                    struct pattern_compare_result *result, struct error *err) {
  const struct cuda_gpu *state = &session->gpus[gpu];
  enum status status = cuda_session_use(session, gpu, err);
  return THEN(status, data_gpu_compare_end(session, state->compare_result, state->stream,
                                           size_bytes, result, err));
}

enum status data_gpu_read(struct cuda_session *session, int32_t gpu, uint64_t address, void *bytes,
                          uint64_t size_bytes, struct error *err) {
  enum status status = cuda_session_use(session, gpu, err);
  status = THEN(status, cuda_check(&session->driver,
                                   session->driver.cuMemcpyDtoHAsync(bytes, address, size_bytes,
                                                                     session->gpus[gpu].stream),
                                   err, "reading device memory"));
  return THEN(status,
              cuda_session_wait(session, session->gpus[gpu].stream, "reading device memory", err));
}

enum status data_gpu_flush_cache(struct cuda_session *session, int32_t gpu, struct error *err) {
  const uint64_t size_bytes = 2 * session->machine->gpus[gpu].l2_bytes;
  enum status status = cuda_session_use(session, gpu, err);
  struct cuda_gpu *state = &session->gpus[gpu];
  if (status == STATUS_OK && size_bytes == 0) {
    return error_set(err, STATUS_UNSUPPORTED, "GPU %d does not say how large its L2 cache is", gpu);
  }
  if (status == STATUS_OK && state->flush_buffer == 0) {
    status =
        cuda_check(&session->driver, session->driver.cuMemAlloc(&state->flush_buffer, size_bytes),
                   err, "allocating %llu bytes to flush the L2 cache of GPU %d",
                   (unsigned long long)size_bytes, gpu);
  }
  status =
      THEN(status, data_gpu_fill(session, gpu, state->flush_buffer, size_bytes, 0, false, err));
  return THEN(status, data_gpu_fill_wait(session, gpu, err));
}
