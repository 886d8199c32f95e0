/* world.h - simulated machines, for simulate_diff: how processes and runs differ, in which order
 * they are made, and what changed. Seeded: the same numbers everywhere. */
#pragma once

#include "runner/analysis/compare.h"
#include "tests/benchmarks/generator.h"

enum { CASES = 160, SHARE = 8, PROCESSES_MAX = 30, TRIALS = 10, MEDIANS = 1 << 18, GPUS = 4 };
enum { LOOKS = 5, LOOK_RUNS = 3, HISTORY_MAX = 10 };

/* How the processes of a side are spread over runs. Of NODES each has one run per side, by as many
 * processes, and what the nodes differ by is on both sides. */
enum layout { RUNS_OF_ONE, ONE_RUN, RUNS_OF_TWO, A_ONE_RUN, NODES };

/* In which order the runs of both sides are made. */
enum order { ABAB, ABBA, A_THEN_B, B_THEN_A };

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
  bool run_shared;        /* or all of it */
  double wander;          /* correlation of one run with the next */
  double drift;           /* from the first run to the last, in all cases */
  double tick;            /* of the clock, relative: values are rounded to it */
  double history_runs;    /* earlier runs by which a case's variance between runs is known */
  enum layout layout;
  enum order order;
  double changes; /* of each case, up to so much either way, instead of the small and the large */
  double small;   /* the small change, where it is not SMALL_CHANGE */
  bool all_small;
  enum looks looks;
};

extern const struct world WORLDS[];
extern const size_t WORLD_COUNT;
/* DELTA is what matters; CHANGE and SMALL_CHANGE are of the rates. */
#define DELTA        0.01
#define CHANGE       (-0.03)
#define SMALL_CHANGE (-0.015)

/* What an oracle makes of a case: it knows how the values spread and the level wanders, and is told
 * which values are odd and how far the level drifted. */
struct oracle {
  double difference; /* of the sides, ln of times, b longer: below 0; the best linear estimate */
  double error;      /* its standard deviation, exactly */
};

/* One diff's data. */
struct data {
  size_t count;
  size_t counts[SIDES];         /* of the values; as many as are used, or more */
  struct oracle oracles[CASES]; /* of what is used */
  struct diff_case cases[CASES];
  double values[CASES][SIDES][PROCESSES_MAX];
  uint32_t runs[SIDES][PROCESSES_MAX];
  int64_t started[SIDES * PROCESSES_MAX]; /* by run */
  double earlier[CASES][HISTORY_MAX];     /* runs, where some are known */
  uint32_t earlier_runs[HISTORY_MAX];
  double truth[CASES];     /* ln of the rates' ratio */
  double medians[MEDIANS]; /* drawn from, instead of ten trials each time: ten times as fast */
};

/* Runs in turn, of which more follow than are used: what measuring more would give. */
bool world_goes_on(const struct world *world);
/* Fills medians, once. */
void world_init(struct data *data);
/* processes: of each side; changed: or nothing did. */
void world_simulate(struct data *data, const struct world *world, size_t processes, bool changed,
                    struct generator *g);
