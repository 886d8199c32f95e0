#include "runner/cli/health.h"

#include "engine/base/clock.h"
#include "engine/base/strings.h"
#include "engine/base/units.h"
#include "engine/machine/check.h"
#include "engine/machine/machine.h"
#include "runner/record/file.h"
#include "runner/record/manage.h"
#include "runner/table/text.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { KEPT_DAYS = 30, FORGET_RUNS = 20, FORGET_WAIT_MS = 200 };
static const uint64_t NS_PER_DAY = UINT64_C(86400000000000);
enum { LOOK_NS = 500000000, LINE_MAX_BYTES = 1 << 16, LINE_REASONS_MAX = 64 };

/* ---- idle ---- */

/* "gpu1: 1 compute process, 98 % busy", all of them; NULL = nobody is at work. A process that only
 * holds a GPU does not slow others. */
static void health_find_busy(struct health *health) {
  static const struct check IDLE = {.kind = CHECK_GPU_IDLE, .want = "true"};
  struct command *command = health->command;
  struct check_result results[MACHINE_GPUS_MAX];
  const size_t count = check_evaluate(&IDLE, command->target, results);
  health->busy = NULL;
  health->busy_gpus = 0;
  for (size_t i = 0; i < count; i++) {
    if (results[i].status == CHECK_FAILED &&
        command->target->gpus[i].utilization_percent >= GPU_BUSY_PERCENT) {
      health->busy =
          arena_format(&command->arena, "%s%sgpu%zu: %s", health->busy != NULL ? health->busy : "",
                       health->busy != NULL ? "; " : "", i, results[i].found);
      health->busy_gpus |= UINT64_C(1) << i;
    }
  }
}

enum status health_wait(struct health *health, uint64_t limit_ns,
                        const volatile sig_atomic_t *interrupted, struct error *err) {
  struct command *command = health->command;
  const uint64_t started_ns = clock_now_ns();
  bool said = false;
  health_find_busy(health);
  while (health->busy != NULL && *interrupted == 0) {
    const uint64_t waited_ns = clock_now_ns() - started_ns;
    if (waited_ns >= limit_ns) {
      return STATUS_OK;
    }
    if (!said) {
      const char *limit = units_format_duration_short(limit_ns, UNITS_TEXT);
      say_wait("%s: waiting for up to %s", health->busy, limit);
      said = true;
    }
    (void)nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    RETURN_ON_ERROR(command_get_machine(command, err));
    health_find_busy(health);
  }
  return STATUS_OK;
}

/* ---- a database ---- */

/* What health measured long ago goes, a few runs at a time, so that the file of a node does not
 * grow for ever. A tag or a baseline keeps a run. Nothing waits for it. */
static void health_forget_old(struct command *command, const char *path) {
  struct database *database = NULL;
  struct run_list runs;
  struct error ignored = {0};
  const int64_t before_ns =
      (int64_t)clock_read_ns(CLOCK_REALTIME) - (int64_t)(KEPT_DAYS * NS_PER_DAY);
  if (database_open_waiting(path, DATABASE_WRITE, FORGET_WAIT_MS, &database, &ignored) !=
      STATUS_OK) {
    return;
  }
  if (old_health_runs_read(database, "health", before_ns, FORGET_RUNS, &command->arena, &runs,
                           &ignored) == STATUS_OK &&
      runs.count > 0) {
    (void)!runs_delete(database, &runs, &ignored);
  }
  database_close(database);
}

