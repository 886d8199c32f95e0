/* What a run says on its way where stderr is no terminal. */
#include "runner/run/status_line.h"

#include "tests/cmocka.h"

#include <unistd.h>

static const uint64_t second_ns = 1000000000;

/* What calling it says on stderr. */
static const char *said_by(void (*call)(struct status_line *line), struct status_line *line) {
  static char text[512];
  FILE *file = tmpfile();
  assert_non_null(file);
  (void)fflush(stderr);
  const int stderr_fd = dup(STDERR_FILENO);
  assert_int_equal(dup2(fileno(file), STDERR_FILENO), STDERR_FILENO);
  call(line);
  (void)fflush(stderr);
  assert_int_equal(dup2(stderr_fd, STDERR_FILENO), STDERR_FILENO);
  close(stderr_fd);
  rewind(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  return text;
}

static struct progress now;
static void show(struct status_line *line) {
  status_line_show(line, &now);
}

/* What is written to stderr for a run that is so old; "" = nothing. */
static const char *said(struct status_line *line, const struct progress *progress,
                        uint64_t elapsed_ns) {
  now = *progress;
  now.elapsed_ns = elapsed_ns;
  return said_by(show, line);
}

TEST(a_log_gets_a_line_a_minute) {
  const struct common_options plain = {0};
  const struct case_def def = {.name = "copy/gpu0-gpu1"};
  const struct progress progress = {
      .done = 12, .total = 62, .def = &def, .left_ns = 90 * second_ns};
  const struct progress over = {.done = 61, .total = 62, .process_count = 2};
  struct status_line line = {.common = &plain};
  assert_string_equal(said(&line, &progress, 59 * second_ns), "");
  assert_string_equal(
      said(&line, &progress, 61 * second_ns),
      "haul: 12 of 62 cases after 1 min, about 1 min 30 s left; now copy/gpu0-gpu1\n");
  assert_string_equal(said(&line, &progress, 119 * second_ns), "");
  assert_string_equal(said(&line, &over, 200 * second_ns),
                      "haul: 61 of 62 measurements after 3 min\n");
  assert_string_equal(said(&line, &over, 239 * second_ns), "");
}

TEST(quiet_and_verbose_runs_get_none) {
  const struct common_options options[] = {{.quiet = true}, {.verbose = true}};
  const struct progress progress = {.done = 12, .total = 62};
  for (size_t i = 0; i < COUNT_OF(options); i++) {
    struct status_line line = {.common = &options[i]};
    assert_string_equal(said(&line, &progress, 100 * second_ns), "");
  }
}

static void end_two_cases(struct status_line *line) {
  const struct case_def def = {.name = "copy"};
  const struct case_outcome ok = {.status = CASE_OK};
  const struct case_outcome failed = {.status = CASE_FAILED, .reason = "why"};
  status_line_case(line, &def, &(struct case_report){.outcome = &ok}, 1, 2);
  status_line_case(line, &def, &(struct case_report){.outcome = &failed}, 2, 2);
}

TEST(cases_are_said_once_they_are_recorded) {
  const struct common_options verbose = {.verbose = true};
  struct status_line line = {.common = &verbose};
  assert_string_equal(said_by(end_two_cases, &line), "");
  assert_string_equal(said_by(status_line_written, &line),
                      "haul: [1/2] copy: ok\nhaul: warning: case copy: failed: why\n");
  assert_string_equal(said_by(status_line_written, &line), "");
  /* Those that were not recorded are not said. */
  assert_string_equal(said_by(end_two_cases, &line), "");
  status_line_fini(&line);
  assert_string_equal(said_by(status_line_written, &line), "");
}
