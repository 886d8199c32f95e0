#include "runner/cli/health.h"

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/machine/check.h"
#include "runner/record/file.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOOK_NS = 500000000, LINE_MAX_BYTES = 1 << 16 };

/* ---- idle ---- */

/* "gpu1: 1 compute process, 98 % busy", all of them; NULL = nobody is at work. A process that only
 * holds a GPU does not slow others. */
static const char *health_find_busy(struct command *command) {
  static const struct check IDLE = {.kind = CHECK_GPU_IDLE, .want = "true"};
  struct check_result results[MACHINE_GPUS_MAX];
  const size_t count = check_evaluate(&IDLE, command->target, results);
  const char *busy = NULL;
  for (size_t i = 0; i < count; i++) {
    if (results[i].status == CHECK_FAILED &&
        command->target->gpus[i].utilization_percent >= GPU_BUSY_PERCENT) {
      busy = arena_format(&command->arena, "%s%sgpu%zu: %s", busy != NULL ? busy : "",
                          busy != NULL ? "; " : "", i, results[i].found);
    }
  }
  return busy;
}

enum status health_wait(struct command *command, uint64_t limit_ns,
                        const volatile sig_atomic_t *interrupted, const char **busy,
                        struct error *err) {
  const uint64_t started_ns = clock_now_ns();
  bool said = false;
  while ((*busy = health_find_busy(command)) != NULL && *interrupted == 0) {
    const uint64_t waited_ns = clock_now_ns() - started_ns;
    if (waited_ns >= limit_ns) {
      return STATUS_OK;
    }
    if (!said) {
      char limit[UNITS_TEXT_MAX];
      units_format_duration_short(limit_ns, limit);
      say_note(&command->common, "%s: waiting for up to %s", *busy, limit);
      said = true;
    }
    (void)nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    RETURN_ON_ERROR(command_get_machine(command, err));
  }
  return STATUS_OK;
}

/* ---- a database ---- */

enum status health_database(struct command *command, const char **path, char **scratch,
                            struct error *err) {
  struct record *record = NULL;
  const char *named = getenv("HAUL_DB");
  *scratch = NULL;
  enum status status = command_path(command, path, err);
  status = THEN(status, record_open(*path, &record, err));
  record_close(record);
  if (status == STATUS_OK || command->common.db != NULL || (named != NULL && named[0] != '\0')) {
    return status;
  }
  struct error none = {0};
  if (database_file_make_scratch(scratch, &none) == STATUS_OK) {
    say_note(&command->common, "the results are not kept: %s", err->message);
    *path = *scratch;
    status = STATUS_OK;
  }
  return status;
}

void health_forget_database(char *scratch) {
  if (scratch != NULL) {
    database_file_remove_scratch(scratch);
  }
  free(scratch);
}

/* ---- the verdict ---- */

static struct case_keys health_keys_to_repeat(struct health *health) {
  size_t count = 0;
  const struct expect_finding *findings = expect_judge_findings(health->judge, &count);
  const char **keys = arena_array(&health->command->arena, count, sizeof *keys);
  struct case_keys again = {.items = keys};
  for (size_t i = 0; i < count; i++) {
    if (findings[i].verdict == EXPECT_SHORT) {
      keys[again.count++] = findings[i].key;
    }
  }
  return again;
}

enum status health_judge(struct health *health, const struct run_request *request,
                         struct case_keys *again, struct error *err) {
  struct query *query = NULL;
  struct expect_judge *judge = NULL;
  const char *run = arena_format(&health->command->arena, "run:%s", health->outcome.uuid);
  *again = (struct case_keys){0};
  enum status status = query_open(request->database, &query, err);
  status = THEN(status,
                expect_judge_run(&request->expectations->set, query, run, NULL, NULL, &judge, err));
  query_close(query);
  if (status != STATUS_OK) {
    return status;
  }
  if (health->judge == NULL) {
    health->judge = judge;
    *again = health_keys_to_repeat(health);
  } else {
    expect_judge_absolve(health->judge, judge);
    expect_judge_free(judge);
  }
  return STATUS_OK;
}

/* Whoever keeps a GPU busy slows many cases, and is named once. */
static void health_append(struct arena *arena, struct strbuf *line, const char *text) {
  static const char SLOWED[] = "; may be slowed: ";
  const char *slowed = strstr(text, SLOWED);
  if (slowed != NULL && strstr(line->text, slowed + strlen(SLOWED)) != NULL) {
    text = arena_strndup(arena, text, (size_t)(slowed - text));
  }
  if (strstr(line->text, text) == NULL) {
    strbuf_printf(line, "%s%s", line->length > 0 ? "; " : "", text);
  }
}

/* "gpu1 in use by another program, ..." of a GPU that was busy before, too: who, it does not say.
 */
static bool health_is_known(const struct health *health, const char *text) {
  const char *program = strstr(text, " in use by another program");
  return program != NULL && health->busy != NULL &&
         strstr(health->busy, arena_format(&health->command->arena, "%.*s: ", (int)(program - text),
                                           text)) != NULL;
}

/* Programs that were seen at work while cases were measured. */
static void health_append_programs(const struct health *health, struct strbuf *line) {
  size_t count = 0;
  const struct expect_finding *findings = expect_judge_findings(health->judge, &count);
  for (size_t i = 0; i < count; i++) {
    const char *text = findings[i].slowed_by;
    while (text != NULL && text[0] != '\0') {
      const size_t length = strcspn(text, ";");
      char *part = arena_strndup(&health->command->arena, text, length);
      if (strstr(part, " in use by ") != NULL && !health_is_known(health, part)) {
        health_append(&health->command->arena, line, part);
      }
      text += length + strspn(text + length, "; ");
    }
  }
}

static void health_say(const struct health *health, const char *state, const char *text) {
  if (output_layout_of(health->command->common.format) == LAYOUT_PAGE) {
    (void)printf("%s: %s\n", state, text);
    (void)fflush(stdout);
  } else {
    say_note(&health->command->common, "%s: %s", state, text);
  }
}

int health_end(struct health *health, int code) {
  struct strbuf line;
  const char *const *words = NULL;
  size_t known = 0;
  strbuf_init(&line, LINE_MAX_BYTES);
  strbuf_append(&line, health->busy != NULL ? health->busy : "");
  if (health->judge != NULL) {
    const size_t count = expect_judge_words(health->judge, &words);
    const size_t shorts = expect_judge_count(health->judge, EXPECT_SHORT);
    known = count;
    health_append_programs(health, &line);
    for (size_t i = 0; shorts > 0 && i + 1 < count; i++) { /* the last one counts them */
      health_append(&health->command->arena, &line, words[i]);
    }
  }
  if (code == EXIT_INTERRUPTED) {
    health_say(health, "not judged", "interrupted");
  } else if (line.length > 0) {
    health_say(health, "unhealthy", line.text);
    code = code == EXIT_DONE ? EXIT_REGRESSED : code;
  } else if (code != EXIT_DONE) {
    health_say(health, "not judged", "not all was measured: haul query --saved not-measured");
  } else if (known == 0) {
    health_say(health, "not judged",
               "nothing is known of this machine: haul expect learn makes a file from runs of your "
               "own");
    code = EXIT_NOT_MEASURED;
  } else {
    health_say(health, "healthy", words[0]);
  }
  strbuf_fini(&line);
  expect_judge_free(health->judge);
  health->judge = NULL;
  return code;
}
