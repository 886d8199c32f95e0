/* How often is a diff right? Machines are simulated (world.h), the real diff judges them.
 *
 * Every world is simulated twice: as A/A, where nothing changed, and with changes: of all cases one
 * in eight is 3 % slower on side b and one in eight 1.5 % slower, where 1 % matters. Process
 * medians are of 10 trials that scatter by 0.5 %. Seeded: the same table everywhere, whatever the
 * number of workers.
 *
 *   simulate_diff [DIFFS] [moderated|rank] [WORLD] [odd|even]
 *
 * 100 diffs of each kind and moderated unless given; WORLD is a part of a name, and prints rows of
 * two units, too. Constants are chosen with odd seeds; even ones, the default, are for the table of
 * docs/SIMULATIONS.md, which says what the columns and the limits are. One worker per processor.
 *
 * Ends with 1 when a row misses a limit. */
#include "runner/analysis/diff_group.h"
#include "runner/analysis/diff_suspect.h"
#include "runner/statistics/t_test.h"
#include "tests/benchmarks/world.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { JOBS_MAX = 8192, WORKERS_MAX = 64, GROUPS = 1 + GPUS };
enum { JOB_DIFFS = 25 }; /* of each kind, with a seed of their own */
static const size_t PROCESSES[] = {2, 4, 10, 30};
#define ORACLE_DF 1e9 /* it knows the variance */
enum { PROMISES_MIN = 50, DIFFS_FEW = 100, DIFFS_MAX = 1600 };
enum { SIZE_COUNT = COUNT_OF(PROCESSES) };

/* ---- judging ---- */

/* Sums over diffs; then means. */
struct tally {
  double any, any_provisional, group, distribution, wrong, found, found_provisional, same,
      false_same;
  double covered, groups_covered, t_covered, welch_covered;
  double welch_any, welch_wrong, welch_found, oracle_found, promise, at_least;
};

/* What was simulated of one row: a world, and how many processes a side has. */
struct cell {
  size_t world, size, first, diffs; /* numbers of the diffs */
  bool chosen_on;                   /* odd seeds */
  struct tally tally;
  double promised, kept, least, least_kept; /* cases that need so many units, or at least so many */
  struct spread {
    double sum, squares, count;
  } covered, groups_covered, t_covered, welch_covered; /* shares of diffs */
  struct spread exact, groups_exact, conservative;     /* of intervals, by what they say */
  struct spread groups_t_covered, groups_welch_covered;
};

struct judged {
  struct diff_result cases[CASES], groups[GROUPS];
  double group_truth[GROUPS];
  struct distribution_change distributions[CASES];
  double welch_q[CASES];                     /* of Welch's test against delta, of the same units */
  struct diff_result t[CASES], welch[CASES]; /* intervals of both t tests of the same units */
  struct diff_result groups_t[GROUPS], groups_welch[GROUPS];
  double oracle_q[CASES], oracle_all; /* as welch_q; of the group of all cases */
  struct diff_summary summary;
};

static bool is_reported(const struct diff_result *result) {
  return result->verdict == VERDICT_REGRESSED || result->verdict == VERDICT_IMPROVED;
}

static bool is_firm(const struct diff_result *result) {
  return is_reported(result) && !result->is_provisional;
}

static bool is_decided(const struct diff_result *result) {
  return !result->is_provisional && (is_reported(result) || result->verdict == VERDICT_SAME);
}

/* Until all is decided or the looks are taken. A case has the result of the look that decided it; a
 * report of a later look is one more that is read. */
static void judge_looks(struct data *data, const struct diff_options *options,
                        struct diff_result *results, struct diff_summary *summary) {
  static struct diff_result now[CASES];
  diff_compare(data->cases, data->count, options, results, summary);
  for (unsigned look = 2; look <= LOOKS; look++) {
    size_t open = 0;
    for (size_t i = 0; i < data->count; i++) {
      if (!is_decided(&results[i])) {
        data->cases[i].b.count += LOOK_RUNS;
        open++;
      }
    }
    if (open == 0) {
      return;
    }
    diff_compare(data->cases, data->count, options, now, summary);
    for (size_t i = 0; i < data->count; i++) {
      if (!is_decided(&results[i]) || is_firm(&now[i])) {
        results[i] = now[i];
      }
    }
  }
}

static void set_interval(const struct effect *effect, struct diff_result *result) {
  const struct interval interval = effect_interval(effect, 0.95);
  result->change_low = expm1(interval.low);
  result->change_high = expm1(interval.high);
}

