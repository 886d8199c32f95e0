/* simulate_fleet.c [DRAWS] [other] [NODES[:SLOW]...] - how often are the slow nodes of a fleet
 * named, and nothing else? Fleets are simulated, outliers_find() judges them: their rates
 * (outliers), or how these changed from one occasion to the next (diff, check). Seeded: the same
 * table everywhere.
 *
 * A node has four GPUs: copies to and from the host, between GPUs and within one, 24 cases in five
 * processes. Nodes differ by 0.3 %, so do their GPUs, paths by 0.2 %; of one occasion a node by
 * 0.1 %, a process by 0.1 %, a result by 0.15 %: as make_fleet.c. 60 draws, and fleets of 10, 52,
 * 60 and 100 nodes, unless given; NODES:SLOW is one row. Methods are chosen with the seeds of
 * "other", so that no table shows the draws that they were chosen on.
 *
 * More than half are slow only where changes are judged: of rates nothing tells which half is.
 *
 * Columns: share of the draws in which every slow node is named as a whole, and nothing else, by
 * how slow they are; false = largest share of those in which something else is. Of sound fleets the
 * first is the share in which nothing is named. Ends with 1 where less than 95 % are
 * right, or more than 5 % of sound fleets have anything named; chance is allowed for: two standard
 * errors. */
#include "runner/analysis/outliers.h"
#include "tests/benchmarks/generator.h"
#include "tests/runner/analysis/made.h"

enum { FLEET_GPUS = MADE_GPUS, FLEET_PROCESSES = 5, FLEET_SIDES = 2, NODES_MAX = 1000 };
enum { FLEET_CASES = 3 * FLEET_GPUS + FLEET_GPUS * (FLEET_GPUS - 1) };

/* Relative standard deviations. */
static const double NODE_SD = 0.003, GPU_SD = 0.003, PATH_SD = 0.002, NOW_SD = 0.001,
                    PROCESS_SD = 0.001, RESULT_SD = 0.0015;

struct fleet {
  size_t nodes, slow;
  double loss; /* of the slow ones, which are the first */
  bool changes;
};

struct fleet_case {
  const char *block;
  int from, to; /* GPUs; -1 = the host */
};

static size_t fleet_list_cases(struct fleet_case cases[FLEET_CASES]) {
  size_t count = 0;
  for (int i = 0; i < FLEET_GPUS; i++) {
    cases[count++] = (struct fleet_case){"down", i, -1};
    cases[count++] = (struct fleet_case){"up", -1, i};
    for (int j = 0; j < FLEET_GPUS; j++) {
      cases[count++] = (struct fleet_case){i == j ? "local" : "peer", i, j};
    }
  }
  return count;
}

static void fleet_add_case(struct results *m, const struct fleet_case *c) {
  const size_t bench = made_case(m, arena_format(&m->arena, "%s%d.%d", c->block, c->from, c->to),
                                 c->block, c->from >= 0 ? c->from : c->to, UINT64_C(64) << 20);
  m->cases[bench].definition = arena_format(
      &m->arena, "{\"block\":\"%s\",\"index\":%d,\"index\":%d}", c->block, c->from, c->to);
  made_flow(m, bench,
            (struct results_flow){.source_is_gpu = c->from >= 0,
                                  .source = c->from >= 0 ? c->from : 0,
                                  .source_memory = c->from >= 0 ? "device" : "pinned",
                                  .target_is_gpu = c->to >= 0,
                                  .target = c->to >= 0 ? c->to : 0,
                                  .target_memory = c->to >= 0 ? "device" : "pinned"});
}

static struct results *fleet_make(const struct fleet *fleet, enum side *sides,
                                  struct generator *g) {
  static double node[NODES_MAX], gpu[NODES_MAX][FLEET_GPUS];
  static double now[FLEET_SIDES][NODES_MAX][FLEET_PROCESSES];
  struct fleet_case cases[FLEET_CASES];
  struct results *m = results_new();
  const size_t count = fleet_list_cases(cases);
  const size_t occasions = fleet->changes ? 2 : 1;
  for (size_t n = 0; n < fleet->nodes; n++) {
    const size_t at = made_environment(m, arena_format(&m->arena, "n%04zu", n), "580.1", false);
    node[n] = NODE_SD * normal(g);
    for (size_t i = 0; i < FLEET_GPUS; i++) {
      gpu[n][i] = GPU_SD * normal(g);
    }
    for (size_t o = 0; o < occasions; o++) {
      const double of_node = NOW_SD * normal(g);
      sides[made_run(m, at)] = o + 1 == occasions ? SIDE_B : SIDE_A;
      for (size_t p = 0; p < FLEET_PROCESSES; p++) {
        now[o][n][p] = of_node + PROCESS_SD * normal(g);
      }
    }
  }
  for (size_t i = 0; i < count; i++) {
    fleet_add_case(m, &cases[i]);
    for (size_t n = 0; n < fleet->nodes; n++) {
      const double path =
          PATH_SD * normal(g) + node[n] + (cases[i].from >= 0 ? gpu[n][cases[i].from] : 0) +
          (cases[i].to >= 0 && cases[i].to != cases[i].from ? gpu[n][cases[i].to] : 0);
      for (size_t o = 0; o < occasions; o++) {
        const double loss = n < fleet->slow && o + 1 == occasions ? -log1p(-fleet->loss) : 0;
        for (size_t p = 0; p < FLEET_PROCESSES; p++) {
          made_median(m, (struct results_median){
                             .run = (uint32_t)(occasions * n + o),
                             .bench = (uint32_t)i,
                             .process = (int64_t)(1 + p + FLEET_PROCESSES * (occasions * n + o)),
                             .error = 0.0005,
                             .status = CASE_OK,
                             .ns = exp(14 + path + loss + now[o][n][p] + RESULT_SD * normal(g))});
        }
      }
    }
  }
  return m;
}