enum status health_database(struct command *command, const char **path, char **scratch,
                            struct error *err) {
  struct record *record = NULL;
  *scratch = NULL;
  enum status status = command_path(command, path, err);
  status = THEN(status, database_check_folder(&command->common, *path, err));
  status = THEN(status, record_open(*path, &record, err));
  record_close(record);
  if (status == STATUS_OK) {
    health_forget_old(command, *path);
    return status;
  }
  struct error none = {0};
  if (database_file_make_scratch(scratch, &none) == STATUS_OK) {
    say_warning(&command->common, "the results are not kept: %s", err->message);
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
  const struct expect_judged *judged = expect_judge_judged(health->judge);
  const char **keys = arena_array(&health->command->arena, judged->count, sizeof *keys);
  struct case_keys again = {.items = keys};
  for (size_t i = 0; i < judged->count; i++) {
    const enum expect_verdict verdict = judged->judgements[i].verdict;
    if (verdict == EXPECT_SHORT || verdict == EXPECT_UNCLEAR || verdict == EXPECT_DISTURBED) {
      keys[again.count++] = judged->judgements[i].key;
    }
  }
  return again;
}

enum status health_judge(struct health *health, const struct run_request *request,
                         struct case_keys *again, struct error *err) {
  struct query *query = NULL;
  struct expect_judge *judge = NULL;
  const bool again_judged = health->first[0] != '\0';
  if (!again_judged) {
    memcpy(health->first, health->outcome.uuid, sizeof health->first);
    health->first_number = health->outcome.number;
  }
  const char *run = arena_format(&health->command->arena, "run:%s", health->first);
  *again = (struct case_keys){0};
  enum status status = query_open(request->database, &query, err);
  status = THEN(status,
                expect_judge_run(&request->expectations->set, query, run, NULL, NULL, &judge, err));
  query_close(query);
  RETURN_ON_ERROR(status);
  expect_judge_free(health->judge);
  health->judge = judge;
  if (!again_judged) {
    *again = health_keys_to_repeat(health);
  }
  return STATUS_OK;
}

/* ---- the line ---- */

/* Parts of the line, and reasons that were said in it. */
struct health_line {
  struct arena *arena;
  struct strbuf text;
  uint64_t gpus; /* that it names, as bits */
  const char *said[LINE_REASONS_MAX];
  size_t said_count;
};

static uint64_t health_bit(int gpu) {
  return gpu >= 0 ? UINT64_C(1) << gpu : 0;
}

/* gpus: that the text names. */
static void health_append(struct health_line *line, uint64_t gpus, const char *text) {
  line->gpus |= gpus;
  strbuf_printf(&line->text, "%s%s", line->text.length > 0 ? "; " : "", text);
}

/* A program that slows many cases is named once: true the first time. */
static bool health_says_first(struct health_line *line, const char *reason) {
  const bool said = ANY_OF(i, line->said_count, strcmp(line->said[i], reason) == 0);
  if (!said && line->said_count < LINE_REASONS_MAX) {
    line->said[line->said_count++] = reason;
  }
  return !said;
}

/* A GPU that there is and that cannot be measured. Of a probe that was killed nothing is known. */
static void health_append_lost(const struct health *health, struct health_line *line) {
  if (!health->command->target->probe_killed) {
    (void)probe_describe_loss(health->command->target, getenv("CUDA_VISIBLE_DEVICES"), &line->text);
  }
}

/* What GPUs of one name have in common where all is well; 0 = not known. */
#define HEALTH_PROPERTY_LIST(X)                                                                    \
  X("PCIe generation", pcie_generation_max)                                                        \
  X("number of PCIe lanes", pcie_width_max)                                                        \
  X("number of NVLinks", nvlink_count)
#define HEALTH_TAKE_MOST(noun, member)                                                             \
  most.member = peer->member > most.member ? peer->member : most.member;
#define HEALTH_APPEND_LESS(noun, member)                                                           \
  if (gpu->member < most.member) {                                                                 \
    health_append(line, health_bit((int)g),                                                        \
                  arena_format(line->arena, "gpu%u: " noun " %u, of others %u", g, gpu->member,    \
                               most.member));                                                      \
  }

/* A GPU with less than others of its name: what is known of machines is of such as these, and of it
 * nothing may be. Where all of it is known, the machine is built like that. */
static void health_append_unlike(const struct health *health, struct health_line *line) {
  const struct machine *machine = health->command->target;
  if (health->judge == NULL || expect_judge_judged(health->judge)->unknown == 0) {
    return;
  }
  for (uint32_t g = 0; g < machine->gpu_count; g++) {
    const struct gpu *gpu = &machine->gpus[g];
    struct gpu most = *gpu;
    for (uint32_t i = 0; i < machine->gpu_count; i++) {
      const struct gpu *peer = &machine->gpus[i];
      if (strcmp(peer->name, gpu->name) == 0) {
        HEALTH_PROPERTY_LIST(HEALTH_TAKE_MOST)
      }
    }
    HEALTH_PROPERTY_LIST(HEALTH_APPEND_LESS)
  }
}

/* Whether NVLinks of that GPU lead to a switch, and so to all GPUs: those to another GPU are
 * counted with it (struct gpu_link), those through a switch only where there is peer access. */
static bool health_has_switch(const struct machine *machine, uint32_t gpu) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    const uint32_t count = machine->links[gpu][i].nvlink_count;
    most = count > most ? count : most;
  }
  return machine->gpus[gpu].nvlink_count > most;
}