/* The p value of Welch's test against delta of the same units, and the intervals of both t tests.
 */
static double judge_t_tests(const struct diff_case *c, const struct diff_result *result,
                            struct diff_result *t, struct diff_result *welch) {
  double values[SIDES][PROCESSES_MAX];
  uint32_t numbers[PROCESSES_MAX];
  const struct process_sample *sides[SIDES] = {&c->a, &c->b};
  struct sample samples[SIDES];
  for (size_t s = 0; s < SIDES; s++) {
    const bool by_run = result->unit != DIFF_UNIT_PROCESS;
    const struct process_sample units =
        by_run ? process_sample_by_run(sides[s], values[s], numbers) : *sides[s];
    samples[s] = sample_summary(units.values, units.count);
  }
  t->change_low = welch->change_low = NAN;
  if (samples[SIDE_A].count < 2 || samples[SIDE_B].count < 2) {
    return NAN;
  }
  const struct effect effect = effect_welch(&samples[SIDE_A], &samples[SIDE_B]);
  const double df = (double)(samples[SIDE_A].count + samples[SIDE_B].count) - 2;
  const struct effect pooled = effect_moderated(&samples[SIDE_A], &samples[SIDE_B],
                                                &(struct variance_prior){.pooled_df = df});
  set_interval(&pooled, t);
  set_interval(&effect, welch);
  return effect_p(&effect, log1p(c->delta));
}

/* What Welch's test finds at the same false discovery rate of all looks. */
static void judge_welch(const struct data *data, unsigned looks, struct judged *judged) {
  for (size_t i = 0; i < data->count; i++) {
    judged->welch_q[i] =
        judge_t_tests(&data->cases[i], &judged->cases[i], &judged->t[i], &judged->welch[i]);
  }
  (void)fdr_q_values(judged->welch_q, data->count, judged->welch_q);
  for (size_t i = 0; i < data->count && looks > 1; i++) {
    judged->welch_q[i] *= looks;
  }
}

/* What the oracle finds (world.h). */
static void judge_oracle(const struct data *data, struct judged *judged) {
  struct effect all = {.df = ORACLE_DF};
  const double n = (double)data->count;
  for (size_t i = 0; i < data->count; i++) {
    const struct oracle *oracle = &data->oracles[i];
    const struct effect effect = {oracle->difference, oracle->error, ORACLE_DF};
    judged->oracle_q[i] = effect_p(&effect, log1p(data->cases[i].delta));
    all.difference += oracle->difference / n;
    all.error += oracle->error * oracle->error / (n * n);
  }
  (void)fdr_q_values(judged->oracle_q, data->count, judged->oracle_q);
  all.error = sqrt(all.error);
  judged->oracle_all = GROUPS * effect_p(&all, log1p(DELTA));
}

/* Measures the cases that are said to need so many units as often, and counts those decided. */
static void judge_promises(struct data *data, const struct diff_options *options,
                           const struct judged *judged, struct cell *cell) {
  static struct diff_result later[CASES];
  struct diff_summary summary;
  for (size_t i = 0; i < data->count; i++) {
    const struct diff_result *result = &judged->cases[i];
    if (result->verdict == VERDICT_INSUFFICIENT) {
      data->cases[i].a.count = data->cases[i].b.count = result->units_needed;
    }
  }
  diff_compare(data->cases, data->count, options, later, &summary);
  for (size_t i = 0; i < data->count; i++) {
    if (judged->cases[i].verdict == VERDICT_INSUFFICIENT) {
      const bool least = judged->cases[i].needed_is_least;
      *(least ? &cell->least : &cell->promised) += 1;
      *(least ? &cell->least_kept : &cell->kept) += is_decided(&later[i]);
    }
  }
}

/* All cases, and those of each GPU. */
static void judge_groups(const struct data *data, const struct diff_options *options,
                         struct judged *judged) {
  struct arena arena = {0};
  struct diff_options apart = *options;
  struct diff_case groups[GROUPS];
  struct diff_summary summary;
  apart.apart = true;
  for (size_t g = 0; g < GROUPS; g++) {
    size_t members[CASES];
    size_t count = 0;
    judged->group_truth[g] = 0;
    for (size_t i = 0; i < data->count; i++) {
      if (g == 0 || i % GPUS == g - 1) {
        members[count++] = i;
        judged->group_truth[g] += data->truth[i];
      }
    }
    judged->group_truth[g] /= (double)count;
    groups[g] = diff_group_make(data->cases, members, count, &arena);
  }
  diff_group_take_order(&judged->summary, &apart);
  diff_compare(groups, GROUPS, &apart, judged->groups, &summary);
  for (size_t g = 0; g < GROUPS; g++) {
    (void)judge_t_tests(&groups[g], &judged->groups[g], &judged->groups_t[g],
                        &judged->groups_welch[g]);
  }
  arena_fini(&arena);
}

