/* Scenarios in TOML x the machines of tests/machines: the whole way to a plan. */
#include "runner/plan/plan.h"
#include "schema/machine/machine_file.h"
#include "schema/scenario/scenario.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct made {
  struct scenario *scenario;
  struct machine *machine;
  struct plan *plan;
};

static struct made make(const char *machine_name, const char *text) {
  struct made made = {.machine = calloc(1, sizeof *made.machine)};
  assert_non_null(made.machine);
  char path[512];
  (void)snprintf(path, sizeof path, "%s/tests/machines/%s", HAUL_SOURCE_DIR, machine_name);
  struct error err = {.message = ""};
  assert_int_equal(machine_file_load(path, made.machine, &err), STATUS_OK);
  struct diagnostics *diagnostics = diagnostics_new();
  if (scenario_parse(text, strlen(text), "test.toml", NULL, 0, &made.scenario, diagnostics) !=
      STATUS_OK) {
    diagnostics_print(diagnostics, stderr, false);
    fail();
  }
  diagnostics_free(diagnostics);
  assert_int_equal(plan_new(made.scenario, made.machine, NULL, &made.plan, &err), STATUS_OK);
  return made;
}

static void unmake(struct made *made) {
  plan_free(made->plan);
  scenario_free(made->scenario);
  free(made->machine);
}

static size_t count_with(const struct plan *plan, const char *part, bool skipped) {
  size_t count = 0;
  for (size_t i = 0; i < plan->case_count; i++) {
    const struct plan_case *c = &plan->cases[i];
    count += (c->skip_reason != NULL) == skipped && strstr(c->bench.name, part) != NULL;
  }
  return count;
}

#define HEAD "schema_version = 1\nname = \"test\"\n"
#define PAIRS                                                                                      \
  "[[transfer]]\nname = \"d2d\"\nmethod = \"ce\"\nfrom = { gpu = \"*\" }\nto = { gpu = \"*\" }\n"

static void eight_gpus_on_a_laptop(void **state) {
  (void)state;
  struct made made = make("h100x8-nvlink.toml", HEAD PAIRS "size = [\"4KiB\", \"1MiB\"]\n");
  assert_int_equal(made.plan->case_count, 112);
  assert_int_equal(made.plan->skip_count, 0);
  assert_string_equal(made.plan->cases[0].bench.name, "d2d/gpu0-gpu1/4KiB");
  assert_string_equal(made.plan->cases[56].bench.name, "d2d/gpu0-gpu1/1MiB");
  assert_int_equal(made.plan->cases[0].bench.limit, LIMIT_NVLINK);
  assert_ptr_equal(made.plan->scenario, made.scenario);
  unmake(&made);
}

static void without_peer_access_and_without_gpus(void **state) {
  (void)state;
  struct made made = make("l40sx4-pcie.toml", HEAD PAIRS "size = \"4KiB\"\npeer = [true, false]\n");
  assert_int_equal(count_with(made.plan, "peer=true", true), 12);
  assert_int_equal(count_with(made.plan, "peer=false", false), 12);
  unmake(&made);
  made = make("no-gpu.toml", HEAD PAIRS "size = [\"4KiB\", \"1MiB\"]\n");
  assert_int_equal(made.plan->case_count, 2);
  assert_int_equal(made.plan->skip_count, 2);
  assert_string_equal(made.plan->cases[0].skip_reason, made.machine->cuda_state);
  unmake(&made);
}

/* Names differ, and stay when another size is added. */
static void names_are_unique_and_stable(void **state) {
  (void)state;
  static const char *const sizes[] = {"size = \"4KiB\"\n", "size = [\"4KiB\", \"64MiB\"]\n"};
  struct made made[2];
  for (size_t i = 0; i < 2; i++) {
    char text[1024];
    (void)snprintf(text, sizeof text, "%s%s%s",
                   HEAD "[[transfer]]\nname = \"h2d\"\nmethod = \"ce\"\n"
                        "from = { numa = \"*\", memory = [\"pinned\", \"pageable\"] }\n"
                        "to = { gpu = \"*\" }\ndirection = [\"forward\", \"reverse\", \"both\"]\n",
                   sizes[i], "host_cache = [\"warm\", \"flushed\"]\n");
    made[i] = make("h100x8-nvlink.toml", text);
  }
  const struct plan *one = made[0].plan;
  const struct plan *two = made[1].plan;
  assert_int_equal(one->duplicate_count, 0);
  assert_int_equal(two->case_count, 2 * one->case_count);
  for (size_t i = 0; i < one->case_count; i++) {
    bool found = false;
    for (size_t j = 0; j < two->case_count; j++) {
      if (strcmp(one->cases[i].bench.name, two->cases[j].bench.name) == 0) {
        assert_string_equal(one->cases[i].bench.key, two->cases[j].bench.key);
        assert_false(found);
        found = true;
      }
    }
    assert_true(found);
  }
  unmake(&made[0]);
  unmake(&made[1]);
}

