/* Random scenarios on recorded machines, with made-up results: every case that is measured stands
 * once in its block, with its number, in a cell or row whose labels lead back to it; the same in
 * text of any width, in JSON and on a page.
 *
 * test_runner_render_layout [FIRST COUNT]: seeds to try. */
#include "engine/base/units.h"
#include "engine/case/note.h"
#include "engine/case/transfer.h"
#include "engine/case/work.h"
#include "engine/machine/machine.h"
#include "runner/record/query.h"
#include "runner/record/record.h"
#include "runner/render/page/page.h"
#include "runner/render/result/run_result.h"
#include "runner/table/table.h"
#include "schema/machine/machine_file.h"
#include "tests/runner/plan/fixture.h"
#include "tests/runner/plan/random_scenario.h"

#include <inttypes.h>
#include <math.h>
#include <unistd.h>

RELEASE(diagnostics_free, struct diagnostics)

enum { PLACES_LIMIT = 3000, LEAST_NUMBER = 1000 };

static unsigned long first_seed = 1;
static unsigned long seed_count = ROUNDS(150, 25);

/* ---- places: what must be shown ---- */

struct expected {
  const char *block, *name, *axes;
  const struct plan_case *measured;
  size_t number; /* that is shown, whatever its unit */
  bool found;
};

struct world {
  struct planned planned;
  struct plan measured; /* the plan without what is skipped */
  double *median_ns;
  struct expected *places;
  size_t place_count;
  struct arena arena;
  const char *scenario;
  const char *machine;
};

static void world_fail(const struct world *world, const char *what, const struct expected *place) {
  print_error("%s on %s:\n%s\n", what, world->machine, world->scenario);
  if (place != NULL) {
    print_error("%s, axes \"%s\", block %s, shown as %zu\n", place->name, place->axes, place->block,
                place->number);
  }
  fail();
}

/* The time with which the number of the case is shown. */
static double time_of(const struct case_def *def, double number) {
  if (def->kind == CASE_OVERHEAD) {
    return number;
  }
  if (def->kind == CASE_CHASE || def->kind == CASE_ARITHMETIC) {
    return number * (double)def->operations;
  }
  return (double)def->payload_bytes / number;
}

static void add_place(struct world *world, const struct expected *place) {
  world->places[world->place_count++] = *place;
}

/* False: not a scenario, or too large or empty a plan. */
static bool make_world(struct world *world, const char *machine, const char *text) {
  struct error err = {.message = ""};
  SCOPED(diagnostics_free_at) struct diagnostics *diagnostics = diagnostics_new();
  struct plan *plan = NULL;
  enum status status = scenario_parse(text, strlen(text), "random.toml", NULL, 0,
                                      &world->planned.scenario, diagnostics);
  if (status != STATUS_OK) {
    return false;
  }
  PRINTED(path, 512, "%s/tests/machines/%s", HAUL_SOURCE_DIR, machine);
  world->planned.machine = memory_new(1, sizeof *world->planned.machine);
  assert_int_equal(machine_file_load(path, world->planned.machine, &err), STATUS_OK);
  assert_int_equal(plan_new(world->planned.scenario, world->planned.machine, NULL, &plan, &err),
                   STATUS_OK);
  world->planned.plan = plan;
  if (plan->case_count + plan->duplicate_count > PLACES_LIMIT ||
      plan->skip_count == plan->case_count) {
    return false;
  }
  const size_t most = plan->case_count + plan->duplicate_count;
  struct plan_case *cases = arena_array(&world->arena, most, sizeof *cases);
  struct plan_duplicate *duplicates = arena_array(&world->arena, most, sizeof *duplicates);
  size_t *now = arena_array(&world->arena, most, sizeof *now);
  world->places = arena_array(&world->arena, most, sizeof *world->places);
  world->median_ns = arena_array(&world->arena, most, sizeof *world->median_ns);
  world->measured = *plan;
  world->measured.cases = cases;
  world->measured.duplicates = duplicates;
  world->measured.case_count = 0;
  world->measured.duplicate_count = 0;
  world->measured.skip_count = 0;
  for (size_t i = 0; i < plan->case_count; i++) {
    const struct plan_case *c = &plan->cases[i];
    if (c->skip_reason == NULL) {
      const size_t at = world->measured.case_count++;
      now[i] = at;
      cases[at] = *c;
      world->median_ns[at] = time_of(&c->def, (double)(LEAST_NUMBER + at));
      add_place(world, &(struct expected){c->def.block, c->def.name, c->axes, &cases[at],
                                          LEAST_NUMBER + at, false});
    }
  }
  for (size_t i = 0; i < plan->duplicate_count; i++) {
    const struct plan_duplicate *d = &plan->duplicates[i];
    if (plan->cases[d->measured].skip_reason == NULL) {
      struct plan_duplicate *kept = &duplicates[world->measured.duplicate_count++];
      *kept = *d;
      kept->measured = now[d->measured];
      add_place(world, &(struct expected){d->block, d->name, d->axes, &cases[kept->measured],
                                          LEAST_NUMBER + kept->measured, false});
    }
  }
  return true;
}

