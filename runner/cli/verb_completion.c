/* haul completion bash|zsh|fish|man: a completion script or the manual page, made from the tables
 * of verbs, options, formats, scenario keys, shipped scenarios and saved queries. What only the
 * database knows the scripts ask for: haul completion runs|tags|baselines|facts|fact-names.
 */
#include "engine/base/strbuf.h"
#include "runner/cli/man_page.h"
#include "runner/cli/options.h"
#include "runner/record/manage.h"
#include "runner/record/saved.h"
#include "scenarios/scenarios.h"
#include "schema/scenario/reference.h"

#include <string.h>

#define COMPLETION_OUTPUT_LIST(X)                                                                  \
  X(OUTPUT_BASH, "bash")                                                                           \
  X(OUTPUT_ZSH, "zsh")                                                                             \
  X(OUTPUT_FISH, "fish")                                                                           \
  X(OUTPUT_MAN, "man")                                                                             \
  X(OUTPUT_RUNS, "runs")                                                                           \
  X(OUTPUT_TAGS, "tags")                                                                           \
  X(OUTPUT_BASELINES, "baselines")                                                                 \
  X(OUTPUT_FACTS, "facts")                                                                         \
  X(OUTPUT_FACT_NAMES, "fact-names")
ENUM_NAMES_DECLARE(completion_output, COMPLETION_OUTPUT_LIST)
ENUM_NAMES_DEFINE(completion_output, COMPLETION_OUTPUT_LIST)
enum { WORDS_MAX = 1 << 16 };

static void verb_completion_add(struct strbuf *words, const char *word, const char *end) {
  strbuf_printf(words, "%s%s%s", words->length > 0 ? " " : "", word, end);
}

static void verb_completion_add_list(struct strbuf *words, const char *const *list) {
  for (; *list != NULL; list++) {
    verb_completion_add(words, *list, "");
  }
}

static void verb_completion_add_key(void *words, const struct reference_key *key) {
  verb_completion_add(words, key->key, "=");
}

static void verb_completion_add_saved_queries(struct strbuf *words) {
  struct arena arena = {0};
  for (size_t i = 0; i < saved_query_count(); i++) {
    struct saved_query query;
    saved_query_at(i, &arena, &query);
    verb_completion_add(words, query.name, "");
  }
  arena_fini(&arena);
}

static const char *verb_completion_end(struct arena *arena, struct strbuf *words) {
  const char *text = arena_strdup(arena, words->text);
  strbuf_fini(words);
  return text;
}

/* What follows these options is in the database. */
static const struct {
  const char *option;
  enum completion_output list;
} ASKED[] = {
    {"resume", OUTPUT_RUNS}, {"run", OUTPUT_RUNS},      {"against", OUTPUT_RUNS},
    {"where", OUTPUT_FACTS}, {"by", OUTPUT_FACT_NAMES}, {"baseline", OUTPUT_BASELINES},
    {"tag", OUTPUT_TAGS},
};

/* The list of the database that an option takes; NULL = none. */
static const char *verb_completion_asked(const struct verb_option *option) {
  for (size_t i = 0; i < sizeof ASKED / sizeof *ASKED; i++) {
    if (strcmp(option->name, ASKED[i].option) == 0) {
      return completion_output_text(ASKED[i].list);
    }
  }
  return NULL;
}

/* The words that may follow an option; "": any, or a file. */
static const char *verb_completion_values(struct arena *arena, const struct verb_option *option) {
  struct strbuf words;
  strbuf_init(&words, WORDS_MAX);
  if (option->names != NULL) {
    verb_completion_add_list(&words, option->names);
  } else if (strcmp(option->name, "saved") == 0) {
    verb_completion_add_saved_queries(&words);
  } else if (strcmp(option->name, "set") == 0) {
    reference_keys(verb_completion_add_key, &words);
  }
  return verb_completion_end(arena, &words);
}

static const char *verb_completion_arguments(struct arena *arena, const struct verb *verb) {
  struct strbuf words;
  strbuf_init(&words, WORDS_MAX);
  if (verb->words != NULL) {
    verb_completion_add_list(&words, verb->words);
  }
  for (size_t i = 0; verb->argument_kind == ARGUMENTS_SCENARIOS && i < scenarios_count(); i++) {
    const struct embedded_file *file = scenarios_at(i);
    if (scenarios_runnable(file)) {
      verb_completion_add(&words, input_shipped_name(arena, file), "");
    }
  }
  return verb_completion_end(arena, &words);
}

/* bash ------------------------------------------------------------------------------------------
 */