static void loads_and_flows_of_a_scenario(void **state) {
  (void)state;
  struct made made = make(
      "h100x8-nvlink.toml", HEAD PAIRS
      "size = \"4KiB\"\n[[transfer.load]]\nmethod = \"ce\"\nfrom = { numa = \"local\", memory = "
      "\"pinned\" }\nto = { gpu = 0 }\nsize = \"1MiB\"\n"
      "[[transfer]]\nname = \"spelled\"\nmethod = \"ce\"\n"
      "[[transfer.flow]]\nfrom = { gpu = 0 }\nto = { gpu = 1 }\nsize = \"2MiB\"\n"
      "[[transfer.flow]]\nfrom = { gpu = 2 }\nto = { gpu = 3 }\nsize = \"1MiB\"\n");
  assert_int_equal(made.plan->case_count, 57);
  assert_int_equal(made.plan->cases[0].bench.flow_count, 2);
  assert_int_equal(made.plan->cases[0].bench.flows[1].role, FLOW_LOAD);
  const struct bench_case *spelled = &made.plan->cases[56].bench;
  assert_string_equal(spelled->name, "spelled/gpu0,2-gpu1,3");
  assert_int_equal(spelled->payload_bytes, 3 << 20);
  unmake(&made);
}

#define CHASE HEAD "[[chase]]\nname = \"c\"\n"

static void chases_have_names_keys_and_estimates(void **state) {
  (void)state;
  struct made made = make("h100x8-nvlink.toml",
                          CHASE "space = \"host\"\nat.gpu = [0, 5]\nof = { memory = [\"pinned\", "
                                "\"huge\"] }\nfootprint = [\"2MiB\", \"64MiB\"]\nhops = 64\n");
  assert_int_equal(made.plan->case_count, 8);
  assert_int_equal(made.plan->skip_count, 0);
  const struct plan_case *first = &made.plan->cases[0];
  assert_string_equal(first->bench.name, "c/gpu0-numa0:pinned/2MiB");
  assert_string_equal(first->bench.path, "gpu0-numa0:pinned");
  assert_string_equal(made.plan->cases[7].bench.name, "c/gpu5-numa1:huge/64MiB");
  assert_string_equal(
      first->bench.definition,
      "{\"version\":1,\"kind\":\"chase\",\"chase\":{\"method_version\":1,\"space\":\"host\","
      "\"gpu\":0,"
      "\"memory\":{\"place\":\"numa\",\"index\":0,\"memory\":\"pinned\"},"
      "\"footprint_bytes\":2097152,\"stride_bytes\":128,\"order\":\"random\",\"hops\":64},"
      "\"measure\":{\"min_trial_ns\":200000}}");
  assert_true(first->estimate_ns > 0);
  assert_true(first->longest_ns >= first->estimate_ns);
  for (size_t i = 1; i < made.plan->case_count; i++) {
    assert_string_not_equal(made.plan->cases[i].bench.key, first->bench.key);
  }
  unmake(&made);
}

static void chases_that_cannot_be(void **state) {
  (void)state;
  struct made made = make("gh200.toml", CHASE "space = \"peer\"\n");
  assert_int_equal(made.plan->case_count, 1);
  assert_string_equal(made.plan->cases[0].bench.name, "c/gpu.all-gpu.all/2MiB");
  assert_string_equal(made.plan->cases[0].skip_reason, "needs two GPUs, this machine has 1");
  assert_int_equal(made.plan->cases[0].bench.kind, CASE_CHASE);
  assert_int_equal(made.plan->cases[0].bench.chase.hops, 0);
  unmake(&made);
  made = make("h100x8-nvlink.toml", CHASE "space = \"peer\"\nat.gpu = 9\n");
  assert_int_equal(made.plan->skip_count, 1);
  unmake(&made);
}

