#include "runner/cli/check_expected.h"

#include "engine/base/strings.h"
#include "runner/cli/analysis.h"
#include "runner/document/document.h"
#include "runner/run/expectations.h"
#include "runner/table/json_shape.h"

#include <stdlib.h>

struct expected_run {
  const struct results_run *run;
  struct expect_judge *judge;
};

/* What was found of a case that --only selects. */
struct expected_case {
  const struct expected_run *of;
  const struct expect_judgement *judgement;
};

/* Of all runs: of each first what went wrong, then what was judged. */
struct check_expected {
  struct expected_run *runs;
  size_t run_count;
  struct expected_case *cases;
  size_t case_count;
  size_t verdicts[expect_verdict_name_count];
  size_t above_peak;
};

static void check_expected_fini(struct check_expected *expected) {
  for (size_t r = 0; r < expected->run_count; r++) {
    expect_judge_free(expected->runs[r].judge);
  }
}

static void check_expected_add(struct command *command, struct check_expected *expected,
                               const struct expected_run *of,
                               const struct expect_judgement *judgements, size_t count) {
  const char *only = command->request.filter.only;
  for (size_t i = 0; i < count; i++) {
    const struct results_case bench = {
        .key = judgements[i].key, .name = judgements[i].name, .block = judgements[i].block};
    if (only == NULL || results_case_matches(&bench, only)) {
      *ARENA_ADD(&command->arena, expected->cases, expected->case_count) =
          (struct expected_case){of, &judgements[i]};
      expected->verdicts[judgements[i].verdict]++;
    }
  }
}

static enum status check_expected_find(struct command *command, const struct expect_set *set,
                                       struct check_expected *expected, struct error *err) {
  const struct results *results = command->results;
  expected->runs = arena_array(&command->arena, results->run_count, sizeof *expected->runs);
  for (size_t r = 0; r < results->run_count; r++) {
    struct expected_run *of = &expected->runs[expected->run_count++];
    of->run = &results->runs[r];
    const char *name = arena_format(&command->arena, "run:%s", of->run->ref.uuid);
    RETURN_ON_ERROR(expect_judge_run(set, command->query, name, NULL, NULL, &of->judge, err));
    const struct expect_judged *judged = expect_judge_judged(of->judge);
    check_expected_add(command, expected, of, judged->broken, judged->broken_count);
    check_expected_add(command, expected, of, judged->judgements, judged->count);
    expected->above_peak += judged->above_peak;
  }
  return STATUS_OK;
}

/* For people, as the sentences have it. */
static double check_expected_rounded(double value) {
  char text[32];
  (void)snprintf(text, sizeof text, "%.4g", value);
  return strtod(text, NULL);
}

/* reason: why it has no number, or how far that is from what is expected. */
#define CHECK_COLUMNS(X)                                                                           \
  X("verdict", words, expect_verdict_text(judgement->verdict), falls_short ? TONE_BAD : TONE_NONE) \
  X("gpu", text, is_broken ? NULL : expect_judgement_place(of->judge, judgement))                  \
  X("case", text, judgement->name)                                                                 \
  X("value", finite, people ? check_expected_rounded(judgement->value) : judgement->value)         \
  X("unit", text, is_broken ? NULL : judgement->time ? "ns" : "GB/s")                              \
  X("expected", text, judgement->expected)                                                         \
  X("statement", text, is_broken ? NULL : expect_statement_text(judgement->statement))             \
  X("of", text, judgement->machine)                                                                \
  X("run", integer, of->run->ref.id)                                                               \
  X("reason", text,                                                                                \
    judgement->reason != NULL ? judgement->reason                                                  \
    : people                  ? judgement->distance /* in a table there is little room */          \
                              : judgement->deviation)

JSON_DESCRIBER(check_expected_describe_json, CHECK_COLUMNS, JSON_COLUMN)