/* After that verb; "*": after any. Where there are no words, files are offered. */
static void verb_completion_print_bash_value(struct arena *arena, const char *verb,
                                             const struct verb_option *option) {
  const char *values = verb_completion_values(arena, option);
  const char *asked = verb_completion_asked(option);
  if (option->argument == NULL) {
    return;
  }
  printf("    %s\\ --%s=", verb, option->name);
  if (!option->optional) {
    printf(" | %s\\ --%s", verb, option->name);
  } else if (strcmp(option->argument, "FILE") == 0) {
    /* Behind a blank a FILE.toml, or what the verb takes. */
    printf(") return ;;\n    %s\\ --%s)\n", verb, option->name);
    printf("      if [[ $current != -* ]]; then\n"
           "        mapfile -t COMPREPLY < <(compgen -f -X '!*.toml' -- \"$current\")\n"
           "        _haul_ask runs\n"
           "        return\n"
           "      fi ;;\n");
    return;
  }
  if (asked != NULL) {
    printf(") _haul_ask %s; return ;;\n", asked);
  } else if (values[0] != '\0') {
    printf(") COMPREPLY=($(compgen -W '%s' -- \"$current\")); return ;;\n", values);
  } else {
    printf(") return ;;\n");
  }
}

static void verb_completion_print_bash_values(struct arena *arena, const char *verb,
                                              const struct verb_option *option) {
  for (; option != NULL && option->name != NULL; option++) {
    verb_completion_print_bash_value(arena, verb, option);
  }
}

static void verb_completion_print_bash_verb(struct arena *arena, const struct verb *verb) {
  printf("    %s)\n      options='", verb->name);
  const struct verb_option *option;
  for (size_t i = 0; (option = options_at(verb, i)) != NULL; i++) {
    if (option->help != NULL) {
      printf("--%s ", option->name);
    }
  }
  printf("--help'\n      arguments='%s'", verb_completion_arguments(arena, verb));
  if (verb->words != NULL) {
    /* The first argument decides on the others. */
    printf("\n      for word in $arguments; do\n"
           "        case \" ${COMP_WORDS[*]:2:COMP_CWORD-2} \" in\n");
    if (verb->runs_after != NULL) {
      printf("          *\" %s \"*) arguments=; _haul_ask runs; break ;;\n", verb->runs_after);
    }
    printf("          *\" $word \"*) arguments=; break ;;\n        esac\n      done");
  } else if (verb->takes_runs || verb->argument_kind == ARGUMENTS_RUNS) {
    printf("\n      case $current in -*) ;; *) _haul_ask runs ;; esac");
  }
  printf(" ;;\n");
}

