/* torture.h - what the files of this folder share: a trial, how haul is started and ended in it,
 * and what its results are judged by.
 *
 * A trial is one hostile thing done to haul, in a folder of its own, by one job; its random numbers
 * follow from seed, kind and number alone, so that it can be repeated. kinds.c has one function for
 * each kind; what it finds goes into the counts of the trial, all of which ought to be 0. */
#pragma once

#include "engine/base/macros.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TRIAL_KIND_LIST(X)                                                                         \
  X(kill, 4)    /* parent, worker, sampler and group killed at random moments, and in chains */    \
  X(io, 4)      /* each call that reads or writes the database failing in turn */                  \
  X(cuda, 8)    /* each entry point of CUDA x code x which calls x kind of fault */                \
  X(nvml, 2)    /* the same of NVML */                                                             \
  X(damage, 3)  /* damaged databases x verbs that read */                                          \
  X(strings, 2) /* hostile strings in columns of text x output formats */                          \
  X(clock, 1)   /* the clock set back and forth */                                                 \
  X(visits, 2)  /* kills, signals, budgets and resumes while cases are visited again */            \
  X(signal, 2)  /* signals to the parent */                                                        \
  X(stop, 1)    /* processes stopped and continued */                                              \
  X(many, 1)    /* two to eight runs at once */                                                    \
  X(readers, 1) /* up to ten connections that hold the database while runs record */               \
  X(shard, 3)   /* runs in shards killed, in a folder with links and FIFOs of others */            \
  X(parts, 3)   /* journals, links and FIFOs beside databases, and outputs over them */            \
  X(screen, 2)  /* hostile texts and names on a terminal */                                        \
  X(merge, 3)   /* shards that are valid and lie, merged with honest ones */                       \
  X(schema, 3)  /* databases with another schema, read and written */                              \
  X(users, 2)   /* haul of one user in a folder that another one changes meanwhile */              \
  X(limit, 1)   /* a control group with little memory */

enum trial_kind {
#define TRIAL_KIND_ID_(name, weight) TRIAL_##name,
  TRIAL_KIND_LIST(TRIAL_KIND_ID_)
#undef TRIAL_KIND_ID_
      TRIAL_KINDS
};

#define COUNT_LIST(X)                                                                              \
  X(lost)     /* cases that are in no database though the run ended well or was resumed */         \
  X(doubled)  /* cases that are there twice */                                                     \
  X(silent)   /* something failed and nothing was said of it */                                    \
  X(orphaned) /* processes that are left when their parent has ended */                            \
  X(wrong)    /* numbers called ok that are not those of an undisturbed run */                     \
  X(spread)   /* cases that failed though nothing of what they use was disturbed */                \
  X(broken)   /* haul crashed, or its database or its output is unreadable */                      \
  X(spoilt)   /* files of another user that were changed or removed */                             \
  X(left)     /* files that nobody finds again */                                                  \
  X(escaped)  /* control characters on a terminal */                                               \
  X(stuck)    /* haul did not end in time */

enum count {
#define COUNT_ID_(name) COUNT_##name,
  COUNT_LIST(COUNT_ID_)
#undef COUNT_ID_
      COUNTS
};

struct settings {
  const char *haul;    /* path of the executable */
  const char *fake;    /* folder of the fake driver */
  const char *machine; /* what it plays */
  const char *preload; /* path of preload.so */
  const char *folder;  /* to work in */
  uint64_t seed;
  const char *clean; /* path of the database of an undisturbed run */
  unsigned shards;   /* of a merge; 0 = a few */
};

enum { PATH_SIZE = 512, DETAIL_SIZE = 512, ARGUMENTS_MAX = 24 };

struct trial {
  const struct settings *settings;
  enum trial_kind kind;
  uint64_t number;
  uint64_t random;
  char folder[PATH_SIZE];
  char database[PATH_SIZE];
  unsigned counts[COUNTS];
  unsigned runs;            /* of haul */
  unsigned running;         /* of them, now */
  unsigned cases;           /* with a result in the database at the end */
  char detail[DETAIL_SIZE]; /* of the first count */
  const char *skipped;      /* why nothing was done; NULL = it was */
  unsigned user;            /* that haul runs as; 0 = as this one */
  pid_t helper;             /* a child that is no process of haul; 0 = none */
  const char *group;        /* file that a process writes itself into; NULL = none */
};

