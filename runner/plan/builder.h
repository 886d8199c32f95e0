/* builder.h - a plan in the making: cases come in one after the other, plan_new() feeds it from a
 * scenario, tests from settings made by hand. */
#ifndef HAUL_RUNNER_PLAN_BUILDER_H
#define HAUL_RUNNER_PLAN_BUILDER_H

#include "runner/plan/plan.h"

struct plan_builder;

/* only may be NULL. machine and only are borrowed. */
struct plan_builder *plan_builder_new(const struct machine *machine, const char *only);
void plan_builder_free(struct plan_builder *builder);
/* Every case of one setting; block and the setting are borrowed for the call. Texts that the
 * setting points to are copied where they are kept. */
enum status plan_builder_add(struct plan_builder *builder, const char *block,
                             const struct setting *setting, struct error *err) CHECK_RESULT;
/* Order, estimate, total. On success the builder is empty and *plan owns everything. */
enum status plan_builder_finish(struct plan_builder *builder, enum case_order order, uint64_t seed,
                                struct plan **plan, struct error *err) CHECK_RESULT;

#endif