static void spread_add(double share, struct spread *spread) {
  if (!isnan(share)) {
    spread->sum += share;
    spread->squares += share * share;
    spread->count++;
  }
}

static void spread_join(const struct spread *part, struct spread *spread) {
  spread->sum += part->sum;
  spread->squares += part->squares;
  spread->count += part->count;
}

static double spread_mean(const struct spread *spread) {
  return spread->sum / spread->count; /* NAN of none */
}

static double spread_error(const struct spread *spread) {
  const double mean = spread_mean(spread);
  return sqrt(fmax(0, spread->squares / spread->count - mean * mean) / spread->count);
}

enum intervals { INTERVALS_ALL, INTERVALS_EXACT };

/* By a clock, what did not change is read alike on both sides, and every interval holds it: `least`
 * above 0 counts changes alone. */
static double share_covered(const struct diff_result *results, const double *truth, size_t count,
                            double least, enum intervals which) {
  size_t covered = 0;
  size_t known = 0;
  for (size_t i = 0; i < count; i++) {
    if (fabs(truth[i]) >= least && isfinite(results[i].change_low) &&
        (which == INTERVALS_ALL || !results[i].is_conservative)) {
      known++;
      covered +=
          log1p(results[i].change_low) <= truth[i] && truth[i] <= log1p(results[i].change_high);
    }
  }
  return (double)covered / (double)known; /* NAN of none */
}

static void tally_add(const struct world *world, const struct data *data,
                      const struct judged *judged, bool changed, struct cell *cell) {
  struct tally *tally = &cell->tally;
  const size_t share = data->count / SHARE;
  const bool all = world->all_small || world->changes > 0;
  const size_t smalls = all ? data->count : share;
  const double margin = -log1p(DELTA);
  size_t right = 0;
  size_t wrong = 0;
  size_t provisional = 0;
  size_t found = 0;
  size_t found_firm = 0;
  size_t same = 0;
  size_t false_same = 0;
  size_t groups = 0;
  size_t distributions = 0;
  size_t welch = 0;
  size_t welch_all = 0;
  size_t welch_wrong = 0;
  size_t oracle = 0;
  for (size_t i = 0; i < data->count; i++) {
    const struct diff_result *result = &judged->cases[i];
    const bool is_regressed = result->verdict == VERDICT_REGRESSED;
    const bool is_same = result->verdict == VERDICT_SAME && !result->is_provisional;
    const bool is_large = changed && !all && i < share;
    const bool is_small = changed && (all || (i >= share && i < 2 * share));
    const bool is_right =
        is_reported(result) && (is_regressed ? data->truth[i] < margin : data->truth[i] > -margin);
    const bool is_wrong = is_reported(result) && !is_right;
    welch += judged->welch_q[i] <= 0.05 && (!changed || is_large);
    welch_all += judged->welch_q[i] <= 0.05;
    welch_wrong += judged->welch_q[i] <= 0.05 && !(fabs(data->truth[i]) > -margin);
    oracle += judged->oracle_q[i] <= 0.05 && is_large;
    right += is_right && is_firm(result);
    wrong += is_wrong && is_firm(result);
    provisional += is_wrong;
    found += is_regressed && is_large;
    found_firm += is_regressed && is_large && is_firm(result);
    same += !changed && is_same;
    distributions += judged->distributions[i].kind != DISTRIBUTION_SAME &&
                     !judged->distributions[i].is_provisional;
    false_same += is_small && is_same && fabs(data->truth[i]) > -margin;
  }
  for (size_t g = 0; g < GROUPS; g++) {
    groups += is_firm(&judged->groups[g]);
  }
  const double least = world->tick > 0 ? 1e-9 : 0;
  const struct {
    const struct diff_result *cases, *groups;
    struct spread *of_cases, *of_groups;
    enum intervals which;
  } COVERED[] = {
      {judged->cases, judged->groups, &cell->covered, &cell->groups_covered, INTERVALS_ALL},
      {judged->cases, judged->groups, &cell->exact, &cell->groups_exact, INTERVALS_EXACT},
      {judged->t, judged->groups_t, &cell->t_covered, &cell->groups_t_covered, INTERVALS_ALL},
      {judged->welch, judged->groups_welch, &cell->welch_covered, &cell->groups_welch_covered,
       INTERVALS_ALL},
  };
  spread_add((double)SUM_OF(i, data->count, judged->cases[i].is_conservative) / (double)data->count,
             &cell->conservative);
  for (size_t k = 0; k < COUNT_OF(COVERED); k++) {
    spread_add(share_covered(COVERED[k].cases, data->truth, data->count, least, COVERED[k].which),
               COVERED[k].of_cases);
    if (world->tick == 0 || (changed && world->changes > 0)) { /* as the cases */
      spread_add(share_covered(COVERED[k].groups, judged->group_truth, GROUPS, 0, COVERED[k].which),
                 COVERED[k].of_groups);
    }
  }
  if (!changed) {
    tally->any += wrong > 0;
    tally->welch_any += welch > 0;
    tally->any_provisional += provisional > 0;
    tally->group += groups > 0;
    tally->distribution += distributions > 0;
    tally->same += (double)same / (double)data->count;
    return;
  }
  tally->welch_wrong += welch_all > 0 ? (double)welch_wrong / (double)welch_all : 0;
  tally->wrong += right + wrong > 0 ? (double)wrong / (double)(right + wrong) : 0;
  if (world->changes > 0) {
    tally->found = tally->oracle_found = tally->welch_found = tally->found_provisional = NAN;
  } else if (world->all_small) {
    tally->found += is_firm(&judged->groups[0]);
    tally->found_provisional += is_reported(&judged->groups[0]);
    tally->oracle_found += judged->oracle_all <= 0.05;
    tally->welch_found = NAN;
  } else {
    tally->found += (double)found_firm / (double)share;
    tally->found_provisional += (double)found / (double)share;
    tally->oracle_found += (double)oracle / (double)share;
    tally->welch_found += (double)welch / (double)share;
  }
  tally->false_same += (double)false_same / (double)smalls;
}