static void free_world(struct world *world) {
  planned_fini(&world->planned);
  arena_fini(&world->arena);
}

/* ---- spots: what is shown ---- */

/* A number, with all that is written around it. */
struct spot {
  const char *block; /* NULL: a table of several, then in `row` */
  const char *words; /* all texts above it, since its block began */
  const char *facet; /* the last heading */
  const char *row, *column;
  const char *corner; /* name of what labels the rows */
  const char *number;
  bool is_matrix;
  bool used;
};

struct collector {
  struct arena *arena;
  const char *block, *words, *facet;
  struct spot *spots;
  size_t count;
};

static void collect_section(struct document *document, const char *name) {
  struct collector *collector = document->context;
  collector->block = name != NULL ? arena_strdup(collector->arena, name) : NULL;
  collector->words = "";
  collector->facet = "";
}

static void collect_heading(struct document *document, const char *text) {
  struct collector *collector = document->context;
  collector->facet = arena_strdup(collector->arena, text);
}

static void collect_paragraph(struct document *document, unsigned tone, const char *first,
                              const char *text) {
  struct collector *collector = document->context;
  collector->words = arena_format(collector->arena, "%s %s%s", collector->words, first, text);
}

static void collect_summary(struct document *document, const char *text) {}

static void collect_add(struct collector *collector, const struct result_set *table, size_t row,
                        size_t column) {
  collector->spots =
      arena_grow(collector->arena, collector->spots, collector->count, sizeof *collector->spots);
  struct spot *spot = &collector->spots[collector->count++];
  *spot = (struct spot){.block = collector->block,
                        .words = collector->words,
                        .facet = collector->facet,
                        .column = arena_strdup(collector->arena, table->columns[column].name),
                        .corner = arena_strdup(collector->arena, table->columns[0].name),
                        .is_matrix = table->is_matrix};
  spot->number = arena_strdup(collector->arena, result_set_text_at(table, row, column));
  if (table->is_matrix) {
    const char *label = result_set_text_at(table, row, 0); /* none within each place */
    spot->row = label != NULL ? arena_strdup(collector->arena, label) : "";
    return;
  }
  spot->row = "|";
  for (size_t c = 0; c < table->column_count; c++) {
    static const char *const LABELS = " block path settings size ";
    const char *name = table->columns[c].name;
    const char *text = result_set_text_at(table, row, c);
    if (text != NULL && strstr(LABELS, arena_format(collector->arena, " %s ", name)) != NULL) {
      spot->row = arena_format(collector->arena, "%s%s|", spot->row, text);
    }
  }
}

static void collect_table(struct document *document, struct result_set *table,
                          const struct document_table *how) {
  static const char *const NUMBERS = " GB/s ns ns/hop ns/op ops/clock/SM ";
  struct collector *collector = document->context;
  for (size_t row = 0; row < table->row_count; row++) {
    for (size_t c = table->is_matrix ? 1 : 0; c < table->column_count; c++) {
      const char *text = result_set_text_at(table, row, c);
      const char *name = arena_format(collector->arena, " %s ", table->columns[c].name);
      const bool numbers =
          table->is_matrix ? !table->columns[c].is_mark : strstr(NUMBERS, name) != NULL;
      if (numbers && text != NULL && text[0] >= '0' && text[0] <= '9') {
        collect_add(collector, table, row, c);
      }
    }
  }
}

