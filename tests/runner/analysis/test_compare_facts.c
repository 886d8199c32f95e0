/* What differs between the environments of two sides. */
#include "runner/analysis/compare.h"
#include "tests/runner/analysis/made.h"

RELEASE(comparison_free, struct comparison)

static struct comparison *compared(struct results *m, const enum side *sides) {
  static const struct compare_options OPTIONS = {
      .diff = {.method = DIFF_MODERATED, .false_discovery_rate = 0.05}};
  struct comparison *comparison = NULL;
  struct error err = {0};
  const size_t bench = made_case(m, "a", "block", 0, 1 << 20);
  for (size_t run = 0; run < m->run_count; run++) {
    made_medians(m, bench, run, 50, 5);
  }
  assert_int_equal(compare(m, sides, &OPTIONS, &comparison, &err), STATUS_OK);
  return comparison;
}

/* The sides of a fleet have the same drivers, and no node has. What is of all nodes needs no names.
 */
TEST(facts_are_compared_node_by_node) {
  enum { NODES_MAX = 12 };
  static const struct {
    size_t nodes;
    const char *drivers[SIDES][NODES_MAX];
    size_t facts;
    const char *names, *values[SIDES]; /* of the first */
  } FLEETS[] = {
      {3, {{"570", "580", "570"}, {"570", "570", "580"}}, 2, "n1", {"580", "570"}},
      {3, {{"570", "570", "570"}, {"570", "570", "580"}}, 1, "n2", {"570", "580"}},
      {3, {{"570", "570", "570"}, {"580", "570", "580"}}, 1, "n0, n2", {"570", "580"}},
      {3, {{"570", "570", "570"}, {"580", "580", "580"}}, 1, NULL, {"570", "580"}},
      {3, {{"570", "580", "570"}, {"570", "580", "570"}}, 0, NULL, {NULL}},
      {1, {{"570"}, {"580"}}, 1, NULL, {"570", "580"}},
      {9,
       {{"1", "2", "3", "4", "5", "6", "7", "8", "9"},
        {"2", "3", "4", "5", "6", "7", "8", "9", "1"}},
       1,
       "n0, n1, n2, n3, n4, n5, n6, n7, n8",
       {"1, 2, 3, 4, 5, 6, 7, 8, 9", "1, 2, 3, 4, 5, 6, 7, 8, 9"}},
  };
  for (size_t i = 0; i < COUNT_OF(FLEETS); i++) {
    SCOPED(results_free_at) struct results *m = results_new();
    enum side sides[SIDES * NODES_MAX];
    for (size_t r = 0; r < SIDES * FLEETS[i].nodes; r++) {
      const char *node = arena_format(&m->arena, "n%zu", r / SIDES);
      sides[r] = r % SIDES == 0 ? SIDE_A : SIDE_B;
      (void)made_run(m, made_machine(m, node, FLEETS[i].drivers[r % SIDES][r / SIDES], false, 2));
    }
    SCOPED(comparison_free_at) struct comparison *comparison = compared(m, sides);
    assert_int_equal(comparison->fact_count, FLEETS[i].facts);
    for (size_t f = 0; f < comparison->fact_count; f++) {
      assert_string_equal(comparison->facts[f].name, "driver_version");
    }
    if (comparison->fact_count > 0) {
      const struct fact_difference *fact = &comparison->facts[0];
      assert_string_equal(fact->nodes != NULL ? fact->nodes : "",
                          FLEETS[i].names != NULL ? FLEETS[i].names : "");
      assert_string_equal(fact->values[SIDE_A], FLEETS[i].values[SIDE_A]);
      assert_string_equal(fact->values[SIDE_B], FLEETS[i].values[SIDE_B]);
    }
  }
}

/* GPUs of a node that changed alike are one line. */
TEST(facts_of_gpus_are_compared_node_by_node) {
  static const char *const WIDTHS[][SIDES] = {{"16", "16"}, {"8", "16"}, {"16", "8"}}; /* by node */
  SCOPED(results_free_at) struct results *m = results_new();
  enum side sides[SIDES * COUNT_OF(WIDTHS)];
  for (size_t r = 0; r < COUNT_OF(sides); r++) {
    const size_t e =
        made_machine(m, arena_format(&m->arena, "n%zu", r / SIDES), "580", false, MADE_GPUS);
    struct results_fact *facts = arena_array(&m->arena, MADE_GPUS, sizeof *facts);
    for (int g = 0; g < MADE_GPUS; g++) {
      facts[g] = (struct results_fact){"pcie_link_width", g, WIDTHS[r / SIDES][r % SIDES]};
    }
    m->environments[e].facts = facts;
    m->environments[e].fact_count = MADE_GPUS;
    sides[r] = r % SIDES == 0 ? SIDE_A : SIDE_B;
    (void)made_run(m, e);
  }
  SCOPED(comparison_free_at) struct comparison *comparison = compared(m, sides);
  assert_int_equal(comparison->fact_count, 2);
  for (size_t f = 0; f < 2; f++) {
    assert_int_equal(comparison->facts[f].gpu, -2);
    assert_string_equal(comparison->facts[f].nodes, f == 0 ? "n1" : "n2");
    assert_string_equal(comparison->facts[f].values[SIDE_B], f == 0 ? "16" : "8");
  }
}
