#include "runner/render/page/page.h"

#include "engine/base/order.h"
#include "engine/base/strings.h"
#include "runner/render/diff_format.h"
#include "runner/render/result/result_block.h"
#include "runner/table/html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_MIN = 3 };

struct map {
  const struct result_facet *facet;
  struct label_list down, across;
  bool changed;
};

struct page_maps {
  struct arena arena;
  const struct comparison *comparison;
  struct run_row *rows; /* by row of the comparison */
  struct map *maps;
  size_t map_count;
  bool *has; /* by row */
};

/* ---- rows of a comparison as rows of a result ---- */

static const char *maps_place(struct arena *arena, bool is_gpu, int number) {
  return number < 0 ? NULL : arena_format(arena, "%s%d", is_gpu ? "gpu" : "numa", number);
}

static bool maps_is_back(const struct results_flow *a, const struct results_flow *b) {
  return a->source_is_gpu == b->target_is_gpu && a->source == b->target &&
         a->target_is_gpu == b->source_is_gpu && a->target == b->source;
}

/* What the layout of results asks of a case. */
static struct run_row maps_row_of(struct arena *arena, const struct results_case *bench) {
  const struct results_flow *first = NULL;
  struct run_row row = {.name = bench->name,
                        .block = bench->block,
                        .path = bench->path,
                        .axes = bench->axes,
                        .kind = bench->figure == FIGURE_HOP ? "chase"
                                : bench->method != NULL     ? "transfer"
                                                            : "stream",
                        .method = bench->method,
                        .status = "ok",
                        .size_bytes = (double)bench->size_bytes,
                        .gbps = bench->figure == FIGURE_RATE ? 1 : NAN,
                        .ns_per_hop = bench->figure == FIGURE_HOP ? 1 : NAN};
  row.swept = result_axes_of(arena, bench->axes, &row.swept_count);
  for (size_t i = 0; i < bench->flow_count; i++) {
    const struct results_flow *flow = &bench->flows[i];
    row.under_load += flow->load;
    row.flows += !flow->load;
    row.direction = first != NULL && !flow->load && maps_is_back(first, flow) ? "both" : NULL;
    first = first == NULL && !flow->load ? flow : first;
  }
  if (first != NULL) {
    row.source = maps_place(arena, first->source_is_gpu, first->source);
    row.source_memory = first->source_memory;
    row.target = maps_place(arena, first->target_is_gpu, first->target);
    row.target_memory = first->target_memory[0] != '\0' ? first->target_memory : NULL;
  }
  return row;
}

/* A row in the order of the plan. */
struct maps_order {
  int64_t id;
  size_t row;
};

ORDER_DEFINE(maps_compare_order, struct maps_order, ORDER(x->id, y->id))

/* ---- from rows to maps ---- */

static size_t maps_row_at(const struct page_maps *maps, const struct result_cell *cell) {
  return (size_t)(cell->row - maps->rows);
}

static const struct result_cell *map_find(const struct map *map, const char *down,
                                          const char *across) {
  const struct result_cell *cells = map->facet->cells;
  const size_t i =
      FIRST_OF(k, map->facet->count,
               strcmp(cells[k].down, down) == 0 && strcmp(cells[k].across, across) == 0);
  return i < map->facet->count ? &cells[i] : NULL;
}

/* One that is small enough, and says more than a list. */
static void maps_add(struct page_maps *maps, const struct result_facet *facet, bool is_grid) {
  struct map map = {.facet = facet};
  result_facet_labels(&maps->arena, facet, is_grid, &map.down, &map.across);
  if (facet->count < CELLS_MIN || map.down.count > PAGE_MAP_ROWS_MAX ||
      map.across.count > PAGE_MAP_COLUMNS_MAX) {
    return;
  }
  for (size_t i = 0; i < facet->count; i++) {
    const size_t row = maps_row_at(maps, &facet->cells[i]);
    const enum verdict verdict = maps->comparison->rows[row].result.verdict;
    map.changed = map.changed || verdict_is_change(verdict) || verdict == VERDICT_BROKEN;
    maps->has[row] = true;
  }
  *ARENA_ADD(&maps->arena, maps->maps, maps->map_count) = map;
}

static void maps_add_block(struct page_maps *maps, const struct result_block *block) {
  struct result_layout *layout = arena_alloc(&maps->arena, sizeof *layout);
  result_layout_find(&maps->arena, block, false, layout);
  for (size_t i = 0; i < layout->facet_count && layout->shape != RESULT_TABLE; i++) {
    maps_add(maps, &layout->facets[i], layout->shape == RESULT_GRIDS);
  }
}

