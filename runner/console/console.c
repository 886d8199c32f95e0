#include "runner/console/console.h"

#include "engine/base/new_file.h"
#include "runner/table/text.h"
#include "schema/scenario/scenario.h"

#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

ENUM_NAMES_DEFINE(when, WHEN_LIST)

const struct exit_code_text EXIT_CODE_TEXTS[] = {
#define EXIT_CODE_TEXT(id, code, text) {id, text},
    EXIT_CODE_LIST(EXIT_CODE_TEXT){0, NULL}};

enum { SAID_MAX = 1 << 16 };
/* Of plots without a terminal, and of terminals that do not know theirs; of plots, where lines get
 * long to follow. */
enum { WIDTH_DEFAULT = 80, WIDTH_MAX = 120 };

/* Below a folder of the XDG Base Directory Specification, by which a relative one is ignored; NULL
 * = HOME is not set either. */
static const char *console_user_file(struct arena *arena, const char *variable,
                                     const char *below_home, const char *name) {
  const char *folder = getenv(variable);
  if (folder != NULL && folder[0] == '/') {
    return arena_format(arena, "%s/haul/%s", folder, name);
  }
  const char *home = getenv("HOME");
  return home != NULL && home[0] == '/'
             ? arena_format(arena, "%s/%s/haul/%s", home, below_home, name)
             : NULL;
}

const char *console_expect_path(struct arena *arena, bool *named) {
  const char *given = getenv("HAUL_EXPECT");
  *named = given != NULL && given[0] != '\0';
  return *named ? given : console_user_file(arena, "XDG_CONFIG_HOME", ".config", "expect.toml");
}

enum status database_path(const struct common_options *options, struct arena *arena,
                          const char **path, struct error *err) {
  const char *given = options->db != NULL ? options->db : getenv("HAUL_DB");
  if (given != NULL && given[0] != '\0') {
    *path = arena_strdup(arena, given);
    return STATUS_OK;
  }
  *path = console_user_file(arena, "XDG_DATA_HOME", ".local/share", "results.db");
  return *path != NULL
             ? STATUS_OK
             : error_set(
                   err, STATUS_USAGE,
                   "no place for the results database: HOME is not set; name one with --db FILE");
}

const char *console_db_option(const struct common_options *options, struct arena *arena) {
  return options->db != NULL && options->db[0] != '\0'
             ? arena_format(arena, " --db %s", shell_word(arena, options->db))
             : "";
}

bool use_colour(const struct common_options *options, FILE *stream) {
  switch (options->colour) {
  case WHEN_ALWAYS:
    return true;
  case WHEN_NEVER:
    return false;
  case WHEN_AUTO:
  case when_name_count:
    break;
  }
  /* https://no-color.org: set and not empty. */
  const char *no_colour = getenv("NO_COLOR");
  const char *term = getenv("TERM");
  return (no_colour == NULL || no_colour[0] == '\0') && isatty(fileno(stream)) &&
         (term == NULL || strcmp(term, "dumb") != 0);
}

/* Of the terminal itself; 0 = the stream is none. */
static unsigned console_terminal_width(FILE *stream) {
  struct winsize size;
  if (!isatty(fileno(stream)) || ioctl(fileno(stream), TIOCGWINSZ, &size) != 0) {
    return 0;
  }
  return size.ws_col > 0 ? size.ws_col : WIDTH_DEFAULT;
}

unsigned terminal_width(FILE *stream) {
  const char *given = getenv("COLUMNS");
  char *end = NULL;
  const unsigned long columns = given != NULL ? strtoul(given, &end, 10) : 0;
  return columns > 0 && columns <= USHRT_MAX && *end == '\0' ? (unsigned)columns
                                                             : console_terminal_width(stream);
}

struct table_options table_to_stdout(const struct common_options *options) {
  return (struct table_options){.format = options->format,
                                .stream = stdout,
                                .width = terminal_width(stdout),
                                .schema = options->verb,
                                .colour = use_colour(options, stdout)};
}

struct table *open_table(const struct common_options *options, const char *empty) {
  struct table_options rows = table_to_stdout(options);
  rows.empty = empty;
  return table_new(&rows);
}

