/* haul: how data moves inside a GPU machine. */
#include "runner/cli/cli.h"
#include "runner/table/table.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { STACK_LEAST_KIB = 1024, STACK_USUAL_KIB = 8192, BYTES_PER_KIB = 1024 };

/* A file that is opened later must not get the number of a closed stdin, stdout or stderr. */
static void open_standard_files(void) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    /* Without a /dev, an empty file of no name is as good. */
    if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", O_RDWR) != fd &&
        memfd_create("null", 0) != fd) {
      abort();
    }
  }
}

/* False: it may not grow far enough, and the end would be a crash. */
static bool stack_is_enough(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      limit.rlim_cur >= (rlim_t)STACK_LEAST_KIB * BYTES_PER_KIB) {
    return true;
  }
  const rlim_t usual = (rlim_t)STACK_USUAL_KIB * BYTES_PER_KIB;
  limit.rlim_cur = limit.rlim_max < usual ? limit.rlim_max : usual;
  if (limit.rlim_cur >= (rlim_t)STACK_LEAST_KIB * BYTES_PER_KIB &&
      setrlimit(RLIMIT_STACK, &limit) == 0) {
    return true;
  }
  fprintf(stderr,
          "haul: error: the stack is limited to %llu KiB, and haul needs %d KiB: raise the limit "
          "with ulimit -s %d\n",
          (unsigned long long)limit.rlim_max / BYTES_PER_KIB, STACK_LEAST_KIB, STACK_USUAL_KIB);
  return false;
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
    (void)fflush(stderr);
    _exit(EXIT_NOT_MEASURED);
  }
}

int main(int argc, char **argv) {
  open_standard_files();
  if (!stack_is_enough()) {
    return EXIT_NOT_MEASURED;
  }
  setlocale(LC_CTYPE, "");
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN); /* a file-size limit is an error of the write, not the end */
  argp_err_exit_status = EXIT_USAGE;
  if (on_exit(check_standard_output, NULL) != 0) {
    abort();
  }
  return cli_main(argc, argv);
}
