/* What `haul outliers` prints, of findings made by hand. */
#include "runner/render/outliers.h"

#include "runner/record/results.h"
#include "tests/cmocka.h"

/* Of several hosts each part is one line, in whatever ways it is slow. */
TEST(a_part_of_several_hosts_is_named_once) {
  struct outlier_verdict verdicts[] = {
      {.entity = ENTITY_LINK, .host = "n2", .name = "gpu1's host link", .host_link = 1},
      {.entity = ENTITY_GPU, .host = "n2", .name = "gpu1", .direction = ROLE_BOTH},
      {.entity = ENTITY_GPU, .host = "n2", .name = "gpu1", .direction = ROLE_LOCAL},
  };
  struct outlier_part part = {.host = "n2",
                              .name = "gpu1",
                              .uuid = "GPU-7",
                              .change = -0.043,
                              .least = -0.031,
                              .cases = 28,
                              .slow_cases = 27,
                              .blocks = "up, peers"};
  struct results_environment environment = {0};
  struct results results = {.environments = &environment, .environment_count = 1};
  const struct outliers outliers = {.verdicts = verdicts,
                                    .verdict_count = COUNT_OF(verdicts),
                                    .parts = &part,
                                    .part_count = 1,
                                    .cases = 390,
                                    .hosts = 5};
  CAPTURE(out);
  const struct table_options options = {.stream = out.stream};
  assert_ok(outliers_print(&results, &outliers, false, &options, err), err);
  assert_string_equal(
      capture_text(&out),
      "gpu1 of n2 is 3.1 to 4.3 % slower than its peers (GPU-7): 27 of 28 cases, in up, peers\n"
      "\n"
      "1 slow; 390 results compared with their peers on 5 nodes\n");
}
