/* How often is a diff right? Machines are simulated, the real diff judges them.
 *
 * Every world is simulated twice: as A/A, where nothing changed, and with changes: of all cases one
 * in eight is 3 % slower on side b and one in eight 1.5 % slower, where 1 % matters. Process
 * medians are of 10 trials that scatter by 0.5 %. Seeded: the same table everywhere, whatever the
 * number of workers.
 *
 *   simulate_diff [DIFFS] [moderated|rank] [WORLD]
 *
 * 100 diffs of each kind and moderated unless given; WORLD is a part of a name. One worker per
 * processor.
 *
 * Columns: any = share of A/A diffs that report a change; any? = the same with provisional reports;
 * wrong = mean share of false ones among the changes reported, same sign included; found = share of
 * the cases 3 % slower that are REGRESSED, provisionally or not; same = share of the unchanged
 * cases that are SAME; false same = share of the cases slower by less that are SAME; covered =
 * share of the 95 % intervals that hold the true change; warned = the diff says that a difference
 * may be that of one run. Ends with 1 when a promise is broken: from 4 processes per side on, where
 * runs can be told apart, any, wrong and false same are at most 5 %; where they cannot, it is
 * warned; in the first world at least 93 % are found, and of 10 processes that spread by 1.5 %
 * half. Chance is allowed for: two standard errors. */
#include "runner/analysis/compare.h"
#include "tests/benchmarks/generator.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CASES = 160, SHARE = 8, PROCESSES_MAX = 24, TRIALS = 10, MEDIANS = 1 << 18, GPUS = 4 };
enum { LOOKS = 5, LOOK_RUNS = 3, CELLS_MAX = 256, WORKERS_MAX = 64 };
static const double CHANGE = -0.03, SMALL_CHANGE = -0.015, DELTA = 0.01, NODE_SD = 0.02;

/* How the processes of a side are spread over runs. Of NODES each has one run per side, by as many
 * processes, and what the nodes differ by is on both sides. */
enum layout { ONE_RUN, RUNS_OF_TWO, RUNS_OF_ONE, A_ONE_RUN, NODES };

/* Whether undecided cases are measured again, side b alone, in LOOK_RUNS more runs of one process,
 * up to LOOKS times; and whether the diff is told so, as haul run --decide does. */
enum looks { ONE_LOOK, LOOKS_UNTOLD, LOOKS_TOLD };

struct world {
  const char *name;
  double sd_low, sd_high; /* between processes, log-uniform from case to case */
  double shared;          /* share of that variance that all cases of a process have in common */
  bool by_gpu;            /* in common are the cases of one GPU */
  double shift;           /* of the rate, in all cases */
  double a_sd;            /* of side a instead */
  size_t a_processes;     /* of side a, where it has not as many as side b */
  size_t cases;           /* 0 = CASES */
  double odd_share, odd;  /* that share of the values takes so much longer */
  double placement;       /* each value is that much lower or higher, at random */
  bool whole;             /* odd, and low or high, are whole processes */
  double run_sd;          /* between runs; half of the variance all cases have in common */
  enum layout layout;
  double small; /* the small change, where it is not SMALL_CHANGE */
  bool all_small;
  enum looks looks;
};

#define NORMAL .sd_low = 0.004, .sd_high = 0.004

