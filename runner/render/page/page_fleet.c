#include "runner/render/page/page_fleet.h"

#include "engine/base/order.h"
#include "engine/base/strings.h"
#include "runner/render/diff_format.h"
#include "runner/render/outliers.h"
#include "runner/render/page/page.h"
#include "runner/table/html.h"
#include "runner/table/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Nodes with a row of their own; all have a square in the map of all. */
enum { FLEET_NODES_SHOWN = 40, FLEET_REASONS_SHOWN = 200 };

static const char FLEET_REASONS_TITLE[] = "Missing, failed or different nodes";

/* One page while it is written. */
struct fleet_page {
  FILE *page;
  struct page_results parts; /* what is said in words and tables */
  struct arena arena;
  const struct fleet_findings *found;
};

/* ---- what to look at ---- */

#define FLEET_PART_COLUMNS(X)                                                                      \
  X("node", text, part->host)                                                                      \
  X("part", text, part->name)                                                                      \
  X("slower by %", text, outliers_range_words(&f->arena, part->least, part->change))               \
  X("GPU", text, part->uuid)                                                                       \
  X("PCI address", text, part->pci_address)                                                        \
  X("cases", text, arena_format(&f->arena, "%zu of %zu", part->slow_cases, part->cases))           \
  X("in", text, part->blocks)                                                                      \
  X("evidence", text, part->evidence)

static void fleet_put_parts(struct fleet_page *f) {
  struct document *document = &f->parts.document;
  DOCUMENT_COLUMNS(document, FLEET_PART_COLUMNS, .csv = "haul-fleet-parts.csv");
  for (size_t i = 0; i < f->found->now->part_count; i++) {
    const struct outlier_part *part = &f->found->now->parts[i];
    DOCUMENT_ROW(document, FLEET_PART_COLUMNS(COLUMN_CELL));
  }
  document_table_end(document);
}

/* What cannot be told; if nothing is slow either, that all is well. */
static void fleet_put_answers(struct fleet_page *f, const struct outliers *found,
                              const char *all_clear) {
  const char **doubts = NULL;
  const size_t count = outliers_doubts(&f->arena, f->found->results, found, &doubts);
  for (size_t i = 0; i < count; i++) {
    document_put_toned(&f->parts.document, TONE_WARN, "%s", doubts[i]);
  }
  if (found->part_count + count == 0) {
    document_put_toned(&f->parts.document, TONE_GOOD, "%s", all_clear);
  }
}

static void fleet_put_swap(struct fleet_page *f) {
  struct document *document = &f->parts.document;
  (void)fputs("<section id=\"swap\"><h2>What to look at, slowest first</h2>\n", f->page);
  fleet_put_answers(f, f->found->now,
                    "No GPU, link or node is slower than its peers on the other nodes.");
  if (f->found->now->part_count > 0) {
    document_put(
        document,
        "Each is slower than the same GPU or link of the other nodes, and than the others of its "
        "node, by more than these usually differ.");
    fleet_put_parts(f);
  }
  document_gap(document);
  (void)fputs("</section>\n", f->page);
}

/* ---- who is missing, and who differs ---- */

