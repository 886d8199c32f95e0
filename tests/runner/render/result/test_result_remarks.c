/* What a remark on noise says would help: the key that changes something for these cases, or that
 * nothing does. */
#include "runner/render/result/result_block.h"
#include "schema/scenario/scenario.h"
#include "tests/runner/render/result/said.h"

RELEASE(scenario_free, struct scenario)

/* Block "up" is measured as [measure] says, "own" and "other" by keys of their own. */
static struct scenario *scenario_of(const char *measure) {
  PRINTED(text, 1024,
          "schema_version = 1\nname = \"noisy\"\n[measure]\n%s\n"
          "[[transfer]]\nname = \"up\"\nmethod = \"ce\"\nfrom = { numa = 0 }\nto = { gpu = 0 "
          "}\nsize = \"4KiB\"\n"
          "[[transfer]]\nname = \"own\"\nmethod = \"ce\"\nfrom = { numa = 0 }\nto = { gpu = 0 "
          "}\nsize = \"4KiB\"\n"
          "trials = { min = 20, max = 20 }\nmax_time = \"9s\"\n"
          "[[transfer]]\nname = \"other\"\nmethod = \"ce\"\nfrom = { numa = 0 }\nto = { gpu = 0 }\n"
          "size = \"4KiB\"\nmax_time = \"8s\"\n",
          measure);
  struct scenario *scenario = scenario_find_recorded(text, "noisy.toml");
  assert_non_null(scenario);
  return scenario;
}

/* The only remark below the tables, without its mark, is this one. */
static void expect_remark(const struct scenario *scenario, const struct said *said, size_t count,
                          const char *expected) {
  char *text = NULL;
  said_print(&(struct run_result_options){.scenario = scenario}, said, count, 0, &text);
  const char *remark = strstr(text, "\n\n");
  for (const char *next = remark; next != NULL; next = strstr(next + 2, "\n\n")) {
    remark = next;
  }
  assert_non_null(remark);
  assert_non_null(strstr(remark, ": "));
  const char *words =
      strstr(remark, "Precision") != NULL ? strstr(remark, "Precision") : strstr(remark, "Noisy");
  assert_non_null(words);
  PRINTED(line, 1024, "%s\n", expected);
  assert_string_equal(words, line);
  free(text);
}

#define ROW(in) .block = (in), SAID_UP(0, "pinned"), .gbps = 50, .spread = 2

TEST(a_noisy_case_is_visited_longer_or_as_often_as_others) {
#define VISITED(in, why)                                                                           \
  { ROW(in), .stop = "time", .visits = 4, .settled = (why) }
#define DISAGREE                                                                                   \
  "Noisy: measured up to 4 times. The fastest trials do not agree on an undisturbed rate. "
#define AT_OTHER_TIMES                                                                             \
  DISAGREE "More time does not help. Processes at other times may: --processes 3 --pause 10min"
  static const struct {
    const char *measure; /* NULL: the scenario is not known */
    struct said said[2];
    const char *remark;
  } CASES[] = {
      {NULL,
       {VISITED("up", "budget")},
       DISAGREE "More time may help: --set measure.settle_time=TIME"},
      {"settle_time = \"2s\"",
       {VISITED("up", "budget")},
       DISAGREE "More time may help: --set measure.settle_time=8s (now 2s)"},
      {"",
       {VISITED("up", "budget")},
       DISAGREE "More time may help: --set measure.settle_time=TIME (now auto: as long as all "
                "cases once, and at least 5 s)"},
      {"settle_time = \"2s\"", {VISITED("up", "noise")}, AT_OTHER_TIMES},
      {"settle_time = \"2s\"",
       {{ROW("up"), .under_load = true, .stop = "time", .visits = 4, .settled = "budget"}},
       AT_OTHER_TIMES},
      {"settle_time = \"2s\"",
       {VISITED("own", "budget")},
       DISAGREE "A case with a fixed number of trials is measured again only beside others. To "
                "measure it as often: --set own.trials.max=N"},
      {"settle_time = \"2s\"",
       {VISITED("own", "budget"), VISITED("up", "budget")},
       DISAGREE "More time may help: --set measure.settle_time=8s (now 2s)"},
  };
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    SCOPED(scenario_free_at)
    struct scenario *scenario = CASES[i].measure != NULL ? scenario_of(CASES[i].measure) : NULL;
    expect_remark(scenario, CASES[i].said, CASES[i].said[1].block != NULL ? 2 : 1, CASES[i].remark);
  }
}

TEST(the_key_that_ended_the_trials_is_named_where_it_stands) {
#define ONCE(in, why, what)                                                                        \
  { ROW(in), .stop = (why), .noise = (what) }
#define DIPS(in, why)                                                                              \
  {                                                                                                \
    ROW(in), .stop = "time", .noise = "dips", .noise_percent = 40, .noise_ns = 3e6,                \
             .settled = (why)                                                                      \
  }
#define DIPPED                                                                                     \
  "Precision target missed: +/- 2 % when max_time ended. Dips of 3 ms, up to 40 % slower, as "     \
  "when other programs use the host's memory or processors. More time does not help."
  static const struct {
    const char *measure;
    struct said said[2];
    const char *remark;
  } CASES[] = {
      {NULL,
       {ONCE("own", "time", "white")},
       "Precision target missed: +/- 2 % when max_time ended. The noise is random. More time "
       "helps: --set measure.max_time=TIME"},
      {"",
       {ONCE("own", "time", "white"), ONCE("up", "time", "white")},
       "Precision target missed: up to +/- 2 % when max_time ended. The noise is random. More "
       "time helps: --set own.max_time=TIME --set measure.max_time=TIME"},
      {"",
       {ONCE("own", "time", "white"), ONCE("other", "time", "white")},
       "Precision target missed: up to +/- 2 % when max_time ended. The noise is random. More "
       "time helps: --set transfer.max_time=TIME"},
      {"",
       {ONCE("own", "trials", "white")},
       "Precision target missed: +/- 2 % after trials.max trials. The noise is random. More "
       "trials help: --set own.trials.max=N"},
      {"min_time = \"1s\"",
       {ONCE("up", "time", "white")},
       "Precision target missed: +/- 2 % when min_time was reached. The noise is random. More "
       "time helps: --set measure.min_time=TIME"},
      {"min_time = \"10s\"",
       {ONCE("up", "time", "white")},
       "Precision target missed: +/- 2 % when max_time ended. The noise is random. More time "
       "helps: --set measure.max_time=TIME"},
      {"settle_time = \"off\"",
       {DIPS("up", NULL)},
       DIPPED " Measuring again later may: --set measure.settle_time=auto (now off)"},
      {"settle_time = \"2s\"",
       {DIPS("up", "budget")},
       DIPPED " Measuring again later may: --set measure.settle_time=8s (now 2s)"},
      {"settle_time = \"2s\"", {DIPS("own", NULL)}, DIPPED},
  };
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    SCOPED(scenario_free_at)
    struct scenario *scenario = CASES[i].measure != NULL ? scenario_of(CASES[i].measure) : NULL;
    expect_remark(scenario, CASES[i].said, CASES[i].said[1].block != NULL ? 2 : 1, CASES[i].remark);
  }
}
