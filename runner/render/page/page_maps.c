#include "runner/render/page/page_maps.h"

#include "engine/base/strings.h"
#include "engine/base/units.h"
#include "runner/analysis/definition.h"
#include "runner/render/diff_format.h"
#include "runner/table/html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES_ACROSS_MIN = 3, CELLS_MIN = 3 };

/* A case that may have a cell. */
struct placed {
  size_t row; /* of the comparison */
  const char *block;
  const char *setting; /* what distinguishes maps of a block */
  const char *down, *across;
  uint64_t order_down, order_across; /* sizes in their order; places in that of the cases */
};

struct map {
  const struct placed *cells;
  size_t count;
  const char **down, **across;
  size_t down_count, across_count;
  bool changed;
  int64_t id; /* of its first case */
};

struct page_maps {
  struct arena arena;
  const struct measured *measured;
  const struct comparison *comparison;
  struct placed *placed;
  size_t placed_count;
  struct map *maps;
  size_t map_count;
  bool *has; /* by row */
};

/* ---- labels ---- */

static const char *maps_place(struct arena *arena, bool is_gpu, int number, const char *memory) {
  const bool plain = memory == NULL || memory[0] == '\0' || strcmp(memory, "device") == 0;
  return arena_format(arena, "%s%d%s%s", is_gpu ? "gpu" : "numa", number, plain ? "" : ":",
                      plain ? "" : memory);
}

static bool maps_is_back(const struct measured_flow *a, const struct measured_flow *b) {
  return a->source_is_gpu == b->target_is_gpu && a->source == b->target &&
         a->target_is_gpu == b->source_is_gpu && a->target == b->source;
}

/* The one path of a case; both: also back. false: it has several. */
static bool maps_path(const struct measured_case *bench, struct measured_flow *path, bool *both) {
  size_t count = 0;
  *both = false;
  for (size_t i = 0; i < bench->flow_count; i++) {
    const struct measured_flow *flow = &bench->flows[i];
    if (flow->load) {
      continue;
    }
    if (count == 0) {
      *path = *flow;
    } else if (count == 1 && maps_is_back(path, flow)) {
      *both = true;
    } else {
      return false;
    }
    count++;
  }
  if (count > 0 && bench->figure == FIGURE_HOP) { /* named from the GPU that loads */
    *path = (struct measured_flow){.source_is_gpu = path->target_is_gpu,
                                   .source = path->target,
                                   .source_memory = path->target_memory,
                                   .target_is_gpu = path->source_is_gpu,
                                   .target = path->source,
                                   .target_memory = path->source_memory};
  }
  return count > 0 && path->source >= 0 && path->target >= 0;
}

/* "ce, both ways, threads=4": what neither places nor size say. */
static const char *maps_setting(struct arena *arena, const struct measured_case *bench, bool both) {
  const char *text = bench->method != NULL ? bench->method : "";
  text = both ? arena_format(arena, "%s, both ways at once", text) : text;
  for (const char *at = bench->axes; *at != '\0';) {
    const size_t length = strcspn(at, " ");
    const bool shown = strncmp(at, "size=", 5) == 0 || strncmp(at, "from.", 5) == 0 ||
                       strncmp(at, "to.", 3) == 0 || strncmp(at, "method=", 7) == 0;
    if (!shown && length > 0) {
      text = arena_format(arena, "%s, %.*s", text, (int)length, at);
    }
    at += length + (at[length] == ' ');
  }
  return text;
}

/* ---- from rows to maps ---- */

/* Different sizes of a block, up to enough to go across. */
static size_t maps_count_sizes(const struct page_maps *maps, const char *block) {
  uint64_t sizes[SIZES_ACROSS_MIN];
  size_t count = 0;
  for (size_t i = 0; i < maps->comparison->row_count && count < SIZES_ACROSS_MIN; i++) {
    const struct measured_case *bench = &maps->measured->cases[maps->comparison->rows[i].bench];
    bool known = strcmp(bench->block, block) != 0;
    for (size_t s = 0; s < count && !known; s++) {
      known = sizes[s] == bench->size_bytes;
    }
    if (!known) {
      sizes[count++] = bench->size_bytes;
    }
  }
  return count;
}

