#include "engine/machine/machine.h"
#include "runner/supervise/probe.h"
#include "runner/supervise/supervise.h"
#include "tests/cmocka.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint64_t second_ns = 1000000000;

static enum status look_whole(struct machine *machine, struct error *err) {
  machine->gpu_count = 2;
  machine->node_count = 1;
  snprintf(machine->cuda_state, sizeof machine->cuda_state, "%s", "ok");
  snprintf(machine->facts[MACHINE_FACTS_MAX - 1].value,
           sizeof machine->facts[MACHINE_FACTS_MAX - 1].value, "%s", "the last byte counts");
  return STATUS_OK;
}

static enum status look_host(struct machine *machine, struct error *err) {
  machine->node_count = 1;
  snprintf(machine->cuda_state, sizeof machine->cuda_state, "%s", "not asked");
  return STATUS_OK;
}

static enum status look_and_die(struct machine *machine, struct error *err) {
  raise(SIGKILL);
  return STATUS_OK;
}

static enum status look_forever(struct machine *machine, struct error *err) {
  for (;;) {
    pause();
  }
  return STATUS_OK;
}

static enum status look_at_rubbish(struct machine *machine, struct error *err) {
  machine->gpu_count = MACHINE_GPUS_MAX + 1;
  return STATUS_OK;
}

static enum status look_and_fail(struct machine *machine, struct error *err) {
  return error_set(err, STATUS_IO, "no /sys here");
}

static enum status look_without_nvml(struct machine *machine, struct error *err) {
  machine->gpu_count = 2;
  snprintf(machine->cuda_state, sizeof machine->cuda_state, "%s", "ok without NVML");
  return STATUS_OK;
}

static void say_waits(void *context, uint64_t limit_ns) {
  (*(unsigned *)context)++;
  assert_int_equal(limit_ns, 3 * second_ns);
}

static unsigned waits_said;
static const struct probe_looks whole = {look_whole, look_and_die, look_and_die, NULL, NULL, NULL};
static const struct probe_looks crashing = {look_and_die, look_and_die, look_host,
                                            NULL,         NULL,         NULL};
static const struct probe_looks hanging = {look_forever, look_forever, look_host,
                                           say_waits,    &waits_said,  NULL};
static const struct probe_looks rubbish = {
    look_at_rubbish, look_at_rubbish, look_host, NULL, NULL, NULL};
static const struct probe_looks failing = {look_and_fail, look_and_die, look_host,
                                           NULL,          NULL,         NULL};
static const struct probe_looks all_crash = {look_and_die, look_and_die, look_and_die,
                                             NULL,         NULL,         NULL};
static const struct probe_looks nvml_crashes = {
    look_and_die, look_without_nvml, look_and_die, NULL, NULL, NULL};
static const struct probe_looks nvml_hangs = {
    look_forever, look_without_nvml, look_and_die, NULL, NULL, NULL};

static int new_machine(void **state) {
  *state = calloc(1, sizeof(struct machine));
  return *state == NULL ? -1 : 0;
}

static int free_machine(void **state) {
  free(*state);
  /* No child is left behind. */
  return waitpid(-1, NULL, WNOHANG) == -1 ? 0 : -1;
}

/* "" = all GPUs can be used; else it begins so. */
static void assert_loss(const struct machine *machine, const char *visible, const char *begins) {
  SCOPED(strbuf_fini) struct strbuf text;
  strbuf_init(&text, ERROR_MESSAGE_MAX);
  assert_int_equal(probe_describe_loss(machine, visible, &text), begins[0] != '\0');
  assert_true(strncmp(text.text, begins, strlen(begins)) == 0);
  assert_int_equal(text.length > 0, begins[0] != '\0');
}

/* Four that NVML sees, `shown` of which CUDA shows. */
TEST_WITH(gpus_are_missing_unless_they_are_hidden, new_machine, free_machine,
          struct machine *machine) {
  static const struct {
    const char *visible;
    uint32_t shown;
    const char *begins;
  } CASES[] = {
      {NULL, 4, ""},
      {NULL, 3, "CUDA shows 3 of the 4 GPUs that NVML sees: "},
      {NULL, 0, "CUDA shows none of the 4 GPUs that NVML sees: cuInit failed"},
      {"", 0, ""},
      {"NoDevFiles", 0, ""},
      {"-1", 0, ""},
      {"2", 1, ""},
      {"2", 0, "CUDA shows none of the 1 GPU that CUDA_VISIBLE_DEVICES names: "},
      {"0,1,9,2", 2, ""}, /* the list ends at what there is not */
      {"0,1,9,2", 1, "CUDA shows 1 of the 2 GPUs that CUDA_VISIBLE_DEVICES names: "},
      {"GPU-1234,GPU-5678", 1, "CUDA shows 1 of the 2 GPUs that CUDA_VISIBLE_DEVICES names: "},
      {"0,1,2,3,4,5,6,7", 4, ""},
      {"0,1,2,3,4,5,6,7", 3, "CUDA shows 3 of the 4 GPUs that CUDA_VISIBLE_DEVICES names: "},
  };
  snprintf(machine->cuda_state, sizeof machine->cuda_state, "cuInit failed");
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    machine->gpu_count = CASES[i].shown;
    machine->fact_count = 0;
    machine_add_fact(machine, "gpus_hidden", -1, FACT_OK, "%u", 4 - CASES[i].shown);
    assert_loss(machine, CASES[i].visible, CASES[i].begins);
  }
  /* Others on the bus that do not answer are missed by all but those who name theirs. */
  machine->gpu_count = 2;
  machine->fact_count = 0;
  machine_add_fact(machine, "gpus_lost", -1, FACT_OK, "%u", 1);
  assert_loss(machine, NULL, "1 GPU on the PCI bus does not answer the driver");
  SCOPED(strbuf_fini) struct strbuf text;
  strbuf_init(&text, ERROR_MESSAGE_MAX);
  assert_false(probe_describe_loss(machine, "0,1", &text));
  assert_string_equal(text.text, "1 GPU on the PCI bus does not answer the driver");
  machine->cuda_lost = true; /* a driver that fails is missed by all */
  text.length = 0;
  assert_true(probe_describe_loss(machine, "0,1", &text));
  assert_contains(text.text, "CUDA does not start: cuInit failed; 1 GPU");
  machine->cuda_lost = false;
  machine->fact_count = 0; /* NVML is not there or fails: what CUDA says counts */
  machine->gpu_count = 0;
  assert_loss(machine, NULL, "");
  machine->cuda_lost = true;
  assert_loss(machine, NULL, "CUDA does not start: cuInit failed");
  machine->gpu_count = 1;
  machine->cuda_lost = false;
  machine_add_fact(machine, "gpus_hidden", -1, FACT_UNAVAILABLE, "a GPU is in MIG mode");
  assert_loss(machine, NULL, "");
  machine_add_fact(machine, "gpus_lost", -1, FACT_OK, "1");
  assert_loss(machine, NULL, "1 GPU on the PCI bus does not answer the driver");
  machine->nvml_lost = true; /* which costs no GPU: what does comes first */
  assert_loss(machine, NULL, "1 GPU on the PCI bus does not answer the driver; NVML crashed or");
}

