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

void advice_put_command(struct strbuf *command, struct arena *arena, const struct measured_run *run,
                        unsigned processes, size_t nodes, const char *tag) {
  static const struct {
    const char *name;
    bool has_value; /* which may be the next word */
  } LEFT_OUT[] = {
      {"--processes", true}, {"--tag", true},   {"--format", true},   {"--json", false},
      {"--quiet", false},    {"-q", false},     {"--verbose", false}, {"-v", false},
      {"--color", false},    {"--plot", false},
  };
  static const char NODE_NAME[] = "--node-name";
  struct advice_words words = {0};
  if (advice_is_plain(arena, run)) {
    words = advice_words_of(arena, run);
    strbuf_append(command, "haul");
  } else {
    strbuf_printf(command, "haul run %s", shell_word(arena, run->scenario));
  }
  for (size_t w = 0; w < words.count; w++) {
    const char *word = words.items[w];
    bool skip = false;
    for (size_t i = 0; i < COUNT_OF(LEFT_OUT) && !skip; i++) {
      skip = advice_is_option(word, LEFT_OUT[i].name);
      w += skip && LEFT_OUT[i].has_value && strcmp(word, LEFT_OUT[i].name) == 0;
    }
    if (nodes > 1 && advice_is_option(word, NODE_NAME)) {
      w += strcmp(word, NODE_NAME) == 0;
      strbuf_printf(command, " %s NODE", NODE_NAME);
    } else if (!skip) {
      strbuf_append_char(command, ' ');
      strbuf_append(command, shell_word(arena, word));
    }
  }
  strbuf_printf(command, " --processes %u", processes);
  if (tag != NULL) {
    strbuf_printf(command, " --tag %s", tag);
  }
}