/* ---- the table ---- */

/* What the workers share. */
struct board {
  atomic_size_t next;
  size_t count;
  struct cell jobs[JOBS_MAX]; /* those of one row are adjacent */
};

/* Which limits a row misses: BROKEN is a fault; WIDE are intervals that hold the change too often.
 */
enum limits { KEPT, WIDE, BROKEN };

static double spread_chance(const struct spread *spread) {
  const double few = spread->count < DIFFS_FEW ? sqrt(0.05 * 0.95 / spread->count) : 0;
  return 2 * fmax(spread_error(spread), few);
}

/* Whether intervals hold the change in 93 to 97 %, give or take chance between diffs; conservative
 * ones in 93 % or more. Values at two levels, or of which a few are odd, come in so few patterns
 * that no interval holds the change in just 95 %: there, in no more and no less than the intervals
 * of both t tests. */
static enum limits judge_coverage(const struct spread *all, const struct spread *exact,
                                  const struct spread *t, const struct spread *welch,
                                  bool is_normal) {
  const double least = is_normal ? 1 : fmin(spread_mean(t), spread_mean(welch));
  const double most = is_normal ? 0 : fmax(spread_mean(t), spread_mean(welch));
  return spread_mean(all) < fmin(least, 0.93) - spread_chance(all)      ? BROKEN /* of none NAN */
         : spread_mean(exact) > fmax(most, 0.97) + spread_chance(exact) ? WIDE
                                                                        : KEPT;
}

/* Whether a share that was found n times is at most 5 %, give or take chance. */
static bool is_rare(double share, double n) {
  return share <= 0.05 + 2 * sqrt(0.05 * 0.95 / n);
}

