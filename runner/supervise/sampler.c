#include "runner/supervise/sampler.h"

#include "engine/base/units.h"
#include "runner/supervise/child.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const uint64_t leave_limit_ns = 2000000000;
static const uint64_t last_limit_ns = 200000000; /* for the last sample */
/* The parent looks several times a second; more than this between two looks means that it was
 * stopped (Ctrl-Z), and the child with it. */
static const uint64_t longest_look_ns = 1000000000;

#define SAMPLER_LOSS "clocks, power, temperature and throttling are not recorded meanwhile"

/* The child ------------------------------------------------------------------------------------ */

/* True: the parent closed its side. */
static bool sampler_wait_for_end(int fd, uint64_t interval_ns) {
  struct pollfd waited = {.fd = fd, .events = POLLIN};
  return poll(&waited, 1, (int)((interval_ns + 999999) / 1000000)) > 0;
}

struct sampling {
  const struct supervise_ops *ops;
  const struct machine *machine;
  uint64_t interval_ns;
};

static void sampler_sample(int fd, const void *context) {
  const struct sampling *sampling = context;
  const struct supervise_ops *ops = sampling->ops;
  struct telemetry *telemetry = NULL;
  /* Without NVML there is nothing to sample, and nothing wrong. */
  if (ops->telemetry_new(sampling->machine, &telemetry, NULL) != STATUS_OK) {
    _exit(EXIT_SUCCESS);
  }
  /* The last sample is of after the end, so that there is one after every case. */
  for (bool last = false;; last = sampler_wait_for_end(fd, sampling->interval_ns)) {
    struct telemetry_sample samples[MACHINE_GPUS_MAX];
    memset(samples, 0, sizeof samples);
    size_t count = ops->telemetry_read(telemetry, samples);
    /* Full: the parent has no time for samples, and takes those that fit. */
    const ssize_t sent = send(fd, samples, count * sizeof *samples, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (last || (sent < 0 && errno != EAGAIN && errno != EINTR)) {
      break;
    }
  }
  ops->telemetry_free(telemetry);
  _exit(EXIT_SUCCESS);
}

/* The parent ----------------------------------------------------------------------------------- */

static void sampler_forget(struct sampler *sampler) {
  if (sampler->fd >= 0) {
    close(sampler->fd);
  }
  *sampler = (struct sampler){.fd = -1};
}

void sampler_start(struct sampler *sampler, const struct supervise_ops *ops,
                   const struct machine *machine, uint64_t interval_ns) {
  *sampler = (struct sampler){.fd = -1};
  const struct sampling sampling = {ops, machine, interval_ns};
  if (interval_ns > 0 && ops->telemetry_new != NULL &&
      child_start(SOCK_SEQPACKET, "a process to sample the GPUs", sampler_sample, &sampling,
                  &sampler->pid, &sampler->fd, NULL) == STATUS_OK) {
    sampler->checked_ns = child_now_ns();
  }
}

/* The child ended by itself. */
static bool sampler_explain_end(struct sampler *sampler, char text[SAMPLER_TEXT_MAX]) {
  struct child_end end = child_wait(sampler->pid, leave_limit_ns);
  sampler_forget(sampler);
  if (end.ended && end.wait_status == 0) {
    return false;
  }
  char how[CHILD_TEXT_MAX];
  child_describe(&end, how);
  snprintf(text, SAMPLER_TEXT_MAX, "the process that samples the GPUs through NVML %s: %s", how,
           SAMPLER_LOSS);
  return true;
}

static bool sampler_explain_silence(struct sampler *sampler, uint64_t limit_ns,
                                    char text[SAMPLER_TEXT_MAX]) {
  uint64_t now_ns = child_now_ns();
  uint64_t passed_ns = now_ns - sampler->checked_ns;
  sampler->checked_ns = now_ns;
  sampler->silent_ns += passed_ns < longest_look_ns ? passed_ns : longest_look_ns;
  if (sampler->silence_told || sampler->silent_ns < limit_ns) {
    return false;
  }
  sampler->silence_told = true;
  char limit[UNITS_TEXT_MAX];
  units_format_duration_short(limit_ns, limit);
  snprintf(text, SAMPLER_TEXT_MAX,
           "NVML gives no answer for %s: %s; check whether nvidia-smi answers, and what the "
           "kernel log (dmesg) says of the GPUs",
           limit, SAMPLER_LOSS);
  return true;
}

bool sampler_read(struct sampler *sampler, struct collect *collect, uint64_t limit_ns,
                  char text[SAMPLER_TEXT_MAX]) {
  if (sampler->pid == 0) {
    return false;
  }
  for (;;) {
    struct telemetry_sample samples[MACHINE_GPUS_MAX];
    ssize_t got = recv(sampler->fd, samples, sizeof samples, MSG_DONTWAIT);
    if (got > 0) {
      sampler->silent_ns = 0;
      if (collect != NULL) {
        collect_samples(collect, samples, (size_t)got / sizeof *samples);
      }
    } else if (got < 0 && errno == EINTR) {
      continue;
    } else if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return sampler_explain_silence(sampler, limit_ns, text);
    } else {
      return sampler_explain_end(sampler, text);
    }
  }
}

void sampler_finish(struct sampler *sampler, struct collect *collect) {
  if (sampler->pid == 0 || sampler->silence_told) {
    return;
  }
  const uint64_t until_ns = child_now_ns() + last_limit_ns;
  (void)shutdown(sampler->fd, SHUT_WR);
  for (uint64_t now_ns = child_now_ns(); now_ns < until_ns; now_ns = child_now_ns()) {
    struct telemetry_sample samples[MACHINE_GPUS_MAX];
    struct pollfd waited = {.fd = sampler->fd, .events = POLLIN};
    (void)poll(&waited, 1, (int)((until_ns - now_ns) / 1000000 + 1));
    const ssize_t got = recv(sampler->fd, samples, sizeof samples, MSG_DONTWAIT);
    if (got > 0) {
      collect_samples(collect, samples, (size_t)got / sizeof *samples);
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)) {
      return; /* it ended */
    }
  }
}

void sampler_stop(struct sampler *sampler, bool force) {
  if (sampler->pid == 0) {
    return;
  }
  const pid_t pid = sampler->pid;
  const bool hangs = sampler->silence_told;
  sampler_forget(sampler);
  (void)child_finish(pid, force || hangs ? 0 : leave_limit_ns);
}
