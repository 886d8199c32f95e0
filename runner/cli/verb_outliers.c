/* haul outliers [RUN...]: which GPU, link or host is slower than its like. */
#include "runner/cli/looking_back.h"
#include "runner/cli/verbs.h"
#include "runner/render/outliers.h"

enum { OPTION_ALL = 0x660 };

struct outliers_options {
  struct looking_back looking_back;
  const char **selectors;
  size_t selector_count, selector_capacity;
  bool all;
};

static const struct argp_option options_table[] = {
    {"all", OPTION_ALL, 0, 0, "all runs, as of a cluster in one database", 1},
    SELECTING_OPTIONS,
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct outliers_options *options = state->input;
  struct selecting *selecting = &options->looking_back.selecting;
  switch (key) {
  case OPTION_ALL:
    options->all = true;
    return 0;
  case ARGP_KEY_ARG:
    options->selectors = arena_grow(&selecting->arena, options->selectors, options->selector_count,
                                    &options->selector_capacity, sizeof *options->selectors);
    options->selectors[options->selector_count++] = arg;
    return 0;
  case ARGP_KEY_END:
    if (options->all && options->selector_count > 0) {
      argp_error(state, "either runs or --all, not both");
    }
    return 0;
  default:
    return selecting_parse(key, arg, state, selecting);
  }
}

static enum status show(const struct looking_back *looking_back, struct measured *measured,
                        struct error *err) {
  const struct common_options *common = &looking_back->common;
  const struct rows_options rows = rows_to_stdout(common);
  struct outliers *outliers = NULL;
  enum status status = outliers_find(measured, &outliers, err);
  if (status == STATUS_OK && outliers->cases + outliers->undecided_count > 0) {
    status = outliers_print(measured, outliers, common->verbose, &rows, err);
  }
  if (status == STATUS_OK && outliers->cases == 0) {
    status = error_set(err, STATUS_UNSUPPORTED,
                       "nothing can be judged: %zu %s, but of none are there three alike",
                       outliers->alone, outliers->alone == 1 ? "result" : "results");
  }
  outliers_free(outliers);
  return status;
}

static int outliers_main(const struct verb *verb, int argc, char **argv) {
  static const char *const LATEST[] = {"latest"};
  struct outliers_options options = {0};
  cli_parse(verb, argc, argv, &options);
  struct looking_back *looking_back = &options.looking_back;
  looking_back->selectors = options.selectors;
  looking_back->selector_count = options.selector_count;
  /* --where without a run asks all of them. */
  if (options.selector_count == 0 && !options.all && looking_back->selecting.where_count == 0) {
    looking_back->selectors = LATEST;
    looking_back->selector_count = 1;
  }
  return look_back(looking_back, show);
}

const struct verb VERB_OUTLIERS = {
    .name = "outliers",
    .arguments = "[RUN...]",
    .summary = "which GPU, link or host is slower than its like",
    .doc = "Of the latest run, of the runs named, or of all (--all, --where): every GPU, link and, "
           "from three hosts on, host is compared with those like it, block by block, by the kinds "
           "of memory at both ends. Of paths "
           "between GPUs, what is slow of a GPU as source, as target, and of one link is told "
           "apart by median polish, from four GPUs on. Slow is what is beyond its robust z (one "
           "false alarm in a hundred sets of alike) and slower by more than matters: 1 % for "
           "bandwidth from 1 MiB on, else 3 %, or what the scenario says (delta). One result that "
           "is slower by "
           "five times that, and far beyond all others, is named by itself (only in). Two that are "
           "alike and differ are undecided. -v shows all that was compared. Exit code 3: there "
           "was nothing to judge by.",
    .options = options_table,
    .parse = parse,
    .argument_kind = ARGUMENTS_NONE,
    .main = outliers_main,
};