static enum limits judge_limits(const struct cell *cell, double diffs) {
  const struct world *world = &WORLDS[cell->world];
  const struct tally *t = &cell->tally;
  const size_t processes = PROCESSES[cell->size];
  const bool plain = cell->world == 0 && processes >= 5;
  const bool noisy = strcmp(world->name, "normal, 1.5 %") == 0;
  const bool in_turn = (world->order == ABAB || world->order == ABBA) && world->looks == ONE_LOOK &&
                       world->layout != ONE_RUN && world->layout != A_ONE_RUN;
  const bool welch =
      processes >= 10 && in_turn && is_rare(t->welch_any, diffs) && t->welch_wrong <= 0.05;
  /* The cases of a diff may share their noise: so many diffs, not cases, were drawn. */
  const double chance = 2 * sqrt(t->welch_found * (1 - t->welch_found) / diffs);
  const bool more = !welch || !(t->welch_found > t->found + chance);
  const bool is_normal = world->odd_share == 0 && world->placement == 0;
  const enum limits covered = judge_coverage(&cell->covered, &cell->exact, &cell->t_covered,
                                             &cell->welch_covered, is_normal);
  const enum limits groups =
      judge_coverage(&cell->groups_covered, &cell->groups_exact, &cell->groups_t_covered,
                     &cell->groups_welch_covered, is_normal);
  const bool kept = !(t->promise < 0.8 - 2 * sqrt(0.8 * 0.2 / diffs));
  const bool fine = more && kept && is_rare(t->any, diffs) && is_rare(t->group, diffs) &&
                    is_rare(t->wrong, diffs) &&
                    (is_rare(t->distribution, diffs) || world->a_sd > 0) &&
                    is_rare(t->false_same, diffs) && (!plain || t->found >= 0.93) &&
                    (!noisy || processes < 10 || t->found >= (processes < 30 ? 0.5 : 0.95));
  return !fine ? BROKEN : covered > groups ? covered : groups;
}

static void cell_run(struct cell *cell, const struct diff_options *options, struct data *data,
                     struct judged *judged) {
  const struct world *world = &WORLDS[cell->world];
  struct diff_options told = *options;
  struct generator g;
  told.looks = world->looks == LOOKS_TOLD ? LOOKS : 0;
  /* The same among all as alone. */
  generator_seed(&g, 2 * (JOBS_MAX * (1000 * cell->world + cell->size) + cell->first / JOB_DIFFS) +
                         (cell->chosen_on ? 1 : 0));
  for (size_t d = 0; d < 2 * cell->diffs; d++) {
    const bool changed = d % 2 == 1;
    world_simulate(data, world, PROCESSES[cell->size], changed, &g);
    diff_find_rounding(data->cases, data->count);
    if (world->looks == ONE_LOOK) {
      diff_compare(data->cases, data->count, &told, judged->cases, &judged->summary);
      diff_suspect(data->cases, data->count, &told, judged->cases);
      distribution_compare(data->cases, data->count, &told, judged->cases, &judged->summary,
                           judged->distributions);
    } else {
      judge_looks(data, &told, judged->cases, &judged->summary);
    }
    judge_groups(data, &told, judged);
    judge_welch(data, told.looks, judged);
    judge_oracle(data, judged);
    tally_add(world, data, judged, changed, cell);
    if (world_goes_on(world) && PROCESSES[cell->size] >= DIFF_PROCESSES_FIRM) {
      judge_promises(data, &told, judged, cell);
    }
  }
}

/* Adds up the jobs of a row, from the first one on; returns how many there are. */
static size_t cell_sum(const struct cell *jobs, size_t count, struct cell *row) {
  double *sums = (double *)&row->tally;
  size_t used = 0;
  *row = (struct cell){.world = jobs->world, .size = jobs->size};
  for (; used < count && jobs[used].world == row->world && jobs[used].size == row->size; used++) {
    const double *shares = (const double *)&jobs[used].tally;
    for (size_t i = 0; i < sizeof row->tally / sizeof *sums; i++) {
      sums[i] += shares[i];
    }
    row->diffs += jobs[used].diffs;
    row->promised += jobs[used].promised;
    row->kept += jobs[used].kept;
    row->least += jobs[used].least;
    row->least_kept += jobs[used].least_kept;
    spread_join(&jobs[used].covered, &row->covered);
    spread_join(&jobs[used].exact, &row->exact);
    spread_join(&jobs[used].conservative, &row->conservative);
    spread_join(&jobs[used].t_covered, &row->t_covered);
    spread_join(&jobs[used].welch_covered, &row->welch_covered);
    spread_join(&jobs[used].groups_covered, &row->groups_covered);
    spread_join(&jobs[used].groups_exact, &row->groups_exact);
    spread_join(&jobs[used].groups_t_covered, &row->groups_t_covered);
    spread_join(&jobs[used].groups_welch_covered, &row->groups_welch_covered);
  }
  for (size_t i = 0; i < sizeof row->tally / sizeof *sums; i++) {
    sums[i] /= (double)row->diffs;
  }
  row->tally.covered = spread_mean(&row->covered);
  row->tally.groups_covered = spread_mean(&row->groups_covered);
  row->tally.t_covered = spread_mean(&row->t_covered);
  row->tally.welch_covered = spread_mean(&row->welch_covered);
  row->tally.promise = row->promised >= PROMISES_MIN ? row->kept / row->promised : NAN;
  row->tally.at_least = row->least >= PROMISES_MIN ? row->least_kept / row->least : NAN;
  return used;
}