static const struct world WORLDS[] = {
    {"normal, 0.4 %", NORMAL},
    {"the same, and all 0.3 % faster", NORMAL, .shift = 0.003},
    {"0.1 to 1.6 %, half of it shared", .sd_low = 0.001, .sd_high = 0.016, .shared = 0.5},
    {"0.01 to 5 %", .sd_low = 0.0001, .sd_high = 0.05},
    {"normal, 1.5 %", .sd_low = 0.015, .sd_high = 0.015},
    {"slow mode: 10 % of values, 3 %", NORMAL, .odd_share = 0.1, .odd = 0.03},
    {"slow mode: 10 % of processes, 3 %", NORMAL, .odd_share = 0.1, .odd = 0.03, .whole = true},
    {"outliers: 5 % of values, 20 %", NORMAL, .odd_share = 0.05, .odd = 0.2},
    {"outliers: 5 % of processes, 20 %", NORMAL, .odd_share = 0.05, .odd = 0.2, .whole = true},
    {"placement of values, 1.5 % up or down", .sd_low = 0.002, .sd_high = 0.002,
     .placement = 0.015},
    {"placement of processes, 1.5 %", .sd_low = 0.002, .sd_high = 0.002, .placement = 0.015,
     .whole = true},
    {"shared by a GPU's cases, 0.8 %", .sd_low = 0.008, .sd_high = 0.008, .shared = 0.8,
     .by_gpu = true},
    {"10 cases, 2 %; A: 20 of 0.2 %", .sd_low = 0.02, .sd_high = 0.02, .a_sd = 0.002,
     .a_processes = 20, .cases = 10},
    {"noisy: 2 %, all 1.5 % slower", .sd_low = 0.02, .sd_high = 0.02, .all_small = true},
    {"noisy: 3 %, all 1.5 % slower", .sd_low = 0.03, .sd_high = 0.03, .all_small = true},
    {"runs differ by 0.3 %: one run", NORMAL, .run_sd = 0.003},
    {"runs differ by 0.3 %: runs of 2", NORMAL, .run_sd = 0.003, .layout = RUNS_OF_TWO},
    {"runs differ by 0.3 %: runs of 1", NORMAL, .run_sd = 0.003, .layout = RUNS_OF_ONE},
    {"runs differ by 0.3 %: A one, B of 1", NORMAL, .run_sd = 0.003, .layout = A_ONE_RUN},
    {"runs differ by 1 %: one run", NORMAL, .run_sd = 0.01},
    {"runs differ by 1 %: runs of 2", NORMAL, .run_sd = 0.01, .layout = RUNS_OF_TWO},
    {"runs differ by 1 %: runs of 1", NORMAL, .run_sd = 0.01, .layout = RUNS_OF_ONE},
    {"runs differ by 1 %: A one, B of 1", NORMAL, .run_sd = 0.01, .layout = A_ONE_RUN},
    {"1 %, 5 looks, untold; 1.01 % slower", .sd_low = 0.01, .sd_high = 0.01, .layout = RUNS_OF_ONE,
     .small = -0.0101, .looks = LOOKS_UNTOLD},
    {"1 %, 5 looks of --decide; 1.01 %", .sd_low = 0.01, .sd_high = 0.01, .layout = RUNS_OF_ONE,
     .small = -0.0101, .looks = LOOKS_TOLD},
    {"0.01 to 5 %, 5 looks of --decide", .sd_low = 0.0001, .sd_high = 0.05, .layout = RUNS_OF_ONE,
     .looks = LOOKS_TOLD},
    {"nodes differ by 2 %, runs by 0.3 %", NORMAL, .run_sd = 0.003, .layout = NODES},
    {"the same; one node in ten 20 % off", NORMAL, .run_sd = 0.003, .layout = NODES,
     .odd_share = 0.05, .odd = 0.2, .whole = true},
};
static const size_t PROCESSES[] = {2, 3, 5, 10};
enum { WORLD_COUNT = sizeof WORLDS / sizeof *WORLDS };
enum { SIZE_COUNT = sizeof PROCESSES / sizeof *PROCESSES };

/* Median of 10 trials of standard deviation 1. */
static double median_of_trials(struct generator *g) {
  double trials[TRIALS];
  for (int i = 0; i < TRIALS; i++) {
    const double value = normal(g);
    int at = i;
    for (; at > 0 && trials[at - 1] > value; at--) {
      trials[at] = trials[at - 1];
    }
    trials[at] = value;
  }
  return (trials[TRIALS / 2 - 1] + trials[TRIALS / 2]) / 2;
}

/* ---- one diff's data ---- */

struct data {
  size_t count;
  size_t counts[SIDES];
  struct diff_case cases[CASES];
  double values[CASES][SIDES][PROCESSES_MAX];
  uint32_t runs[SIDES][PROCESSES_MAX];
  double truth[CASES]; /* ln of the rates' ratio */
  struct diff_result results[CASES];
  double medians[MEDIANS]; /* drawn from, instead of ten trials each time: ten times as fast */
};

