/* haul copy --from PLACE --to PLACE: measures one kind of copy, as the scenario that --print shows.
 */
#include "runner/cli/options.h"
#include "runner/cli/run_options.h"
#include "runner/expect/judge.h"

#include <string.h>

/* As they were typed. */
struct copy_options {
  struct run_options run; /* first: haul run does the rest */
  const char *from, *to, *size, *method;
  bool both, print;
};

static const char DEFAULT_SIZE[] = "256MiB";

static const struct verb_option VERB_COPY_OPTIONS[] = {
    {"from", "PLACE", "where the bytes are, for example host or gpu0",
     OPTION_NON_EMPTY(struct copy_options, from)},
    {"to", "PLACE", "where they go, for example gpu1", OPTION_NON_EMPTY(struct copy_options, to)},
    {"size", "SIZES",
     "bytes per copy: 1GiB, several as 4KiB,64MiB, or 4KiB..1GiB in steps of 4x (default: 256MiB)",
     OPTION_NON_EMPTY(struct copy_options, size)},
    {"method", "METHOD",
     "ce (copy engine), sm (kernel), um (unified memory) or cpu (host threads), or several with "
     "commas (default: ce, and cpu within the host)",
     OPTION_NON_EMPTY(struct copy_options, method)},
    {"both", NULL, "both directions at once", OPTION_FLAG(struct copy_options, both)},
    {"print", NULL, "print the scenario and measure nothing",
     OPTION_FLAG(struct copy_options, print)},
    INPUT_OPTION_SET,
    INPUT_OPTION_PROCESSES,
    {"tag", "NAME", "tag the run: tag:NAME selects it later",
     OPTION_NON_EMPTY(struct copy_options, run.tag)},
    EXPECT_OPTION,
    {0},
};

