/* Copies from and to memory that other processes have: every way to share it, both ends, several
 * methods, and what the processes say of it. */
#include "engine/memory/peer_packet.h"
#include "engine/workload/workload.h"
#include "tests/engine/workload/fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 1 << 20 };

static struct endpoint shared(enum share share, int32_t gpu, uint32_t process) {
  const enum memory_kind memory = share_memory(share);
  return (struct endpoint){.place = memory == MEMORY_SHARED ? PLACE_NUMA : PLACE_GPU,
                           .index = memory == MEMORY_SHARED ? 0 : gpu,
                           .memory = memory,
                           .process = process,
                           .share = process != 0 ? share : SHARE_IPC};
}

static struct flow flow_between(struct endpoint source, struct endpoint target,
                                enum method method) {
  return (struct flow){.method = method,
                       .source = source,
                       .target = target,
                       .initiator = target.place == PLACE_GPU ? INITIATOR_TARGET : INITIATOR_SOURCE,
                       .size_bytes = SIZE};
}

static void run_ok(struct fixture *fixture, const struct flow *flow) {
  const struct case_def def = fixture_transfer(flow, 1);
  fixture_run_ok(fixture, &def);
  assert_true(fixture->outcome.verified);
}

/* Each end of a copy in another process, beside the same in this one, which takes as long. */
TEST(every_share_is_copied_and_verified, struct fixture *fixture) {
  for (unsigned share = 0; share < share_name_count; share++) {
    for (int method = METHOD_CE; method <= METHOD_SM; method++) {
      for (int32_t gpu = 0; gpu < 2; gpu++) {
        for (int end = 0; end < 2; end++) {
          const struct endpoint own = fixture_gpu(gpu, MEMORY_DEVICE);
          const struct endpoint other = shared((enum share)share, 0, 1);
          const struct endpoint same = shared((enum share)share, 0, 0);
          struct flow flow =
              flow_between(end == 0 ? same : own, end == 0 ? own : same, (enum method)method);
          run_ok(fixture, &flow);
          const uint64_t own_ns = fixture->trials[fixture->trial_count - 1].elapsed_ns;
          assert_int_equal(fixture->outcome.share_open_first_ns, 0);
          flow = flow_between(end == 0 ? other : own, end == 0 ? own : other, (enum method)method);
          run_ok(fixture, &flow);
          assert_int_equal(fixture->trials[fixture->trial_count - 1].elapsed_ns, own_ns);
          assert_true(fixture->outcome.share_export_ns > 0);
          assert_true(fixture->outcome.share_open_first_ns > 0);
          assert_true(fixture->outcome.share_open_ns > 0);
          assert_true(fixture->outcome.share_close_ns > 0);
        }
      }
    }
  }
}

TEST(processes_of_both_ends_differ, struct fixture *fixture) {
  struct flow flow = flow_between(shared(SHARE_IPC, 0, 1), shared(SHARE_FD, 1, 2), METHOD_CE);
  run_ok(fixture, &flow);
  flow = flow_between(shared(SHARE_POOL, 0, 2), shared(SHARE_POOL, 0, 2), METHOD_SM);
  run_ok(fixture, &flow);
}

TEST(host_threads_copy_shared_memory, struct fixture *fixture) {
  struct flow flow =
      flow_between(shared(SHARE_MEMFD, 0, 1), fixture_node(0, MEMORY_PAGEABLE), METHOD_CPU);
  run_ok(fixture, &flow);
  flow = flow_between(fixture_node(0, MEMORY_SHARED), shared(SHARE_SHM, 0, 2), METHOD_CPU);
  run_ok(fixture, &flow);
}

TEST(rows_of_a_strided_copy_are_filled_by_their_owner, struct fixture *fixture) {
  struct flow flow =
      flow_between(shared(SHARE_IPC, 0, 1), fixture_gpu(0, MEMORY_DEVICE), METHOD_CE);
  flow.shape =
      (struct copy_shape){.width_bytes = 1000, .height = 8, .depth = 2, .pitch_bytes = 4096};
  flow.size_bytes = UINT64_C(16000);
  run_ok(fixture, &flow);
  flow = flow_between(fixture_gpu(0, MEMORY_DEVICE), shared(SHARE_FD, 0, 1), METHOD_CE);
  flow.shape =
      (struct copy_shape){.width_bytes = 1000, .height = 8, .depth = 2, .pitch_bytes = 4096};
  flow.size_bytes = UINT64_C(16000);
  run_ok(fixture, &flow);
}

/* test_processes.toml: a byte of each copy of this size arrives wrong. The owner of the target
 * finds it. */
TEST(the_owner_finds_what_is_wrong, struct fixture *fixture) {
  struct flow flow =
      flow_between(fixture_gpu(1, MEMORY_DEVICE), shared(SHARE_IPC, 0, 1), METHOD_CE);
  flow.size_bytes = 3 * SIZE;
  const struct case_def def = fixture_transfer(&flow, 1);
  fixture_fails(fixture, &def, CASE_CORRUPT,
                "1 of 3145728 bytes differ, the first at offset "
                "4711: expected");
}