/* ---- whether labels lead back ---- */

/* Whether `word` is in the text, between what is not part of a word. */
static bool has_word(const char *text, const char *word) {
  static const char *const PART = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  const size_t length = strlen(word);
  for (const char *at = text; length > 0 && (at = strstr(at, word)) != NULL; at++) {
    const bool begins = at == text || strchr(PART, at[-1]) == NULL;
    const bool ends = at[length] == '\0' || strchr(PART, at[length]) == NULL;
    if (begins && ends) {
      return true;
    }
  }
  return false;
}

/* "gpu0" of "gpu0:managed" */
static bool is_end(struct arena *arena, const char *label, const struct endpoint *end) {
  const char *place = arena_format(arena, "%s%d", place_text(end->place), end->index);
  return strncmp(label, place, strlen(place)) == 0 &&
         (label[strlen(place)] == '\0' || label[strlen(place)] == ':');
}

static bool ends_of(const struct case_def *def, struct endpoint *source, struct endpoint *target) {
  if (def->kind == CASE_CHASE) {
    *source = def->work->chase.memory;
    *target = endpoint_own(PLACE_GPU, def->work->chase.gpu, MEMORY_DEVICE);
    return true;
  }
  if (def->kind == CASE_TRANSFER) {
    *source = def->flows[0].source;
    *target = def->flows[0].target;
  }
  return def->kind == CASE_TRANSFER;
}

static bool goes_both_ways(const struct case_def *def) {
  uint32_t flows = 0;
  while (flows < def->flow_count && def->flows[flows].role == FLOW_MEASURED) {
    flows++; /* loads stand last */
  }
  return flows == 2 && strstr(def->path, "--") != NULL;
}

/* The places of a cell. */
static bool cell_leads_to(struct arena *arena, const struct spot *spot,
                          const struct case_def *def) {
  const char *words = arena_format(arena, "%s %s", spot->words, spot->facet);
  struct endpoint source;
  struct endpoint target;
  if (strcmp(spot->column, def->path) == 0) {
    return true; /* it has ends and direction */
  }
  if (!ends_of(def, &source, &target) ||
      goes_both_ways(def) != (strstr(words, "both ways") != NULL)) {
    return false;
  }
  const bool row_is_source = is_end(arena, spot->row, &source);
  const bool row_is_target = is_end(arena, spot->row, &target);
  const bool column_is_source = is_end(arena, spot->column, &source);
  const bool column_is_target = is_end(arena, spot->column, &target);
  if (strstr(words, "within each") != NULL) {
    return column_is_source && column_is_target;
  }
  if (strstr(words, "between row and column") != NULL) {
    return (row_is_source && column_is_target) || (row_is_target && column_is_source);
  }
  if (strstr(words, "from row to column") != NULL || strstr(words, "row = memory") != NULL) {
    return row_is_source && column_is_target;
  }
  if (strstr(words, "from column to row") != NULL || strstr(words, "column = memory") != NULL) {
    return row_is_target && column_is_source;
  }
  /* A grid: "from numa0:pinned to each GPU", "memory of each GPU, read by numa0". */
  const bool chase = def->kind == CASE_CHASE;
  const bool between = strstr(words, "between ") != NULL;
  const char *one = strstr(words, between ? "between " : chase ? "memory of " : "from ");
  if (one == NULL) {
    return false;
  }
  one = strchr(one, ' ') + (chase && !between ? 4 : 1); /* behind "memory of ", "from " */
  const char *other = strstr(one, between ? " and " : chase ? "read by " : " to ");
  if (other == NULL) {
    return false;
  }
  other += between ? 5 : chase ? 8 : 4;
  const bool first_varies = strncmp(one, "each ", 5) == 0;
  const char *fixed = first_varies ? other : one;
  const char *end = arena_strndup(arena, fixed, strcspn(fixed, " ,"));
  const bool is_source = is_end(arena, end, &source) && column_is_target;
  const bool is_target = is_end(arena, end, &target) && column_is_source;
  return between ? is_source || is_target : first_varies ? is_target : is_source;
}

