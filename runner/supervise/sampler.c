#include "runner/supervise/sampler.h"

#include "engine/base/units.h"
#include "runner/supervise/child.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const uint64_t leave_limit_ns = 2000000000;
static const uint64_t last_limit_ns = 200000000; /* for the last sample */
static const uint64_t first_answer_ns = 3000000000;
static const uint64_t later_answer_ns = 1000000000;
/* The parent looks several times a second; more than this between two looks means that it was
 * stopped (Ctrl-Z), and the child with it. */
static const uint64_t longest_look_ns = 1000000000;

#define SAMPLER_LOSS                                                                               \
  "clocks, power, temperature, throttling and error counters are not recorded meanwhile"

/* What the parent sends. */
struct question {
  uint32_t number;
  uint32_t gpus;
};

/* What the child sends: as much of it as it fills. */
struct packet {
  uint32_t number;       /* of the question that it answers; 0 = samples */
  uint32_t sample_count; /* of samples */
  union {
    struct telemetry_sample samples[MACHINE_GPUS_MAX];
    struct error_counts errors[MACHINE_GPUS_MAX];
  };
};

/* The child ------------------------------------------------------------------------------------ */

enum wake { WAKE_TIME, WAKE_QUESTION, WAKE_END /* the parent closed its side */ };

/* due_ns: UINT64_MAX = never. */
static enum wake sampler_wait(int fd, uint64_t due_ns, struct question *question) {
  struct pollfd waited = {.fd = fd, .events = POLLIN};
  const uint64_t now_ns = child_now_ns();
  const int timeout_ms = due_ns == UINT64_MAX ? -1
                         : due_ns <= now_ns   ? 0
                                              : (int)((due_ns - now_ns + 999999) / 1000000);
  const int ready = poll(&waited, 1, timeout_ms);
  if (ready < 0 && errno == EINTR) {
    return sampler_wait(fd, due_ns, question);
  }
  if (ready == 0) {
    return WAKE_TIME;
  }
  return recv(fd, question, sizeof *question, 0) == (ssize_t)sizeof *question ? WAKE_QUESTION
                                                                              : WAKE_END;
}

struct sampling {
  const struct supervise_ops *ops;
  const struct machine *machine;
  uint64_t interval_ns;
};

/* The parent waits for it, and makes room. */
static bool sampler_answer(int fd, const struct sampling *sampling, struct telemetry *telemetry,
                           const struct question *question) {
  struct packet packet;
  memset(&packet, 0, sizeof packet);
  packet.number = question->number;
  sampling->ops->telemetry_read_errors(telemetry, question->gpus, packet.errors);
  return send(fd, &packet, offsetof(struct packet, errors) + sizeof packet.errors, MSG_NOSIGNAL) >=
         0;
}

/* False: the parent is gone. Between two cases it waits for an answer, and not for the samples of
 * all GPUs. Where the socket is full it has no time for samples, and takes those that fit. */