/* Whether all slow nodes are named; *others: and how many parts are none of them. */
static bool fleet_judge(const struct fleet *fleet, const struct results *m, const enum side *sides,
                        size_t *others) {
  static bool named[NODES_MAX];
  const struct outliers_options options = {
      .slow_only = true, .sides = fleet->changes ? sides : NULL, .changes = fleet->changes};
  struct outliers *outliers = NULL;
  struct error err = {0};
  size_t right = 0;
  *others = 0;
  memset(named, 0, sizeof named);
  if (outliers_find(m, &options, &outliers, &err) != STATUS_OK) {
    abort();
  }
  for (size_t i = 0; i < outliers->part_count; i++) {
    const struct outlier_part *part = &outliers->parts[i];
    const size_t n = strtoul(part->host + 1, NULL, 10);
    const bool is_right = part->gpus == 0 && n < fleet->slow && !named[n];
    if (part->cases > FLEET_CASES || part->slow_cases > part->cases) {
      abort(); /* more than there are */
    }
    if (fleet->changes && !part->certain) {
      continue; /* provisional: check does not fail on it */
    }
    right += is_right;
    *others += !is_right;
    named[n] = named[n] || is_right;
  }
  outliers_free(outliers);
  return right == fleet->slow;
}

enum { LOSS_COUNT = 3 };
#define OTHER_SEEDS (UINT64_C(1) << 32)
static const double LOSSES[LOSS_COUNT] = {0.03, 0.05, 0.1};

/* So many slow nodes, by each loss; of none, once. */
static bool fleet_row(struct fleet *fleet, size_t draws, uint64_t seeds) {
  static enum side sides[FLEET_SIDES * NODES_MAX];
  const size_t losses = fleet->slow > 0 ? LOSS_COUNT : 1;
  const double error = 2 * sqrt(0.05 * 0.95 / (double)draws);
  double least = 1;
  double most = 0; /* of draws with a false name */
  (void)printf("| %5zu | %-7s | %5zu |", fleet->nodes, fleet->changes ? "changes" : "rates",
               fleet->slow);
  for (size_t l = 0; l < losses; l++) {
    size_t right = 0;
    size_t false_ones = 0;
    struct generator g = {0};
    generator_seed(&g, seeds + 1000 * fleet->nodes + 10 * fleet->slow + 2 * l + fleet->changes);
    fleet->loss = fleet->slow > 0 ? LOSSES[l] : 0;
    for (size_t d = 0; d < draws; d++) {
      size_t others = 0;
      struct results *m = fleet_make(fleet, sides, &g);
      const bool all = fleet_judge(fleet, m, sides, &others);
      right += all && others == 0;
      false_ones += others > 0;
      results_free(m);
    }
    (void)printf(" %5.1f |", 100 * (double)right / (double)draws);
    least = fmin(least, (double)right / (double)draws);
    most = fmax(most, (double)false_ones / (double)draws);
  }
  for (size_t l = losses; l < LOSS_COUNT; l++) {
    (void)printf("       |");
  }
  const bool fine = least >= 0.95 - error && most <= 0.05 + error;
  (void)printf(" %5.1f |%s\n", 100 * most, fine ? "" : " BROKEN");
  return fine;
}

/* The rows of a fleet; one row if slow is not SIZE_MAX. */
static bool fleet_rows(size_t nodes, size_t slow, size_t draws, uint64_t seeds) {
  static const double SHARES[] = {0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8};
  bool fine = true;
  for (size_t changes = 0; changes < 2; changes++) {
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < COUNT_OF(SHARES); i++) {
      struct fleet fleet = {.nodes = nodes,
                            .slow = (size_t)ceil(SHARES[i] * (double)nodes - 1e-9),
                            .changes = changes == 1};
      if (fleet.slow != last && (fleet.changes || 2 * fleet.slow < nodes) &&
          (slow == SIZE_MAX || fleet.slow == slow)) {
        fine = fleet_row(&fleet, draws, seeds) && fine;
      }
      last = fleet.slow;
    }
  }
  return fine;
}

int main(int argc, char **argv) {
  static const char *const USUAL[] = {"10", "52", "60", "100"};
  const size_t draws = argc > 1 ? strtoul(argv[1], NULL, 10) : 60;
  const bool other = argc > 2 && strcmp(argv[2], "other") == 0;
  const int first = other ? 3 : 2;
  const bool given = argc > first;
  const size_t count = given ? (size_t)(argc - first) : COUNT_OF(USUAL);
  bool fine = true;
  (void)printf("| nodes | of      |  slow |   3 %% |   5 %% |  10 %% | false |\n"
               "|------:|---------|------:|------:|------:|------:|------:|\n");
  for (size_t i = 0; i < count; i++) {
    char *end = NULL;
    const size_t nodes = strtoul(given ? argv[(size_t)first + i] : USUAL[i], &end, 10);
    const size_t slow = *end == ':' ? strtoul(end + 1, &end, 10) : SIZE_MAX;
    if (nodes < 1 || nodes > NODES_MAX || draws < 1 || *end != '\0') {
      (void)fprintf(stderr, "usage: simulate_fleet [DRAWS] [other] [NODES[:SLOW]...]\n");
      return 2;
    }
    fine = fleet_rows(nodes, slow, draws, other ? OTHER_SEEDS : 0) && fine;
  }
  return fine ? 0 : 1;
}
