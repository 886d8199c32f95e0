/* fuzz.h - what the fuzz targets share. Each is one file with libFuzzer's entry point; fuzz_main.c
 * runs it without libFuzzer. */
#pragma once

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_require(bool condition, const char *what) {
  if (!condition) {
    (void)fprintf(stderr, "fuzz: %s\n", what);
    abort();
  }
}

/* Removes the folder when this process has ended, however it does: a shell of its own session,
 * which no signal to this one reaches, waits for the end of a pipe that only this process has open.
 */
static inline void fuzz_remove_after(const char *folder) {
  int ends[2];
  fuzz_require(pipe2(ends, O_CLOEXEC) == 0, "no pipe");
  const pid_t child = fork();
  if (child == 0) {
    if (fork() == 0 && setsid() != -1 && dup2(ends[0], STDIN_FILENO) == STDIN_FILENO) {
      (void)execl("/bin/sh", "sh", "-c", "exec >&- 2>&-; read -r end; rm -rf -- \"$1\"", "sh",
                  folder, (char *)NULL);
    }
    _exit(0);
  }
  fuzz_require(child > 0 && waitpid(child, NULL, 0) == child, "no process");
  (void)close(ends[0]);
}