/* What all cases of a process or run have in common. */
struct common {
  double process[SIDES][PROCESSES_MAX][GPUS];
  double run[SIDES][PROCESSES_MAX];
  double whole[SIDES][PROCESSES_MAX]; /* ln */
  double node[PROCESSES_MAX];         /* ln, on both sides */
};

/* What a value, or a whole process, takes longer now and then, ln. */
static double simulate_odd(const struct world *world, struct generator *g) {
  double value = world->odd_share > 0 && uniform(g) < world->odd_share ? log1p(world->odd) : 0;
  if (world->placement > 0) {
    value += uniform(g) < 0.5 ? world->placement : -world->placement;
  }
  return value;
}

static void simulate_common(const struct world *world, struct common *common, struct generator *g) {
  for (size_t side = 0; side < SIDES; side++) {
    for (size_t p = 0; p < PROCESSES_MAX; p++) {
      for (size_t gpu = 0; gpu < GPUS; gpu++) {
        common->process[side][p][gpu] =
            gpu == 0 || world->by_gpu ? normal(g) : common->process[side][p][0];
      }
      common->run[side][p] = normal(g);
      common->whole[side][p] = world->whole ? simulate_odd(world, g) : 0;
    }
  }
}

/* The run of a side's process. */
static uint32_t simulate_run(const struct world *world, size_t side, size_t process) {
  switch (world->layout) {
  case ONE_RUN:
    return 0;
  case RUNS_OF_TWO:
    return (uint32_t)process / 2;
  case RUNS_OF_ONE:
  case NODES:
    break;
  case A_ONE_RUN:
    return side == SIDE_A ? 0 : (uint32_t)process;
  }
  return (uint32_t)process;
}

/* How much longer than usual one process takes for a case, ln; without its run. */
static double simulate_value(const struct world *world, double sd, double common,
                             const struct data *data, struct generator *g) {
  const double value = sd * (sqrt(1 - world->shared) * normal(g) + sqrt(world->shared) * common);
  return value + 0.005 * data->medians[(size_t)(uniform(g) * MEDIANS)] +
         (world->whole ? 0 : simulate_odd(world, g));
}

/* The true change of a case's rate. */
static double simulate_truth(const struct world *world, size_t i, size_t count, bool changed) {
  const size_t share = count / SHARE;
  const double small = log1p(world->small < 0 ? world->small : SMALL_CHANGE);
  if (!changed) {
    return 0;
  }
  return world->all_small ? small : i < share ? log1p(CHANGE) : i < 2 * share ? small : 0;
}

static void simulate_case(struct data *data, const struct world *world, size_t i,
                          const struct common *common, struct generator *g) {
  const double sd = world->sd_low * pow(world->sd_high / world->sd_low, uniform(g));
  for (size_t side = 0; side < SIDES; side++) {
    const double side_sd = side == 0 && world->a_sd > 0 ? world->a_sd : sd;
    double of_run = 0;
    for (size_t p = 0; p < data->counts[side]; p++) {
      const uint32_t run = data->runs[side][p];
      if (world->run_sd > 0 && (p == 0 || run != data->runs[side][p - 1])) {
        of_run = world->run_sd * sqrt(0.5) * (common->run[side][run] + normal(g));
      }
      data->values[i][side][p] =
          12 - (side == SIDE_B ? data->truth[i] : 0) + of_run + common->whole[side][p] +
          common->node[p] +
          simulate_value(world, side_sd, common->process[side][p][i % GPUS], data, g);
    }
  }
}