static void fleet_put_reasons(struct fleet_page *f) {
  static const char *const COLUMNS[] = {"node", "reason", "what"};
  struct document *document = &f->parts.document;
  const struct result_set *reasons = &f->found->reasons;
  if (reasons->row_count == 0) {
    return;
  }
  html_print(f->page, "<section id=\"reasons\"><h2>%s</h2>\n", FLEET_REASONS_TITLE);
  html_print(
      f->page,
      "<p>%zu of %zu nodes are missing, partial or failed. Different: the driver, Linux kernel, "
      "VBIOS, GPUs or failed checks of a node are not those of most nodes.</p>\n",
      f->found->absent, f->found->nodes.row_count);
  DOCUMENT_TABLE(document, COLUMNS, 0);
  for (size_t i = 0; i < reasons->row_count && i < FLEET_REASONS_SHOWN; i++) {
    const char *reason = result_set_text(reasons, i, "reason");
    const bool warn = strcmp(reason, "partial") == 0 || strcmp(reason, "different") == 0;
    DOCUMENT_ROW(document, cell_text(result_set_text(reasons, i, "node")),
                 cell_words(reason, warn ? TONE_WARN : TONE_BAD),
                 cell_text(result_set_text(reasons, i, "what")));
  }
  document_table_end(document);
  if (reasons->row_count > FLEET_REASONS_SHOWN) {
    document_put(document, "%zu more: haul query --saved node-reasons --param fleet=%s",
                 reasons->row_count - FLEET_REASONS_SHOWN, f->found->name);
  }
  (void)fputs("</section>\n", f->page);
}

/* ---- nodes x blocks ---- */

/* A node, by how bad it is. */
struct fleet_row {
  const char *name;
  const struct outlier_cell *cells; /* NULL = it has no results */
  const char *state;                /* of v_node; NULL = not known */
  double worst;  /* the lowest change in margins; of slow cells far below others */
  double change; /* of that cell */
};

/* A cell that is slow by evidence comes before every one that is only low. */
static double fleet_badness(const struct outlier_cell *cell) {
  return cell->cases == 0 ? 0 : cell->change / cell->margin - (cell->slow ? 1e6 : 0);
}

ORDER_DEFINE(fleet_compare_rows, struct fleet_row,
             ORDER(x->worst, y->worst) ?: strcmp(x->name, y->name))

static const char *fleet_state(const struct fleet_page *f, const char *node) {
  const struct result_set *nodes = &f->found->nodes; /* those that are absent come first */
  const size_t i =
      FIRST_OF(k, f->found->absent, strcmp(result_set_text(nodes, k, "node"), node) == 0);
  return i < f->found->absent ? result_set_text(nodes, i, "state") : NULL;
}

static struct fleet_row *fleet_rank(struct fleet_page *f) {
  const struct outliers *now = f->found->now;
  struct fleet_row *rows = arena_array(&f->arena, now->hosts, sizeof *rows);
  for (size_t h = 0; h < now->hosts; h++) {
    const struct outlier_cell *cells = &now->cells[h * now->block_count];
    rows[h] = (struct fleet_row){
        .name = now->host_names[h], .cells = cells, .state = fleet_state(f, now->host_names[h])};
    for (size_t b = 0; b < now->block_count; b++) {
      if (fleet_badness(&cells[b]) < rows[h].worst) {
        rows[h].worst = fleet_badness(&cells[b]);
        rows[h].change = cells[b].change;
      }
    }
  }
  ORDER_SORT(rows, now->hosts, fleet_compare_rows);
  return rows;
}

/* "" where there is no evidence. */
static const char *fleet_level(const struct outlier_cell *cell) {
  return cell->slow ? page_level_class(cell->change, cell->margin) : "";
}

/* Slower by more than the threshold, without evidence. */
static bool fleet_is_usual(const struct outlier_cell *cell) {
  return cell->cases > 0 && !cell->slow && -cell->change >= cell->margin;
}

static void fleet_put_cell(FILE *page, const struct results *results,
                           const struct outlier_cell *cell) {
  if (cell->cases == 0) {
    (void)fputs("<td class=\"none\">\xe2\x80\x93</td>", page);
    return;
  }
  const bool sure = !fleet_is_usual(cell);
  html_print(page, "<td class=\"n %s\" title=\"%s\">%s%+.1f%s</td>", fleet_level(cell),
             results->cases[cell->worst].name, sure ? "" : "(", text_rounded(100 * cell->change, 1),
             sure ? "" : ")");
}

