/* Memory faulted by the host is timed by the host's clock: time in which a thread is blocked, and
 * uses no processor, is in the result. */
#include "tests/engine/workload/fixture.h"

#include "engine/method/method.h"
#include "engine/trial/host_trial.h"
#include "engine/workload/workload.h"
#include "kernels/pattern_values.h"

#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PAGES = 64, BLOCKED_PAGE = 40, BLOCKED_MS = 60 };

static void *blocked_page; /* for the handler */

/* The fault takes its time, as one does whose page is on its way. */
static void serve_fault(int number, siginfo_t *info, void *context) {
  const struct timespec duration = {.tv_nsec = BLOCKED_MS * 1000000L};
  const uintptr_t offset = (uintptr_t)info->si_addr - (uintptr_t)blocked_page;
  const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
  if (offset >= page_bytes) {
    (void)signal(SIGSEGV, SIG_DFL); /* a real mistake: the same access ends the test */
    return;
  }
  (void)nanosleep(&duration, NULL);
  (void)mprotect(blocked_page, page_bytes, PROT_READ | PROT_WRITE);
}

static uint64_t processor_time_ns(void) {
  struct timespec used;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return (uint64_t)used.tv_sec * UINT64_C(1000000000) + (uint64_t)used.tv_nsec;
}

TEST(blocked_time_is_in_the_result, struct fixture *fixture) {
  const struct memory_context *context = &fixture->engine->context;
  const struct method_ops *um = methods[METHOD_UM];
  const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
  const struct flow flow = {.method = METHOD_UM,
                            .source = fixture_gpu(0, MEMORY_MANAGED),
                            .target = fixture_node(0, MEMORY_MANAGED),
                            .size_bytes = PAGES * page_bytes,
                            .unified = {.touch_by = INITIATOR_TARGET, .threads = 2}};
  struct flow_run run = {.flow = &flow, .gpu = um->gpu(&flow), .seed = 7};
  run.shared[0] = (struct buffer){.endpoint = flow.source, .size_bytes = flow.size_bytes};
  assert_ok(memory_kinds[MEMORY_MANAGED]->allocate(context, &run.shared[0], err), err);
  run.shared[1] = run.shared[0];
  run.shared[1].endpoint = flow.target;
  run.source = &run.shared[0];
  run.target = &run.shared[1];
  assert_ok(um->prepare(context, &run, err), err);
  assert_ok(um->before_trial(context, &run, err), err);

  struct sigaction action = {.sa_sigaction = serve_fault, .sa_flags = SA_SIGINFO};
  struct sigaction before;
  (void)sigemptyset(&action.sa_mask);
  blocked_page = run.target->host + BLOCKED_PAGE * page_bytes;
  assert_int_equal(sigaction(SIGSEGV, &action, &before), 0);
  assert_int_equal(mprotect(blocked_page, page_bytes, PROT_NONE), 0);
  struct flow_times flow_times;
  struct trial_times times = {.flows = &flow_times};
  const uint64_t used_ns = processor_time_ns();
  assert_ok(host_trial_run(&run, 1, 1, &times, err), err);
  const uint64_t processor_ns = processor_time_ns() - used_ns;
  assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);

  assert_true(times.window_ns >= BLOCKED_MS * UINT64_C(1000000));
  assert_true(flow_times.elapsed_ns >= BLOCKED_MS * UINT64_C(1000000));
  assert_true(processor_ns < times.window_ns); /* it was not spent computing */
  assert_ok(um->after_trial(context, &run, err), err);
  for (uint64_t page = 0; page < PAGES; page++) {
    assert_int_equal(run.target->host[page * page_bytes], pattern_byte(7, page * page_bytes));
  }
  um->release(context, &run);
  memory_kinds[MEMORY_MANAGED]->release(context, &run.shared[0]);
}

TEST_GROUP(fixture_set_up, fixture_tear_down);