static void verb_completion_print_bash(struct arena *arena) {
  printf(
      "# bash completion for haul: put it into ~/.local/share/bash-completion/completions/haul\n"
      "# Adds what haul says of the database and what begins as the word at the cursor does. bash\n"
      "# splits words at : and =, and replaces only what stands behind the last of them.\n"
      "_haul_ask() {\n"
      "  local line=${COMP_LINE:0:${COMP_POINT:-0}} word head item db= i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    [ \"${COMP_WORDS[i]}\" = --db ] && db=${COMP_WORDS[i+1]}\n"
      "  done\n"
      "  word=${line##*[[:space:]]}\n"
      "  [ -n \"$line\" ] || word=${COMP_WORDS[COMP_CWORD]}\n"
      "  case $word in --*=*) word=${word#*=} ;; esac\n"
      "  head=${word%%\"${word##*[:=]}\"}\n"
      "  while IFS= read -r item; do\n"
      "    [[ $item == \"$word\"* ]] && COMPREPLY+=(\"${item#\"$head\"}\")\n"
      "  done < <(haul completion \"$1\" ${db:+--db \"$db\"} 2>/dev/null)\n"
      "}\n"
      "_haul() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  local options= arguments= word\n"
      "  if [ \"$current\" = = ]; then\n"
      "    current=\n"
      "    before+==\n"
      "  elif [ \"$before\" = = ]; then\n"
      "    before=${COMP_WORDS[COMP_CWORD-2]}=\n"
      "  fi\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W '");
  for (const struct verb *const *verb = VERBS; *verb != NULL; verb++) {
    printf("%s ", (*verb)->name);
  }
  printf("help --help --version' -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  case \"${COMP_WORDS[1]} $before\" in\n");
  for (const struct verb *const *verb = VERBS; *verb != NULL; verb++) {
    if ((*verb)->format != NULL) {
      verb_completion_print_bash_value(arena, (*verb)->name, (*verb)->format);
    }
  }
  verb_completion_print_bash_values(arena, "*", COMMON_OPTIONS);
  for (const struct verb *const *verb = VERBS; *verb != NULL; verb++) {
    verb_completion_print_bash_values(arena, (*verb)->name, (*verb)->options);
  }
  printf("  esac\n"
         "  case ${COMP_WORDS[1]} in\n");
  for (const struct verb *const *verb = VERBS; *verb != NULL; verb++) {
    verb_completion_print_bash_verb(arena, *verb);
  }
  printf("  esac\n"
         "  case $current in\n"
         "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$current\")) ;;\n"
         "    *) COMPREPLY+=($(compgen -W \"$arguments\" -- \"$current\")) ;;\n"
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

static void verb_completion_print_zsh_option(struct arena *arena,
                                             const struct verb_option *option) {
  printf("        '--%s%s[", option->name, option->argument != NULL ? "=" : "");
  verb_completion_print_zsh_text(option->help);
  printf("]");
  if (option->argument != NULL) {
    const char *values = verb_completion_values(arena, option);
    const char *asked = verb_completion_asked(option);
    printf(":");
    verb_completion_print_zsh_text(option->argument);
    if (asked != NULL) {
      printf(":{ _haul_ask %s }", asked);
    } else if (values[0] != '\0') {
      printf(":(%s)", values);
    } else {
      printf(strcmp(option->argument, "FILE") == 0 ? ":_files" : ": ");
    }
  }
  printf("' \\\n");
}

static void verb_completion_print_zsh_verb(struct arena *arena, const struct verb *verb) {
  printf("    %s)\n      _arguments \\\n", verb->name);
  const struct verb_option *option;
  for (size_t i = 0; (option = options_at(verb, i)) != NULL; i++) {
    if (option->help != NULL) {
      verb_completion_print_zsh_option(arena, option);
    }
  }
  printf("        '--help[list the options]'");
  const char *arguments = verb_completion_arguments(arena, verb);
  switch (verb->argument_kind) {
  case ARGUMENTS_NONE:
    break;
  case ARGUMENTS_RUNS:
    printf(" \\\n        '*:run:{ _haul_ask runs }'");
    break;
  case ARGUMENTS_SCENARIOS:
    printf(" \\\n        '*:scenario:{ _alternative \"shipped:shipped scenario:(%s)\" "
           "\"files:file:_files\"%s }'",
           arguments, verb->takes_runs ? "; _haul_ask runs" : "");
    break;
  case ARGUMENTS_WORDS:
    printf(" \\\n        '1:what:(%s)'", arguments);
    if (verb->runs_after != NULL) {
      printf(" \\\n        '*:run:{ (( $words[(I)%s] )) && _haul_ask runs || _files }'",
             verb->runs_after);
    }
    break;
  }
  printf(" ;;\n");
}

static void verb_completion_print_zsh(struct arena *arena) {
  printf("#compdef haul\n"
         "# zsh completion for haul: put it as _haul into a folder of $fpath\n"
         "_haul_ask() {\n"
         "  compadd -- ${(f)\"$(haul completion $1 2>/dev/null)\"}\n"
         "}\n"
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
    verb_completion_print_zsh_verb(arena, *verb);
  }
  printf("  esac\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _haul ]; then\n"
         "  _haul \"$@\"\n"
         "else\n"
         "  compdef _haul haul\n"
         "fi\n");
}

/* fish ------------------------------------------------------------------------------------------
 */

/* Inside single quotes. */
static void verb_completion_print_fish_text(const char *text) {
  for (; *text != '\0'; text++) {
    if (*text == '\'' || *text == '\\') {
      putchar('\\');
    }
    putchar(*text);
  }
}

static void verb_completion_print_fish_option(struct arena *arena, const char *when,
                                              const struct verb_option *option) {
  const char *values = verb_completion_values(arena, option);
  const char *asked = verb_completion_asked(option);
  printf("complete -c haul -n '%s' -l %s", when, option->name);
  if (option->letter != 0) {
    printf(" -s %c", option->letter);
  }
  if (option->argument != NULL && !option->optional) {
    printf(strcmp(option->argument, "FILE") == 0 ? " -r" : " -x");
  }
  if (asked != NULL) {
    printf(" -a '(__haul_ask %s)'", asked);
  } else if (values[0] != '\0') {
    printf(" -a '%s'", values);
  }
  printf(" -d '");
  verb_completion_print_fish_text(option->help);
  printf("'\n");
}

static void verb_completion_print_fish_verb(struct arena *arena, const struct verb *verb) {
  const char *when = arena_format(arena, "__fish_seen_subcommand_from %s", verb->name);
  const char *arguments = verb_completion_arguments(arena, verb);
  printf("complete -c haul -n __fish_use_subcommand -f -a %s -d '", verb->name);
  verb_completion_print_fish_text(verb->summary);
  printf("'\n");
  const struct verb_option *option;
  for (size_t i = 0; (option = options_at(verb, i)) != NULL; i++) {
    if (option->help != NULL) {
      verb_completion_print_fish_option(arena, when, option);
    }
  }
  if (verb->words != NULL) { /* the first argument decides on the others */
    printf("complete -c haul -n '%s; and not __fish_seen_subcommand_from %s' -f -a '%s'\n", when,
           arguments, arguments);
  } else if (arguments[0] != '\0') {
    printf("complete -c haul -n '%s' -a '%s'\n", when, arguments);
  }
  if (verb->runs_after != NULL) {
    when = arena_format(arena, "%s; and __fish_seen_subcommand_from %s", when, verb->runs_after);
  }
  if (verb->takes_runs || verb->runs_after != NULL || verb->argument_kind == ARGUMENTS_RUNS) {
    printf("complete -c haul -n '%s' -a '(__haul_ask runs)'\n", when);
  }
}

static void verb_completion_print_fish(struct arena *arena) {
  printf("# fish completion for haul: put it into ~/.config/fish/completions/haul.fish\n"
         "function __haul_ask\n"
         "  haul completion $argv[1] 2>/dev/null\n"
         "end\n");
  for (const struct verb *const *verb = VERBS; *verb != NULL; verb++) {
    verb_completion_print_fish_verb(arena, *verb);
  }
}

/* Words on lines; what a shell could take for more than a word is left out. */
static void verb_completion_print_words(const char *const *words, const char *prefix,
                                        const char *end) {
  static const char SAFE[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,%+@";
  for (; *words != NULL; words++) {
    const size_t length = strlen(prefix);
    if (strncmp(*words, prefix, length) == 0 && strspn(*words, SAFE) == strlen(*words)) {
      printf("%s%s\n", *words + length, end);
    }
  }
}

static enum status verb_completion_print_asked(struct command *command, struct error *err) {
  static const char *const PREFIXES[] = {
      [OUTPUT_RUNS] = "", [OUTPUT_TAGS] = "tag:", [OUTPUT_BASELINES] = "baseline:"};
  const char *const *words = NULL;
  RETURN_ON_ERROR(command_open_database(command, DATABASE_READ, err));
  if (command->choice == OUTPUT_FACTS || command->choice == OUTPUT_FACT_NAMES) {
    command->measured = measured_new();
    RETURN_ON_ERROR(measured_add_all_runs(command->measured, command->database, err));
    verb_completion_print_words(measured_fact_names(command->measured), "",
                                command->choice == OUTPUT_FACTS ? "=" : "");
    return STATUS_OK;
  }
  RETURN_ON_ERROR(run_words_read(command->database, &command->arena, &words, err));
  verb_completion_print_words(words, PREFIXES[command->choice], "");
  return STATUS_OK;
}

static enum status verb_completion_run(struct command *command, struct error *err) {
  switch ((enum completion_output)command->choice) {
  case OUTPUT_BASH:
    verb_completion_print_bash(&command->arena);
    break;
  case OUTPUT_ZSH:
    verb_completion_print_zsh(&command->arena);
    break;
  case OUTPUT_FISH:
    verb_completion_print_fish(&command->arena);
    break;
  case OUTPUT_MAN:
    man_page_print(stdout);
    break;
  case OUTPUT_RUNS:
  case OUTPUT_TAGS:
  case OUTPUT_BASELINES:
  case OUTPUT_FACTS:
  case OUTPUT_FACT_NAMES:
    return verb_completion_print_asked(command, err);
  case completion_output_name_count:
    break;
  }
  return STATUS_OK;
}

const struct verb VERB_COMPLETION = {
    .name = "completion",
    .group = VERBS_READ,
    .arguments = "bash|zsh|fish|man",
    .summary = "print a completion script for a shell, or the manual page",
    .doc = "bash: haul completion bash > ~/.local/share/bash-completion/completions/haul\n"
           "zsh: haul completion zsh > FOLDER/_haul, for a FOLDER of $fpath.\n"
           "fish: haul completion fish > ~/.config/fish/completions/haul.fish\n"
           "man: haul completion man > haul.1; man -l haul.1.\n"
           "runs, tags, baselines, facts, fact-names: the words that the scripts ask the database "
           "for.",
    .argument_kind = ARGUMENTS_WORDS,
    .words = completion_output_names,
    .noun = "output",
    .word_max = 1,
    .missing = "argument: bash, zsh, fish or man",
    .run = verb_completion_run,
};