static void simulate(struct data *data, const struct world *world, size_t processes, bool changed,
                     struct generator *g) {
  struct common common;
  const size_t later = world->looks == ONE_LOOK ? 0 : LOOK_RUNS * (LOOKS - 1);
  data->counts[SIDE_A] = world->a_processes > 0 ? world->a_processes : processes;
  data->counts[SIDE_B] = processes + later;
  data->count = world->cases > 0 ? world->cases : CASES;
  simulate_common(world, &common, g);
  for (size_t p = 0; p < PROCESSES_MAX; p++) {
    common.node[p] = world->layout == NODES ? NODE_SD * normal(g) : 0;
  }
  for (size_t side = 0; side < SIDES; side++) {
    for (size_t p = 0; p < data->counts[side]; p++) {
      data->runs[side][p] = simulate_run(world, side, p);
    }
  }
  for (size_t i = 0; i < data->count; i++) {
    data->truth[i] = simulate_truth(world, i, data->count, changed) + log1p(world->shift);
    simulate_case(data, world, i, &common, g);
    data->cases[i] = (struct diff_case){
        .a = {data->values[i][SIDE_A], data->counts[SIDE_A], NULL, data->runs[SIDE_A]},
        .b = {data->values[i][SIDE_B], processes, NULL, data->runs[SIDE_B]},
        .families = {(uint32_t)i % 4, 0, 0},
        .delta = DELTA,
        .paired = world->layout == NODES};
  }
}

/* ---- judging ---- */

static bool is_reported(const struct diff_result *result) {
  return result->verdict == VERDICT_REGRESSED || result->verdict == VERDICT_IMPROVED;
}

static bool is_decided(const struct diff_result *result) {
  return !result->is_provisional && (is_reported(result) || result->verdict == VERDICT_SAME);
}

/* Until all is decided or the looks are taken. A case has the result of the look that decided it; a
 * report of a later look is one more that is read. */
static void judge_looks(struct data *data, const struct diff_options *options) {
  static struct diff_result now[CASES];
  struct diff_summary summary;
  diff_compare(data->cases, data->count, options, data->results, &summary);
  for (unsigned look = 2; look <= LOOKS; look++) {
    size_t open = 0;
    for (size_t i = 0; i < data->count; i++) {
      if (!is_decided(&data->results[i])) {
        data->cases[i].b.count += LOOK_RUNS;
        open++;
      }
    }
    if (open == 0) {
      return;
    }
    diff_compare(data->cases, data->count, options, now, &summary);
    for (size_t i = 0; i < data->count; i++) {
      if (!is_decided(&data->results[i]) || is_reported(&now[i])) {
        data->results[i] = now[i];
      }
    }
  }
}

/* Sums over diffs; then means. */
struct tally {
  double any, any_provisional, wrong, found, same, false_same, covered;
};

static void tally_add(const struct world *world, const struct data *data, bool changed,
                      struct tally *tally) {
  const size_t share = data->count / SHARE;
  const size_t smalls = world->all_small ? data->count : share;
  size_t right = 0;
  size_t wrong = 0;
  size_t provisional = 0;
  size_t found = 0;
  size_t same = 0;
  size_t false_same = 0;
  size_t covered = 0;
  for (size_t i = 0; i < data->count; i++) {
    const struct diff_result *result = &data->results[i];
    const bool is_regressed = result->verdict == VERDICT_REGRESSED;
    const bool is_large = changed && !world->all_small && i < share;
    const bool is_small = changed && (world->all_small || (i >= share && i < 2 * share));
    const bool is_right = is_regressed && (is_large || is_small);
    const bool is_wrong = is_reported(result) && !is_right;
    right += is_right;
    wrong += is_wrong && !result->is_provisional;
    provisional += is_wrong && result->is_provisional;
    found += is_regressed && is_large;
    same += !changed && result->verdict == VERDICT_SAME;
    false_same += is_small && result->verdict == VERDICT_SAME;
    covered +=
        log1p(result->change_low) <= data->truth[i] && data->truth[i] <= log1p(result->change_high);
  }
  if (!changed) {
    tally->any += wrong > 0;
    tally->any_provisional += wrong + provisional > 0;
    tally->same += (double)same / (double)data->count;
    tally->covered += (double)covered / (double)data->count;
    return;
  }
  tally->wrong += right + wrong > 0 ? (double)wrong / (double)(right + wrong) : 0;
  tally->found += (double)found / (double)share;
  tally->false_same += (double)false_same / (double)smalls;
}

/* ---- the warning ---- */