/* One row for each case that falls short or may do so, of all with -v. */
static void check_expected_list(struct document *document, const struct check_expected *expected,
                                bool all) {
  const bool people = document_is_for_people(document);
  /* Why there is no number is needed most, how far it is off least; that is the last column. */
  DOCUMENT_COLUMNS(document, CHECK_COLUMNS,
                   .narrow = expected->verdicts[EXPECT_BROKEN] > 0
                                 ? "of,statement,run,unit,gpu"
                                 : "of,statement,run,unit,reason,gpu");
  for (size_t i = 0; i < expected->case_count; i++) {
    const struct expected_run *of = expected->cases[i].of;
    const struct expect_judgement *judgement = expected->cases[i].judgement;
    const bool is_broken = judgement->verdict == EXPECT_BROKEN;
    const bool falls_short = judgement->verdict == EXPECT_SHORT || is_broken;
    if (falls_short || judgement->verdict == EXPECT_UNCLEAR ||
        judgement->verdict == EXPECT_DISTURBED || all || !people) {
      DOCUMENT_ROW(document, CHECK_COLUMNS(COLUMN_CELL));
    }
  }
  document_table_end(document);
}

static enum status check_expected_tests(struct command *command,
                                        const struct check_expected *expected, struct error *err) {
  static const enum test_outcome OUTCOMES[] = {
      [EXPECT_USUAL] = TEST_PASSED,      [EXPECT_SHORT] = TEST_FAILED,
      [EXPECT_BEYOND] = TEST_PASSED,     [EXPECT_UNCLEAR] = TEST_SKIPPED,
      [EXPECT_DISTURBED] = TEST_SKIPPED, [EXPECT_BROKEN] = TEST_FAILED};
  struct arena *arena = &command->arena;
  struct test_case *cases = arena_array(arena, expected->case_count, sizeof *cases);
  struct test_property *properties = arena_array(arena, expected->run_count, sizeof *properties);
  struct test_report report = {.name = "haul check --expect",
                               .version = HAUL_VERSION,
                               .properties = properties,
                               .property_count = expected->run_count,
                               .cases = cases,
                               .case_count = expected->case_count};
  for (size_t r = 0; r < expected->run_count; r++) {
    const struct results_run *run = expected->runs[r].run;
    const struct results_environment *where = &command->results->environments[run->environment];
    properties[r] =
        (struct test_property){arena_format(arena, "run %lld", (long long)run->ref.id),
                               arena_format(arena, "%s on %s", run->scenario, where->host_name)};
    report.started_at_ns = r == 0 || run->started_at_ns < report.started_at_ns
                               ? run->started_at_ns
                               : report.started_at_ns;
    report.ended_at_ns =
        run->started_at_ns > report.ended_at_ns ? run->started_at_ns : report.ended_at_ns;
  }
  for (size_t i = 0; i < expected->case_count; i++) {
    const struct expect_judgement *judgement = expected->cases[i].judgement;
    cases[i] = (struct test_case){judgement->block, judgement->name, OUTCOMES[judgement->verdict],
                                  expect_judgement_words(arena, judgement)};
  }
  return test_report_print(&report, command->common.tests, stdout, err);
}

/* What a person reads above the table. */
static void check_expected_say(const struct command *command, struct document *document,
                               const struct check_expected *expected) {
  for (size_t r = 0; r < expected->run_count; r++) {
    const struct results_run *run = expected->runs[r].run;
    const char *const *lines = NULL;
    const size_t count = expect_judge_words(expected->runs[r].judge, &lines);
    const char *name =
        expected->run_count > 1
            ? arena_format(&document->arena, "run %lld on %s: ", (long long)run->ref.id,
                           command->results->environments[run->environment].host_name)
            : "";
    /* The last one is the summary. */
    for (size_t i = command->common.quiet && count > 0 ? count - 1 : 0; i < count; i++) {
      document_put(document, "%s%s", name, lines[i]);
    }
  }
  const struct results *results = command->results;
  if (expected->case_count > 0 && !command->common.quiet &&
      ANY_OF(r, results->run_count, results_run_is_simulated(results, r))) {
    document_put(document, DOCUMENT_SIMULATED);
  }
}

