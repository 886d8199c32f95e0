/* What `haul plan` prints, of a plan made by hand. */
#include "engine/case/transfer.h"
#include "engine/machine/machine.h"
#include "runner/plan/plan.h"
#include "runner/render/plan.h"
#include "schema/scenario/scenario.h"
#include "schema/scenario/setting.h"
#include "tests/runner/plan/fixture.h"

#include <jansson.h>

RELEASE(json_decref, json_t)

/* 56 pairs, 56 host-device copies both ways with an axis, one skip for each of two sizes. */
static struct plan *make_plan(struct machine *machine) {
  struct plan_builder *builder = plan_builder_new(machine, NULL);
  struct error err;
  struct setting setting = setting_of(gpu_end(SELECT_ALL), gpu_end(SELECT_ALL));
  assert_ok(plan_builder_add(builder, "device_to_device", &setting, &err), &err);
  assert_ok(plan_builder_add(builder, "again", &setting, &err), &err);
  const int32_t missing[] = {9};
  for (uint64_t i = 1; i <= 3; i++) {
    setting = setting_of(
        numa_end(SELECT_LOCAL, MEMORY_PINNED),
        gpu_end((struct selector){.kind = SELECTOR_LIST, .indices = missing, .count = 1}));
    setting.transfer.flow.base.size_bytes = i << 20;
    assert_ok(plan_builder_add(builder, "missing", &setting, &err), &err);
  }
  setting = setting_of(numa_end(SELECT_LOCAL, MEMORY_PINNED), gpu_end(SELECT_ALL));
  setting.transfer.direction = DIRECTION_BOTH;
  const struct axis_value axis = {"threads", "4"};
  setting.axis_values = &axis;
  setting.axis_value_count = 1;
  assert_ok(plan_builder_add(builder, "both", &setting, &err), &err);
  struct plan *plan = NULL;
  assert_ok(plan_builder_finish(builder, CASE_ORDER_FILE, 0, &plan, &err), &err);
  plan_builder_free(builder);
  return plan;
}

/* Owned by the caller. */
static char *render_within(const struct plan *plan, bool details, enum output_format format,
                           unsigned width) {
  CAPTURE(out);
  const struct table_options options = {.format = format, .stream = out.stream, .width = width};
  struct error err;
  assert_ok(plan_render(plan, 5, details, &options, &err), &err);
  return capture_take(&out);
}

static char *render(const struct plan *plan, enum output_format format) {
  return render_within(plan, false, format, 0);
}

static size_t count_of(const char *text, const char *part) {
  size_t count = 0;
  for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part)) {
    count++;
  }
  return count;
}

TEST(people_see_cases_skips_and_totals) {
  SCOPED(memory_free) struct machine *machine = machine_8xh100();
  SCOPED(plan_free_at) struct plan *plan = make_plan(machine);
  SCOPED(memory_free) char *blocks = render(plan, OUTPUT_TABLE);
  assert_contains(blocks, "\ndevice_to_device     56  gpu0-gpu1 ... ");
  assert_int_equal(count_of(blocks, "\nboth "), 1);
  assert_contains(blocks, "\n67 cases, 3 of them skipped; about ");
  assert_contains(blocks, " on a GPU; -v lists every case\n");
  SCOPED(memory_free) char *text = render_within(plan, true, OUTPUT_TABLE, 0);
  assert_int_equal(count_of(text, "\ndevice_to_device "), 56);
  assert_int_equal(count_of(text, "\nboth "), 8);
  SCOPED(memory_free) char *narrow = render_within(plan, true, OUTPUT_TABLE, 50);
  assert_int_equal(count_of(narrow, "\ndevice_to_device "), 56);
  assert_contains(narrow, "in all rows size=64MiB, method=ce\nblock ");
  assert_contains(narrow, "\nno room for flows, peak GB/s, limit, time: use a\n");
  assert_int_equal(count_of(text, "threads=4"), 8);
  assert_int_equal(count_of(text, " 478.3 "), 56);
  assert_contains(text, "\nSkipped: 3\n     3  there is no GPU 9 (GPUs: 0-7)\n"
                        "        missing/numa.local:pinned-gpu9/1MiB, "
                        "missing/numa.local:pinned-gpu9/2MiB and 1 more\n");
  assert_non_null(
      strstr(text, "\nMeasured once: 56\n"
                   "        again/gpu0-gpu1/64MiB is the same measurement as device_to_device/"
                   "gpu0-gpu1/64MiB\n"));
  assert_contains(text, "        and 51 more\n");
  assert_contains(text, "\n67 cases, 3 of them skipped; about ");
  assert_contains(text, " s to start), ");
  assert_contains(text, " for 5 processes; at most 128 MiB of host memory and 128 MiB on "
                        "a GPU\n");
}