static void fleet_put_rows(struct fleet_page *f, const struct fleet_row *rows, size_t count) {
  FILE *page = f->page;
  const struct outliers *now = f->found->now;
  html_print(page,
             "<div class=\"wide\"><table class=\"matrix fleet\">" HTML_TABLE_CAPTION "<td></td>",
             "Nodes and blocks");
  for (size_t b = 0; b < now->block_count; b++) {
    html_print(page, "<th scope=\"col\"><span>%s</span></th>", now->blocks[b]);
  }
  (void)fputs(HTML_TABLE_ROWS, page);
  for (size_t i = 0; i < count; i++) {
    html_print(page, "<tr><th scope=\"row\">%s%s</th>", rows[i].name,
               arena_around(&f->arena, " (", rows[i].state, ")"));
    for (size_t b = 0; b < now->block_count; b++) {
      fleet_put_cell(page, f->found->results, &rows[i].cells[b]);
    }
    (void)fputs("</tr>\n", page);
  }
  (void)fputs("</tbody></table></div>\n", page);
}

/* A square per node, in the order of their names. */
static void fleet_put_squares(struct fleet_page *f) {
  const struct outliers *now = f->found->now;
  (void)fputs("<h3>All nodes, by name</h3>\n<p class=\"squares\">", f->page);
  for (size_t h = 0; h < now->hosts; h++) {
    const struct outlier_cell *cells = &now->cells[h * now->block_count];
    size_t worst = 0;
    for (size_t b = 1; b < now->block_count; b++) {
      worst = fleet_badness(&cells[b]) < fleet_badness(&cells[worst]) ? b : worst;
    }
    const char *state = fleet_state(f, now->host_names[h]);
    html_print(f->page, "<i class=\"%s\" title=\"%s%s: %+.1f %%\"></i>",
               state != NULL ? "gap" : fleet_level(&cells[worst]), now->host_names[h],
               arena_around(&f->arena, ", ", state, ""),
               text_rounded(100 * cells[worst].change, 1));
  }
  for (size_t i = 0; i < f->found->absent; i++) {
    const char *node = result_set_text(&f->found->nodes, i, "node");
    if (bsearch(&node, now->host_names, now->hosts, sizeof(char *), strings_compare) == NULL) {
      html_print(f->page, "<i class=\"gone\" title=\"%s, %s\"></i>", node,
                 result_set_text(&f->found->nodes, i, "state"));
    }
  }
  (void)fputs("</p>\n<p class=\"note key squares\"><i></i> as usual <i class=\"s1\"></i> slower by "
              "1 to 3 times the threshold <i class=\"s2\"></i> 3 to 10 times <i class=\"s3\">"
              "</i> more than 10 times <i class=\"gap\"></i> partial or failed <i "
              "class=\"gone\"></i> no results</p>\n",
              f->page);
}

static void fleet_put_map(struct fleet_page *f) {
  const size_t hosts = f->found->now->hosts;
  const size_t shown = hosts < FLEET_NODES_SHOWN ? hosts : FLEET_NODES_SHOWN;
  (void)fputs(
      "<section id=\"nodes\"><h2>Nodes and blocks, the worst first</h2>\n"
      "<p class=\"note key\">Slowest case of each block, in per cent of the same case on the other "
      "nodes. A case between two GPUs has the differences of both. Slower by " PAGE_LEVELS(
          "s") " the threshold: " DIFF_USUAL_THRESHOLDS ".",
      f->page);
  const struct fleet_row *rows = fleet_rank(f);
  const bool usual =
      ANY_OF(i, shown, ANY_OF(b, f->found->now->block_count, fleet_is_usual(&rows[i].cells[b])));
  (void)fputs(usual
                  ? " In brackets: slower by more than the threshold, but not beyond what is usual "
                    "among the nodes.</p>\n"
                  : "</p>\n",
              f->page);
  fleet_put_rows(f, rows, shown);
  if (shown < hosts) {
    html_print(f->page, "<p class=\"note\">and %zu nodes that are better than these</p>\n",
               hosts - shown);
  }
  fleet_put_squares(f);
  (void)fputs("</section>\n", f->page);
}

