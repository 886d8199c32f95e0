#include "runner/render/page/page_site.h"

#include "engine/base/order.h"
#include "engine/base/strings.h"
#include "engine/base/units.h"
#include "runner/render/page/page.h"
#include "runner/table/html.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
  SITE_STEPS_SHOWN = 40,
  SITE_NODES_SHOWN = 60,
  SITE_CHANGES_SHOWN = 100,
  SITE_RUNS_SHOWN = 60,
  SITE_BLOCKS_NAMED = 4
};
static const int64_t DAY_NS = INT64_C(86400) * 1000000000;

/* One page while it is written. */
struct site_page {
  FILE *page;
  struct page_results parts; /* tables */
  struct arena arena;
  const struct site_findings *found;
};

static const char *site_date(struct site_page *s, int64_t time_ns) {
  return arena_strdup(&s->arena, UNITS_UTC(time_ns, "%Y-%m-%d"));
}

static const char *site_period_date(struct site_page *s, size_t period) {
  const struct machines *m = s->found->machines;
  return site_date(s, m->first_ns + (int64_t)period * m->period_ns);
}

static bool site_has_weeks(const struct machines *m) {
  return m->period_ns > DAY_NS;
}

/* file may be NULL: there is no such page. */
static void site_put_link(struct site_page *s, const char *file, const char *text) {
  if (file != NULL) {
    html_print(s->page, "<a href=\"%s\">%s</a>", file, text);
  } else {
    html_print(s->page, "%s", text);
  }
}

static const char *site_run_number(struct site_page *s, size_t run) {
  return arena_format(&s->arena, "%" PRId64, s->found->results->runs[run].ref.id);
}

/* ---- what changed on single machines ---- */

/* "in the week of DATE", "between DATE and DATE" */
static const char *site_step_time(struct site_page *s, const struct machines_step *step) {
  const char *from = site_period_date(s, step->from);
  if (step->from == step->until && !step->slow_drift) {
    return arena_format(&s->arena, "%s %s",
                        site_has_weeks(s->found->machines) ? "in the week of" : "on", from);
  }
  return arena_format(&s->arena, "%sbetween %s and %s",
                      step->slow_drift ? "little by little, " : "", from,
                      site_period_date(s, step->until));
}

static void site_put_step(struct site_page *s, const struct machines_step *step) {
  const char *file = s->found->run_files[step->run];
  html_print(s->page, "<li class=\"%s\"><b>%s became %.1f %% %s</b> in %zu %s (%s), %s",
             step->change < 0 ? "bad" : "good", machines_place(&s->arena, s->found->machines, step),
             100 * fabs(step->change), step->change < 0 ? "slower" : "faster", step->case_count,
             strings_plural(step->case_count, "case", "cases"), step->blocks,
             site_step_time(s, step));
  if (step->what != NULL) {
    html_print(s->page, "; what else changed there: %s", step->what);
  }
  if (file != NULL) {
    html_print(s->page, "; <a href=\"%s\">run %s</a>", file, site_run_number(s, step->run));
  }
  (void)fputs("</li>\n", s->page);
}

static void site_put_steps(struct site_page *s) {
  const struct machines *m = s->found->machines;
  (void)fputs("<section id=\"steps\"><h2>What changed on single machines</h2>\n", s->page);
  html_print(
      s->page, "<p class=\"note\">%s</p>\n",
      machines_have_peers(m)
          ? arena_format(&s->arena,
                         "Each case of a machine beside the median of all machines %s, so that "
                         "new drivers do not count. At most one in twenty of these is chance.",
                         site_has_weeks(m) ? "in the same week" : "on the same day")
          : "Each case beside its own median over all of the time.");
  (void)fputs("<ul class=\"answers\">\n", s->page);
  if (m->step_count == 0) {
    html_print(s->page, "<li class=\"good\">No machine became slower or faster than %s.</li>\n",
               page_site_peers(m));
  }
  for (size_t i = 0; i < m->step_count && i < SITE_STEPS_SHOWN; i++) {
    site_put_step(s, &m->steps[i]);
  }
  (void)fputs("</ul>\n", s->page);
  if (m->step_count > SITE_STEPS_SHOWN) {
    html_print(s->page, "<p class=\"note\">and %zu smaller %s</p>\n",
               m->step_count - SITE_STEPS_SHOWN,
               strings_plural(m->step_count - SITE_STEPS_SHOWN, "one", "ones"));
  }
  (void)fputs("</section>\n", s->page);
}

/* ---- what drivers changed ---- */

struct site_effect {
  size_t block;
  double change;
};

ORDER_DEFINE(site_compare_effects, struct site_effect,
             ORDER(fabs(y->change), fabs(x->change)) ?: ORDER(x->block, y->block))