#define LOADED(load)                                                                               \
  HEAD "[[transfer]]\nname = \"t\"\nmethod = \"sm\"\nfrom.gpu = 0\nto.gpu = 1\nsize = 4096\n"      \
       "initiator = \"target\"\n[[transfer.load]]\n" load

static void mirrors_take_what_they_do_not_say(void **state) {
  (void)state;
  struct made made = make("h100x8-nvlink.toml", LOADED(""));
  assert_int_equal(made.plan->case_count, 1);
  assert_string_equal(made.plan->cases[0].bench.path, "gpu0-gpu1"); /* of what is measured */
  assert_int_equal(made.plan->cases[0].bench.payload_bytes, 4096);
  assert_int_equal(made.plan->cases[0].bench.flow_count, 2);
  const struct flow *load = &made.plan->cases[0].bench.flows[1];
  assert_int_equal(load->role, FLOW_LOAD);
  assert_int_equal(load->method, METHOD_SM);
  assert_int_equal(load->source.index, 1);
  assert_int_equal(load->target.index, 0);
  assert_int_equal(load->initiator, INITIATOR_TARGET); /* the same end by role */
  assert_int_equal(load->size_bytes, 4096);
  unmake(&made);
  made = make("h100x8-nvlink.toml", LOADED("direction = \"forward\"\nmethod = \"ce\"\nsize = "
                                           "8192\ninitiator = \"source\"\n"));
  load = &made.plan->cases[0].bench.flows[1];
  assert_int_equal(load->method, METHOD_CE);
  assert_int_equal(load->source.index, 0);
  assert_int_equal(load->initiator, INITIATOR_SOURCE);
  assert_int_equal(load->size_bytes, 8192);
  unmake(&made);
}

static void mirrors_follow_spelled_flows_and_both_directions(void **state) {
  (void)state;
  struct made made =
      make("h100x8-nvlink.toml", HEAD
           "[[transfer]]\nname = \"spelled\"\n"
           "[[transfer.flow]]\nmethod = \"ce\"\nfrom.gpu = 0\nto.gpu = 1\nsize = 4096\n"
           "[[transfer.flow]]\nmethod = \"sm\"\nfrom.numa = 0\nto.gpu = 2\nsize = 8192\n"
           "[[transfer.load]]\n"
           "[[transfer]]\nname = \"both\"\nmethod = \"ce\"\nfrom.gpu = 0\nto.gpu = 1\nsize = 4096\n"
           "direction = \"both\"\n[[transfer.load]]\nsize = 64\n");
  const struct bench_case *spelled = &made.plan->cases[0].bench;
  assert_int_equal(spelled->flow_count, 4);
  assert_int_equal(spelled->flows[2].method, METHOD_CE);
  assert_int_equal(spelled->flows[2].size_bytes, 4096);
  assert_int_equal(spelled->flows[3].method, METHOD_SM);
  assert_int_equal(spelled->flows[3].size_bytes, 8192);
  assert_int_equal(spelled->flows[3].source.place, PLACE_GPU);
  assert_int_equal(spelled->flows[3].initiator, INITIATOR_SOURCE); /* the GPU */
  const struct bench_case *both = &made.plan->cases[1].bench;
  assert_int_equal(both->flow_count, 4);
  assert_int_equal(both->flows[2].source.index, 1);
  assert_int_equal(both->flows[3].source.index, 0);
  assert_int_equal(both->flows[3].size_bytes, 64);
  unmake(&made);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(eight_gpus_on_a_laptop),
      cmocka_unit_test(without_peer_access_and_without_gpus),
      cmocka_unit_test(names_are_unique_and_stable),
      cmocka_unit_test(loads_and_flows_of_a_scenario),
      cmocka_unit_test(chases_have_names_keys_and_estimates),
      cmocka_unit_test(chases_that_cannot_be),
      cmocka_unit_test(mirrors_take_what_they_do_not_say),
      cmocka_unit_test(mirrors_follow_spelled_flows_and_both_directions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
