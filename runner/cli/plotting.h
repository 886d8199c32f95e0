/* plotting.h - the option --plot of the verbs that show numbers. */
#ifndef HAUL_RUNNER_CLI_PLOTTING_H
#define HAUL_RUNNER_CLI_PLOTTING_H

#include "runner/cli/cli.h"
#include "runner/render/curves.h"

enum { OPTION_PLOT = 0x900 };
/* A row for a verb's argp_option table. */
#define PLOT_OPTION                                                                                \
  {                                                                                                \
    "plot", OPTION_PLOT, "SCALE", OPTION_ARG_OPTIONAL,                                             \
        "draw sweeps as curves: log (the default), semilog (x alone) or linear", 1                 \
  }

struct plot_request {
  bool wanted;
  enum plot_scale scale;
};

/* Part of a verb's parser: takes PLOT_OPTION, and at ARGP_KEY_END refuses a format that a plot is
 * not in. ARGP_ERR_UNKNOWN for all other keys, that one included. */
error_t plot_request_parse(int key, char *arg, struct argp_state *state,
                           struct plot_request *request, const struct common_options *common);
/* To stdout, as wide as the terminal allows. empty as in curves.h. */
struct curves *open_curves(const struct common_options *common, const struct plot_request *request,
                           const char *empty);

#endif
