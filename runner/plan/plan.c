#include "runner/plan/plan.h"

#include "runner/plan/builder.h"

static enum status add_block(struct plan_builder *builder, const struct block *block,
                             struct error *err) {
  const size_t count = block_setting_count(block);
  for (size_t i = 0; i < count; i++) {
    struct setting setting;
    block_setting(block, i, &setting);
    enum status status = plan_builder_add(builder, block_name(block), &setting, err);
    if (status != STATUS_OK) {
      return status;
    }
  }
  return STATUS_OK;
}

enum status plan_new(const struct scenario *scenario, const struct machine *machine,
                     const struct plan_options *options, struct plan **plan, struct error *err) {
  struct plan_builder *builder = plan_builder_new(machine, options != NULL ? options->only : NULL);
  enum status status = STATUS_OK;
  for (size_t i = 0; status == STATUS_OK && i < scenario->block_count; i++) {
    status = add_block(builder, scenario->blocks[i], err);
  }
  struct plan *made = NULL;
  if (status == STATUS_OK) {
    status = plan_builder_finish(builder, scenario->run.order, scenario->run.seed, &made, err);
  }
  if (status == STATUS_OK) {
    made->scenario = scenario;
    *plan = made;
  }
  plan_builder_free(builder);
  return status;
}
