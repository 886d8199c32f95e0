/* haul: how data moves inside a GPU machine. */
#include "runner/cli/cli.h"
#include "runner/table/table.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file that is opened later must not get the number of a closed stdin, stdout or stderr. */
static void open_standard_files(void) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", O_RDWR) != fd) {
      abort();
    }
  }
}

/* At every end, that of --help in argp too. A reader that went away is no error, and a verb that
 * failed has said why. errno of a failure that was some time ago is another one's by now: another
 * byte tells it again. */
static void check_standard_output(int code, void *unused) {
  (void)unused;
  errno = 0;
  const bool failed = fflush(stdout) != 0 || ferror(stdout) != 0;
  if (failed && errno == 0) {
    (void)fputc('\n', stdout);
    (void)fflush(stdout);
  }
  const int cause = errno;
  if (failed && code == EXIT_DONE && !stream_reader_is_gone(stdout)) {
    fprintf(stderr, "haul: error: cannot write to standard output%s%s\n", cause != 0 ? ": " : "",
            cause != 0 ? strerror(cause) : "");
    _exit(EXIT_NOT_MEASURED);
  }
}

int main(int argc, char **argv) {
  open_standard_files();
  setlocale(LC_CTYPE, "");
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN); /* a file-size limit is an error of the write, not the end */
  argp_err_exit_status = EXIT_USAGE;
  if (on_exit(check_standard_output, NULL) != 0) {
    abort();
  }
  return cli_main(argc, argv);
}
