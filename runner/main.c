/* haul: how data moves inside a GPU machine. */
#include "runner/cli/cli.h"

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

int main(int argc, char **argv) {
  open_standard_files();
  setlocale(LC_CTYPE, "");
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN); /* a file-size limit is an error of the write, not the end */
  argp_err_exit_status = EXIT_USAGE;
  int code = cli_main(argc, argv);
  /* A reader that went away is no error, and a verb that failed has said why. */
  if ((fflush(stdout) != 0 || ferror(stdout)) && errno != EPIPE && code == EXIT_DONE) {
    fprintf(stderr, "haul: error: cannot write to standard output: %s\n", strerror(errno));
    code = EXIT_NOT_MEASURED;
  }
  return code;
}
