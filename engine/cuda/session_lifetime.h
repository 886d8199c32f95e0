/* session_lifetime.h - the part of session.h that needs no cuda.h: builds without the CUDA Toolkit
 * have it as well (absent.c), where no machine has a usable GPU. */
#ifndef HAUL_ENGINE_CUDA_SESSION_LIFETIME_H
#define HAUL_ENGINE_CUDA_SESSION_LIFETIME_H

#include "engine/machine/machine.h"

struct cuda_session;

/* Load the driver and find the machine's GPUs; contexts are made at first use. machine is borrowed.
 * STATUS_UNSUPPORTED: no usable driver, or built without CUDA. */
enum status cuda_session_new(const struct machine *machine, struct cuda_session **session,
                             struct error *err) CHECK_RESULT;
void cuda_session_free(struct cuda_session *session); /* NULL is fine */
/* Memory of that GPU that nobody uses now. */
enum status cuda_session_free_bytes(struct cuda_session *session, int32_t gpu, uint64_t *free_bytes,
                                    struct error *err) CHECK_RESULT;

#endif
