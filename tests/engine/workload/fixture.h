/* fixture.h - cases run by the real engine against the fake driver, in this process. The machine
 * and the faults are those of HAUL_FAKE_MACHINE and HAUL_FAKE_FAULTS, one a test program. */
#pragma once

#include "engine/case/transfer.h"
#include "engine/case/work.h"
#include "engine/engine.h"
#include "engine/machine/machine.h"
#include "engine/memory/peer.h"
#include "tests/cmocka.h"

#include <sys/types.h>

enum { FIXTURE_TRIALS_MAX = 256 };

struct fixture {
  struct machine *machine;
  struct engine *engine;
  struct peers peers; /* the processes whose memory the engine opens */
  pid_t peer_pids[2];
  struct case_outcome outcome; /* of the last case */
  uint32_t trial_count;
  uint32_t flow_trial_count;
  struct trial trials[FIXTURE_TRIALS_MAX];
  struct flow_trial flow_trials[FIXTURE_TRIALS_MAX];
};

/* For cmocka: group set-up and tear-down; *state is the fixture. */
int fixture_set_up(void **state);
int fixture_tear_down(void **state);

struct endpoint fixture_gpu(int32_t index, enum memory_kind memory);
struct endpoint fixture_node(int32_t index, enum memory_kind memory);
/* Started by the GPU where one end is the host's, else by the source; a processor's by one thread.
 * A load is the same, in that role. */
struct flow fixture_flow(enum method method, struct endpoint source, struct endpoint target,
                         uint64_t size_bytes);
struct flow fixture_load(enum method method, struct endpoint source, struct endpoint target,
                         uint64_t size_bytes);
/* Careful and quick: a warm-up, 2 trials, verified. */
struct measure fixture_measure(void);
/* A transfer of those flows; payload is filled in. */
struct case_def fixture_transfer(const struct flow *flows, uint32_t count);
/* A case of another kind, which measures what stands in `work`: one at a time. */
extern union work work;
struct case_def fixture_case(enum case_kind kind);
/* Run it; everything that the engine says is in the fixture. */
void fixture_run(struct fixture *fixture, const struct case_def *def);
/* The same, and it must be ok and verified. */
void fixture_run_ok(struct fixture *fixture, const struct case_def *def);
/* The same, and it must end so, unverified, for a reason that has `why` in it; what is skipped,
 * without a trial. */
void fixture_fails(struct fixture *fixture, const struct case_def *def, enum case_status status,
                   const char *why);
void fixture_skips(struct fixture *fixture, const struct case_def *def, const char *why);
/* The flow's method must refuse it for a reason that has `why` in it. */
void fixture_refuse(const struct fixture *fixture, struct flow flow, const char *why);
