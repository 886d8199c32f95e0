#include "runner/supervise/probe.h"

#include "engine/base/arena.h"
#include "engine/base/strings.h"
#include "engine/base/units.h"
#include "engine/machine/machine.h"
#include "runner/supervise/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const uint64_t leave_limit_ns = 2000000000;
/* Of the limit, for the first look; a second one finds a driver that is awake. */
enum { WHOLE_PARTS = 2, ALL_PARTS = 3, PATIENCE_PARTS = 9 /* it may have to load first */ };

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
  const char *from = (const char *)answer;
  for (size_t left = sizeof *answer; left > 0;) {
    ssize_t sent = write(fd, from, left);
    if (sent < 0 && errno != EINTR) {
      _exit(EXIT_FAILURE);
    }
    from += sent < 0 ? 0 : sent;
    left -= sent < 0 ? 0 : (size_t)sent;
  }
  struct pollfd kept = {.fd = fd}; /* until the parent closes its end */
  (void)poll(&kept, 1, -1);
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
 * looks together had. first: of the first look, who is told that it waits; else NULL.
 * err->native_code is SIGKILL where somebody killed it. */
static enum status probe_ask(const struct probe_looks *first, probe_look *look, uint64_t limit_ns,
                             uint64_t whole_ns, struct machine *machine, struct error *err) {
  pid_t pid;
  int fd;
  RETURN_ON_ERROR(child_start(SOCK_STREAM, "a process to look at the machine", NULL, probe_answer,
                              &look, &pid, &fd, err));
  SCOPED(memory_free) struct answer *answer = memory_new(1, sizeof *answer);
  bool timed_out = false;
  const uint64_t deadline_ns = child_now_ns() + limit_ns;
  struct pollfd waited = {.fd = fd, .events = POLLIN};
  if (first != NULL && first->waits != NULL &&
      poll(&waited, 1, (int)(whole_ns / PATIENCE_PARTS / 1000000)) == 0) {
    first->waits(first->context, whole_ns);
  }
  const size_t got = probe_read(fd, answer, sizeof *answer, deadline_ns, &timed_out);
  const bool sound = got == sizeof *answer && probe_machine_is_sound(&answer->machine);
  struct child_end end = {0};
  if (sound && first != NULL && first->child != NULL) {
    probe_await(first->child);
    *first->child = (struct probe_child){pid, fd};
  } else {
    close(fd);
    end = child_dismiss(pid, sound ? leave_limit_ns : timed_out ? 0 : limit_ns, NULL);
  }
  char text[CHILD_TEXT_MAX];
  enum status status;
  if (sound) {
    *machine = answer->machine;
    status = answer->status;
    if (status != STATUS_OK && err != NULL) {
      *err = answer->error;
      err->position = (struct position){0}; /* of no use outside the child */
    }
  } else if (timed_out) {
    units_format_duration_short(whole_ns, text);
    status = error_set(err, STATUS_TIMEOUT, "gave no answer in %s", text);
  } else {
    child_describe(&end, text);
    status =
        error_set_native(err, STATUS_CRASHED, child_was_killed(&end) ? SIGKILL : 0, "%s", text);
  }
  return status;
}

void probe_release(struct probe_child *child) {
  if (child->pid != 0 && child->fd >= 0) {
    close(child->fd);
    child->fd = -1;
  }
}

void probe_await(struct probe_child *child) {
  probe_release(child);
  if (child->pid != 0) {
    (void)child_dismiss(child->pid, leave_limit_ns, NULL);
    child->pid = 0;
  }
}

#define PROBE_LOST "the process that asked the GPU driver "
#define PROBE_ADVICE                                                                               \
  "check whether nvidia-smi answers, and what the log of Linux (dmesg) says of the GPUs"

/* 0 where there is no answer. */
static unsigned long probe_fact_number(const struct machine *machine, const char *name) {
  const char *value = machine_value(machine, name, -1);
  return value != NULL ? strtoul(value, NULL, 10) : 0;
}

/* How many of so many GPUs CUDA_VISIBLE_DEVICES lets through: its list ends at the first index that
 * there is not. */
static unsigned long probe_count_visible(const char *visible, unsigned long gpus) {
  unsigned long count = visible == NULL ? gpus : 0;
  for (const char *item = visible; item != NULL && count < gpus; count++) {
    char *end = NULL;
    const bool is_index = strtoul(item, &end, 10) < gpus && end != item && *item != '-';
    if (!is_index && strncmp(item, "GPU-", 4) != 0) {
      break;
    }
    item = strchr(item, ',');
    item = item != NULL ? item + 1 : NULL;
  }
  return count;
}

