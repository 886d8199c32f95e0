/* haul completion bash|zsh|man: a completion script or the manual page, made from the tables of
 * verbs, options, formats, scenario keys, shipped scenarios and saved queries. */
#include "engine/base/strbuf.h"
#include "runner/cli/man_page.h"
#include "runner/cli/options.h"
#include "runner/record/saved.h"
#include "scenarios/scenarios.h"
#include "schema/scenario/reference.h"

#include <string.h>

enum { OUTPUT_BASH, OUTPUT_ZSH, OUTPUT_MAN };
static const char *const OUTPUTS[] = {"bash", "zsh", "man", NULL};
enum { WORDS_MAX = 1 << 16 };

static void verb_completion_add_word(struct strbuf *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void verb_completion_add_word(struct strbuf *words, const char *format, ...) {
  char text[256];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  strbuf_printf(words, "%s%s", words->length > 0 ? " " : "", text);
}

static void verb_completion_add_words(struct strbuf *words, const char *const *list) {
  for (; *list != NULL; list++) {
    verb_completion_add_word(words, "%s", *list);
  }
}

static void verb_completion_add_scenarios(struct strbuf *words) {
  for (size_t i = 0; i < scenarios_count(); i++) {
    const struct embedded_file *file = scenarios_at(i);
    if (scenarios_runnable(file)) {
      const char *dot = strrchr(file->name, '.');
      verb_completion_add_word(words, "%.*s",
                               (int)(dot != NULL ? dot - file->name : (long)strlen(file->name)),
                               file->name);
    }
  }
}

static void verb_completion_add_saved_queries(struct strbuf *words) {
  struct arena arena = {0};
  for (size_t i = 0; i < saved_query_count(); i++) {
    struct saved_query query;
    saved_query_at(i, &arena, &query);
    verb_completion_add_word(words, "%s", query.name);
  }
  arena_fini(&arena);
}

static void verb_completion_add_key(void *words, const struct reference_key *key) {
  verb_completion_add_word(words, "%s=", key->key);
}

/* The words that may follow an option, or nothing: then it is a file or anything. */
static void verb_completion_add_values(struct strbuf *words, const char *option) {
  if (strcmp(option, "format") == 0) {
    verb_completion_add_words(words, output_format_names);
  } else if (strcmp(option, "color") == 0) {
    verb_completion_add_words(words, when_names);
  } else if (strcmp(option, "saved") == 0) {
    verb_completion_add_saved_queries(words);
  } else if (strcmp(option, "set") == 0) {
    reference_keys(verb_completion_add_key, words);
  } else if (strcmp(option, "resume") == 0) {
    verb_completion_add_word(words, "latest");
    verb_completion_add_word(words, "previous");
  }
}

static void verb_completion_add_arguments(struct strbuf *words, const struct verb *verb) {
  switch (verb->argument_kind) {
  case ARGUMENTS_NONE:
    return;
  case ARGUMENTS_SCENARIOS:
    verb_completion_add_scenarios(words);
    return;
  case ARGUMENTS_WORDS:
    verb_completion_add_words(words, verb->words);
    return;
  }
}

/* bash ------------------------------------------------------------------------------------------
 */

static void verb_completion_print_bash_values(const struct verb_option *option) {
  struct strbuf words;
  strbuf_init(&words, WORDS_MAX);
  if (option->argument != NULL) {
    verb_completion_add_values(&words, option->name);
  }
  if (words.length > 0) {
    printf("    --%s) COMPREPLY=($(compgen -W '%s' -- \"$current\")); return ;;\n", option->name,
           words.text);
  }
  strbuf_fini(&words);
}

static void verb_completion_print_bash_verb(const struct verb *verb) {
  struct strbuf options, arguments;
  strbuf_init(&options, WORDS_MAX);
  strbuf_init(&arguments, WORDS_MAX);
  const struct verb_option *option;
  for (size_t i = 0; (option = options_at(verb, i)) != NULL; i++) {
    if (option->help != NULL) {
      verb_completion_add_word(&options, "--%s", option->name);
    }
  }
  verb_completion_add_word(&options, "--help");
  verb_completion_add_arguments(&arguments, verb);
  printf("    %s)\n      options='%s'\n      arguments='%s' ;;\n", verb->name, options.text,
         arguments.text);
  strbuf_fini(&options);
  strbuf_fini(&arguments);
}

static void verb_completion_print_bash(void) {
  printf("# bash completion for haul: put it into ~/.local/share/bash-completion/completions/haul\n"
         "_haul() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} options= arguments=\n"
         "  COMPREPLY=()\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    COMPREPLY=($(compgen -W '");
  for (const struct verb *const *verb = VERBS; *verb != NULL; verb++) {
    printf("%s ", (*verb)->name);
  }
  printf("help --help --version' -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  case ${COMP_WORDS[COMP_CWORD-1]} in\n");
  for (const struct verb_option *option = COMMON_OPTIONS; option->name != NULL; option++) {
    verb_completion_print_bash_values(option);
  }
  for (const struct verb *const *verb = VERBS; *verb != NULL; verb++) {
    for (const struct verb_option *o = (*verb)->options; o != NULL && o->name != NULL; o++) {
      verb_completion_print_bash_values(o);
    }
  }
  printf("  esac\n"
         "  case ${COMP_WORDS[1]} in\n");
  for (const struct verb *const *verb = VERBS; *verb != NULL; verb++) {
    verb_completion_print_bash_verb(*verb);
  }
  printf("  esac\n"
         "  case $current in\n"
         "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$current\")) ;;\n"
         "    *) COMPREPLY=($(compgen -W \"$arguments\" -- \"$current\")) ;;\n"
         "  esac\n"
         "}\n"
         "complete -o default -F _haul haul\n");
}

/* zsh -------------------------------------------------------------------------------------------
 */

/* Inside single quotes and _arguments' brackets. */
static void verb_completion_print_zsh_text(const char *text) {
  for (; *text != '\0'; text++) {
    if (strchr("[]:\\", *text) != NULL) {
      putchar('\\');
    }
    fputs(*text == '\'' ? "'\\''" : (const char[]){*text, '\0'}, stdout);
  }
}

static void verb_completion_print_zsh_option(const struct verb_option *option) {
  printf("        '--%s%s[", option->name, option->argument != NULL ? "=" : "");
  verb_completion_print_zsh_text(option->help);
  printf("]");
  if (option->argument != NULL) {
    struct strbuf words;
    strbuf_init(&words, WORDS_MAX);
    verb_completion_add_values(&words, option->name);
    printf(":");
    verb_completion_print_zsh_text(option->argument);
    if (words.length > 0) {
      printf(":(%s)", words.text);
    } else if (strcmp(option->argument, "FILE") == 0) {
      printf(":_files");
    } else {
      printf(": ");
    }
    strbuf_fini(&words);
  }
  printf("' \\\n");
}

static void verb_completion_print_zsh_verb(const struct verb *verb) {
  printf("    %s)\n      _arguments \\\n", verb->name);
  const struct verb_option *option;
  for (size_t i = 0; (option = options_at(verb, i)) != NULL; i++) {
    if (option->help != NULL) {
      verb_completion_print_zsh_option(option);
    }
  }
  struct strbuf arguments;
  strbuf_init(&arguments, WORDS_MAX);
  verb_completion_add_arguments(&arguments, verb);
  switch (verb->argument_kind) {
  case ARGUMENTS_NONE:
    printf("        '--help[list the options]' ;;\n");
    break;
  case ARGUMENTS_SCENARIOS:
    printf("        '--help[list the options]' \\\n"
           "        '*:scenario:{ _alternative \"shipped:shipped scenario:(%s)\" "
           "\"files:file:_files\" }' ;;\n",
           arguments.text);
    break;
  case ARGUMENTS_WORDS:
    printf("        '--help[list the options]' \\\n        '1:what:(%s)' ;;\n", arguments.text);
    break;
  }
  strbuf_fini(&arguments);
}

static void verb_completion_print_zsh(void) {
  printf("#compdef haul\n"
         "# zsh completion for haul: put it as _haul into a folder of $fpath\n"
         "_haul() {\n"
         "  local -a verbs\n"
         "  verbs=(\n");
  for (const struct verb *const *verb = VERBS; *verb != NULL; verb++) {
    printf("    '%s:", (*verb)->name);
    verb_completion_print_zsh_text((*verb)->summary);
    printf("'\n");
  }
  printf("  )\n"
         "  if (( CURRENT == 2 )); then\n"
         "    _describe verb verbs\n"
         "    return\n"
         "  fi\n"
         "  shift words\n"
         "  (( CURRENT-- ))\n"
         "  case $words[1] in\n");
  for (const struct verb *const *verb = VERBS; *verb != NULL; verb++) {
    verb_completion_print_zsh_verb(*verb);
  }
  printf("  esac\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _haul ]; then\n"
         "  _haul \"$@\"\n"
         "else\n"
         "  compdef _haul haul\n"
         "fi\n");
}

static enum status verb_completion_run(struct command *command, struct error *err) {
  (void)err;
  if (command->choice == OUTPUT_BASH) {
    verb_completion_print_bash();
  } else if (command->choice == OUTPUT_ZSH) {
    verb_completion_print_zsh();
  } else {
    man_page_print(stdout);
  }
  return STATUS_OK;
}

const struct verb VERB_COMPLETION = {
    .name = "completion",
    .arguments = "bash|zsh|man",
    .summary = "print a completion script for a shell, or the manual page",
    .doc = "bash: haul completion bash > ~/.local/share/bash-completion/completions/haul\n"
           "zsh: haul completion zsh > FOLDER/_haul, for a FOLDER of $fpath.\n"
           "man: haul completion man > haul.1; man -l haul.1.",
    .argument_kind = ARGUMENTS_WORDS,
    .words = OUTPUTS,
    .noun = "output",
    .word_max = 1,
    .missing = "argument: bash, zsh or man",
    .run = verb_completion_run,
};
