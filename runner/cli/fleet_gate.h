/* fleet_gate.h - whether the nodes of a fleet are well: one line per node and reason, and exit
 * code 1. */
#pragma once

#include "runner/cli/options.h"

#define FLEET_REASON_LIST(X)                                                                       \
  X(FLEET_MISSING, "missing")     /* expected, and sent nothing */                                 \
  X(FLEET_PARTIAL, "partial")     /* did not end */                                                \
  X(FLEET_FAILED, "failed")       /* a case was not ok, or nothing was measured */                 \
  X(FLEET_DIFFERENT, "different") /* driver, Linux kernel, VBIOS, GPUs, failed checks */           \
  X(FLEET_SLOW, "slow")           /* a part of it, as haul outliers finds */
ENUM_NAMES_DECLARE(fleet_reason, FLEET_REASON_LIST)

/* "missing,slow": as bits of an unsigned, bit i: enum fleet_reason i. */
bool fleet_gate_take(const struct option_use *use);
/* Print what is wrong with the fleet of that name (NULL: the one that was started last);
 * command->code becomes EXIT_REGRESSED where something of fails (0: of any reason) is. The database
 * to read is that of the command. STATUS_NOT_FOUND: there is no fleet. */
enum status fleet_gate_check(struct command *command, const char *fleet, unsigned fails,
                             struct error *err) CHECK_RESULT;

/* The columns of these lines. */
void fleet_gate_describe_json(struct json_shape *shape);