/* GPUs that NVML sees, and CUDA does not, though nothing hides them. */
static void probe_describe_hidden(const struct machine *machine, const char *visible,
                                  struct strbuf *text) {
  const uint32_t shown = machine->gpu_count;
  const unsigned long seen = shown + probe_fact_number(machine, "gpus_hidden");
  const unsigned long wanted = probe_count_visible(visible, seen);
  const char *who = visible != NULL ? "CUDA_VISIBLE_DEVICES names" : "NVML sees";
  if (shown >= wanted) {
    return;
  }
  if (shown == 0) {
    strbuf_printf(text, "CUDA shows none of the %lu GPU%s that %s: %s", wanted,
                  strings_plural(wanted, "", "s"), who, machine->cuda_state);
  } else {
    strbuf_printf(text, "CUDA shows %u of the %lu GPUs that %s: " PROBE_ADVICE, shown, wanted, who);
  }
}

/* "NVML does not start: Driver/library version mismatch" */
static const char *probe_nvml_state(const struct machine *machine) {
  static const char START[] = "NVML does not start";
  const struct fact *fact = machine_fact(machine, "gpus_hidden", -1);
  const bool says = fact != NULL && strncmp(fact->value, START, sizeof START - 1) == 0;
  return says ? fact->value : "NVML crashed or gave no answer";
}

bool probe_describe_loss(const struct machine *machine, const char *visible, struct strbuf *text) {
  const unsigned long lost = probe_fact_number(machine, "gpus_lost");
  if (strncmp(machine->cuda_state, PROBE_LOST, strlen(PROBE_LOST)) == 0) {
    strbuf_append(text, machine->cuda_state); /* and nobody was asked anything else */
    return true;
  }
  probe_describe_hidden(machine, visible, text);
  /* Where the GPUs to use are named, others of the bus are not missing. */
  bool missed = lost > 0 && visible == NULL;
  if (machine->cuda_lost && !missed && text->length == 0) {
    /* As in a container, where NVML fails too. */
    strbuf_printf(text, "CUDA does not start: %s", machine->cuda_state);
  }
  missed = missed || text->length > 0;
  if (lost > 0) {
    strbuf_printf(text, "%s%lu GPU%s on the PCI bus %s not answer the driver",
                  text->length > 0 ? "; " : "", lost, strings_plural(lost, "", "s"),
                  strings_plural(lost, "does", "do"));
  }
  if (machine->nvml_lost && machine->gpu_count > 0) {
    strbuf_printf(text, "%s%s: " PROBE_ADVICE, text->length > 0 ? "; " : "",
                  probe_nvml_state(machine));
  }
  return missed;
}

static bool probe_gave_no_answer(enum status status) {
  return status == STATUS_CRASHED || status == STATUS_TIMEOUT;
}

enum status probe_in_child(const struct probe_looks *looks, uint64_t limit_ns,
                           struct machine *machine, struct error *err) {
  struct error why = {0};
  const uint64_t end_ns = child_now_ns() + limit_ns;
  enum status status;
  unsigned asked = 0;
  do { /* once more where it was killed, perhaps for another's sake */
    status =
        probe_ask(looks, looks->whole, limit_ns / ALL_PARTS * WHOLE_PARTS, limit_ns, machine, &why);
  } while (status == STATUS_CRASHED && why.native_code == SIGKILL && ++asked < 2);
  const bool without_nvml = probe_gave_no_answer(status);
  if (without_nvml) {
    const uint64_t now_ns = child_now_ns();
    status = probe_ask(NULL, looks->without_nvml, now_ns < end_ns ? end_ns - now_ns : 0, limit_ns,
                       machine, &why);
  }
  if (!probe_gave_no_answer(status)) {
    machine->nvml_lost = machine->nvml_lost || without_nvml;
    if (status != STATUS_OK && err != NULL) {
      *err = why;
    }
    return status;
  }
  status = probe_ask(NULL, looks->host, limit_ns, limit_ns, machine, err);
  if (status != STATUS_OK) {
    return error_prefix(err, "the process that looked at this machine ");
  }
  machine->gpu_count = 0;
  machine->probe_killed = why.native_code == SIGKILL;
  snprintf(machine->cuda_state, sizeof machine->cuda_state, PROBE_LOST "%.120s: %s", why.message,
           machine->probe_killed ? "what the log of Linux (dmesg) says of it tells which"
                                 : PROBE_ADVICE);
  return STATUS_OK;
}
