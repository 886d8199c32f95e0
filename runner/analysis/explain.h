/* explain.h - why a number is what it is: rules over recorded facts, telemetry and the other
 * results of a run.
 *
 * A rule is a section of schema/results/statements/rules_*.sql: its texts, and a query that returns
 * what it looked at (rules_gpu.sql says how). What a rule finds explains a loss, or is a note: a
 * something that is usual on some machines, and nothing to fix. What was not recorded is unknown,
 * never fine. */
#pragma once

#include "engine/base/arena.h"
#include "runner/record/database.h"
#include "runner/record/rows.h"

#define EXPLAIN_STATE_LIST(X)                                                                      \
  X(EXPLAIN_FOUND, "found")                                                                        \
  X(EXPLAIN_UNKNOWN, "unknown")                                                                    \
  X(EXPLAIN_NOT_FOUND, "not found")                                                                \
  X(EXPLAIN_ABSENT, "does not apply")
ENUM_NAMES_DECLARE(explain_state, EXPLAIN_STATE_LIST)

/* Texts of one paragraph. */
struct explain_rule {
  const char *name;
  const char *title;
  bool note;
  const char *reads;   /* where the evidence is recorded: "fact mig, v_gpu.pcie_width" */
  const char *touches; /* classes of cases (schema/results/statements/explain.sql), or "all" */
  const char *costs;
  const char *action;
  const char *source;
  const char *statement; /* "rules_gpu/mig" */
};

/* All rules, in the order of their files. */
struct explain_rules {
  struct explain_rule *items;
  size_t count;
};
void explain_read_rules(struct arena *arena, struct explain_rules *rules);

/* A case of the run that is below what its machine should reach; texts are borrowed. */
struct explain_shortfall {
  const char *case_key, *name;
  const char *words; /* "27.1 GB/s, usual 55.2-55.5" */
  double lack;       /* the share that is missing: 0.51 */
  bool touched;      /* set: a finding touches it */
};

/* What a rule says of the machine or of a GPU. */
struct explain_row {
  const struct explain_rule *rule;
  enum explain_state state;
  int gpu;              /* -1 = the machine */
  const char *evidence; /* recorded values, behind "{cases}" where they begin with cases_of_run, or
                           why there are none */
  /* EXPLAIN_FOUND in a run: the cases that it touches, and of those measured at several places the
   * one that is furthest behind the best of its places. */
  size_t cases, cases_of_run; /* those that `only` selects, and all */
  const char *blocks;         /* NULL = none */
  const char *worst;          /* NULL = none was measured at several places */
  double behind;              /* share of its best that it lacks; NAN */
  double gbps, best_gbps;     /* NAN = it has no rate */
  size_t shortfalls;          /* of these cases, those below the expected range */
  double lack;                /* of the worst of them; NAN = none */
  const char *keys;           /* case_keys of all of them, with commas; NULL = none */
  /* private: what rows are sorted by. Of the rows of the rule: what its worst case lacks of what is
   * expected, and how far it is behind; -1 where there is no such case */
  int rank;
  double rule_lack, rule_behind;
  size_t place;
};

struct explanation {
  struct arena arena;
  struct explain_rules rules;
  struct explain_row
      *rows; /* findings by how far their cases are behind, then notes, then others */
  size_t row_count;
  const char *host, *gpus;
  int gpu_count;
  const char *run_uuid, *scenario, *started_at; /* NULL = a machine without a run */
  size_t cases;                                 /* of the run, that `only` selects */
  size_t wrong;           /* cases of the run that failed, crashed and so on */
  const char *wrong_case; /* one: "NAME: STATUS: REASON"; NULL = none */
  size_t findings, notes, unknown, fine, absent; /* rules */
};

/* What is to be explained, beside the machine. */
struct explain_request {
  int64_t run;      /* 0 = the machine that the database holds (record_machine()), without a run */
  const char *only; /* the findings that touch a case which these globs select, as --only takes
                     * them; NULL = all */
  /* Sentences: which GPUs, links and hosts of the run are slower than their peers, of how many
   * results. */
  const char *const *slow;
  const char **identities; /* of the GPUs that are slow */
  size_t slow_count, identity_count, compared;
  bool simulated;      /* a fake driver answered */
  const char *skipped; /* "5 of 5 cases: REASON"; "" or NULL = not all were skipped */
  const char *next;    /* a command that shows what changed; NULL = there is none */
  struct explain_shortfall *shortfalls; /* of the run; findings that touch one come first */
  size_t shortfall_count;
};

/* What the rules read is put into temporary tables of the connection, once: explain one run per
 * connection. STATUS_NOT_FOUND: `only` selects no case. */
enum status explain_find(struct database *database, const struct explain_request *request,
                         struct explanation *explanation, struct error *err) CHECK_RESULT;
void explanation_fini(struct explanation *explanation);

/* Rows of one rule that are in that state begin at rows[i]: how many there are. */
size_t explain_same_rule(const struct explanation *explanation, size_t i);