static bool axis_is_of_places(const char *key) {
  return strncmp(key, "from.", 5) == 0 || strncmp(key, "to.", 3) == 0 ||
         strncmp(key, "of.", 3) == 0 || strncmp(key, "at.", 3) == 0 || strcmp(key, "memory") == 0 ||
         strcmp(key, "direction") == 0 || strcmp(key, "space") == 0;
}

/* "size" of the place, as people write it; "" where its flows have none in common. */
static const char *size_of(struct arena *arena, const struct expected *place) {
  const char *size = strrchr(place->name, '/') + 1;
  uint64_t bytes = 0;
  return units_parse_size(size, &bytes) && strchr(size, 'B') != NULL ? arena_strdup(arena, size)
                                                                     : "";
}

/* Whether every axis of the place can be read where its number stands. */
static bool axes_lead_to(struct arena *arena, const struct spot *spot,
                         const struct expected *place) {
  const char *all =
      arena_format(arena, "%s %s %s %s", spot->words, spot->facet, spot->row, spot->column);
  char *axes = arena_strdup(arena, place->axes);
  for (char *word = strsep(&axes, " "); word != NULL; word = strsep(&axes, " ")) {
    const char *equal = strchr(word, '=');
    if (equal == NULL) {
      continue;
    }
    const char *key = arena_strndup(arena, word, (size_t)(equal - word));
    const bool size = strcmp(key, "size") == 0 || strcmp(key, "footprint") == 0;
    const bool row = spot->is_matrix && strcmp(spot->corner, key) == 0;
    const char *wanted = size ? size_of(arena, place) : row ? equal + 1 : word;
    const bool operation = strcmp(key, "op") == 0 || strcmp(key, "operation") == 0;
    wanted = operation && !spot->is_matrix ? equal + 1 : wanted;
    if (!axis_is_of_places(key) && wanted[0] != '\0' && !has_word(row ? spot->row : all, wanted)) {
      return false;
    }
  }
  return true;
}

static bool spot_leads_to(struct arena *arena, const struct spot *spot,
                          const struct expected *place) {
  const struct case_def *def = &place->measured->def;
  PRINTED(number, 32, "%zu", place->number);
  if (strcmp(spot->number, number) != 0 || !axes_lead_to(arena, spot, place)) {
    return false;
  }
  const char *block = arena_format(arena, "|%s|", place->block);
  if (spot->block != NULL ? strcmp(spot->block, place->block) != 0
                          : strncmp(spot->row, block, strlen(block)) != 0) {
    return false;
  }
  return spot->is_matrix ? cell_leads_to(arena, spot, def) : has_word(spot->row, def->path);
}

/* Both sides of a diagonal. */
static bool spot_mirrors(const struct spot *spot, const struct spot *other) {
  return spot->is_matrix && spot->corner[0] == '\0' && !other->used &&
         strcmp(spot->number, other->number) == 0 && spot->words == other->words &&
         spot->facet == other->facet && strcmp(spot->row, other->column) == 0 &&
         strcmp(spot->column, other->row) == 0 && strcmp(spot->row, spot->column) != 0;
}

static int compare_spots(const void *left, const void *right) {
  const struct spot *a = left;
  const struct spot *b = right;
  const char *const pairs[][2] = {
      {a->block != NULL ? a->block : "", b->block != NULL ? b->block : ""},
      {a->words, b->words},
      {a->facet, b->facet},
      {a->row, b->row},
      {a->is_matrix ? a->column : "", b->is_matrix ? b->column : ""}};
  int order = 0;
  for (size_t i = 0; order == 0 && i < COUNT_OF(pairs); i++) {
    order = strcmp(pairs[i][0], pairs[i][1]);
  }
  return order;
}