static bool sampler_send_samples(int fd, const struct sampling *sampling,
                                 struct telemetry *telemetry) {
  struct packet packet;
  struct question question;
  bool heard = true;
  memset(&packet, 0, sizeof packet);
  for (uint32_t gpu = 0; heard && gpu < MACHINE_GPUS_MAX &&
                         sampling->ops->telemetry_read(telemetry, gpu, &packet.samples[gpu]);
       gpu++) {
    packet.sample_count++;
    if (sampler_wait(fd, 0, &question) == WAKE_QUESTION) {
      heard = sampler_answer(fd, sampling, telemetry, &question);
    }
  }
  const size_t size =
      offsetof(struct packet, samples) + packet.sample_count * sizeof packet.samples[0];
  return heard && (send(fd, &packet, size, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0 || errno == EAGAIN ||
                   errno == EINTR);
}

static void sampler_sample(int fd, const void *context) {
  const struct sampling *sampling = context;
  const struct supervise_ops *ops = sampling->ops;
  struct telemetry *telemetry = NULL;
  /* Without NVML there is nothing to sample, and nothing wrong. */
  if (ops->telemetry_new(sampling->machine, &telemetry, NULL) != STATUS_OK) {
    _exit(EXIT_SUCCESS);
  }
  const bool samples = sampling->interval_ns > 0;
  uint64_t due_ns = samples ? child_now_ns() : UINT64_MAX;
  enum wake wake = WAKE_TIME;
  bool heard = true;
  /* The last sample is of after the end, so that there is one after every case. */
  while (heard && wake != WAKE_END) {
    struct question question;
    wake = sampler_wait(fd, due_ns, &question);
    if (wake == WAKE_QUESTION) {
      heard = sampler_answer(fd, sampling, telemetry, &question);
    } else if (samples) {
      heard = sampler_send_samples(fd, sampling, telemetry);
      due_ns = child_now_ns() + sampling->interval_ns;
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
  if (ops->telemetry_new != NULL &&
      child_start(SOCK_SEQPACKET, "a process to sample the GPUs", NULL, sampler_sample, &sampling,
                  &sampler->pid, &sampler->fd, NULL) == STATUS_OK) {
    sampler->checked_ns = child_now_ns();
    sampler->samples = interval_ns > 0;
    sampler->answers = true;
  }
}

/* The child ended by itself. */
static bool sampler_explain_end(struct sampler *sampler, char text[SAMPLER_TEXT_MAX]) {
  struct child_end end = child_await(sampler->pid, leave_limit_ns, NULL);
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
  if (!sampler->samples || sampler->silence_told || sampler->silent_ns < limit_ns) {
    return false;
  }
  sampler->silence_told = true;
  const char *limit = units_format_duration_short(limit_ns, UNITS_TEXT);
  snprintf(text, SAMPLER_TEXT_MAX,
           "NVML gives no answer for %s: %s; check whether nvidia-smi answers, and what the "
           "log of Linux (dmesg) says of the GPUs",
           limit, SAMPLER_LOSS);
  return true;
}

/* Take one packet. As recv(): 0 = the child is gone, -1 with errno. */
static ssize_t sampler_receive(struct sampler *sampler, struct collect *collect) {
  struct packet packet;
  const ssize_t got = recv(sampler->fd, &packet, sizeof packet, MSG_DONTWAIT);
  const size_t size = got > 0 ? (size_t)got : 0;
  if (size < offsetof(struct packet, samples)) {
    return got;
  }
  const size_t payload = size - offsetof(struct packet, samples);
  sampler->silent_ns = 0;
  if (packet.number == 0 && collect != NULL) {
    collect_samples(collect, packet.samples, payload / sizeof packet.samples[0]);
  } else if (packet.number != 0 && payload >= sizeof packet.errors) {
    memcpy(sampler->errors, packet.errors, sizeof packet.errors);
    sampler->answered = packet.number;
  }
  return got;
}

static bool sampler_is_gone(ssize_t got) {
  return got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK);
}

bool sampler_read(struct sampler *sampler, struct collect *collect, uint64_t limit_ns,
                  char text[SAMPLER_TEXT_MAX]) {
  if (sampler->pid == 0) {
    return false;
  }
  for (;;) {
    const ssize_t got = sampler_receive(sampler, collect);
    if (sampler_is_gone(got)) {
      return sampler_explain_end(sampler, text);
    }
    if (got < 0 && errno != EINTR) {
      return sampler_explain_silence(sampler, limit_ns, text);
    }
  }
}

/* Take packets until `answered` is that number, the child is gone or the time is up, which is
 * true. */
static bool sampler_listen(struct sampler *sampler, struct collect *collect, uint32_t number,
                           uint64_t limit_ns) {
  const uint64_t until_ns = child_now_ns() + limit_ns;
  bool gone = false;
  for (uint64_t now_ns = child_now_ns(); !gone && now_ns < until_ns && sampler->answered != number;
       now_ns = child_now_ns()) {
    struct pollfd waited = {.fd = sampler->fd, .events = POLLIN};
    (void)poll(&waited, 1, (int)((until_ns - now_ns) / 1000000 + 1));
    gone = sampler_is_gone(sampler_receive(sampler, collect));
  }
  return !gone && sampler->answered != number;
}

bool sampler_ask(struct sampler *sampler, uint32_t gpus, struct collect *collect,
                 struct error_counts errors[MACHINE_GPUS_MAX]) {
  for (size_t i = 0; i < MACHINE_GPUS_MAX; i++) {
    error_counts_init(&errors[i]);
  }
  if (sampler->pid == 0 || !sampler->answers || gpus == 0) {
    return false;
  }
  const struct question question = {.number = sampler->asked + 1, .gpus = gpus};
  const uint64_t limit_ns = sampler->answered == 0 ? first_answer_ns : later_answer_ns;
  bool silent = false;
  sampler->asked = question.number;
  sampler->answers = send(sampler->fd, &question, sizeof question, MSG_NOSIGNAL | MSG_DONTWAIT) ==
                     (ssize_t)sizeof question;
  if (sampler->answers) {
    silent = sampler_listen(sampler, collect, question.number, limit_ns);
    sampler->answers = sampler->answered == question.number;
  }
  if (sampler->answers) {
    const uint64_t now_ns = child_now_ns();
    memcpy(errors, sampler->errors, sizeof sampler->errors);
    for (size_t i = 0; i < MACHINE_GPUS_MAX; i++) {
      if ((gpus >> i & 1) != 0) {
        sampler->known[i] = errors[i];
        sampler->known_ns[i] = now_ns;
      }
    }
  }
  return silent;
}

bool sampler_ask_before(struct sampler *sampler, uint32_t gpus,
                        struct error_counts errors[MACHINE_GPUS_MAX]) {
  const uint64_t now_ns = child_now_ns();
  uint32_t recent = 0;
  for (uint32_t i = 0; i < MACHINE_GPUS_MAX; i++) {
    const bool is_recent =
        sampler->known_ns[i] > 0 && now_ns <= sampler->known_ns[i] + SAMPLER_RECENT_NS;
    recent |= is_recent ? gpus & UINT32_C(1) << i : 0;
  }
  const bool silent = sampler_ask(sampler, gpus & ~recent, NULL, errors);
  for (uint32_t i = 0; i < MACHINE_GPUS_MAX; i++) {
    if ((recent >> i & 1) != 0) {
      errors[i] = sampler->known[i];
    }
  }
  return silent;
}

void sampler_finish(struct sampler *sampler, struct collect *collect) {
  if (sampler->pid != 0 && !sampler->silence_told) {
    (void)shutdown(sampler->fd, SHUT_WR);
    (void)sampler_listen(sampler, collect, UINT32_MAX, last_limit_ns);
  }
}

void sampler_stop(struct sampler *sampler, bool force) {
  if (sampler->pid == 0) {
    return;
  }
  const pid_t pid = sampler->pid;
  const bool hangs = sampler->silence_told;
  sampler_forget(sampler);
  (void)child_dismiss(pid, force || hangs ? 0 : leave_limit_ns, NULL);
}
