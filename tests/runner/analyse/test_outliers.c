/* Which link, GPU or host is slow, and that nothing is where nothing is. */
#include "runner/analyse/outliers.h"
#include "tests/runner/analyse/made.h"

#include <stdlib.h>
#include <string.h>

enum { SIZES = 3 };

static struct outliers *found(const struct measured *m) {
  struct outliers *outliers = NULL;
  struct error err = {0};
  if (outliers_find(m, &outliers, &err) != STATUS_OK) {
    fail_msg("%s", err.message);
  }
  return outliers;
}

/* Every GPU of every host to the host, in three sizes; rate(host, gpu). */
static struct measured *cluster(size_t hosts, double (*rate)(size_t host, int gpu)) {
  static const char *const NAMES[] = {"n0", "n1", "n2", "n3"};
  static const char *const KEYS[MADE_GPUS * SIZES] = {"a", "b", "c", "d", "e", "f",
                                                      "g", "h", "i", "j", "k", "l"};
  struct measured *m = measured_new();
  for (size_t h = 0; h < hosts; h++) {
    made_run(m, made_environment(m, NAMES[h], "580.1", false));
  }
  for (size_t i = 0; i < MADE_GPUS * SIZES; i++) {
    const int gpu = (int)i % MADE_GPUS;
    const size_t bench = made_case(m, KEYS[i], "down", gpu, (1 + i / MADE_GPUS) << 20);
    for (size_t h = 0; h < hosts; h++) {
      made_medians(m, bench, h, rate(h, gpu), 3);
    }
  }
  return m;
}

static double all_alike(size_t host, int gpu) {
  (void)host, (void)gpu;
  return 50;
}

static double gpu_2_slow(size_t host, int gpu) {
  return host == 0 && gpu == 2 ? 45 : 50;
}

static double host_1_slow(size_t host, int gpu) {
  (void)gpu;
  return host == 1 ? 45 : 50;
}

static void alike_is_quiet(void **state) {
  (void)state;
  struct measured *m = cluster(1, all_alike);
  struct outliers *outliers = found(m);
  assert_int_equal(outliers->slow_count, 0);
  assert_int_equal(outliers->cases, MADE_GPUS * SIZES);
  outliers_free(outliers);
  measured_free(m);
}

/* Each GPU has one link here: the link is named, once. */
static void a_slow_link_is_named_once(void **state) {
  (void)state;
  struct measured *m = cluster(1, gpu_2_slow);
  struct outliers *outliers = found(m);
  assert_int_equal(outliers->slow_count, 1);
  const struct outlier *row = &outliers->rows[0];
  assert_int_equal(row->entity, ENTITY_LINK);
  assert_string_equal(row->name, "gpu2-numa0");
  assert_string_equal(row->host, "n0");
  assert_string_equal(row->block, "down");
  assert_true(fabs(row->change - -0.1) < 0.003);
  assert_true(row->z < -OUTLIERS_Z);
  assert_int_equal(row->cases, SIZES);
  assert_int_equal(row->slow_cases, SIZES);
  outliers_free(outliers);
  measured_free(m);
}

static void a_slow_host_explains_its_links(void **state) {
  (void)state;
  struct measured *m = cluster(4, host_1_slow);
  struct outliers *outliers = found(m);
  assert_int_equal(outliers->slow_count, 1);
  assert_int_equal(outliers->rows[0].entity, ENTITY_HOST);
  assert_string_equal(outliers->rows[0].name, "n1");
  assert_int_equal(outliers->rows[0].slow_cases, MADE_GPUS * SIZES);
  outliers_free(outliers);
  measured_free(m);
}

/* GPU 1 is slow to every other one; their links among each other are fine. */
static void a_slow_gpu_explains_its_links(void **state) {
  (void)state;
  static const char *const KEYS[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};
  struct measured *m = measured_new();
  made_run(m, made_environment(m, "n0", "580.1", false));
  size_t key = 0;
  for (int from = 0; from < MADE_GPUS; from++) {
    for (int to = 0; to < MADE_GPUS; to++) {
      if (from == to) {
        continue;
      }
      const size_t bench = made_case(m, KEYS[key++], "across", from, 1 << 20);
      struct measured_flow *flow = arena_alloc(&m->arena, sizeof *flow);
      *flow = m->cases[bench].flows[0];
      flow->target_is_gpu = true;
      flow->target = to;
      m->cases[bench].flows = flow;
      m->cases[bench].gpus |= UINT64_C(1) << to;
      m->cases[bench].definition = "{}";
      made_medians(m, bench, 0, from == 1 || to == 1 ? 300 : 390, 3);
    }
  }
  struct outliers *outliers = found(m);
  assert_int_equal(outliers->cases, 12);
  /* Half of all are slow: the spread of the like hides it, and nobody is accused. */
  assert_int_equal(outliers->slow_count, 0);
  outliers_free(outliers);
  /* One direction only: a quarter. */
  for (size_t i = 0; i < m->median_count; i++) {
    const struct measured_flow *flow = m->cases[m->medians[i].bench].flows;
    m->medians[i].ns = (1 << 20) / (flow->source == 1 ? 300.0 : 390.0);
  }
  outliers = found(m);
  assert_int_equal(outliers->slow_count, 3);
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(outliers->rows[i].entity, ENTITY_LINK);
    assert_memory_equal(outliers->rows[i].name, "gpu1-", 5);
  }
  outliers_free(outliers);
  measured_free(m);
}

static void two_alike_cannot_tell(void **state) {
  (void)state;
  struct measured *m = measured_new();
  made_run(m, made_environment(m, "n0", "580.1", false));
  for (int gpu = 0; gpu < 2; gpu++) {
    const size_t bench = made_case(m, gpu == 0 ? "a" : "b", "down", gpu, 1 << 20);
    made_medians(m, bench, 0, gpu == 0 ? 50 : 40, 3);
  }
  struct outliers *outliers = found(m);
  assert_int_equal(outliers->cases, 0);
  assert_int_equal(outliers->alone, 2);
  assert_int_equal(outliers->row_count, 0);
  outliers_free(outliers);
  measured_free(m);
}

static void simulated_and_real_are_not_mixed(void **state) {
  (void)state;
  struct measured *m = measured_new();
  made_run(m, made_environment(m, "n0", "580.1", false));
  made_run(m, made_environment(m, "n1", "580.1", true));
  struct outliers *outliers = NULL;
  struct error err = {0};
  assert_int_equal(outliers_find(m, &outliers, &err), STATUS_INVALID);
  assert_non_null(strstr(err.message, "simulated"));
  measured_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(alike_is_quiet),
      cmocka_unit_test(a_slow_link_is_named_once),
      cmocka_unit_test(a_slow_host_explains_its_links),
      cmocka_unit_test(a_slow_gpu_explains_its_links),
      cmocka_unit_test(two_alike_cannot_tell),
      cmocka_unit_test(simulated_and_real_are_not_mixed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
