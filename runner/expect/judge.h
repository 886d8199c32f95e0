/* judge.h - a run's results beside what its machine should reach.
 *
 * A judge is a sink for the rows of the saved query run-result: it passes each on with nine columns
 * more, and remembers what falls short. What is known comes from data files (schema/expect): a
 * user's reports stand in place of the shipped ones for the same case; floors and limits of all
 * files hold. Results without a row are counted. They, load flows, and a simulated machine beside
 * rows of real ones are not judged. Where only a limit is known, only a result beyond it is judged.
 * A result above its peak is not compared, but counted.
 *
 *   expected       "55.2-55.5", ">= 48": GB/s, of chases ns per hop; NULL = nothing is known
 *   expected_low, expected_high   the same as numbers; NULL = open
 *   as_expected    an expect_verdict's name; NULL where nothing is known or measured
 *   expected_limit what nothing of its kind can exceed, a limit of the data files; NULL = not known
 *   usual_low, usual_high   the bounds that decide: with what is tolerated, and floors and limits
 *   judged         the number that as_expected is of: that of a case measured once more may be the
 *                  second one
 *   expected_remark   what else a person must know beside the range; NULL = nothing: it is in it
 *
 * Of a case that was measured again on a noisy host, the undisturbed rate is judged, with its
 * interval (engine/case/visits.h). How much the case was disturbed is said apart. Where others may
 * have slowed all trials, the best that two visits reached is judged. It is as usual if that is. If
 * it is below, nobody knows whether the link is slow or its neighbour never rests, and the verdict
 * is EXPECT_DISTURBED. It is EXPECT_SHORT if the neighbour does not explain it: the trials do not
 * vary enough (JUDGE_EXPLAINED), or telemetry names another cause.
 *
 * Texts live as long as the judge. */
#pragma once

#include "runner/document/document.h"
#include "runner/record/query.h"
#include "schema/expect/expect.h"

struct json_shape;

#define EXPECT_VERDICT_LIST(X)                                                                     \
  X(EXPECT_USUAL, "usual")                                                                         \
  X(EXPECT_SHORT, "short")     /* below what is usual or a floor; of times: above */               \
  X(EXPECT_BEYOND, "beyond")   /* better than anything known: look how it was measured */          \
  X(EXPECT_UNCLEAR, "unclear") /* short or beyond, but may be as usual within its interval */      \
  /* below, and others slowed all its trials: the host is busy, or the link slow */                \
  X(EXPECT_DISTURBED, "disturbed")                                                                 \
  X(EXPECT_BROKEN, "broken") /* went wrong: it has no value to compare */
ENUM_NAMES_DECLARE(expect_verdict, EXPECT_VERDICT_LIST)

/* What is known, most trusted first: the user's file, the shipped one. NULL = none. */
enum { EXPECT_FILES_MAX = 2 };
struct expect_set {
  const struct expect_file *files[EXPECT_FILES_MAX];
};

/* A case of the run that was judged. */
struct expect_judgement {
  const char *name, *key, *block;
  enum expect_verdict verdict;
  enum expect_path path;
  bool time; /* ns, else GB/s */
  double value, low, high;
  double limit;                    /* NAN = not known */
  double usual_low, usual_high;    /* the bounds that decide; NAN = open */
  bool again;                      /* measured once more, and that is the number */
  bool revisited;                  /* its trials are of several visits */
  bool at_best;                    /* value is the best that two visits reached */
  double spread;                   /* of its trials, relative (struct observed) */
  enum expect_statement statement; /* what it falls short of */
  double ratio;                    /* to the nearer end of the range: < 1 is worse */
  int gpus[2];                     /* -1 = none */
  const char *expected;            /* "55.2-55.5" */
  const char *distance;            /* "2.3 % below"; NULL: within expected */
  const char *deviation;           /* "2.3 % below (tolerance 5 %)"; NULL: within expected */
  const char *usual;               /* what is reported, where it falls short of a floor; or NULL */
  const char *slowed_by;           /* NULL = nothing was seen */
  const char *machine;             /* the name of its [[machine]] */
  const char *reason;              /* "failed: cuMemAlloc: ..." of EXPECT_BROKEN; else NULL */
};

struct expect_judge;

