#include "runner/cli/advice_command.h"

#include "engine/base/arena.h"
#include "engine/base/strbuf.h"
#include "runner/console/shell_word.h"
#include "runner/record/measured.h"

#include <jansson.h>
#include <string.h>

/* The words of a run's command, after the program's name; an empty list where they are not known.
 */
struct advice_words {
  const char **items;
  size_t count;
};

static struct advice_words advice_words_of(struct arena *arena, const struct measured_run *run) {
  json_t *list = run->argv != NULL ? json_loads(run->argv, 0, NULL) : NULL;
  struct advice_words words = {.items = arena_array(arena, json_array_size(list), sizeof(char *))};
  for (size_t i = 0; i < json_array_size(list); i++) {
    const char *word = json_string_value(json_array_get(list, i));
    words.items[words.count++] = arena_strdup(arena, word != NULL ? word : "");
  }
  json_decref(list);
  return words;
}

/* "--db" and "--db=x". */
static bool advice_is_option(const char *word, const char *name) {
  const size_t size = strlen(name);
  return strncmp(word, name, size) == 0 && (word[size] == '\0' || word[size] == '=');
}

bool advice_is_plain(struct arena *arena, const struct measured_run *run) {
  const struct advice_words words = advice_words_of(arena, run);
  for (size_t i = 0; i < words.count; i++) {
    if (advice_is_option(words.items[i], "--resume")) {
      return false;
    }
  }
  /* A file of others may hold any command. */
  return words.count > 0 && strcmp(words.items[0], "run") == 0 &&
         strcmp(run->origin, "measured") == 0 && run->looks == 0;
}

/* Options that say nothing of what is measured, with the length of their list. */
static const struct advice_option {
  const char *name;
  bool has_value; /* which may be the next word */
} LEFT_OUT[] = {
    {"--db", true},        {"--node-name", true}, {"--shard", true}, /* of some runs; the others
                                                                        never count */
    {"--processes", true}, {"--tag", true},       {"--format", true},   {"--json", false},
    {"--quiet", false},    {"-q", false},         {"--verbose", false}, {"-v", false},
    {"--color", false},    {"--plot", false},
};
enum { OF_RUN = 3 };

/* How many words from that one on are such an option, of the list from `first` on; 0 = none. */
static size_t advice_left_out(const struct advice_words *words, size_t w, size_t first) {
  for (size_t i = first; i < COUNT_OF(LEFT_OUT); i++) {
    if (advice_is_option(words->items[w], LEFT_OUT[i].name)) {
      return LEFT_OUT[i].has_value && strcmp(words->items[w], LEFT_OUT[i].name) == 0 ? 2 : 1;
    }
  }
  return 0;
}

/* The words that say what is measured. */
static const char *advice_measured_words(struct arena *arena, const struct measured_run *run) {
  const struct advice_words words = advice_words_of(arena, run);
  const char *text = "";
  for (size_t w = 0; w < words.count;) {
    const size_t skipped = advice_left_out(&words, w, 0);
    text = skipped > 0 ? text : arena_format(arena, "%s %s", text, words.items[w]);
    w += skipped > 0 ? skipped : 1;
  }
  return text;
}

bool advice_is_same(struct arena *arena, const struct measured_run *a,
                    const struct measured_run *b) {
  return advice_is_plain(arena, a) && advice_is_plain(arena, b) &&
         strcmp(advice_measured_words(arena, a), advice_measured_words(arena, b)) == 0;
}

void advice_put_command(struct strbuf *command, struct arena *arena, const struct measured_run *run,
                        unsigned processes, size_t nodes, const char *tag) {
  static const char NODE_NAME[] = "--node-name";
  struct advice_words words = {0};
  if (advice_is_plain(arena, run)) {
    words = advice_words_of(arena, run);
    strbuf_append(command, "haul");
  } else {
    strbuf_printf(command, "haul run %s", shell_word(arena, run->scenario));
  }
  for (size_t w = 0; w < words.count;) {
    const char *word = words.items[w];
    const size_t skipped = advice_left_out(&words, w, OF_RUN);
    if (skipped == 0 && nodes > 1 && advice_is_option(word, NODE_NAME)) {
      strbuf_printf(command, " %s NODE", NODE_NAME);
      w += strcmp(word, NODE_NAME) == 0 ? 2 : 1;
    } else if (skipped == 0) {
      strbuf_append_char(command, ' ');
      strbuf_append(command, shell_word(arena, word));
      w++;
    } else {
      w += skipped;
    }
  }
  strbuf_printf(command, " --processes %u", processes);
  if (tag != NULL) {
    strbuf_printf(command, " --tag %s", tag);
  }
}
