/* claim.h - what of this host a run claims for itself while it measures, so that two runs do not
 * halve each other's numbers in silence.
 *
 * Locked (runner/run/lock.h) are the GPUs of the plan, by UUID, and the host: exclusively where a
 * case uses memory, processors or PCIe of the host, else together with other runs that stay on
 * their GPUs and NVLink. A run that finds one in use waits, and says for whom; with --share it
 * measures at once, and its cases and those of the other carry a mark. Simulated GPUs are claimed
 * only where the user names the folder for locks. */
#pragma once

#include "engine/case/note.h"
#include "engine/machine/limits.h"
#include "runner/console/console.h"
#include "runner/plan/plan.h"

/* What of a machine a case uses, and so what must not be used by others meanwhile. */
struct case_use {
  uint32_t gpus;  /* bit set of GPUs, as struct machine numbers them */
  uint32_t links; /* of them, those whose link to the host carries bytes */
  bool host;      /* memory, processors or PCIe of the host */
};

_Static_assert(MACHINE_GPUS_MAX <= 32, "a bit for each GPU");

/* Add what the case uses: begin with a zeroed struct. Traffic between GPUs is of the host unless it
 * stays on NVLink; calls of the driver are, because a processor makes them. */
void case_use_add(struct case_use *use, const struct machine *machine, const struct case_def *def);

struct claim_request {
  const struct common_options *common;
  const char *folder;   /* for locks; NULL = the usual place */
  const char *database; /* path */
  uint64_t wait_ns;
  bool share;
  bool sole; /* a run has one owner, whatever copy of its database it has */
  const volatile sig_atomic_t *interrupted;
};

struct claim;

/* Claim what the cases of the plan use that are not skipped. EXIT_DONE: it is claimed, *waited says
 * whether somebody else had it; what cannot be locked on this host is a warning. Else why not was
 * said. *claim stays the caller's. */
int claim_take(const struct claim_request *request, const struct plan *plan, struct claim **claim,
               bool *waited);
void claim_free(struct claim *claim);
/* The run that uses what is claimed. */
void claim_name_run(struct claim *claim, const char *run);
/* Look who else uses what is claimed: between cases. */
void claim_look(struct claim *claim);
/* Which GPUs of a case others used at one of the last two looks, as bits; adds a note for each
 * user. A NULL claim has nothing to say. */
uint32_t claim_note_others(const struct claim *claim, const struct case_use *use,
                           struct notes *notes);

/* The owner of a run, of which there is one: STATUS_DENIED says who measures it. What cannot be
 * locked is a warning, and *owner NULL. */
struct lock;
enum status claim_run(const struct claim_request *request, const char *run, struct lock **owner,
                      struct error *err) CHECK_RESULT;
void claim_leave_run(struct lock *owner);
/* Whether the run has an owner on this host, as far as can be told, in whatever copy of its
 * database: else it was killed, or its owner has other locks (HAUL_LOCKS, a container). */
bool claim_is_measured(const struct claim_request *request, const char *run);