static void maps_place_case(struct page_maps *maps, size_t row, bool sweep) {
  struct arena *arena = &maps->arena;
  const struct comparison_row *compared = &maps->comparison->rows[row];
  const struct measured_case *bench = &maps->measured->cases[compared->bench];
  struct measured_flow path;
  bool both = false;
  char size[UNITS_TEXT_MAX];
  if (compared->hardware != NULL || !isfinite(compared->change) ||
      !maps_path(bench, &path, &both)) {
    return;
  }
  const char *from = maps_place(arena, path.source_is_gpu, path.source, path.source_memory);
  const char *to = maps_place(arena, path.target_is_gpu, path.target, path.target_memory);
  const char *setting = maps_setting(arena, bench, both);
  struct placed *placed = &maps->placed[maps->placed_count++];
  units_format_size(bench->size_bytes, size);
  *placed = (struct placed){.row = row, .block = bench->block};
  if (sweep) {
    placed->setting = setting;
    placed->down = arena_format(arena, "%s \xe2\x86\x92 %s", from, to);
    placed->order_down = (uint64_t)bench->id;
    placed->across = arena_strdup(arena, size);
    placed->order_across = bench->size_bytes;
  } else {
    placed->setting =
        bench->size_bytes > 0 ? arena_format(arena, "%s, %s", size, setting) : setting;
    placed->down = from;
    placed->across = to;
    placed->order_down = (uint64_t)path.source_is_gpu << 32 | (uint32_t)path.source;
    placed->order_across = (uint64_t)path.target_is_gpu << 32 | (uint32_t)path.target;
  }
}

static int maps_compare_placed(const void *a, const void *b) {
  const struct placed *x = a;
  const struct placed *y = b;
  int order = strcmp(x->block, y->block);
  order = order != 0 ? order : strcmp(x->setting, y->setting);
  order = order != 0 ? order : (x->order_down > y->order_down) - (x->order_down < y->order_down);
  order = order != 0 ? order : strcmp(x->down, y->down);
  return order != 0 ? order
                    : (x->order_across > y->order_across) - (x->order_across < y->order_across);
}

/* Inserts a label in the order of its number; the order of numbers goes with the labels. */
static size_t maps_insert(const char **labels, uint64_t *orders, size_t count, const char *label,
                          uint64_t order) {
  size_t at = 0;
  for (size_t i = 0; i < count; i++) {
    if (strcmp(labels[i], label) == 0) {
      return count;
    }
  }
  while (at < count && orders[at] <= order) {
    at++;
  }
  memmove(labels + at + 1, labels + at, (count - at) * sizeof *labels);
  memmove(orders + at + 1, orders + at, (count - at) * sizeof *orders);
  labels[at] = label;
  orders[at] = order;
  return count + 1;
}

static const struct placed *map_find(const struct map *map, const char *down, const char *across) {
  for (size_t i = 0; i < map->count; i++) {
    if (strcmp(map->cells[i].down, down) == 0 && strcmp(map->cells[i].across, across) == 0) {
      return &map->cells[i];
    }
  }
  return NULL;
}