/* ---- what changed ---- */

static void fleet_put_changes(struct fleet_page *f) {
  static const char *const COLUMNS[] = {"block", "middle node %"};
  struct document *document = &f->parts.document;
  const struct outliers *changes = f->found->changes;
  if (changes == NULL) {
    return;
  }
  html_print(f->page, "<section id=\"drift\"><h2>Since %s</h2>\n", f->found->before);
  if (changes->hosts == 0) {
    document_put(document, "No node measured a case in both.");
    (void)fputs("</section>\n", f->page);
    return;
  }
  for (size_t i = 0; i < changes->part_count; i++) {
    document_put_toned(document, TONE_BAD, "%s",
                       outliers_alone_words(&f->arena, &changes->parts[i]));
  }
  fleet_put_answers(f, changes, "No node changed unlike the others.");
  document_gap(document);
  html_print(f->page, "<h3>What all nodes have in common: %zu nodes in both</h3>\n",
             changes->hosts);
  DOCUMENT_TABLE(document, COLUMNS, 0);
  for (size_t b = 0; b < changes->block_count; b++) {
    if (isfinite(changes->usual[b])) {
      DOCUMENT_ROW(
          document, cell_text(changes->blocks[b]),
          cell_text(arena_format(&f->arena, "%+.2f", text_rounded(100 * changes->usual[b], 2))));
    }
  }
  document_table_end(document);
  (void)fputs("</section>\n", f->page);
}

/* ---- the page ---- */

static void fleet_put_page(struct fleet_page *f, const char *haul_version) {
  struct page_entry entries[4] = {{"swap", "What to look at", ""}};
  size_t count = 1;
  if (f->found->reasons.row_count > 0) {
    entries[count++] = (struct page_entry){"reasons", FLEET_REASONS_TITLE, ""};
  }
  entries[count++] = (struct page_entry){"nodes", "Nodes and blocks", ""};
  if (f->found->changes != NULL) {
    entries[count++] = (struct page_entry){"drift", "Since the last fleet", ""};
  }
  const struct results *results = f->found->results;
  const struct results_run *last = &results->runs[results->run_count - 1];
  const char *title =
      arena_format(&f->arena, "%s on %zu %s%s", last->scenario, f->found->now->hosts,
                   strings_plural(f->found->now->hosts, "node", "nodes"),
                   arena_around(&f->arena, ", fleet ", f->found->name, ""));
  const char *undecided =
      f->found->now->undecided_count > 0
          ? arena_format(&f->arena, "%zu undecided; ", f->found->now->undecided_count)
          : "";
  const char *lead = arena_format(
      &f->arena, "%zu of %zu nodes answered in full; %zu %s to look at; %s%zu results compared.",
      f->found->nodes.row_count > 0 ? f->found->nodes.row_count - f->found->absent
                                    : f->found->now->hosts,
      f->found->nodes.row_count > 0 ? f->found->nodes.row_count : f->found->now->hosts,
      f->found->now->part_count, strings_plural(f->found->now->part_count, "part", "parts"),
      undecided, f->found->now->cases);
  page_begin(f->page, title, lead, entries, count);
  page_put_simulated(f->page, results_run_is_simulated(results, results->run_count - 1));
  fleet_put_swap(f);
  fleet_put_reasons(f);
  fleet_put_map(f);
  fleet_put_changes(f);
  page_end(f->page, haul_version);
}

enum status page_fleet(FILE *page, const struct fleet_findings *found, const char *haul_version,
                       struct error *err) {
  struct fleet_page f = {.found = found};
  page_results_init(&f.parts, page, "fleet");
  f.page = f.parts.page; /* tables are written to it, too */
  f.parts.document.err = err;
  fleet_put_page(&f, haul_version);
  const enum status status = f.parts.document.status;
  page_results_fini(&f.parts);
  arena_fini(&f.arena);
  return status;
}