TEST(how_long_noisy_cases_are_measured_again_is_said) {
  SCOPED(memory_free) struct machine *machine = machine_8xh100();
  SCOPED(plan_free_at) struct plan *plan = make_plan(machine);
  struct scenario scenario = {.run = {.settle_ns = 30000000000}};
  plan->scenario = &scenario;
  SCOPED(memory_free) char *given = render(plan, OUTPUT_TABLE);
  assert_contains(given, " for 5 processes, and up to 30 s to measure noisy cases again; at most ");
  scenario.run.settle_ns = PLAN_SETTLE_AUTO;
  assert_int_equal(plan_settle_ns(plan, 100), 100 * plan->estimate_ns); /* as long as once */
  plan->estimate_ns = 1;
  assert_int_equal(plan_settle_ns(plan, 1), PLAN_SETTLE_NS);
  scenario.run.settle_ns = 0;
  SCOPED(memory_free) char *once = render(plan, OUTPUT_TABLE);
  assert_null(strstr(once, "noisy"));
}

TEST(programs_get_every_case) {
  SCOPED(memory_free) struct machine *machine = machine_8xh100();
  SCOPED(plan_free_at) struct plan *plan = make_plan(machine);
  char *text = render(plan, OUTPUT_CSV);
  assert_int_equal(count_of(text, "\r\n"), 1 + plan->case_count);
  assert_int_equal(count_of(text, "there is no GPU 9 (GPUs: 0-7)"), 3);
  free(text);

  text = render(plan, OUTPUT_JSON);
  json_error_t where;
  SCOPED(json_decref_at) json_t *root = json_loads(text, 0, &where);
  assert_non_null(root);
  const json_t *cases = json_object_get(root, "cases");
  assert_int_equal(json_array_size(cases), plan->case_count);
  assert_int_equal(json_array_size(json_object_get(root, "duplicates")), 56);
  assert_int_equal(json_integer_value(json_object_get(root, "skip_count")), 3);
  for (size_t i = 0; i < plan->case_count; i++) {
    const json_t *c = json_array_get(cases, i);
    const struct case_def *def = &plan->cases[i].def;
    assert_string_equal(json_string_value(json_object_get(c, "case")), def->name);
    assert_string_equal(json_string_value(json_object_get(c, "case_key")), def->key);
    assert_int_equal(json_array_size(json_object_get(c, "flows")), def->flow_count);
    assert_int_equal(json_is_null(json_object_get(c, "skip_reason")),
                     plan->cases[i].skip_reason == NULL);
  }
  free(text);
}

TEST(a_plan_without_a_case_to_measure_has_no_table) {
  SCOPED(memory_free) struct machine *machine = machine_cpu();
  struct plan_builder *builder = plan_builder_new(machine, NULL);
  (void)snprintf(machine->cuda_state, sizeof machine->cuda_state, "odd \033[31m state");
  const struct setting setting = setting_of(gpu_end(SELECT_ALL), gpu_end(SELECT_ALL));
  assert_ok(plan_builder_add(builder, "d2d", &setting, err), err);
  SCOPED(plan_free_at) struct plan *plan = NULL;
  assert_ok(plan_builder_finish(builder, CASE_ORDER_FILE, 0, &plan, err), err);
  plan_builder_free(builder);
  SCOPED(memory_free) char *text = render(plan, OUTPUT_TABLE);
  assert_string_equal(text, "nothing to measure: the only case is skipped\n\nSkipped: 1\n     1  "
                            "odd \\u001b[31m state\n        "
                            "d2d/gpu.all-gpu.all/64MiB\n\n1 case, none measured\n");
}

TEST(a_full_disk_is_an_error) {
  SCOPED(memory_free) struct machine *machine = machine_8xh100();
  SCOPED(plan_free_at) struct plan *plan = make_plan(machine);
  static const enum output_format formats[] = {OUTPUT_TABLE, OUTPUT_JSON, OUTPUT_CSV};
  for (size_t i = 0; i < COUNT_OF(formats); i++) {
    FILE *stream = fopen("/dev/full", "w");
    assert_non_null(stream);
    const struct table_options options = {.format = formats[i], .stream = stream};
    assert_fails(plan_render(plan, 1, false, &options, err), STATUS_IO, err, "No space left");
    (void)fclose(stream);
  }
}