static void check_spots(struct world *world, struct collector *collector) {
  for (size_t p = 0; p < world->place_count; p++) {
    struct expected *place = &world->places[p];
    for (size_t i = 0; !place->found && i < collector->count; i++) {
      struct spot *spot = &collector->spots[i];
      if (spot->used || !spot_leads_to(&world->arena, spot, place)) {
        continue;
      }
      spot->used = true;
      place->found = true;
      for (size_t k = 0; goes_both_ways(&place->measured->def) && k < collector->count; k++) {
        if (spot_mirrors(spot, &collector->spots[k])) {
          collector->spots[k].used = true;
          break;
        }
      }
    }
    if (!place->found) {
      world_fail(world, "a case is not shown", place);
    }
  }
  for (size_t i = 0; i < collector->count; i++) {
    if (!collector->spots[i].used) {
      print_error("%s | %s | %s | %s\n", collector->spots[i].words, collector->spots[i].facet,
                  collector->spots[i].row, collector->spots[i].column);
      world_fail(world, "a number belongs to no case", NULL);
    }
  }
  struct spot *sorted = arena_array(&world->arena, collector->count, sizeof *sorted);
  memcpy(sorted, collector->spots, collector->count * sizeof *sorted);
  qsort(sorted, collector->count, sizeof *sorted, compare_spots);
  for (size_t i = 1; i < collector->count; i++) {
    if (compare_spots(&sorted[i - 1], &sorted[i]) == 0) {
      print_error("%s | %s | %s | %s\n", sorted[i].words, sorted[i].facet, sorted[i].row,
                  sorted[i].column);
      world_fail(world, "two numbers have the same labels", NULL);
    }
  }
}

/* ---- the outputs ---- */

/* How often every number stands in a text, between these. Returns the sum. */
static void count_numbers(struct world *world, const struct collector *collector, char *text,
                          const char *separators, const char *what) {
  size_t *counts =
      arena_array(&world->arena, LEAST_NUMBER + world->measured.case_count, sizeof *counts);
  for (char *word = strsep(&text, separators); word != NULL; word = strsep(&text, separators)) {
    char *end = NULL;
    const unsigned long number = strtoul(word, &end, 10);
    if (end != word && end[0] == '\0' && number >= LEAST_NUMBER &&
        number < LEAST_NUMBER + world->measured.case_count) {
      counts[number]++;
    }
  }
  for (size_t i = 0; i < collector->count; i++) {
    counts[strtoul(collector->spots[i].number, NULL, 10)]--;
  }
  for (size_t i = 0; i < world->place_count; i++) {
    if (counts[world->places[i].number] != 0) {
      world_fail(world, what, &world->places[i]);
    }
  }
}

/* Lines that are true of a whole matrix. */
static void drop_summaries(char *text) {
  for (char *line = text; *line != '\0';) {
    const size_t length = strcspn(line, "\n");
    const char *peak = memmem(line, length, "% of", 4);
    if (strncmp(line, "min ", 4) == 0 || (peak != NULL && strncmp(line, "path", 4) != 0) ||
        memmem(line, length, "GB/s)", 5) != NULL || strncmp(line, "peak (", 6) == 0) {
      memset(line, ' ', length);
    }
    line += length + (line[length] != '\0');
  }
}

static void check_text(struct world *world, const struct result_set *rows,
                       const struct collector *collector, unsigned width) {
  struct error err;
  CAPTURE(out);
  struct document document;
  document_begin(&document, &(struct table_options){.stream = out.stream, .width = width}, &err);
  run_result_print(rows, NULL, &(struct run_result_options){0}, &document);
  assert_int_equal(document_end(&document), STATUS_OK);
  drop_summaries(capture_text(&out));
  count_numbers(world, collector, capture_text(&out), " \n", "the text does not show a case once");
}

static void check_page(struct world *world, const struct result_set *rows,
                       const struct collector *collector) {
  struct page_results results;
  CAPTURE(out);
  page_results_init(&results, out.stream, "run-1");
  run_result_print(rows, NULL, &(struct run_result_options){0}, &results.document);
  page_results_fini(&results);
  count_numbers(world, collector, capture_text(&out), "<>", "the page does not show a case once");
}

