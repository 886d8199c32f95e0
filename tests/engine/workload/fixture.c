#include "tests/engine/workload/fixture.h"

#include "engine/method/method.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

int fixture_set_up(void **state) {
  struct fixture *fixture = memory_new(1, sizeof *fixture);
  struct error err = {0};

  fixture->machine = memory_new(1, sizeof *fixture->machine);
  /* Before CUDA starts here. */
  for (uint32_t i = 0; i < 2; i++) {
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    fixture->peer_pids[i] = fork();
    if (fixture->peer_pids[i] == 0) {
      (void)close(pair[0]);
      for (uint32_t k = 0; k < i; k++) { /* which end when this process closes them */
        (void)close(fixture->peers.sockets[k]);
      }
      if (machine_probe(fixture->machine, &err) == STATUS_OK) {
        engine_serve(pair[1], fixture->machine, i + 1);
        _exit(EXIT_SUCCESS);
      }
      _exit(EXIT_FAILURE);
    }
    (void)close(pair[1]);
    fixture->peers.sockets[fixture->peers.count++] = pair[0];
  }
  if (machine_probe(fixture->machine, &err) != STATUS_OK ||
      engine_new(fixture->machine, &fixture->peers, &fixture->engine, &err) != STATUS_OK) {
    fail_msg("%s", err.message);
  }
  assert_true(fixture->machine->simulated);
  *state = fixture;
  return 0;
}

int fixture_tear_down(void **state) {
  SCOPED(memory_free) struct fixture *fixture = *state;
  engine_free(fixture->engine);
  for (uint32_t i = 0; i < fixture->peers.count; i++) {
    (void)close(fixture->peers.sockets[i]);
  }
  for (uint32_t i = 0; i < fixture->peers.count; i++) {
    (void)waitpid(fixture->peer_pids[i], NULL, 0);
  }
  free(fixture->machine);
  return 0;
}

struct endpoint fixture_gpu(int32_t index, enum memory_kind memory) {
  return (struct endpoint){.place = PLACE_GPU, .index = index, .memory = memory};
}

struct endpoint fixture_node(int32_t index, enum memory_kind memory) {
  return (struct endpoint){.place = PLACE_NUMA, .index = index, .memory = memory};
}

struct flow fixture_flow(enum method method, struct endpoint source, struct endpoint target,
                         uint64_t size_bytes) {
  const bool to_gpu = source.place != PLACE_GPU && target.place == PLACE_GPU;
  return (struct flow){.method = method,
                       .source = source,
                       .target = target,
                       .initiator = to_gpu ? INITIATOR_TARGET : INITIATOR_SOURCE,
                       .threads = method == METHOD_CPU ? 1 : 0,
                       .size_bytes = size_bytes};
}

struct flow fixture_load(enum method method, struct endpoint source, struct endpoint target,
                         uint64_t size_bytes) {
  struct flow flow = fixture_flow(method, source, target, size_bytes);
  flow.role = FLOW_LOAD;
  return flow;
}

struct measure fixture_measure(void) {
  return (struct measure){.trials_min = 2,
                          .trials_max = 2,
                          .warmup = 1,
                          .max_time_ns = UINT64_C(1000000000),
                          .min_trial_ns = 1000,
                          .precision = 0.01,
                          .verify = VERIFY_EVERY};
}

struct case_def fixture_transfer(const struct flow *flows, uint32_t count) {
  struct case_def def = {.kind = CASE_TRANSFER,
                         .key = "",
                         .definition = "{}",
                         .block = "test",
                         .name = "test",
                         .path = "test",
                         .flows = flows,
                         .flow_count = count,
                         .measure = fixture_measure()};
  for (uint32_t i = 0; i < count; i++) {
    def.payload_bytes += flows[i].role == FLOW_MEASURED ? flow_bytes(&flows[i]) : 0;
  }
  return def;
}

union work work;

struct case_def fixture_case(enum case_kind kind) {
  struct case_def def = fixture_transfer(NULL, 0);
  def.kind = kind;
  def.work = &work;
  return def;
}

static void take_trial(void *context, const struct trial *trial) {
  struct fixture *fixture = context;
  assert_true(fixture->trial_count < FIXTURE_TRIALS_MAX);
  fixture->trials[fixture->trial_count++] = *trial;
}

static void take_flow_trial(void *context, const struct flow_trial *flow_trial) {
  struct fixture *fixture = context;
  assert_true(fixture->flow_trial_count < FIXTURE_TRIALS_MAX);
  fixture->flow_trials[fixture->flow_trial_count++] = *flow_trial;
}

void fixture_run(struct fixture *fixture, const struct case_def *def) {
  const struct trial_sink sink = {
      .context = fixture, .trial = take_trial, .flow_trial = take_flow_trial};
  struct error err = {0};
  fixture->trial_count = 0;
  fixture->flow_trial_count = 0;
  enum status status = engine_run_case(fixture->engine, def, &sink, &fixture->outcome, &err);
  assert_ok(status, &err);
}

void fixture_run_ok(struct fixture *fixture, const struct case_def *def) {
  fixture_run(fixture, def);
  if (fixture->outcome.status != CASE_OK) {
    fail_msg("%s: %s", case_status_text(fixture->outcome.status), fixture->outcome.reason);
  }
  assert_true(fixture->outcome.verified || fixture->outcome.unproven || def->kind != CASE_TRANSFER);
  assert_true(fixture->trial_count >= def->measure.trials_min);
  for (uint32_t i = 0; i < fixture->trial_count; i++) {
    assert_int_equal(fixture->trials[i].status, TRIAL_OK);
    assert_true(fixture->trials[i].elapsed_ns > 0);
  }
}

void fixture_fails(struct fixture *fixture, const struct case_def *def, enum case_status status,
                   const char *why) {
  fixture_run(fixture, def);
  assert_int_equal(fixture->outcome.status, status);
  assert_false(fixture->outcome.verified);
  assert_contains(fixture->outcome.reason, why);
}

void fixture_skips(struct fixture *fixture, const struct case_def *def, const char *why) {
  fixture_fails(fixture, def, CASE_SKIPPED, why);
  assert_int_equal(fixture->trial_count, 0);
}

void fixture_refuse(const struct fixture *fixture, struct flow flow, const char *why) {
  char reason[CASE_REASON_MAX];
  assert_contains(method_unsupported_reason(&flow, fixture->machine, reason), why);
}