static enum status check_expected_show(struct command *command,
                                       const struct check_expected *expected, struct error *err) {
  const struct table_options options = table_to_stdout(&command->common);
  const size_t *verdicts = expected->verdicts;
  const size_t listed = verdicts[EXPECT_SHORT] + verdicts[EXPECT_UNCLEAR] +
                        verdicts[EXPECT_DISTURBED] + verdicts[EXPECT_BROKEN];
  struct document document;
  if (command->common.tests != TEST_NONE) {
    return check_expected_tests(command, expected, err);
  }
  document_begin(&document, &options, err);
  check_expected_say(command, &document, expected);
  if ((listed > 0 && !command->common.quiet) || command->common.verbose ||
      !document_is_for_people(&document)) {
    document_gap(&document);
    check_expected_list(&document, expected, command->common.verbose);
  }
  return document_end(&document);
}

static const char *check_expected_nothing(struct command *command) {
  const struct results *results = command->results;
  const bool simulated =
      results->run_count > 0 && ALL_OF(r, results->run_count, results_run_is_simulated(results, r));
  return expect_doubt_words(&command->arena, command->expect, simulated,
                            console_db_option(&command->common, &command->arena));
}

/* The exit code, and what the table does not say. */
static enum status check_expected_judge(struct command *command,
                                        const struct check_expected *expected, bool strict,
                                        struct error *err) {
  const size_t *verdicts = expected->verdicts;
  const size_t above_peak = expected->above_peak;
  bool open = verdicts[EXPECT_UNCLEAR] + verdicts[EXPECT_DISTURBED] + above_peak > 0;
  if (verdicts[EXPECT_BROKEN] > 0) {
    say_warning(&command->common, "%zu %s no value: failed, crashed, hung or corrupt",
                verdicts[EXPECT_BROKEN],
                strings_plural(verdicts[EXPECT_BROKEN], "case has", "cases have"));
  }
  if (above_peak > 0) {
    say_warning(&command->common, "%zu %s not compared: " RESULTS_ABOVE_PEAK, above_peak,
                strings_plural(above_peak, "result is", "results are"));
  }
  for (size_t r = 0; r < expected->run_count; r++) {
    const struct results_run *run = expected->runs[r].run;
    if (expect_judge_judged(expected->runs[r].judge)->partial) {
      open = true;
      say_warning(&command->common, "run %lld is partial (%s): only what it measured is judged",
                  (long long)run->ref.id,
                  run->repeats > 0    ? "measured once more"
                  : run->only != NULL ? arena_around(&command->arena, "--only ", run->only, "")
                  : run->looks > 0    ? "--decide"
                                      : "interrupted, or out of time");
    }
  }
  command->code = verdicts[EXPECT_SHORT] + verdicts[EXPECT_BROKEN] > 0 ? EXIT_REGRESSED
                  : strict && open                                     ? EXIT_UNDECIDED
                  : verdicts[EXPECT_DISTURBED] > 0                     ? EXIT_NOT_MEASURED
                                                                       : EXIT_DONE;
  return expected->case_count > 0 ? STATUS_OK
         : above_peak > 0
             ? error_set(err, STATUS_UNSUPPORTED, "nothing was compared: %s", RESULTS_ABOVE_PEAK)
             : error_set(err, STATUS_UNSUPPORTED, "%s", check_expected_nothing(command));
}

enum status check_expected_run(struct command *command, bool strict, struct error *err) {
  static const char *const LATEST[] = {"latest"};
  SCOPED(expectations_fini) struct expectations expectations = {0};
  SCOPED(check_expected_fini) struct check_expected expected = {0};
  if (!expectations_open(&expectations, &command->common, command->expect)) {
    command->code = EXIT_USAGE; /* its mistakes were printed */
    return STATUS_OK;
  }
  const bool latest = command->word_count == 0 && command->request.filter.where_count == 0;
  RETURN_ON_ERROR(analysis_load(command, latest ? LATEST : command->words,
                                latest ? 1 : command->word_count, err));
  RETURN_ON_ERROR(command_open_query(command, err));
  RETURN_ON_ERROR(check_expected_find(command, &expectations.set, &expected, err));
  RETURN_ON_ERROR(check_expected_show(command, &expected, err));
  return check_expected_judge(command, &expected, strict, err);
}