/* test_processes.toml: the driver cannot export a pool of GPU 1. */
TEST(what_cannot_be_shared_is_skipped, struct fixture *fixture) {
  const struct flow flow =
      flow_between(shared(SHARE_POOL, 1, 1), fixture_gpu(0, MEMORY_DEVICE), METHOD_CE);
  const struct case_def def = fixture_transfer(&flow, 1);
  fixture_fails(fixture, &def, CASE_SKIPPED, "process 1: cuMemPoolExportPointer");
}

TEST(methods_say_what_they_do_not_copy, struct fixture *fixture) {
  const char *why = "copied whole or in rows, by method ce, sm or cpu";
  struct flow flow =
      flow_between(shared(SHARE_IPC, 0, 1), fixture_gpu(0, MEMORY_DEVICE), METHOD_CE);
  flow.scatter = (struct scatter_shape){.pieces = 16, .piece_bytes = SIZE / 16};
  fixture_refuse(fixture, flow, why);
  flow = flow_between(shared(SHARE_IPC, 0, 1), fixture_gpu(0, MEMORY_DEVICE), METHOD_CE);
  flow.source.memory = MEMORY_VMM;
  fixture_refuse(fixture, flow, why);
}

TEST(calls_open_what_others_have, struct fixture *fixture) {
  static const enum overhead_operation operations[] = {
      OVERHEAD_IPC_OPEN,  OVERHEAD_IPC_CLOSE,  OVERHEAD_FD_OPEN,     OVERHEAD_FD_CLOSE,
      OVERHEAD_POOL_OPEN, OVERHEAD_POOL_CLOSE, OVERHEAD_SHARED_OPEN, OVERHEAD_SHARED_CLOSE};
  for (size_t i = 0; i < COUNT_OF(operations); i++) {
    const struct case_def def = fixture_case(CASE_OVERHEAD);
    work.overhead = (struct overhead){
        .operation = operations[i], .size_bytes = SIZE, .handles = i % 2 == 0 ? 20 : 0};
    assert_int_equal(engine_case_processes(&def), 1 << 1);
    fixture_run_ok(fixture, &def);
    assert_true(fixture->outcome.call_median_ns > 0);
  }
}

static void refuses(const struct fixture *fixture, const struct peer_packet *packet, int file,
                    const char *why) {
  const int socket = fixture->peers.sockets[0];
  struct peer_answer answer;
  int unused = -1;
  assert_true(peer_send(socket, packet, sizeof *packet, file));
  assert_true(peer_receive(socket, &answer, sizeof answer, &unused));
  assert_int_equal(answer.status, STATUS_INVALID);
  assert_string_equal(answer.reason, why);
}

TEST(numbers_from_elsewhere_are_checked, struct fixture *fixture) {
  const struct endpoint memory = shared(SHARE_MEMFD, 0, 1);
  const int32_t gpus[] = {-1, (int32_t)fixture->machine->gpu_count, INT32_MAX};
  struct peer_packet packet;
  struct share_handle handle;
  memset(&packet, 0, sizeof packet);
  packet.request = PEER_EVENT_OPEN;
  for (size_t i = 0; i < COUNT_OF(gpus); i++) {
    packet.signal.index = gpus[i];
    refuses(fixture, &packet, -1, "it has no such GPU");
  }
  uint64_t lent = 0;
  assert_ok(peer_export(&fixture->engine->context, &memory, SIZE, &lent, &handle, err), err);
  (void)close(handle.file);
  packet.request = PEER_SIGNAL_PASS;
  packet.signal.index = 0;
  packet.signal.watched_in = packet.signal.answer_in = lent;
  packet.signal.side.watched = UINT64_MAX - 1;
  refuses(fixture, &packet, -1, "it has lent no such memory");
  packet.signal.side.watched = 0;
  packet.signal.side.answer = SIZE - 3;
  refuses(fixture, &packet, -1, "it has lent no such memory");
  peer_release(&fixture->engine->context, 1, lent);
}

/* It ends with the last of them. */
TEST(a_file_that_nobody_wants_is_closed, struct fixture *fixture) {
  struct peer_packet packet;
  int ends[2];
  char byte;
  memset(&packet, 0, sizeof packet);
  assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  refuses(fixture, &packet, ends[1], "it was asked for something unknown");
  assert_int_equal(close(ends[1]), 0);
  assert_int_equal(read(ends[0], &byte, 1), 0);
  assert_int_equal(close(ends[0]), 0);
}

/* Last: nothing can be measured with it any more. */
TEST(a_process_that_ended_costs_the_case_and_the_engine, struct fixture *fixture) {
  const struct flow flow =
      flow_between(shared(SHARE_IPC, 0, 2), fixture_gpu(0, MEMORY_DEVICE), METHOD_CE);
  const struct case_def def = fixture_transfer(&flow, 1);
  const struct trial_sink sink = {.context = NULL};
  assert_int_equal(engine_case_processes(&def), 1 << 2);
  assert_int_equal(kill(fixture->peer_pids[1], SIGKILL), 0);
  assert_int_equal(waitpid(fixture->peer_pids[1], NULL, 0), fixture->peer_pids[1]);
  assert_int_equal(engine_run_case(fixture->engine, &def, &sink, &fixture->outcome, err),
                   STATUS_STICKY);
  assert_int_equal(fixture->outcome.status, CASE_FAILED);
  assert_string_equal(fixture->outcome.reason,
                      "process 2 ended while it was asked to allocate and export memory");
}

TEST_GROUP(fixture_set_up, fixture_tear_down);
