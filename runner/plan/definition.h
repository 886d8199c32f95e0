/* definition.h - what makes two cases the same measurement.
 *
 * A definition is JSON in one canonical form: members in a fixed order, integers only, no spaces.
 *
 *   version   of this form
 *   kind      of the case
 *   flows     of a transfer, for each flow: role, method and its version (METHOD_LIST in
 *             engine/case/transfer.h), source and target with place, index and kind of memory,
 *             initiator, staged, size_bytes, and the keys that its method has besides
 *   KIND      of another kind, an object named like it: method_version, and every key of the kind
 *             that means something for the case. Blocks that were asked for by the SM are a number
 *   measure   what changes the number: iterations where fixed, else min_trial_ns; host_cache where
 *             caches of the host matter, device_cache where those of a GPU do; gate when it is off
 *
 * Which keys, under which names and in which order is in the rows of the keys (struct field: json,
 * resolved, applies). A definition holds nothing that only changes care (trials, precision,
 * max_time, warmup, verify), no name, and nothing about driver or host, so that one case has one
 * key on every machine and under every driver. The recorder fills the tables of a case from it.
 *
 * case_key is XXH3-128 of that text, canonical byte order, as 32 lower-case hexadecimal digits. */
#pragma once

#include "engine/base/strbuf.h"
#include "engine/case/case.h"

/* Append the definition of a case that has its kind, what it measures, and measure. */
void definition_append(struct strbuf *text, const struct case_def *def);
/* The same for a setting that came to nothing; name is unique in the plan. */
void definition_append_unresolved(struct strbuf *text, enum case_kind kind, const char *name);
void definition_key(const char *definition, size_t length, char key[CASE_KEY_MAX]);

/* Parts of it, for kinds that write theirs themselves. `before` is what stands in front. */
void definition_append_number(struct strbuf *text, const char *before, uint64_t value);
/* Names of enums only: no text here needs escaping. */
void definition_append_text(struct strbuf *text, const char *before, const char *value);
void definition_append_endpoint(struct strbuf *text, const char *before,
                                const struct endpoint *endpoint);
/* The keys that the flow's method has, each with a comma in front. */
void definition_append_options(struct strbuf *text, const struct flow *flow);

/* The keys of the case's work, each with a comma in front. */
void definition_append_work_keys(struct strbuf *text, const struct case_def *def);