/* hardware: the rows of the saved query hardware of the run. */
struct expect_judge *expect_judge_new(const struct expect_set *set,
                                      const struct result_set *hardware);
/* Accepts NULL. */
void expect_judge_free(struct expect_judge *judge);
/* Where run-result goes; inner NULL: to nobody else. */
const struct row_sink *expect_judge_sink(struct expect_judge *judge, const struct row_sink *inner);

/* Before the first row: the second measurements, which the judge owns from now on. A result that
 * falls short, is unclear or disturbed takes the second one's judgement, unless that is short and
 * unclear. Between a shortfall and a disturbed result, the shortfall counts if it was seen in
 * several visits. Two unclear results of several visits, both below, are a shortfall. A case that
 * failed the second time has failed. */
void expect_judge_set_again(struct expect_judge *judge, struct expect_judge *again);

/* After the last row. */
struct expect_judged {
  struct expect_judgement *judgements; /* those judged, in the order of the run */
  size_t count;
  /* Those that went wrong, known or not, each EXPECT_BROKEN: of them there is nothing but the name
   * and the reason. */
  struct expect_judgement *broken;
  size_t broken_count;
  size_t verdicts[expect_verdict_name_count];
  size_t unknown;    /* results that no row is of */
  size_t above_peak; /* results above their peak: they are not compared */
  bool partial;      /* the run has not measured all of its scenario */
};
const struct expect_judged *expect_judge_judged(const struct expect_judge *judge);
/* "27.1 GB/s, usual 55.2-55.5, floor >= 48"; "broken: failed: cuMemAlloc: ..." */
const char *expect_judgement_words(struct arena *arena, const struct expect_judgement *judgement);
/* The GPU that a judgement is about, where one of a pair has more of them; "gpu0-gpu1", "host",
 * "several GPUs". */
const char *expect_judgement_place(struct expect_judge *judge,
                                   const struct expect_judgement *judgement);

/* What falls short, gathered by place and kind of path, in the order of the run. */
struct expect_shortfall {
  const char *place; /* as of a judgement */
  const char *noun;  /* "host link", "peer link latency" */
  const struct expect_judgement *worst;
  size_t count;
};
size_t expect_judge_shortfalls(struct expect_judge *judge, const struct expect_shortfall **items);
/* The worst disturbed result: "cannot tell: host busy or link slow: gpu0, host link: 51.3 GB/s at
 * best, usual 55.36 (up/gpu0, and 1 more); its trials vary by 6 %; run again when the host is
 * quiet"; NULL: there is none. */
const char *expect_judge_cannot_tell(struct expect_judge *judge);
/* "gpu2, host link: 27.1 GB/s, usual 55.2-55.5 (up/numa0-gpu2/64MiB, and 3 more)" */
const char *expect_shortfall_words(struct arena *arena, const struct expect_shortfall *item);
/* "all 35 results as expected for H200 SXM on PCIe 5 x16 (from 12 measurements); 4 have no
 * reference; host busy: 31 % of trials were up to 22 % slower (up/gpu0)", or how many fall short;
 * NULL: nothing is known. */
const char *expect_judge_summary(struct expect_judge *judge);
/* What went wrong, the shortfalls with what may have slowed them, each reason once, the worst
 * disturbed result, and the summary: sentences for people. None: nothing is known. */
size_t expect_judge_words(struct expect_judge *judge, const char *const **lines);
/* Why there are no judgements. file: of the user's own, NULL = the shipped one. db: as
 * console_db_option() gives it. */
const char *expect_doubt_words(struct arena *arena, const char *file, bool simulated,
                               const char *db);
/* The same as expect_judge_words() below a result; the disturbance is a line of its own. */
void expect_judge_print(struct expect_judge *judge, struct document *document);

/* Judge a run of an open database: both queries. What of it was measured once more takes what is
 * said of that; the columns of the rows that it passes stay as recorded. *judge is set on success.
 * inner may be NULL. */
enum status expect_judge_run(const struct expect_set *set, struct query *query, const char *run,
                             const struct query_options *options, const struct row_sink *inner,
                             struct expect_judge **judge, struct error *err) CHECK_RESULT;

/* The columns that it adds. */
void expect_judge_describe_json(struct json_shape *shape);