/* Blocks with an effect in that direction, the largest first: "down_ce -1.5 %, ..."; "" = none. */
static const char *site_effects(struct site_page *s, const struct machines_upgrade *upgrade,
                                double sign) {
  const struct machines *m = s->found->machines;
  struct site_effect *effects = arena_array(&s->arena, m->block_count, sizeof *effects);
  const char *text = "";
  size_t count = 0;
  for (size_t b = 0; b < m->block_count; b++) {
    if (upgrade->changes[b] * sign > 0 && machines_upgrade_counts(upgrade, b)) {
      effects[count++] = (struct site_effect){b, upgrade->changes[b]};
    }
  }
  ORDER_SORT(effects, count, site_compare_effects);
  for (size_t i = 0; i < count && i < SITE_BLOCKS_NAMED; i++) {
    text = arena_add_word(&s->arena, text,
                          arena_format(&s->arena, "%s %+.1f %%", m->blocks[effects[i].block].name,
                                       100 * effects[i].change));
  }
  return count > SITE_BLOCKS_NAMED
             ? arena_add(&s->arena, text, " and %zu more", count - SITE_BLOCKS_NAMED)
             : text;
}

/* Of all blocks together: "" where none has a period of its own before and after. */
static const char *site_no_effect(const struct machines *m,
                                  const struct machines_upgrade *upgrade) {
  return ANY_OF(b, m->block_count, !isnan(upgrade->changes[b])) ? "no block by more than 0.5 %"
                                                                : "";
}

/* The block is a mean: what changed in a single case is in the comparison of cases alone. */
static void site_put_effects(struct site_page *s, size_t u) {
  const struct machines_upgrade *upgrade = &s->found->machines->upgrades[u];
  const struct site_verdict *verdict = &s->found->verdicts[u];
  const char *slower = site_effects(s, upgrade, -1);
  const char *faster = site_effects(s, upgrade, 1);
  const bool any = slower[0] != '\0' || faster[0] != '\0';
  const char *none = any ? "" : site_no_effect(s->found->machines, upgrade);
  html_print(s->page, "<td class=\"words\">%s<b class=\"bad\">%s</b>%s<b class=\"good\">%s</b>",
             none, slower, slower[0] != '\0' && faster[0] != '\0' ? "; " : "", faster);
  if (verdict->words != NULL) {
    html_print(s->page, "%scases: <b class=\"%s\">%s</b>", any || none[0] != '\0' ? "; " : "",
               verdict->regressed ? "bad" : "", verdict->words);
  }
  (void)fputs("</td>", s->page);
}

static void site_put_upgrades(struct site_page *s) {
  const struct machines *m = s->found->machines;
  if (m->upgrade_count == 0) {
    return;
  }
  html_print(s->page,
             "<section id=\"drivers\"><h2>What drivers changed</h2>\n"
             "<p class=\"note\">The speed of blocks on the machines that ran both, in up to eight "
             "%s before and after each machine's own upgrade. Blocks that changed by more than "
             "0.5 %% and four standard errors.</p>\n" HTML_TABLE_BEGIN,
             site_has_weeks(m) ? "weeks" : "days", "What drivers changed");
  (void)fputs(
      "<th>since</th><th>driver</th><th>changed</th><th class=\"n\">machines</th>" HTML_TABLE_ROWS,
      s->page);
  for (size_t u = m->upgrade_count; u-- > 0;) {
    const struct machines_upgrade *upgrade = &m->upgrades[u];
    const char *file = s->found->upgrade_files[u];
    html_print(s->page, "<tr><td class=\"name\">%s</td><th scope=\"row\">",
               site_period_date(s, upgrade->period));
    site_put_link(s, file, arena_format(&s->arena, "%s to %s", upgrade->from, upgrade->to));
    (void)fputs("</th>", s->page);
    site_put_effects(s, u);
    html_print(s->page, "<td class=\"n\">%zu</td></tr>\n", upgrade->node_count);
  }
  (void)fputs(HTML_TABLE_END "</section>\n", s->page);
}

/* ---- machines by weeks or days ---- */

/* Of a row, which is as wide as there is room. */
enum { HEAT_WIDTH = 1000, HEAT_DATES_MAX = 8 };

/* 0 to 3: how far from too small to matter, as on a fleet's page; -1: it did not run. */
static int site_level(const struct machines_cell *cell) {
  return cell->ran ? (int)page_level(fmin(cell->level, 0), cell->margin) : -1;
}

static double site_x(const struct machines *m, size_t period) {
  return (double)period * HEAT_WIDTH / (double)m->period_count;
}

