#include "runner/cli/plotting.h"

#include "schema/scenario/nearest.h"

#include <langinfo.h>
#include <string.h>

/* Without a terminal, and where lines get long to follow. */
enum { WIDTH_DEFAULT = 80, WIDTH_MAX = 120 };

error_t plot_request_parse(int key, char *arg, struct argp_state *state,
                           struct plot_request *request, const struct common_options *common) {
  if (key == ARGP_KEY_END && request->wanted && common->format != ROW_TABLE) {
    argp_error(state, "--plot draws for people: it does not go with --format %s",
               row_format_text(common->format));
  }
  if (key != OPTION_PLOT) {
    return ARGP_ERR_UNKNOWN;
  }
  request->wanted = true;
  if (arg != NULL && !plot_scale_parse(arg, &request->scale)) {
    const char *meant = nearest_word(arg, plot_scale_names);
    argp_error(state, "--plot is log, semilog or linear, not '%s'%s%s%s", arg,
               meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
               meant != NULL ? "'?)" : "");
  }
  return 0;
}

struct curves *open_curves(const struct common_options *common, const struct plot_request *request,
                           const char *empty) {
  const unsigned terminal = terminal_width(stdout);
  const unsigned width = terminal > 0 ? terminal : WIDTH_DEFAULT;
  const struct plot_style style = {.scale = request->scale,
                                   .width = width < WIDTH_MAX ? width : WIDTH_MAX,
                                   .colour = use_colour(common, stdout),
                                   .unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0};
  return curves_new(stdout, &style, empty);
}