/* One map of placed cases; false: it says no more than a list, or is too large. */
static bool maps_make(struct page_maps *maps, const struct placed *cells, size_t count,
                      struct map *map) {
  *map = (struct map){.cells = cells, .count = count};
  map->down = arena_array(&maps->arena, count + 1, sizeof *map->down);
  map->across = arena_array(&maps->arena, count + 1, sizeof *map->across);
  uint64_t *down = arena_array(&maps->arena, count + 1, sizeof *down);
  uint64_t *across = arena_array(&maps->arena, count + 1, sizeof *across);
  for (size_t i = 0; i < count; i++) {
    const struct comparison_row *row = &maps->comparison->rows[cells[i].row];
    const enum verdict verdict = row->result.verdict;
    const int64_t id = maps->measured->cases[row->bench].id;
    map->id = i == 0 || id < map->id ? id : map->id;
    map->down_count =
        maps_insert(map->down, down, map->down_count, cells[i].down, cells[i].order_down);
    map->across_count =
        maps_insert(map->across, across, map->across_count, cells[i].across, cells[i].order_across);
    map->changed = map->changed || verdict == VERDICT_REGRESSED || verdict == VERDICT_IMPROVED ||
                   verdict == VERDICT_BROKEN;
  }
  if (count < CELLS_MIN || map->down_count > PAGE_MAP_ROWS_MAX ||
      map->across_count > PAGE_MAP_COLUMNS_MAX) {
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    if (map_find(map, cells[i].down, cells[i].across) != &cells[i]) {
      return false;
    }
  }
  return true;
}

/* In the order of the plan. */
static int maps_compare_maps(const void *a, const void *b) {
  const struct map *x = a;
  const struct map *y = b;
  return (x->id > y->id) - (x->id < y->id);
}

struct page_maps *page_maps_new(const struct measured *measured,
                                const struct comparison *comparison) {
  struct page_maps *maps = calloc(1, sizeof *maps);
  if (maps == NULL) {
    abort(); /* as arena.h does: no condition to recover from */
  }
  maps->measured = measured;
  maps->comparison = comparison;
  maps->has = arena_array(&maps->arena, comparison->row_count, sizeof *maps->has);
  maps->placed = arena_array(&maps->arena, comparison->row_count, sizeof *maps->placed);
  maps->maps = arena_array(&maps->arena, comparison->row_count, sizeof *maps->maps);
  const char *block = "";
  bool sweep = false;
  for (size_t i = 0; i < comparison->row_count && comparison->row_count <= PAGE_MAP_CASES_MAX;
       i++) {
    const char *name = measured->cases[comparison->rows[i].bench].block;
    if (strcmp(name, block) != 0) {
      block = name;
      sweep = maps_count_sizes(maps, block) >= SIZES_ACROSS_MIN;
    }
    maps_place_case(maps, i, sweep);
  }
  if (maps->placed_count > 1) {
    qsort(maps->placed, maps->placed_count, sizeof *maps->placed, maps_compare_placed);
  }
  for (size_t first = 0; first < maps->placed_count;) {
    size_t last = first + 1;
    while (last < maps->placed_count &&
           strcmp(maps->placed[last].block, maps->placed[first].block) == 0 &&
           strcmp(maps->placed[last].setting, maps->placed[first].setting) == 0) {
      last++;
    }
    if (maps_make(maps, maps->placed + first, last - first, &maps->maps[maps->map_count])) {
      for (size_t i = first; i < last; i++) {
        maps->has[maps->placed[i].row] = true;
      }
      maps->map_count++;
    }
    first = last;
  }
  if (maps->map_count > 1) {
    qsort(maps->maps, maps->map_count, sizeof *maps->maps, maps_compare_maps);
  }
  return maps;
}

void page_maps_free(struct page_maps *maps) {
  arena_fini(&maps->arena);
  free(maps);
}

bool page_maps_have(const struct page_maps *maps, size_t row) {
  return maps->has[row];
}

/* ---- the page ---- */

enum panel { PANEL_A, PANEL_B, PANEL_CHANGE };

/* How far a change is from too small to matter: of that, of three times, of ten times. */
static const char *map_change_class(const struct comparison_row *row) {
  static const char *const SLOWER[] = {"", " s1", " s2", " s3"};
  static const char *const FASTER[] = {"", " f1", " f2", " f3"};
  const double change = row->result.change;
  const double deltas = fabs(change) / row->delta;
  const size_t level = deltas < 1 ? 0 : deltas < 3 ? 1 : deltas < 10 ? 2 : 3;
  return change < 0 ? SLOWER[level] : FASTER[level];
}