/* The first period of each year, or month where there is less than two years. */
static void site_put_dates(struct site_page *s) {
  const struct machines *m = s->found->machines;
  const bool years = (int64_t)m->period_count * m->period_ns > 730 * DAY_NS;
  const size_t length = years ? 4 : 7;
  const size_t room = m->period_count / HEAT_DATES_MAX;
  const char *last = "";
  size_t next = 0; /* where there is room for a date */
  (void)fputs("<div class=\"heat\"><b></b><p>", s->page);
  for (size_t p = 0; p < m->period_count; p++) {
    const char *date = site_period_date(s, p);
    const char *later = site_period_date(s, p + room < m->period_count ? p + room : p);
    const bool short_year = years && strncmp(date, later, length) != 0;
    if (strncmp(date, last, length) != 0 && p >= next && !short_year) {
      html_print(s->page, "<i style=\"left: %.1f%%\">%s</i>", site_x(m, p) / HEAT_WIDTH * 100,
                 arena_strndup(&s->arena, date, length));
      next = p + room;
    }
    last = date;
  }
  (void)fputs("</p></div>\n", s->page);
}

/* Periods that are alike are one rectangle. */
static void site_put_heat_row(struct site_page *s, size_t node) {
  const struct machines *m = s->found->machines;
  const struct machines_cell *cells = &m->cells[node * m->period_count];
  html_print(s->page,
             "<div class=\"heat\"><b>%s</b><svg viewBox=\"0 0 %d 10\" preserveAspectRatio=\"none\" "
             "role=\"img\">",
             m->nodes[node], HEAT_WIDTH);
  for (size_t first = 0; first < m->period_count;) {
    const int level = site_level(&cells[first]);
    size_t last = first + 1;
    while (last < m->period_count && site_level(&cells[last]) == level &&
           (level < 1 || cells[last].bench == cells[first].bench)) {
      last++;
    }
    if (level >= 0) {
      html_print(s->page, "<rect class=\"w%d\" x=\"%.1f\" width=\"%.1f\" height=\"10\">", level,
                 site_x(m, first), site_x(m, last) - site_x(m, first));
      html_print(s->page, "<title>%s, %s to %s: ", m->nodes[node], site_period_date(s, first),
                 site_period_date(s, last));
      if (level > 0) {
        html_print(s->page, "%.1f %% slower than %s in %s", -100 * cells[first].level,
                   page_site_peers(m), s->found->results->cases[cells[first].bench].name);
      }
      html_print(s->page, "%s</title></rect>", level > 0 ? "" : "as usual");
    }
    first = last;
  }
  (void)fputs("</svg></div>\n", s->page);
}

struct site_rank {
  size_t node;
  double worst;
};

ORDER_DEFINE(site_compare_ranks, struct site_rank,
             ORDER(x->worst, y->worst) ?: ORDER(x->node, y->node))

static void site_put_machines(struct site_page *s) {
  const struct machines *m = s->found->machines;
  const size_t shown = m->node_count < SITE_NODES_SHOWN ? m->node_count : SITE_NODES_SHOWN;
  struct site_rank *ranks = arena_array(&s->arena, m->node_count, sizeof *ranks);
  for (size_t n = 0; n < m->node_count; n++) {
    ranks[n].node = n;
    for (size_t p = 0; p < m->period_count; p++) {
      const struct machines_cell *cell = &m->cells[n * m->period_count + p];
      if (site_level(cell) > 0) {
        ranks[n].worst = fmin(ranks[n].worst, cell->level / cell->margin);
      }
    }
  }
  ORDER_SORT(ranks, m->node_count, site_compare_ranks);
  html_print(s->page,
             "<section id=\"machines\"><h2>Machines by time, the worst first</h2>\n"
             "<p class=\"note key\">How much slower than %s the slowest case of a machine is: "
             "<span class=\"w0\">as usual</span> " PAGE_LEVELS(
                 "w") " the threshold; blank: it did not run."
                      "</p>\n",
             page_site_peers(m));
  site_put_dates(s);
  for (size_t i = 0; i < shown; i++) {
    site_put_heat_row(s, ranks[i].node);
  }
  if (shown < m->node_count) {
    html_print(s->page, "<p class=\"note\">and %zu %s better than these</p>\n",
               m->node_count - shown,
               strings_plural(m->node_count - shown, "machine that is", "machines that are"));
  }
  (void)fputs("</section>\n", s->page);
}

/* ---- facts and runs ---- */

static void site_put_changes(struct site_page *s) {
  static const char *const COLUMNS[] = {"since", "fact", "before", "after", "machines", "on"};
  const struct result_set *rows = s->found->changes;
  struct document *document = &s->parts.document;
  if (rows->row_count == 0) {
    return;
  }
  (void)fputs("<section id=\"changes\"><h2>What machines got</h2>\n", s->page);
  DOCUMENT_TABLE(document, COLUMNS, 0);
  for (size_t i = 0; i < rows->row_count && i < SITE_CHANGES_SHOWN; i++) {
    DOCUMENT_ROW(
        document, cell_text(arena_strndup(&s->arena, result_set_text(rows, i, "first_seen"), 10)),
        cell_text(result_set_text(rows, i, "fact")), cell_text(result_set_text(rows, i, "before")),
        cell_text(result_set_text(rows, i, "value")),
        cell_integer(result_set_integer(rows, i, "nodes")),
        cell_text(result_set_text(rows, i, "on")));
  }
  document_table_end(document);
  (void)fputs("</section>\n", s->page);
}