extern const char *const trial_kind_names[TRIAL_KINDS];
extern const char *const count_names[COUNTS];

uint64_t trial_random(struct trial *trial);
/* From 0 to limit - 1. */
unsigned trial_below(struct trial *trial, unsigned limit);
void trial_count(struct trial *trial, enum count count, unsigned number, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void pause_ms(unsigned ms);

/* Does what the kind says; kinds.c. */
void trial_run(struct trial *trial);
/* The database of the undisturbed run as that file, or as the trial's; false: it cannot be copied.
 */
bool trial_copy_clean_to(const struct trial *trial, const char *path);
bool trial_copy_clean(const struct trial *trial);
/* Reads it with a verb and an output format, chosen by that number. */
void trial_read_with(struct trial *trial, unsigned which);
/* kinds_files.c */
void trial_shard(struct trial *trial);
void trial_parts(struct trial *trial);
void trial_screen(struct trial *trial);
void trial_users(struct trial *trial);
/* kinds_merge.c */
void trial_merge(struct trial *trial);
void trial_schema(struct trial *trial);

/* ---- haul.c ---- */

struct environment {
  char entries[12][PATH_SIZE + 64]; /* NAME=VALUE */
  size_t count;
};

struct haul {
  pid_t pid;
  unsigned number; /* of its out and err files in the trial's folder */
  int code;        /* exit code; 128 + n: ended by signal n; -1: did not end in time */
  char *out, *err;
  size_t out_size, err_size;
};

/* Later entries go first. */
void environment_add(struct environment *environment, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Start it with those arguments (up to NULL) in a process group of its own. */
void haul_start(struct trial *trial, struct haul *haul, const struct environment *environment,
                const char *const *arguments);
/* Wait at most that long, then kill it; counts what is stuck, broken, orphaned or silent. */
void haul_finish(struct trial *trial, struct haul *haul, unsigned limit_s);
void haul_fini(struct haul *haul);
/* Both, one after the other. */
void haul_run(struct trial *trial, struct haul *haul, const struct environment *environment,
              unsigned limit_s, const char *const *arguments);
/* Whether it still runs. */
bool haul_is_running(const struct haul *haul);
/* Up to `most` children of a process, the oldest first. */
size_t children_of(pid_t parent, pid_t *children, size_t most);

/* ---- judge.c ---- */

/* Run this SQL on the trial's database, ignoring what it says. */
void database_execute(const char *path, const char *sql);
/* Whether the run that started last has that status; false: there is none. */
bool database_run_is(const char *path, const char *status);
/* A sum of what its cases were measured with; the same for a database that cannot be read. */
uint64_t database_sum_numbers(const char *path);
/* How many results of cases it has. */
unsigned database_count_results(const char *path);
/* SQLite finds it in order. */
bool judge_sound(struct trial *trial, const char *path);
/* Judge the trial's database: it is sound, and every run that is done has each planned case once
 * for each process, with a reason where it is not ok, and the number of the clean database where it
 * is. healthy: cases that use none of these GPUs (bit i: GPU i) must be ok; UINT32_MAX: none must
 * be. */
void judge_database(struct trial *trial, const char *path, uint32_t sick_gpus);
/* It is sound, no case is lost or there twice, and each has the trials and visits that it says. */
void judge_visits(struct trial *trial, const char *path);
/* No copy by an engine between the host and that GPU is called ok. */
void judge_corrupt(struct trial *trial, const char *path, unsigned gpu);
/* No case has that status. */
void judge_none(struct trial *trial, const char *path, const char *status);
/* The exit code of `haul run` fits what the last run has. */
void judge_code(struct trial *trial, const struct haul *haul, const char *path);
/* "table", "json" ... : the output can be read as that, and holds nothing that a terminal or a
 * browser would take for more than text. */
void judge_output(struct trial *trial, const struct haul *haul, const char *format);