/* Whether a diff of runs laid out like that warns: one case, measured by every process. */
static bool is_warned(const struct data *data) {
  struct measured_environment environments[2 * PROCESSES_MAX] = {0};
  struct measured_run runs[2 * PROCESSES_MAX] = {0};
  struct measured_median medians[2 * PROCESSES_MAX];
  enum side sides[2 * PROCESSES_MAX];
  char boots[2 * PROCESSES_MAX][8];
  struct measured_case bench = {.key = "k",
                                .definition = "{}",
                                .block = "b",
                                .name = "b/n",
                                .axes = "",
                                .path = "",
                                .method = "ce",
                                .units = 1};
  struct measured measured = {.runs = runs,
                              .environments = environments,
                              .cases = &bench,
                              .case_count = 1,
                              .medians = medians};
  for (size_t side = 0; side < SIDES; side++) {
    for (size_t p = 0; p < data->counts[side]; p++) {
      if (p == 0 || data->runs[side][p] != data->runs[side][p - 1]) {
        const size_t r = measured.run_count++;
        (void)snprintf(boots[r], sizeof boots[r], "%zu", r);
        environments[r] =
            (struct measured_environment){.host_name = "host", .node = "host", .boot_id = boots[r]};
        runs[r] = (struct measured_run){.ref.id = (int64_t)r + 1,
                                        .scenario = "world",
                                        .origin = "measured",
                                        .haul_version = "",
                                        .environment = r};
        sides[r] = (enum side)side;
      }
      const size_t m = measured.median_count++;
      medians[m] = (struct measured_median){.run = (uint32_t)measured.run_count - 1,
                                            .process = (int64_t)m + 1,
                                            .ns = exp(data->values[0][side][p]),
                                            .status = CASE_OK};
    }
  }
  measured.environment_count = measured.run_count;
  const struct compare_options options = {.diff = {.false_discovery_rate = 0.05}};
  struct comparison *comparison = NULL;
  struct error err;
  const bool warned = compare(&measured, sides, &options, &comparison, &err) != STATUS_OK ||
                      comparison->confounded != NULL;
  comparison_free(comparison);
  return warned;
}

/* ---- the table ---- */

/* One row: a world, and how many processes a side has. */
struct cell {
  size_t world, size;
  struct tally tally;
  bool warned;
};

/* What the workers share. */
struct board {
  atomic_size_t next;
  size_t count;
  struct cell cells[CELLS_MAX];
};

/* Whether a share that was found n times is at most 5 %, give or take chance. */
static bool is_rare(double share, double n) {
  return share <= 0.05 + 2 * sqrt(0.05 * 0.95 / n);
}

static bool keeps_promises(const struct cell *cell, double diffs) {
  const struct world *world = &WORLDS[cell->world];
  const struct tally *t = &cell->tally;
  if (PROCESSES[cell->size] < 4 || world->looks == LOOKS_UNTOLD) {
    return true;
  }
  if (world->run_sd > 0 && world->layout == ONE_RUN) {
    return cell->warned;
  }
  return is_rare(t->any, diffs) && is_rare(t->wrong, diffs) && is_rare(t->false_same, diffs) &&
         (cell->world > 0 || t->found >= 0.93) &&
         (world->sd_low < 0.015 || world->all_small || PROCESSES[cell->size] < 10 ||
          world->cases > 0 || t->found >= 0.5);
}

static void cell_run(struct cell *cell, size_t diffs, const struct diff_options *options,
                     struct data *data) {
  const struct world *world = &WORLDS[cell->world];
  struct diff_options told = *options;
  struct generator g;
  told.looks = world->looks == LOOKS_TOLD ? LOOKS : 0;
  generator_seed(&g, 1000 * cell->world + cell->size); /* the same among all as alone */
  for (size_t d = 0; d < 2 * diffs; d++) {
    const bool changed = d % 2 == 1;
    simulate(data, world, PROCESSES[cell->size], changed, &g);
    if (world->looks == ONE_LOOK) {
      struct diff_summary summary;
      diff_compare(data->cases, data->count, &told, data->results, &summary);
    } else {
      judge_looks(data, &told);
    }
    tally_add(world, data, changed, &cell->tally);
  }
  const double n = (double)diffs;
  const struct tally *t = &cell->tally;
  cell->tally = (struct tally){t->any / n,  t->any_provisional / n, t->wrong / n,  t->found / n,
                               t->same / n, t->false_same / n,      t->covered / n};
  cell->warned = is_warned(data);
}