struct curves *plot_open(const struct common_options *options, const struct plot_request *request,
                         const char *empty) {
  const unsigned terminal = terminal_width(stdout);
  const unsigned width = terminal > 0 ? terminal : WIDTH_DEFAULT;
  const struct plot_style style = {.scale = request->scale,
                                   .scale_given = request->scale_given,
                                   .width = width < WIDTH_MAX ? width : WIDTH_MAX,
                                   .colour = use_colour(options, stdout),
                                   .unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0};
  struct curves *curves = curves_new(stdout, &style, empty);
  if (request->picture) {
    curves_as_picture(curves);
  }
  return curves;
}

/* ---- messages ---- */

/* Lines are ours, everything else that controls a terminal is not. The first is that wide at most,
 * 0 = as it is; those below it are to be copied, and stay whole. */
static void console_append_lines(struct strbuf *shown, const char *text, unsigned width) {
  static const char SPEAKER[] = "haul: ";
  for (const char *line = text; *line != '\0';) {
    const size_t length = strcspn(line, "\n");
    SCOPED(strbuf_fini) struct strbuf escaped = STRBUF(SAID_MAX);
    text_escape(&escaped, line, length, ESCAPE_TERMINAL);
    if (line == text && width > 0) {
      text_wrap(shown, escaped.text, width, strlen(SPEAKER), false);
    } else {
      strbuf_append(shown, escaped.text);
    }
    strbuf_append(shown, line[length] != '\0' ? "\n" : "");
    line += length + (line[length] != '\0');
  }
}

static void say_line(const char *head, const char *colour, unsigned width, const char *format,
                     va_list args) {
  SCOPED(memory_free) char *message = NULL;
  if (vasprintf(&message, format, args) < 0) {
    abort();
  }
  SCOPED(memory_free) char *text = memory_format("%s%s", head, message);
  SCOPED(strbuf_fini) struct strbuf shown = STRBUF(SAID_MAX);
  console_append_lines(&shown, text, width);
  (void)fflush(stdout);
  if (colour != NULL) {
    const size_t length = strlen(head) - 1; /* the text may begin on the next line */
    fprintf(stderr, "haul: \033[%sm%.*s\033[0m%s\n", colour, (int)length, head,
            shown.text + length);
  } else {
    fprintf(stderr, "haul: %s\n", shown.text);
  }
}

void say_error(const struct common_options *options, const char *format, ...) {
  va_list args;
  va_start(args, format);
  say_line("error: ", use_colour(options, stderr) ? "1;31" : NULL, terminal_width(stderr), format,
           args);
  va_end(args);
}

void say_mistakes(const struct common_options *options, const struct diagnostics *diagnostics) {
  diagnostics_print(diagnostics, stderr, terminal_width(stderr), use_colour(options, stderr));
}

void say_warning(const struct common_options *options, const char *format, ...) {
  if (options->quiet) {
    return;
  }
  va_list args;
  va_start(args, format);
  say_line("warning: ", use_colour(options, stderr) ? "1;35" : NULL, terminal_width(stderr), format,
           args);
  va_end(args);
}

void say_note(const struct common_options *options, const char *format, ...) {
  if (options->quiet) {
    return;
  }
  va_list args;
  va_start(args, format);
  say_line("", NULL, terminal_width(stderr), format, args);
  va_end(args);
}

void say_next(const struct common_options *options, const char *format, ...) {
  if (options->quiet) {
    return;
  }
  va_list args;
  va_start(args, format);
  say_line("next: ", NULL, 0, format, args);
  va_end(args);
}

void say_wait(const char *format, ...) {
  va_list args;
  va_start(args, format);
  say_line("", NULL, terminal_width(stderr), format, args);
  va_end(args);
}

bool say_progress(const struct common_options *options, const char *text) {
  const unsigned width = options->quiet ? 0 : console_terminal_width(stderr);
  if (width == 0) {
    return false;
  }
  SCOPED(strbuf_fini) struct strbuf shown = STRBUF(SAID_MAX);
  text_put(&shown, text);
  /* The last column is left free: some terminals wrap when it is written. */
  fprintf(stderr, "\r%.*s\033[K", (int)text_fit(shown.text, width - 1), shown.text);
  (void)fflush(stderr);
  return true;
}

