#include "runner/supervise/probe.h"

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
/* Of the limit, for the first look; a second one finds a driver that is awake. */
enum { WHOLE_PARTS = 2, ALL_PARTS = 3 };

/* What the child sends, whole or not at all. */
struct answer {
  enum status status;
  struct error error;
  struct machine machine;
};

static void probe_answer(int fd, const void *context) {
  probe_look *const *look = context;
  struct answer *answer = calloc(1, sizeof *answer);
  if (answer == NULL) {
    _exit(EXIT_FAILURE);
  }
  answer->status = (*look)(&answer->machine, &answer->error);
  answer->error.position = (struct position){0};
  const char *from = (const char *)answer;
  for (size_t left = sizeof *answer; left > 0;) {
    ssize_t sent = write(fd, from, left);
    if (sent < 0 && errno != EINTR) {
      _exit(EXIT_FAILURE);
    }
    from += sent < 0 ? 0 : sent;
    left -= sent < 0 ? 0 : (size_t)sent;
  }
  _exit(EXIT_SUCCESS);
}

/* The bytes read before the child ended its side, hung or sent too much. */
static size_t probe_read(int fd, void *to, size_t size, uint64_t deadline_ns, bool *timed_out) {
  size_t have = 0;
  *timed_out = false;
  while (have < size) {
    uint64_t now_ns = child_now_ns();
    if (now_ns >= deadline_ns) {
      *timed_out = true;
      break;
    }
    struct pollfd waited = {.fd = fd, .events = POLLIN};
    if (poll(&waited, 1, (int)((deadline_ns - now_ns + 999999) / 1000000)) <= 0) {
      continue;
    }
    ssize_t got = read(fd, (char *)to + have, size - have);
    if (got == 0 || (got < 0 && errno != EINTR)) {
      break;
    }
    have += got < 0 ? 0 : (size_t)got;
  }
  return have;
}

static bool probe_is_text(const char *text, size_t size) {
  return memchr(text, '\0', size) != NULL;
}

/* Both sides are one executable: this is against a child whose memory a driver damaged. */
static bool probe_machine_is_sound(const struct machine *machine) {
  if (machine->gpu_count > MACHINE_GPUS_MAX || machine->node_count > MACHINE_NODES_MAX ||
      machine->fact_count > MACHINE_FACTS_MAX ||
      !probe_is_text(machine->host_name, sizeof machine->host_name) ||
      !probe_is_text(machine->cuda_state, sizeof machine->cuda_state)) {
    return false;
  }
  for (uint32_t i = 0; i < machine->fact_count; i++) {
    const struct fact *fact = &machine->facts[i];
    if ((unsigned)fact->state >= fact_state_name_count ||
        !probe_is_text(fact->name, sizeof fact->name) ||
        !probe_is_text(fact->value, sizeof fact->value)) {
      return false;
    }
  }
  return true;
}

/* Ask in a child. STATUS_CRASHED and STATUS_TIMEOUT: it gave no answer; whole_ns is how long all
 * looks together had. */
static enum status probe_ask(probe_look *look, uint64_t limit_ns, uint64_t whole_ns,
                             struct machine *machine, struct error *err) {
  pid_t pid;
  int fd;
  RETURN_ON_ERROR(child_start(SOCK_STREAM, "a process to look at the machine", probe_answer, &look,
                              &pid, &fd, err));
  struct answer *answer = malloc(sizeof *answer);
  if (answer == NULL) {
    abort();
  }
  bool timed_out = false;
  const size_t got = probe_read(fd, answer, sizeof *answer, child_now_ns() + limit_ns, &timed_out);
  const bool sound = got == sizeof *answer && probe_machine_is_sound(&answer->machine);
  close(fd);
  const struct child_end end = child_finish(pid, sound ? leave_limit_ns : timed_out ? 0 : limit_ns);
  char text[CHILD_TEXT_MAX];
  enum status status;
  if (sound) {
    *machine = answer->machine;
    status = answer->status;
    if (status != STATUS_OK && err != NULL) {
      *err = answer->error;
    }
  } else if (timed_out) {
    units_format_duration_short(whole_ns, text);
    status = error_set(err, STATUS_TIMEOUT, "gave no answer in %s", text);
  } else {
    child_describe(&end, text);
    status = error_set(err, STATUS_CRASHED, "%s", text);
  }
  free(answer);
  return status;
}

#define PROBE_LOST "the process that asked the GPU driver "

const char *probe_loss(const struct machine *machine) {
  if (strncmp(machine->cuda_state, PROBE_LOST, strlen(PROBE_LOST)) == 0) {
    return machine->cuda_state;
  }
  return machine->nvml_lost && machine->gpu_count > 0
             ? "NVML crashed, does not start or gave no answer: check whether nvidia-smi answers, "
               "and what the kernel log (dmesg) says of the GPUs"
             : NULL;
}

static bool probe_gave_no_answer(enum status status) {
  return status == STATUS_CRASHED || status == STATUS_TIMEOUT;
}

enum status probe_in_child(const struct probe_looks *looks, uint64_t limit_ns,
                           struct machine *machine, struct error *err) {
  struct error why = {0};
  const uint64_t end_ns = child_now_ns() + limit_ns;
  enum status status =
      probe_ask(looks->whole, limit_ns / ALL_PARTS * WHOLE_PARTS, limit_ns, machine, &why);
  const bool without_nvml = probe_gave_no_answer(status);
  if (without_nvml) {
    const uint64_t now_ns = child_now_ns();
    status = probe_ask(looks->without_nvml, now_ns < end_ns ? end_ns - now_ns : 0, limit_ns,
                       machine, &why);
  }
  if (!probe_gave_no_answer(status)) {
    machine->nvml_lost = machine->nvml_lost || without_nvml;
    if (status != STATUS_OK && err != NULL) {
      *err = why;
    }
    return status;
  }
  status = probe_ask(looks->host, limit_ns, limit_ns, machine, err);
  if (status != STATUS_OK) {
    return error_prefix(err, "the process that looked at this machine ");
  }
  machine->gpu_count = 0;
  snprintf(machine->cuda_state, sizeof machine->cuda_state,
           PROBE_LOST
           "%.120s: check whether nvidia-smi answers, and what the kernel log (dmesg) says of "
           "the GPUs",
           why.message);
  return STATUS_OK;
}
