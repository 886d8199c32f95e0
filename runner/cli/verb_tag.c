/* haul tag RUN [NAME]: name runs after they were measured. */
#include "engine/base/strings.h"
#include "runner/cli/options.h"
#include "runner/record/manage.h"

#include <string.h>

struct tag_options {
  bool clear;
};

static const struct verb_option VERB_TAG_OPTIONS[] = {
    {"clear", NULL, "take the tag away", OPTION_FLAG(struct tag_options, clear)},
    {0},
};

static void verb_tag_check(struct command *command, struct argp_state *state) {
  const struct tag_options *options = command->options;
  OPTIONS_REFUSE(command->word_count < 2 && !options->clear, state,
                 "missing argument: haul tag RUN NAME, for example: tag latest before; "
                 "--clear takes the tag away");
  OPTIONS_REFUSE(command->word_count == 2 && options->clear, state,
                 "give a NAME or --clear, not both");
  options_check_tag(command->word_count == 2 ? command->words[1] : NULL, state);
}

/* The tags that some of the runs have and will not have any more: "before, night"; "" = none. */
static enum status verb_tag_find_replaced(struct command *command, const struct run_list *runs,
                                          const char *tag, const char **replaced,
                                          struct error *err) {
  *replaced = "";
  for (size_t i = 0; i < runs->count; i++) {
    struct run_to_delete run;
    RETURN_ON_ERROR(
        run_to_delete_read(command->database, runs->runs[i].id, &command->arena, &run, err));
    if (run.tag != NULL && (tag == NULL || strcmp(run.tag, tag) != 0) &&
        !strings_has_word(*replaced, run.tag)) {
      *replaced = arena_add_word(&command->arena, *replaced, run.tag);
    }
  }
  return STATUS_OK;
}

static enum status verb_tag_run(struct command *command, struct error *err) {
  const struct tag_options *options = command->options;
  const char *tag = options->clear ? NULL : command->words[1];
  struct run_list runs = {0};
  /* Read first: writing would make a database where there is none. */
  RETURN_ON_ERROR(command_open_database(command, DATABASE_READ, err));
  RETURN_ON_ERROR(
      selector_find_all(command->database, command->words[0], &command->arena, &runs, err));
  const char *replaced = "";
  RETURN_ON_ERROR(verb_tag_find_replaced(command, &runs, tag, &replaced, err));
  RETURN_ON_ERROR(command_open_database(command, DATABASE_WRITE, err));
  RETURN_ON_ERROR(run_tag_set(command->database, &runs, tag, err));
  const char *what = runs.count == 1
                         ? arena_format(&command->arena, "run %lld has", (long long)runs.runs[0].id)
                         : arena_format(&command->arena, "%zu runs have", runs.count);
  if (tag != NULL) {
    say_note(&command->common, "%s the tag %s now%s%s: tag:%s selects %s", what, tag,
             replaced[0] != '\0' ? ", in place of " : "", replaced, tag,
             strings_plural(runs.count, "it", "them"));
  } else {
    say_note(&command->common, "%s no tag now%s%s", what, replaced[0] != '\0' ? ", before: " : "",
             replaced);
  }
  return STATUS_OK;
}

const struct verb VERB_TAG = {
    .name = "tag",
    .group = VERBS_KEEP,
    .arguments = "RUN [NAME]",
    .summary = "tag runs, or take their tag away",
    .doc = "RUN is run:ID, tag:NAME, driver:VERSION, baseline:NAME, latest or previous, or several "
           "with commas between them; all runs that it names get the tag. A run has one tag: a new "
           "one replaces it. haul merge does not change the tags of runs that are there already.",
    .options = VERB_TAG_OPTIONS,
    .options_size = sizeof(struct tag_options),
    .argument_kind = ARGUMENTS_RUNS,
    .word_max = 2,
    .missing = "argument: RUN; haul list runs lists them",
    .check = verb_tag_check,
    .run = verb_tag_run,
};