enum status database_check_folder(const struct common_options *options, const char *path,
                                  struct error *err) {
  SCOPED(arena_fini) struct arena arena = {0};
  const char *slash = strrchr(path, '/');
  const char *folder = slash != NULL ? arena_strndup(&arena, path, (size_t)(slash - path)) : "";
  if (folder[0] == '\0' || access(folder, F_OK) == 0 || errno != ENOENT) {
    return STATUS_OK;
  }
  const char *usual = console_user_file(&arena, "XDG_DATA_HOME", ".local/share", "results.db");
  if (usual == NULL || strcmp(path, usual) != 0) {
    return error_set(
        err, STATUS_USAGE,
        "the folder %s for %s does not exist: create it, or name another database with --db",
        folder, slash + 1);
  }
  char missing[PATH_MAX]; /* where that fails, opening the database says so */
  if (options != NULL && folder_make_all(folder, missing)) {
    say_note(options, "created the folder %s for %s", folder, slash + 1);
  }
  return STATUS_OK;
}

static int exit_code_of_status(enum status status) {
  return status == STATUS_OK            ? EXIT_DONE
         : status == STATUS_INTERRUPTED ? EXIT_INTERRUPTED
         : status == STATUS_USAGE || status == STATUS_INVALID || status == STATUS_NOT_FOUND
             ? EXIT_USAGE
             : EXIT_NOT_MEASURED;
}

int fail(const struct common_options *options, const struct error *err) {
  const struct position *position = &err->position;
  if (position->file != NULL && position->line > 0) {
    say_error(options, "%s:%u:%u: %s", position->file, position->line, position->column,
              err->message);
  } else {
    say_error(options, "%s", err->message);
  }
  return exit_code_of_status(err->status);
}

int worse(int a, int b) {
  return a > b ? a : b;
}

enum status read_stdin(const char *what, size_t max_bytes, struct arena *arena, const char **text,
                       struct error *err) {
  enum { BYTES_PER_MIB = 1 << 20 };
  SCOPED(strbuf_fini) struct strbuf all = STRBUF(max_bytes);
  char chunk[4096];
  size_t got;
  while ((got = fread(chunk, 1, sizeof chunk, stdin)) > 0) {
    strbuf_append_n(&all, chunk, got);
  }
  enum status status = STATUS_OK;
  if (ferror(stdin)) {
    status = error_set_errno(err, errno, "cannot read %s from standard input", what);
  } else if (all.truncated) {
    status = error_set(err, STATUS_INVALID, "more than %zu MiB of %s on standard input",
                       max_bytes / BYTES_PER_MIB, what);
  } else {
    *text = arena_strdup(arena, all.text);
  }
  return status;
}

/* ---- interrupts ---- */

/* A signal handler has no other place to leave word. */
static volatile sig_atomic_t interrupts;

/* When the second came, in seconds; which it was. */
static volatile sig_atomic_t interrupted_at, interrupted_by;

/* Who asks again after some seconds is not waited for: the process may be where it does not see it.
 */
static void count_interrupt(int number) {
  enum { PATIENCE_S = 5 };
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  const sig_atomic_t second = (sig_atomic_t)now.tv_sec;
  interrupted_by = number;
  if (interrupts < 2) {
    interrupts = interrupts + 1;
    interrupted_at = second;
  } else if (second - interrupted_at >= PATIENCE_S) {
    _exit(EXIT_INTERRUPTED);
  }
}

static void watch_signal(int number) {
  struct sigaction before;
  /* Who starts us with a signal ignored (nohup, a script's background job) means it. */
  if (sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_IGN) {
    return;
  }
  struct sigaction action = {.sa_handler = count_interrupt};
  sigemptyset(&action.sa_mask);
  /* No SA_RESTART: a wait is to end at once. */
  (void)sigaction(number, &action, NULL);
}

const volatile sig_atomic_t *watch_interrupts(void) {
  watch_signal(SIGINT);
  watch_signal(SIGTERM);
  watch_signal(SIGHUP); /* the terminal is gone */
  return &interrupts;
}

const char *interrupt_again_words(void) {
  return interrupted_by == SIGINT ? "Press Ctrl-C again to stop now"
                                  : "Another signal stops it now";
}
