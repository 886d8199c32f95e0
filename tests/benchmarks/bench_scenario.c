/* Reading scenarios and walking their settings. Run by hand in a release build:
 *   reading and validating 1,000 [[transfer]] blocks   at most 0.1 s
 *   block_setting(), 100,000 settings                  well below 1 us each */
#include "schema/scenario/scenario.h"

#include "engine/base/strbuf.h"
#include "engine/case/transfer.h"
#include "schema/scenario/setting.h"
#include "tests/benchmarks/bench.h"

#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 1000, REPEATS = 10, TEXT_MAX = 1 << 22 };

static struct scenario *parse(const char *text, size_t length) {
  struct diagnostics *diagnostics = diagnostics_new();
  struct scenario *scenario = NULL;
  if (scenario_parse(text, length, "bench.toml", NULL, 0, &scenario, diagnostics) != STATUS_OK) {
    diagnostics_print(diagnostics, stderr, false);
    exit(1);
  }
  diagnostics_free(diagnostics);
  return scenario;
}

static void bench_read(void) {
  struct strbuf text;
  strbuf_init(&text, TEXT_MAX);
  strbuf_append(&text, "schema_version = 1\nname = \"bench\"\n[measure]\nmax_time = \"1s\"\n");
  for (int i = 0; i < BLOCKS; i++) {
    strbuf_printf(&text,
                  "[[transfer]]\nname = \"block_%d\"\nmethod = \"ce\"\n"
                  "from = { numa = \"local\", memory = [\"pinned\", \"pageable\"] }\n"
                  "to = { gpu = \"*\" }\ndirection = \"both\"\ntrials = { min = 5, max = 50 }\n"
                  "size = { from = \"4KiB\", to = \"1GiB\", factor = 2 }\n",
                  i);
  }
  double best_s = 1e9;
  for (int i = 0; i < REPEATS; i++) {
    const double start_s = bench_now_s();
    scenario_free(parse(text.text, text.length));
    const double elapsed_s = bench_now_s() - start_s;
    best_s = elapsed_s < best_s ? elapsed_s : best_s;
  }
  (void)printf("read %d blocks (%zu bytes): %.1f ms\n", BLOCKS, text.length, best_s * 1e3);
  strbuf_fini(&text);
}

static void bench_settings(void) {
  static const char text[] = "schema_version = 1\nname = \"bench\"\n[[transfer]]\nname = \"b\"\n"
                             "method = [\"ce\", \"sm\"]\nfrom.gpu = \"*\"\nto.gpu = \"*\"\n"
                             "size = { from = 1024, to = 1024000, step = 1024 }\n"
                             "warmup = { from = 1, to = 25, step = 1 }\n"
                             "verify = [\"off\", \"once\"]\n";
  struct scenario *scenario = parse(text, sizeof text - 1);
  const size_t count = block_setting_count(scenario->blocks[0]);
  uint64_t sum = 0;
  const double start_s = bench_now_s();
  for (size_t i = 0; i < count; i++) {
    struct setting setting;
    block_setting(scenario->blocks[0], i, &setting);
    sum += setting.transfer.flow.base.size_bytes + setting.measure.warmup;
  }
  const double elapsed_s = bench_now_s() - start_s;
  (void)printf("%zu settings: %.0f ns each (sum %llu)\n", count, elapsed_s * 1e9 / (double)count,
               (unsigned long long)sum);
  scenario_free(scenario);
}

/* Every dotted key makes a table: the worst that a file of the largest size can do. */
static void bench_worst(void) {
  struct strbuf text;
  strbuf_init(&text, SCENARIO_FILE_MAX - 64);
  for (int i = 0; !text.truncated; i++) {
    strbuf_printf(&text, "a%d.b = 1\n", i);
  }
  struct diagnostics *diagnostics = diagnostics_new();
  struct scenario *scenario = NULL;
  const double start_s = bench_now_s();
  if (scenario_parse(text.text, text.length, "worst.toml", NULL, 0, &scenario, diagnostics) ==
      STATUS_OK) {
    scenario_free(scenario);
  }
  (void)printf("%zu bytes of unknown keys: %.2f s, %zu errors\n", text.length,
               bench_now_s() - start_s, diagnostics_count(diagnostics));
  diagnostics_free(diagnostics);
  strbuf_fini(&text);
}

int main(void) {
  bench_read();
  bench_settings();
  bench_worst();
  return 0;
}