/* One object for each place, with its number. */
static void check_json(struct world *world, const struct result_set *rows) {
  struct error err;
  CAPTURE(out);
  struct table *table =
      table_new(&(struct table_options){.format = OUTPUT_JSONL, .stream = out.stream});
  assert_int_equal(result_set_send(rows, table_sink(table), &err), STATUS_OK);
  table_free(table);
  for (size_t i = 0; i < world->place_count; i++) {
    const struct expected *place = &world->places[i];
    const struct case_def *def = &place->measured->def;
    const char *begin = arena_format(&world->arena, "{\"case\":\"%s\",\"block\":\"%s\",",
                                     place->name, place->block);
    const char *object = strstr(capture_text(&out), begin);
    if (object == NULL || strstr(object + 1, begin) != NULL) {
      world_fail(world, "JSON does not have a case once", place);
      return;
    }
    const char *key = def->kind == CASE_CHASE        ? "\"ns_per_hop\":"
                      : def->kind == CASE_ARITHMETIC ? "\"ns_per_op\":"
                      : def->kind == CASE_OVERHEAD   ? "\"median_ns\":"
                                                     : "\"gbps\":";
    const char *number = strstr(object, key);
    assert_non_null(number);
    if (fabs(strtod(number + strlen(key), NULL) - (double)place->number) > 1e-6) {
      world_fail(world, "JSON has another number", place);
    }
  }
  assert_int_equal(rows->row_count, world->place_count);
}

/* ---- the whole ---- */

static void check_world(struct world *world, struct record *record, struct query *query,
                        unsigned long seed) {
  struct error err = {.message = ""};
  PRINTED(uuid, 64, "%032lx", seed);
  PRINTED(selector, 80, "run:%s", uuid);
  const struct run_info info = {.command_line = "test",
                                .haul_version = "0",
                                .processes = 1,
                                .imported = true,
                                .uuid = uuid,
                                .started_at_ns = (int64_t)seed};
  if (record_import(record, &info, world->planned.machine, &world->measured, world->median_ns,
                    &(struct notes){0}, &err) != STATUS_OK) {
    world_fail(world, err.message, NULL);
  }
  SCOPED(result_set_fini) struct result_set rows;
  const struct query_parameter run = {"run", selector};
  result_set_init(&rows, SIZE_MAX);
  if (query_run_saved(query, "run-result", &run, 1, NULL, &rows.sink, &err) != STATUS_OK) {
    world_fail(world, err.message, NULL);
  }
  struct collector collector = {.arena = &world->arena, .words = "", .facet = ""};
  const struct document_backend backend = {.section = collect_section,
                                           .heading = collect_heading,
                                           .paragraph = collect_paragraph,
                                           .table = collect_table,
                                           .summary = collect_summary};
  struct document document = {.backend = &backend, .context = &collector};
  run_result_print(&rows, NULL, &(struct run_result_options){0}, &document);
  check_spots(world, &collector);
  check_text(world, &rows, &collector, 0);
  check_text(world, &rows, &collector, 80);
  check_text(world, &rows, &collector, 60);
  check_page(world, &rows, &collector);
  check_json(world, &rows);
  arena_fini(&document.arena); /* it has no stream to end */
}

TEST(every_case_stands_once_in_its_block) {
  static const char *const MACHINES[] = {"h200x4.toml",  "h100x8-nvlink.toml", "gh200.toml",
                                         "gb200x4.toml", "l40sx4-pcie.toml",   "no-gpu.toml"};
  char folder[FOLDER_PATH_MAX];
  struct record *record = NULL;
  struct query *query = NULL;
  unsigned long valid = 0;
  folder_make(folder);
  PRINTED(path, 64, "%s/results.db", folder);
  assert_int_equal(record_open(path, &record, err), STATUS_OK);
  assert_int_equal(query_open(path, &query, err), STATUS_OK);
  for (unsigned long seed = first_seed; seed < first_seed + seed_count; seed++) {
    struct world world = {.machine = MACHINES[seed % 5]};
    SCOPED(strbuf_fini) struct strbuf text;
    strbuf_init(&text, RANDOM_SCENARIO_MAX);
    random_scenario(seed, &text);
    world.scenario = arena_format(&world.arena, "# seed %lu\n%s", seed, text.text);
    if (make_world(&world, world.machine, text.text)) {
      valid++;
      check_world(&world, record, query, seed);
    }
    free_world(&world);
  }
  query_close(query);
  record_close(record);
  folder_remove(folder);
  print_message("%lu of %lu scenarios had something to measure\n", valid, seed_count);
  assert_true(valid * 4 > seed_count);
}

int test_options(int argc, char **argv) {
  if (argc == 3) {
    first_seed = strtoul(argv[1], NULL, 10);
    seed_count = strtoul(argv[2], NULL, 10);
  }
  return TEST_GO_ON;
}
