/* SIGINT and SIGTERM: counted, nothing else. */
#include "runner/cli/cli.h"

#include <signal.h>

/* A signal handler has no other place to leave word. */
static volatile sig_atomic_t interrupts;

static void count_interrupt(int number) {
  (void)number;
  if (interrupts < 2) {
    interrupts = interrupts + 1;
  }
}

static void watch(int number) {
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
  watch(SIGINT);
  watch(SIGTERM);
  return &interrupts;
}
