/* key.h - what makes two cases the same measurement.
 *
 * definition is JSON in one canonical form: keys in a fixed order, integers only, no spaces. It
 * holds the kind of the case. Of a transfer, of each flow: role, method and its version
 * (engine_method_version), source and target with place, index and memory kind, initiator, staged,
 * size, and what the method has besides: threads (cpu), kernel (sm), unified (um), shape (strided
 * copies). Of a chase: whose threads, which memory, footprint, stride, order, cache, threads,
 * blocks, hops. Of a stream: operation, type, memory, size, passes, and of a GPU shape and clock,
 * of a node its threads; of arithmetic: operation, type, what is measured, where, shape,
 * instructions; of an overhead: operation, whose context, and of allocations memory and size. Each
 * with its method's version. Blocks that were asked for by the SM are a number here. Of measure it
 * holds what changes the number: iterations where fixed, else min_trial_ns; host_cache where a
 * measured flow touches host memory, device_cache where one touches a GPU; of a transfer gate, when
 * it is off. It holds nothing that only changes care (trials, precision, max_time, warmup, verify),
 * no name, and nothing about driver or host, so that one case has one key on every machine and
 * under every driver.
 *
 * case_key is XXH3-128 of that text, canonical byte order, as 32 lower-case hexadecimal digits. */
#ifndef HAUL_RUNNER_PLAN_KEY_H
#define HAUL_RUNNER_PLAN_KEY_H

#include "engine/base/strbuf.h"
#include "engine/case/case.h"

/* Append the definition. */
void key_define(const struct flow *flows, uint32_t flow_count, const struct measure *measure,
                struct strbuf *text);
/* The same for a case of another kind, by its kind and work. */
void key_define_work(const struct bench_case *bench, const struct measure *measure,
                     struct strbuf *text);
/* The same for a setting that came to nothing; name is unique in the plan. */
void key_define_unresolved(enum case_kind kind, const char *name, struct strbuf *text);
void key_of_definition(const char *definition, size_t length, char key[CASE_KEY_MAX]);

#endif