struct page_maps *page_maps_new(const struct comparison *comparison) {
  const struct results *results = comparison->results;
  struct page_maps *maps = memory_new(1, sizeof *maps);
  struct arena *arena = &maps->arena;
  const size_t count = comparison->row_count <= PAGE_MAP_CASES_MAX ? comparison->row_count : 0;
  struct maps_order *order = arena_array(arena, count, sizeof *order);
  struct result_block *blocks = arena_array(arena, count, sizeof *blocks);
  size_t ordered = 0;
  size_t block_count = 0;
  maps->comparison = comparison;
  maps->has = arena_array(arena, comparison->row_count, sizeof *maps->has);
  maps->rows = arena_array(arena, count, sizeof *maps->rows);
  for (size_t i = 0; i < count; i++) {
    const struct comparison_row *row = &comparison->rows[i];
    const struct results_case *bench = &results->cases[row->bench];
    if (row->hardware == NULL && isfinite(row->change)) {
      maps->rows[i] = maps_row_of(arena, bench);
      order[ordered++] = (struct maps_order){bench->id, i};
    }
  }
  ORDER_SORT(order, ordered, maps_compare_order);
  for (size_t i = 0; i < ordered; i++) {
    struct run_row *row = &maps->rows[order[i].row];
    const size_t b = FIRST_OF(k, block_count, strcmp(blocks[k].name, row->block) == 0);
    block_count += b == block_count;
    blocks[b].name = row->block;
    blocks[b].rows = arena_grow(arena, blocks[b].rows, blocks[b].count, sizeof(struct run_row *));
    blocks[b].rows[blocks[b].count++] = row;
    blocks[b].shown = blocks[b].count;
  }
  for (size_t b = 0; b < block_count; b++) {
    maps_add_block(maps, &blocks[b]);
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

static void map_put_cell(FILE *page, struct arena *arena, const struct page_maps *maps,
                         const struct result_cell *cell, enum panel panel) {
  if (cell == NULL) {
    (void)fputs("<td class=\"none\"></td>", page);
    return;
  }
  const size_t index = maps_row_at(maps, cell);
  const struct comparison_row *row = &maps->comparison->rows[index];
  if (panel != PANEL_CHANGE) {
    html_print(page, "<td class=\"n\">%s</td>",
               diff_figure_words(arena, row, panel == PANEL_A ? SIDE_A : SIDE_B,
                                 row->figure != FIGURE_RATE));
    return;
  }
  const enum verdict verdict = row->result.verdict;
  const bool sure = verdict_is_change(verdict);
  const char *level = page_level_class(row->result.change, row->delta);
  html_print(
      page, "<td id=\"cell-%zu\" class=\"%s%s\" title=\"%s\"><a href=\"#case-%zu\">%s%s%s</a></td>",
      index, level[0] != '\0' ? "n " : "n", level, verdict_text(verdict), index, sure ? "" : "(",
      diff_percent_words(arena, row->change), sure ? "" : ")");
}

static void map_put_panel(FILE *page, const struct page_maps *maps, const struct map *map,
                          enum panel panel) {
  SCOPED(arena_fini) struct arena arena = {0};
  static const char *const TITLES[] = {"A, before", "B, after", "change %"};
  const struct comparison_row *row =
      &maps->comparison->rows[maps_row_at(maps, &map->facet->cells[0])];
  html_print(page, "<div><h5>%s%s%s</h5><table class=\"matrix\">" HTML_TABLE_CAPTION "<td></td>",
             TITLES[panel], panel == PANEL_CHANGE ? "" : ", ",
             panel == PANEL_CHANGE ? "" : figure_text(row->figure), TITLES[panel]);
  for (size_t c = 0; c < map->across.count; c++) {
    html_print(page, "<th scope=\"col\" class=\"n\">%s</th>", map->across.items[c]);
  }
  (void)fputs(HTML_TABLE_ROWS, page);
  for (size_t r = 0; r < map->down.count; r++) {
    html_print(page, "<tr><th scope=\"row\">%s</th>", map->down.items[r]);
    for (size_t c = 0; c < map->across.count; c++) {
      map_put_cell(page, &arena, maps, map_find(map, map->down.items[r], map->across.items[c]),
                   panel);
    }
    (void)fputs("</tr>\n", page);
  }
  (void)fputs("</tbody></table></div>\n", page);
}

static void maps_put_some(FILE *page, const struct page_maps *maps, bool changed) {
  for (size_t i = 0; i < maps->map_count; i++) {
    const struct map *map = &maps->maps[i];
    if (map->changed == changed) {
      const struct run_row *first = map->facet->cells[0].row;
      const char *method = result_method(first);
      html_print(page, "<h4>%s <small>%s%s%s%s, %s</small></h4>\n<div class=\"panels\">\n",
                 first->block, map->facet->setting, map->facet->setting[0] != '\0' ? " " : "",
                 method[0] != '\0' ? "by " : "", method, map->facet->words);
      for (unsigned panel = PANEL_A; panel <= PANEL_CHANGE; panel++) {
        map_put_panel(page, maps, map, (enum panel)panel);
      }
      (void)fputs("</div>\n", page);
    }
  }
}

void page_maps_put(FILE *page, const struct page_maps *maps) {
  const size_t changed = SUM_OF(i, maps->map_count, maps->maps[i].changed);
  if (maps->map_count == 0) {
    return;
  }
  (void)fputs(
      "<h3 id=\"maps\">Where: before, after and the change, from row to column</h3>\n"
      "<p class=\"note key\">Slower by " PAGE_LEVELS("s") " the threshold; faster by " PAGE_LEVELS(
          "f") ". In brackets: no evidence of a change.</p>\n",
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