/* NVLinks without peer access: everything between these GPUs goes through the host. */
static void health_append_cut_off(const struct health *health, struct health_line *line) {
  const struct machine *machine = health->command->target;
  unsigned pairs = 0;
  const char *first = NULL;
  uint64_t gpus = 0;
  for (uint32_t a = 0; a < machine->gpu_count; a++) {
    for (uint32_t b = 0; b < machine->gpu_count; b++) {
      const struct gpu_link *link = &machine->links[a][b];
      const bool wired = link->nvlink_count > 0 ||
                         (health_has_switch(machine, a) && health_has_switch(machine, b));
      const bool parts = machine->gpus[a].mig_enabled || machine->gpus[b].mig_enabled;
      if (a != b && wired && !parts && !link->peer_access && pairs++ == 0) {
        first = arena_format(line->arena, "gpu%u has NVLinks and no peer access to gpu%u", a, b);
        gpus = health_bit((int)a) | health_bit((int)b);
      }
    }
  }
  if (first != NULL) {
    health_append(
        line, gpus,
        pairs == 1 ? first : arena_format(line->arena, "%s, and %u pairs more", first, pairs - 1));
  }
}

static void health_append_broken(const struct health *health, struct health_line *line) {
  const struct run_outcome *outcome = &health->outcome;
  if (outcome->broken > 0) {
    health_append(line, outcome->broken_gpus, outcome->first_broken);
  }
  if (outcome->broken > 1) {
    strbuf_printf(&line->text, ", and %zu more", outcome->broken - 1);
  }
  if (outcome->broken > 0 && outcome->failed > 0) {
    strbuf_printf(&line->text, "; %zu more failed", outcome->failed);
  }
}

/* Programs that were seen at work while cases were measured. Of one that hides, nothing more is
 * known than that the GPU was busy. */
static void health_append_programs(const struct health *health, struct health_line *line) {
  for (size_t gpu = 0; gpu < MACHINE_GPUS_MAX; gpu++) {
    const struct interference_user *user = &health->outcome.users[gpu];
    if (!user->seen) {
      continue;
    }
    SCOPED(strbuf_fini) struct strbuf words = STRBUF(LINE_MAX_BYTES);
    note_put_words(&words, &user->note, NULL);
    const char *text = arena_strdup(line->arena, words.text);
    const bool known = user->note.kind == NOTE_IN_USE_HIDDEN && (health->busy_gpus >> gpu & 1) != 0;
    if (health_says_first(line, text) && !known) {
      health_append(line, health_bit((int)gpu), text);
    }
  }
}

static void health_append_shortfalls(const struct health *health, struct health_line *line) {
  const struct expect_shortfall *items = NULL;
  const size_t count = expect_judge_shortfalls(health->judge, &items);
  for (size_t i = 0; i < count; i++) {
    const char *slowed = items[i].worst->slowed_by;
    const bool first = slowed != NULL && health_says_first(line, slowed);
    health_append(line, health_bit(items[i].worst->gpus[0]) | health_bit(items[i].worst->gpus[1]),
                  arena_format(line->arena, "%s%s%s",
                               expect_shortfall_words(line->arena, &items[i]),
                               first ? "; may be slowed: " : "", first ? slowed : ""));
  }
}

/* Where to find the GPUs that the line names. */
static void health_append_addresses(const struct health *health, struct health_line *line) {
  const struct machine *machine = health->command->target;
  const char *addresses = "";
  for (uint32_t gpu = 0; gpu < machine->gpu_count; gpu++) {
    if ((line->gpus >> gpu & 1) != 0 && machine->gpus[gpu].pci_address[0] != '\0') {
      addresses = arena_add_word(
          line->arena, addresses,
          arena_format(line->arena, "gpu%u is %s", gpu, machine->gpus[gpu].pci_address));
    }
  }
  if (addresses[0] != '\0') {
    health_append(line, 0, addresses);
  }
}

static void health_say(const struct health *health, const char *line) {
  if (output_layout_of(health->command->common.format) == LAYOUT_PAGE) {
    SCOPED(strbuf_fini) struct strbuf text = STRBUF(LINE_MAX_BYTES);
    text_wrap(&text, line, terminal_width(stdout), 0, false);
    (void)printf("%s\n", text.text);
    (void)fflush(stdout);
  } else {
    say_note(&health->command->common, "%s", line);
  }
}