static void map_put_cell(FILE *page, const struct page_maps *maps, const struct placed *cell,
                         enum panel panel) {
  char text[DIFF_WORDS_MAX];
  if (cell == NULL) {
    (void)fputs("<td class=\"none\"></td>", page);
    return;
  }
  const struct comparison_row *row = &maps->comparison->rows[cell->row];
  if (panel != PANEL_CHANGE) {
    diff_figure_words(row, panel == PANEL_A ? SIDE_A : SIDE_B, text);
    html_print(page, "<td class=\"n\">%s</td>", text);
    return;
  }
  const enum verdict verdict = row->result.verdict;
  const bool sure = verdict == VERDICT_REGRESSED || verdict == VERDICT_IMPROVED;
  diff_percent_words(row->change, text);
  html_print(page,
             "<td id=\"cell-%zu\" class=\"n%s\" title=\"%s\"><a href=\"#case-%zu\">%s%s%s</a></td>",
             cell->row, map_change_class(row), verdict_text(verdict), cell->row, sure ? "" : "(",
             text, sure ? "" : ")");
}

static void map_put_panel(FILE *page, const struct page_maps *maps, const struct map *map,
                          enum panel panel) {
  static const char *const TITLES[] = {"A, before", "B, after", "change %"};
  const struct comparison_row *row = &maps->comparison->rows[map->cells[0].row];
  html_print(page, "<div><h5>%s%s%s</h5><table class=\"matrix\">" HTML_TABLE_CAPTION "<td></td>",
             TITLES[panel], panel == PANEL_CHANGE ? "" : ", ",
             panel == PANEL_CHANGE ? "" : figure_text(row->figure), TITLES[panel]);
  for (size_t c = 0; c < map->across_count; c++) {
    html_print(page, "<th scope=\"col\" class=\"n\">%s</th>", map->across[c]);
  }
  (void)fputs(HTML_TABLE_ROWS, page);
  for (size_t r = 0; r < map->down_count; r++) {
    html_print(page, "<tr><th scope=\"row\">%s</th>", map->down[r]);
    for (size_t c = 0; c < map->across_count; c++) {
      map_put_cell(page, maps, map_find(map, map->down[r], map->across[c]), panel);
    }
    (void)fputs("</tr>\n", page);
  }
  (void)fputs("</tbody></table></div>\n", page);
}

static void maps_put_some(FILE *page, const struct page_maps *maps, bool changed) {
  for (size_t i = 0; i < maps->map_count; i++) {
    const struct map *map = &maps->maps[i];
    if (map->changed == changed) {
      html_print(page, "<h4>%s <small>%s</small></h4>\n<div class=\"panels\">\n", map->cells->block,
                 map->cells->setting);
      for (unsigned panel = PANEL_A; panel <= PANEL_CHANGE; panel++) {
        map_put_panel(page, maps, map, (enum panel)panel);
      }
      (void)fputs("</div>\n", page);
    }
  }
}

void page_maps_put(FILE *page, const struct page_maps *maps) {
  size_t changed = 0;
  if (maps->map_count == 0) {
    return;
  }
  for (size_t i = 0; i < maps->map_count; i++) {
    changed += maps->maps[i].changed;
  }
  (void)fputs(
      "<h3 id=\"maps\">Where: before, after and the change, from row to column</h3>\n"
      "<p class=\"note key\">Colours: slower <span class=\"s1\">than matters</span> "
      "<span class=\"s2\">by three times that</span> <span class=\"s3\">by ten times</span>; "
      "faster <span class=\"f1\">than matters</span> <span class=\"f2\">3</span> "
      "<span class=\"f3\">10 times</span>. In brackets: no evidence of a change.</p>\n",
      page);
  maps_put_some(page, maps, true);
  if (changed < maps->map_count) {
    const size_t left = maps->map_count - changed;
    html_print(page, "<details><summary>%zu %s without a change</summary>\n", left,
               strings_plural(left, "map", "maps"));
    maps_put_some(page, maps, false);
    (void)fputs("</details>\n", page);
  }
}
