/* exporter.h - a process that exports memory of GPUs, so that another one can open it: a process
 * cannot open its own (cuIpcOpenMemHandle). It is forked before CUDA starts, waits for requests on
 * a SOCK_SEQPACKET socket, and starts CUDA at the first one. */
#ifndef HAUL_ENGINE_GPU_EXPORTER_H
#define HAUL_ENGINE_GPU_EXPORTER_H

#include "engine/cuda/driver.h"

struct machine;

/* The exporting side: until the other one closes the socket. */
void exporter_run(int fd, const struct machine *machine);
/* Of that many bytes of that GPU; the memory is there until the next request. fd -1: there is no
 * such process, STATUS_UNSUPPORTED. */
enum status exporter_ask(int fd, int32_t gpu, uint64_t size_bytes, CUipcMemHandle *handle,
                         struct error *err) CHECK_RESULT;

#endif