static void print_cell(const struct cell *cell, enum limits limits) {
  const double *shares = (const double *)&cell->tally;
  (void)printf("| %-36s | %5zu |", WORLDS[cell->world].name, PROCESSES[cell->size]);
  for (size_t i = 0; i < sizeof cell->tally / sizeof *shares; i++) {
    (void)printf(isnan(shares[i]) ? "     - |" : " %5.1f |", 100 * shares[i]);
  }
  (void)printf(" %5.1f |", 100 * spread_mean(&cell->conservative));
  (void)printf("%s\n", limits == KEPT ? "" : limits == WIDE ? " WIDE" : " BROKEN");
}

/* *rows: how many there are, printed or not. */
static bool print_board(const struct board *board, bool all, size_t *rows) {
  bool fine = true;
  (void)printf(
      "| %-36s | units |   any |  any? | group | distr | wrong | found | found?|  same | false | "
      "cover | of gr | of t  | of W  | W any | W wr. | Welch | orac. | prom. | least | cons. |\n"
      "|--------------------------------------|------:|------:|------:|------:|------:|------:|"
      "------:|------:|------:|------:|------:|------:|------:|------:|------:|------:|------:|"
      "------:|------:|------:|------:|\n",
      "world: spread between processes; %");
  for (size_t i = 0; i < board->count; ++*rows) {
    struct cell row;
    i += cell_sum(&board->jobs[i], board->count - i, &row);
    const enum limits limits = judge_limits(&row, (double)row.diffs);
    if (all || limits != KEPT || PROCESSES[row.size] > 2) {
      print_cell(&row, limits);
    }
    fine = fine && limits != BROKEN;
  }
  return fine;
}

/* Takes jobs until there are none. */
static void worker(struct board *board, const struct diff_options *options) {
  struct data *data = calloc(1, sizeof *data);
  struct judged *judged = calloc(1, sizeof *judged);
  if (data == NULL || judged == NULL) {
    abort();
  }
  world_init(data);
  for (size_t i = 0; (i = atomic_fetch_add(&board->next, 1)) < board->count;) {
    cell_run(&board->jobs[i], options, data, judged);
  }
  free(judged);
  free(data);
}

/* False: a worker ended badly. */
static bool run_workers(struct board *board, const struct diff_options *options) {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  long workers = 0;
  bool good = true;
  for (; workers < processors && workers < WORKERS_MAX; workers++) {
    const pid_t pid = fork();
    if (pid == 0) {
      worker(board, options);
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
  if (diffs < 1 || diffs > DIFFS_MAX ||
      (argc > 2 && !diff_method_parse(argv[2], &options.method))) {
    (void)fprintf(stderr, "usage: simulate_diff [DIFFS] [moderated|rank] [WORLD] [odd|even]\n");
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
      const bool large = PROCESSES[p] > 10;
      const bool unpaired = WORLDS[w].layout == NODES && PROCESSES[p] < DIFF_NODES_MIN;
      if ((argc < 4 || strstr(WORLDS[w].name, argv[3]) != NULL) &&
          (!large || strcmp(WORLDS[w].name, "normal, 1.5 %") == 0) && !unpaired) {
        for (size_t d = 0; d < (size_t)diffs && board->count < JOBS_MAX; d += JOB_DIFFS) {
          const size_t left = (size_t)diffs - d;
          board->jobs[board->count++] =
              (struct cell){.world = w,
                            .size = p,
                            .first = d,
                            .diffs = left < JOB_DIFFS ? left : JOB_DIFFS,
                            .chosen_on = argc > 4 && strcmp(argv[4], "odd") == 0};
        }
      }
    }
  }
  size_t rows = 0;
  const bool good = run_workers(board, &options);
  const bool fine = print_board(board, argc > 3, &rows);
  (void)printf("\n%zu rows of %ld A/A diffs and %ld with changes, in %.0f s\n", rows, diffs, diffs,
               seconds_now() - started);
  return good && (fine || options.method != DIFF_MODERATED) ? 0 : 1;
}