TEST_WITH(machine_comes_from_child, new_machine, free_machine, struct machine *machine) {
  assert_ok(probe_in_child(&whole, 10 * second_ns, machine, err), err);
  assert_int_equal(machine->gpu_count, 2);
  assert_string_equal(machine->cuda_state, "ok");
  assert_false(machine->probe_killed);
  assert_loss(machine, NULL, "");
  assert_string_equal(machine->facts[MACHINE_FACTS_MAX - 1].value, "the last byte counts");
}

TEST_WITH(who_answered_leaves_when_told, new_machine, free_machine, struct machine *machine) {
  struct probe_child child = {0};
  struct probe_looks looks = whole;
  looks.child = &child;
  for (int i = 0; i < 2; i++) {
    const pid_t before = child.pid;
    assert_ok(probe_in_child(&looks, 10 * second_ns, machine, err), err);
    assert_int_not_equal(child.pid, before);
    assert_true(before == 0 || waitpid(before, NULL, WNOHANG) < 0);
  }
  assert_int_equal(waitpid(child.pid, NULL, WNOHANG), 0);
  probe_release(&child);
  siginfo_t info;
  assert_int_equal(waitid(P_PID, (id_t)child.pid, &info, WEXITED | WNOWAIT), 0);
  probe_release(&child);
  const pid_t pid = child.pid;
  probe_await(&child);
  assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
  assert_int_equal(errno, ECHILD);
  probe_await(&child);
  looks = crashing;
  looks.child = &child;
  assert_ok(probe_in_child(&looks, 10 * second_ns, machine, err), err);
  assert_int_equal(child.pid, 0);
}

TEST_WITH(crashed_child_leaves_no_gpus, new_machine, free_machine, struct machine *machine) {
  assert_ok(probe_in_child(&crashing, 10 * second_ns, machine, err), err);
  assert_int_equal(machine->gpu_count, 0);
  assert_int_equal(machine->node_count, 1);
  assert_contains(machine->cuda_state, "killed by signal 9 (SIGKILL)");
  assert_true(machine->probe_killed);
  assert_loss(machine, NULL, machine->cuda_state);
}

TEST_WITH(hung_child_leaves_no_gpus, new_machine, free_machine, struct machine *machine) {
  /* Of which the look at the host alone has all: enough on a busy machine. */
  assert_ok(probe_in_child(&hanging, 3 * second_ns, machine, err), err);
  assert_int_equal(machine->node_count, 1);
  assert_contains(machine->cuda_state, "gave no answer in 3 s: check whether nvidia-smi");
  assert_int_equal(waits_said, 1);
  assert_false(machine->probe_killed);
  assert_loss(machine, NULL, machine->cuda_state);
}

TEST_WITH(broken_nvml_costs_no_gpus, new_machine, free_machine, struct machine *machine) {
  assert_ok(probe_in_child(&nvml_crashes, 10 * second_ns, machine, err), err);
  assert_int_equal(machine->gpu_count, 2);
  assert_string_equal(machine->cuda_state, "ok without NVML");
  SCOPED(strbuf_fini) struct strbuf text;
  strbuf_init(&text, ERROR_MESSAGE_MAX);
  assert_false(probe_describe_loss(machine, NULL, &text)); /* no GPU is missing */
  assert_contains(text.text, "NVML crashed");
  machine->gpu_count = 0;
  assert_ok(probe_in_child(&nvml_hangs, 6 * second_ns, machine, err), err);
  assert_int_equal(machine->gpu_count, 2);
}

TEST_WITH(unreadable_answer_leaves_no_gpus, new_machine, free_machine, struct machine *machine) {
  assert_ok(probe_in_child(&rubbish, 10 * second_ns, machine, err), err);
  assert_int_equal(machine->gpu_count, 0);
  assert_int_equal(machine->node_count, 1);
}

TEST_WITH(error_of_child_is_returned, new_machine, free_machine, struct machine *machine) {
  assert_int_equal(probe_in_child(&failing, 10 * second_ns, machine, err), STATUS_IO);
  assert_string_equal(err->message, "no /sys here");
  assert_fails(probe_in_child(&all_crash, 10 * second_ns, machine, err), STATUS_CRASHED, err,
               "looked at this machine was killed by signal 9 (SIGKILL)");
}