static const char COPY_WORD[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";

/* "a", ["a", "b"] of "a" and "a,b"; numbers without quotes. NULL: it has a character of none. */
static const char *copy_values(struct arena *arena, const char *text, bool numbers) {
  const char *quote = numbers ? "" : "\"";
  const char *list = "";
  size_t count = 0;
  for (const char *at = text;; at++) {
    const size_t length = strspn(at, COPY_WORD);
    const bool number = strspn(at, "0123456789") == length;
    if (length == 0 || (numbers && !number) || (at[length] != '\0' && at[length] != ',')) {
      return NULL;
    }
    list = arena_format(arena, "%s%s%s%.*s%s", list, count++ > 0 ? ", " : "", quote, (int)length,
                        at, quote);
    at += length;
    if (*at == '\0') {
      return count > 1 ? arena_format(arena, "[%s]", list) : list;
    }
  }
}

/* { numa = "local", memory = "pageable" } of "host:pageable", and { gpu = 0, share = "ipc",
 * process = 1 } of "gpu0:ipc:process1". other: the other end. NULL: it is no place. */
static const char *copy_place(struct arena *arena, const char *text, const char *other) {
  static const struct {
    const char *word, *key;
  } PLACES[] = {{"host", "numa"}, {"numa", "numa"}, {"gpu", "gpu"}};
  static const char OTHERS[] = ":process";
  const size_t stem = strcspn(text, ":");
  const char *kinds = text + stem + (text[stem] == ':');
  const size_t kinds_length = strcspn(kinds, ":");
  const char *others =
      strncmp(kinds + kinds_length, OTHERS, strlen(OTHERS)) == 0 ? kinds + kinds_length : NULL;
  const char *processes = others != NULL ? copy_values(arena, others + strlen(OTHERS), true) : "";
  kinds = others != NULL ? arena_strndup(arena, kinds, kinds_length) : kinds;
  const char *memory = text[stem] == ':' ? copy_values(arena, kinds, false) : "";
  const char *index = NULL;
  const char *key = NULL;
  for (size_t i = 0; i < COUNT_OF(PLACES); i++) {
    const size_t length = strlen(PLACES[i].word);
    if (strncmp(text, PLACES[i].word, length) != 0) {
      continue;
    }
    const char *number = arena_strndup(arena, text + length, stem - length);
    const bool local = strcmp(PLACES[i].key, "numa") == 0 && strncmp(other, "gpu", 3) == 0;
    key = PLACES[i].key;
    index = number[0] == '\0'          ? local ? "\"local\"" : "0"
            : strcmp(number, "*") == 0 ? "\"*\""
                                       : copy_values(arena, number, true);
  }
  if (index == NULL || memory == NULL || processes == NULL) {
    return NULL;
  }
  if (others != NULL) {
    return arena_format(arena, "{ %s = %s, share = %s, process = %s }", key, index, memory,
                        processes);
  }
  return memory[0] != '\0' ? arena_format(arena, "{ %s = %s, memory = %s }", key, index, memory)
                           : arena_format(arena, "{ %s = %s }", key, index);
}

/* "1GiB", ["4KiB", "1MiB"], { from = "4KiB", to = "1GiB", factor = 4 }; NULL: none of these. */
static const char *copy_size(struct arena *arena, const char *text) {
  const char *dots = text + strcspn(text, ".");
  while (dots[0] == '.' && dots[1] != '.') { /* "1.5MiB" */
    dots += 1 + strcspn(dots + 1, ".");
  }
  if (dots[0] == '\0') {
    return copy_values(arena, text, false);
  }
  const char *from = copy_values(arena, arena_strndup(arena, text, (size_t)(dots - text)), false);
  const char *to = copy_values(arena, dots + 2, false);
  return from != NULL && to != NULL
             ? arena_format(arena, "{ from = %s, to = %s, factor = 4 }", from, to)
             : NULL;
}

/* A mistake in a line of the text is one in the option that made it. */
static void copy_name_places(struct command *command) {
  enum { METHOD_LINE = 6, FROM_LINE, TO_LINE, SIZE_LINE, LINES };
  const struct copy_options *options = command->options;
  struct arena *arena = &command->arena;
  const char **places = arena_array(arena, LINES, sizeof *places);
  places[FROM_LINE] = arena_format(arena, "--from %s", options->from);
  places[TO_LINE] = arena_format(arena, "--to %s", options->to);
  if (options->method != NULL) {
    places[METHOD_LINE] = arena_format(arena, "--method %s", options->method);
  }
  if (options->size != NULL) {
    places[SIZE_LINE] = arena_format(arena, "--size %s", options->size);
  }
  command->inputs.text_places = places;
  command->inputs.text_place_count = LINES;
}

static void verb_copy_check(struct command *command, struct argp_state *state) {
  const struct copy_options *options = command->options;
  struct arena *arena = &command->arena;
  options_check_tag(options->run.tag, state);
  if (options->from == NULL || options->to == NULL) {
    options_fail(state, "--from PLACE and --to PLACE are needed: haul copy --from host --to gpu0");
    return;
  }
  const char *from = copy_place(arena, options->from, options->to);
  const char *to = copy_place(arena, options->to, options->from);
  const char *size = copy_size(arena, options->size != NULL ? options->size : DEFAULT_SIZE);
  const bool on_host = strncmp(options->from, "gpu", 3) != 0 && strncmp(options->to, "gpu", 3) != 0;
  const char *method = copy_values(arena,
                                   options->method != NULL ? options->method
                                   : on_host               ? "cpu"
                                                           : "ce",
                                   false);
  if (from == NULL || to == NULL) {
    options_fail(
        state,
        "\"%s\" is not a place: host, gpu0, gpu0,2, gpu* or numa1, and after a colon kinds of "
        "memory such as host:pageable",
        from == NULL ? options->from : options->to);
  } else if (size == NULL) {
    options_fail(state, "--size needs a size, several with commas, or a range, not \"%s\"",
                 options->size);
  } else if (method == NULL) {
    options_fail(state, "--method needs ce, sm, um or cpu, not \"%s\"", options->method);
  }
  command->inputs.text =
      arena_format(arena,
                   "schema_version = 1\n"
                   "name = \"copy\"\n"
                   "\n"
                   "[[transfer]]\n"
                   "name = \"copy\"\n"
                   "method = %s\n"
                   "from = %s\n"
                   "to = %s\n"
                   "size = %s\n%s",
                   method, from, to, size, options->both ? "direction = \"both\"\n" : "");
  copy_name_places(command);
}

static enum status verb_copy_run(struct command *command, struct error *err) {
  const struct copy_options *options = command->options;
  if (options->print) {
    (void)fputs(command->inputs.text, stdout);
    return STATUS_OK;
  }
  return VERB_RUN.run(command, err);
}

const struct verb VERB_COPY = {
    .name = "copy",
    .group = VERBS_MEASURE,
    .arguments = NULL,
    .summary = "measure one kind of copy without a file",
    .doc = "PLACE is host (the NUMA node nearest to the GPU), numa1, gpu0, gpu0,2 or gpu*. "
           "Kinds of memory follow a colon: host:pageable, host:pinned,huge, gpu0:managed, and "
           "gpu0:ipc:process1 is memory of another process. "
           "The run is recorded like any other. --print shows its scenario, a start for one "
           "of your own: haul copy --from host --to gpu0 --print > mine.toml.",
    .options = VERB_COPY_OPTIONS,
    .options_size = sizeof(struct copy_options),
    .check = verb_copy_check,
    .rows = (const struct verb_rows[]){{expect_judge_describe_json, "run-result"}, {0}},
    .run = verb_copy_run,
};
