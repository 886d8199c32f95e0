/* probe.h - looking at the machine in a short-lived child process, so that the caller never
 * initialises CUDA. */
#pragma once

#include "engine/base/error.h"
#include "engine/base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct machine;

/* A child that answered and has the driver open. Meanwhile cuInit() takes another process 9 ms,
 * else 100, and 130 to 220 while this one closes it (H100 and its host, driver 580). */
struct probe_child {
  pid_t pid; /* 0 = there is none */
  int fd;    /* the child ends when it is closed; -1 = that was done */
};

typedef enum status probe_look(struct machine *machine, struct error *err);

/* Each asks less of the driver than the one before. */
struct probe_looks {
  probe_look *whole;        /* CUDA and NVML */
  probe_look *without_nvml; /* must not touch NVML */
  probe_look *host;         /* must not touch the GPU driver */
  /* Called where there is no answer for some seconds, for each child that is asked looks->whole.
   * May be NULL. */
  void (*waits)(void *context, uint64_t limit_ns);
  void *context;
  /* Where it is not NULL, a child that answered stays, and the one before it is awaited. */
  struct probe_child *child;
};

/* Fill machine with what looks->whole finds in a child that has two thirds of limit_ns. When the
 * child crashes, hangs or sends something unreadable, the next look is asked the same way, for what
 * is left of the limit: a broken NVML costs what only NVML knows (nvml_lost). With the last one,
 * which does not depend on a driver, there are no GPUs, and cuda_state says what happened. A first
 * child that SIGKILL ended is asked once more; probe_killed: the last that asked the driver was
 * killed so, and nothing is known of it. */
enum status probe_in_child(const struct probe_looks *looks, uint64_t limit_ns,
                           struct machine *machine, struct error *err) CHECK_RESULT;

/* Let it close the driver, without a wait for that. */
void probe_release(struct probe_child *child);
/* The same, and wait for its end. One that hangs is killed after 2 s. */
void probe_await(struct probe_child *child);

/* Say for people which GPUs there are and cannot be used, and what crashed or gave no answer: the
 * driver (cuda_state: the machine may well have GPUs), or NVML. visible: CUDA_VISIBLE_DEVICES of
 * the environment, which may hide GPUs; NULL = it is not set. text is empty before, and after it
 * where nothing is wrong. True: GPUs cannot be used that are not left out on purpose, and the text
 * up to its first ':' or ';' says which. */
bool probe_describe_loss(const struct machine *machine, const char *visible, struct strbuf *text);
