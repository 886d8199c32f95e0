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
  argp_err_exit_status = EXIT_USAGE;
  int code = cli_main(argc, argv);
  if ((fflush(stdout) != 0 || ferror(stdout)) && errno != EPIPE && errno != 0) {
    fprintf(stderr, "haul: error: cannot write to standard output: %s\n", strerror(errno));
    code = worse(code, EXIT_NOT_MEASURED);
  }
  return code;
}
