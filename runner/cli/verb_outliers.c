/* haul outliers [RUN...]: which GPU, link or host is slower than its peers. */
#include "runner/cli/analysis.h"
#include "runner/cli/cli.h"
#include "runner/render/outliers.h"

enum { OPTION_ALL = OPTION_OF_VERB };

struct outliers_options {
  struct analysis_options analysis;
  const char **selectors;
  size_t selector_count, selector_capacity;
  bool all;
};

static const struct argp_option VERB_OUTLIERS_OPTIONS[] = {
    {"all", OPTION_ALL, 0, 0, "look at all runs, for example those of a cluster in one database",
     1},
    FILTER_OPTIONS,
    {0}};

static error_t verb_outliers_parse(int key, char *arg, struct argp_state *state) {
  struct outliers_options *options = state->input;
  struct filter *filter = &options->analysis.filter;
  switch (key) {
  case OPTION_ALL:
    options->all = true;
    return 0;
  case ARGP_KEY_ARG:
    options->selectors = arena_grow(&filter->arena, options->selectors, options->selector_count,
                                    &options->selector_capacity, sizeof *options->selectors);
    options->selectors[options->selector_count++] = arg;
    return 0;
  case ARGP_KEY_END:
    if (options->all && options->selector_count > 0) {
      argp_error(state, "name runs or give --all, not both");
    }
    return 0;
  default:
    return filter_options_parse(key, arg, state, filter);
  }
}

static enum status verb_outliers_show(const struct analysis_options *analysis,
                                      struct measured *measured, struct error *err) {
  const struct common_options *common = &analysis->common;
  const struct table_options rows = table_to_stdout(common);
  struct outliers *outliers = NULL;
  enum status status = outliers_find(measured, &outliers, err);
  if (status == STATUS_OK && outliers->cases + outliers->undecided_count > 0) {
    status = outliers_print(measured, outliers, common->verbose, &rows, err);
  }
  if (status == STATUS_OK && outliers->cases == 0) {
    status = error_set(
        err, STATUS_UNSUPPORTED, "nothing can be judged: %zu %s, but no three of them are peers",
        outliers->without_peers, outliers->without_peers == 1 ? "result" : "results");
  }
  outliers_free(outliers);
  return status;
}

static int verb_outliers_main(const struct verb *verb, int argc, char **argv) {
  static const char *const LATEST[] = {"latest"};
  struct outliers_options options = {0};
  cli_parse(verb, argc, argv, &options);
  struct analysis_options *analysis = &options.analysis;
  analysis->selectors = options.selectors;
  analysis->selector_count = options.selector_count;
  /* --where without a run asks all of them. */
  if (options.selector_count == 0 && !options.all && analysis->filter.where_count == 0) {
    analysis->selectors = LATEST;
    analysis->selector_count = 1;
  }
  return analysis_main(analysis, verb_outliers_show);
}

const struct verb VERB_OUTLIERS = {
    .name = "outliers",
    .arguments = "[RUN...]",
    .summary = "find GPUs, links and hosts that are slower than their peers",
    .doc =
        "Compares every GPU, every link and, with three hosts or more, every host of the latest "
        "run with its peers, block by block and for each pair of memory kinds. Name other runs, "
        "or take all (--all, --where). From four GPUs on, median polish of the paths between "
        "them separates a slow source, a slow target and a slow link. Slow means: beyond the "
        "limit of its robust z-score (one false positive in a hundred peer groups), and slower by "
        "more than matters, which is 1 % for bandwidth from 1 MiB on, else 3 %, or what the "
        "scenario says (delta). One result that is slower by five times that, and far beyond "
        "all others, is named by itself (only in). Two peers that differ are undecided. -v "
        "shows everything that was compared. Exit code 3: there was nothing to judge.",
    .options = VERB_OUTLIERS_OPTIONS,
    .parse = verb_outliers_parse,
    .argument_kind = ARGUMENTS_NONE,
    .main = verb_outliers_main,
};