static void print_cell(const struct cell *cell, bool fine) {
  const struct world *world = &WORLDS[cell->world];
  const struct tally *t = &cell->tally;
  char found[16] = "-";
  if (!world->all_small) {
    (void)snprintf(found, sizeof found, "%.1f %%", 100 * t->found);
  }
  (void)printf(
      "| %-37s | %9zu | %5.1f %% | %5.1f %% | %5.1f %% | %7s | %5.1f %% | %8.1f %% | %5.1f %% "
      "| %-6s |%s\n",
      world->name, PROCESSES[cell->size], 100 * t->any, 100 * t->any_provisional, 100 * t->wrong,
      found, 100 * t->same, 100 * t->false_same, 100 * t->covered, cell->warned ? "yes" : "",
      fine ? "" : " BROKEN");
}

static bool print_board(const struct board *board, size_t diffs) {
  bool fine = true;
  (void)printf(
      "| %-37s | processes |     any |    any? |   wrong |   found |    same | false same | "
      "covered | warned |\n"
      "|---------------------------------------|----------:|--------:|--------:|--------:|"
      "--------:|--------:|-----------:|--------:|--------|\n",
      "spread between processes");
  for (size_t i = 0; i < board->count; i++) {
    const bool kept = keeps_promises(&board->cells[i], (double)diffs);
    print_cell(&board->cells[i], kept);
    fine = fine && kept;
  }
  return fine;
}

/* Takes rows until there are none. */
static void worker(struct board *board, size_t diffs, const struct diff_options *options) {
  struct data *data = calloc(1, sizeof *data);
  if (data == NULL) {
    abort();
  }
  struct generator g;
  generator_seed(&g, 20240229);
  for (size_t i = 0; i < MEDIANS; i++) {
    data->medians[i] = median_of_trials(&g);
  }
  for (size_t i = 0; (i = atomic_fetch_add(&board->next, 1)) < board->count;) {
    cell_run(&board->cells[i], diffs, options, data);
  }
  free(data);
}

/* False: a worker ended badly. */
static bool run_workers(struct board *board, size_t diffs, const struct diff_options *options) {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  long workers = 0;
  bool good = true;
  for (; workers < processors && workers < WORKERS_MAX; workers++) {
    const pid_t pid = fork();
    if (pid == 0) {
      worker(board, diffs, options);
      _exit(0);
    }
    good = good && pid > 0;
  }
  for (int status = 0; wait(&status) > 0;) {
    good = good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  return good;
}

static double seconds_now(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
  const long diffs = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
  struct diff_options options = {.method = DIFF_MODERATED, .false_discovery_rate = 0.05};
  if (diffs < 1 || (argc > 2 && !diff_method_parse(argv[2], &options.method))) {
    (void)fprintf(stderr, "usage: simulate_diff [DIFFS] [moderated|rank] [WORLD]\n");
    return 2;
  }
  struct board *board =
      mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (board == MAP_FAILED) {
    return 1;
  }
  const double started = seconds_now();
  for (size_t w = 0; w < WORLD_COUNT; w++) {
    for (size_t p = 0; p < SIZE_COUNT; p++) {
      if (argc < 4 || strstr(WORLDS[w].name, argv[3]) != NULL) {
        board->cells[board->count++] = (struct cell){.world = w, .size = p};
      }
    }
  }
  const bool good = run_workers(board, (size_t)diffs, &options);
  const bool fine = print_board(board, (size_t)diffs);
  (void)printf("\n%zu rows of %ld A/A diffs and %ld with changes, in %.0f s\n", board->count, diffs,
               diffs, seconds_now() - started);
  return good && (fine || options.method != DIFF_MODERATED) ? 0 : 1;
}