static void site_put_runs(struct site_page *s) {
  const struct results *results = s->found->results;
  html_print(s->page,
             "<section id=\"runs\"><h2>The latest runs</h2>\n" HTML_TABLE_BEGIN
             "<th>run</th><th>started at</th><th>scenario</th><th>machine</th><th>driver</th>"
             "<th>tag</th>" HTML_TABLE_ROWS,
             "The latest runs");
  for (size_t i = 0; i < results->run_count && i < SITE_RUNS_SHOWN; i++) {
    const size_t r = results->run_count - 1 - i;
    const struct results_run *run = &results->runs[r];
    const struct results_environment *e = &results->environments[run->environment];
    const char *file = s->found->run_files[r];
    (void)fputs("<tr><th scope=\"row\">", s->page);
    site_put_link(s, file, site_run_number(s, r));
    html_print(s->page,
               "</th><td class=\"name\">%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
               UNITS_UTC(run->started_at_ns, UNITS_UTC_MINUTES), run->scenario, e->node,
               e->driver_version, run->tag);
  }
  (void)fputs(HTML_TABLE_END "</section>\n", s->page);
}

/* ---- the page ---- */

/* The first thing that one sees. */
static const char *site_lead(struct site_page *s) {
  const struct machines *m = s->found->machines;
  const struct results *results = s->found->results;
  const size_t slower = SUM_OF(i, m->step_count, m->steps[i].change < 0);
  size_t bad = m->upgrade_count;
  while (bad > 0 && !s->found->verdicts[bad - 1].regressed) {
    bad--;
  }
  const char *first =
      slower == 0 && bad > 0
          ? arena_format(&s->arena, "Driver %s to %s: %s.", m->upgrades[bad - 1].from,
                         m->upgrades[bad - 1].to, s->found->verdicts[bad - 1].words)
      : slower == 0
          ? arena_format(&s->arena, "No machine became slower than %s.", page_site_peers(m))
          : arena_format(&s->arena, "%s became %.1f %% slower%s.",
                         machines_place(&s->arena, m, &m->steps[0]), -100 * m->steps[0].change,
                         slower > 1 ? arena_format(&s->arena, ", and %zu more", slower - 1) : "");
  const char *begin = site_date(s, results->runs[0].started_at_ns);
  const char *end = site_date(s, results->runs[results->run_count - 1].started_at_ns);
  return strcmp(begin, end) == 0
             ? arena_format(&s->arena, "%s %zu %s on %s.", first, results->run_count,
                            strings_plural(results->run_count, "run", "runs"), begin)
             : arena_format(&s->arena, "%s %zu runs from %s to %s.", first, results->run_count,
                            begin, end);
}

enum status page_site(FILE *page, const struct site_findings *found, const char *haul_version,
                      struct error *err) {
  struct site_page s = {.found = found};
  const struct machines *m = found->machines;
  struct page_entry entries[6] = {{"steps", "What changed on single machines", ""}};
  size_t count = 1;
  if (m->upgrade_count > 0) {
    entries[count++] = (struct page_entry){"drivers", "What drivers changed", ""};
  }
  entries[count++] = (struct page_entry){"machines", "Machines by time", ""};
  entries[count++] = (struct page_entry){"blocks", "Blocks over time", ""};
  if (found->changes->row_count > 0) {
    entries[count++] = (struct page_entry){"changes", "What machines got", ""};
  }
  entries[count++] = (struct page_entry){"runs", "The latest runs", ""};
  page_results_init(&s.parts, page, "site");
  s.parts.document.err = err;
  s.page = s.parts.page; /* tables are written to it, too */
  page_begin(s.page,
             arena_format(&s.arena, "%zu %s over time", m->node_count,
                          strings_plural(m->node_count, "machine", "machines")),
             site_lead(&s), entries, count);
  page_put_simulated(s.page,
                     results_run_is_simulated(found->results, found->results->run_count - 1));
  site_put_steps(&s);
  site_put_upgrades(&s);
  site_put_machines(&s);
  page_site_blocks(s.page, m);
  site_put_changes(&s);
  site_put_runs(&s);
  page_end(s.page, haul_version);
  const enum status status = s.parts.document.status;
  page_results_fini(&s.parts);
  arena_fini(&s.arena);
  return status;
}