/* Why nothing can be said of a node at which nothing wrong was seen; NULL = something can. */
static const char *health_find_doubt(const struct health *health, int code) {
  const struct machine *machine = health->command->target;
  if (code == EXIT_INTERRUPTED) {
    return "interrupted";
  }
  if (machine->probe_killed) {
    return machine->cuda_state;
  }
  if (machine->gpu_count == 0) {
    const bool says = machine->cuda_state[0] != '\0' && strcmp(machine->cuda_state, "ok") != 0;
    return arena_format(&health->command->arena, "this machine has no GPU%s%s", says ? ": " : "",
                        says ? machine->cuda_state : "");
  }
  if (health->outcome.uuid[0] == '\0') {
    return "nothing was measured: standard error says why";
  }
  if (health->outcome.unmeasured > 0) {
    return arena_format(&health->command->arena,
                        "%zu of %zu cases were not measured within the time that they may take: "
                        "--set measure.budget=TIME",
                        health->outcome.unmeasured, health->outcome.planned);
  }
  if (health->outcome.failed > 0) {
    return arena_format(
        &health->command->arena, "%s%s", health->outcome.first_failed,
        health->outcome.failed == 1
            ? ""
            : arena_format(&health->command->arena, ", and %zu more", health->outcome.failed - 1));
  }
  if (code != EXIT_DONE) {
    return arena_format(&health->command->arena,
                        "not all was measured: haul query --saved not-measured%s",
                        console_db_option(&health->command->common, &health->command->arena));
  }
  if (health->judge != NULL && expect_judge_summary(health->judge) != NULL) {
    const struct expect_judged *judged = expect_judge_judged(health->judge);
    return judged->verdicts[EXPECT_UNCLEAR] < judged->count
               ? NULL
               : "every result is too noisy to tell from what is usual";
  }
  return expect_doubt_words(&health->command->arena, health->command->expect, machine->simulated,
                            console_db_option(&health->command->common, &health->command->arena));
}

/* What is known, and of what is too noisy to tell the case that is furthest from what is usual. */
static const char *health_describe(const struct health *health) {
  const char *summary = expect_judge_summary(health->judge);
  const struct expect_judgement *worst = NULL;
  const struct expect_judged *judged = expect_judge_judged(health->judge);
  for (size_t i = 0; i < judged->count; i++) {
    const struct expect_judgement *judgement = &judged->judgements[i];
    if (judgement->verdict == EXPECT_UNCLEAR &&
        (worst == NULL || judgement->ratio < worst->ratio)) {
      worst = judgement;
    }
  }
  struct arena *arena = &health->command->arena;
  return worst == NULL ? summary
                       : arena_format(arena, "%s; most in doubt: %s: %s", summary, worst->name,
                                      expect_judgement_words(arena, worst));
}

int health_end(struct health *health, int code) {
  struct arena *arena = &health->command->arena;
  struct health_line line = {.arena = arena};
  strbuf_init(&line.text, LINE_MAX_BYTES);
  health_append_lost(health, &line);
  health_append_cut_off(health, &line);
  health_append_unlike(health, &line);
  if (health->busy != NULL) {
    health_append(&line, health->busy_gpus, health->busy);
  }
  health_append_programs(health, &line);
  health_append_broken(health, &line);
  if (health->judge != NULL) {
    health_append_shortfalls(health, &line);
  }
  const char *doubt = health_find_doubt(health, code);
  const char *cannot_tell = health->judge != NULL ? expect_judge_cannot_tell(health->judge) : NULL;
  if (line.text.length > 0 && code != EXIT_INTERRUPTED) {
    health_append_addresses(health, &line);
    health_say(health, arena_format(arena, "unhealthy: %s", line.text.text));
    code = code == EXIT_DONE || code == EXIT_NOT_MEASURED ? EXIT_REGRESSED : code;
  } else if (doubt != NULL || cannot_tell != NULL) {
    health_say(health, doubt != NULL ? arena_format(arena, "not judged: %s", doubt) : cannot_tell);
    code = code == EXIT_DONE ? EXIT_NOT_MEASURED : code;
  } else {
    health_say(health, arena_format(arena, "healthy: %s", health_describe(health)));
  }
  strbuf_fini(&line.text);
  expect_judge_free(health->judge);
  health->judge = NULL;
  return code;
}
