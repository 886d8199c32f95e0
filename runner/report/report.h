/* report.h - a report: runs and a comparison, or a fleet. What a page says is gathered here, from
 * the database and by analyses, and handed to runner/render. */
#pragma once

#include "runner/analysis/compare_runs.h"
#include "runner/expect/judge.h"
#include "runner/record/query.h"

/* Most runs of one page, cases with a row of their own per block, and per run. */
enum { REPORT_RUNS_MAX = 100, REPORT_BLOCK_ROWS_MAX = 1000, REPORT_ROWS_MAX = 5000 };

struct report_request {
  bool flows;                        /* also those of cases that have several */
  bool sums;                         /* of the cells of matrices of rates */
  const struct expect_set *expected; /* what results are compared with */
  const char *haul_version;
  const char *db_option; /* of commands that the page gives: " --db FILE", or "" */
  struct query *query;
  const struct run_ref *runs; /* one section each, in this order */
  size_t run_count;
  const struct compare_request *sides;   /* the names of the sides */
  const struct compare_result *compared; /* NULL = no comparison */
};

/* A fleet on one page. */
struct fleet_request {
  const char *haul_version;
  struct query *query;
  const struct run_ref *runs; /* of it, the last one last; none: all of the database */
  size_t run_count;
  const struct run_ref *before; /* what it is compared with */
  size_t before_count;
  const char *before_name; /* NULL = as its runs have it */
};

enum status fleet_report_print(const struct fleet_request *request, FILE *page,
                               struct error *err) CHECK_RESULT;

/* ---- a site (site.c): pages of one folder, of which only those that lack are written ---- */

struct site_file {
  const char *name;  /* in the folder: letters, digits, '.', '_' and '-' */
  const char *mark;  /* the last line of the page: it changes when there are more results */
  bool left_out;     /* for the caller: it could not be made, and the index has no link to it */
  const char *title; /* private */
  size_t of;
};

struct site;
/* STATUS_NOT_FOUND: there is no run that haul measured. */
enum status site_new(struct query *query, const char *haul_version, const char *db_option,
                     struct site **site, struct error *err) CHECK_RESULT;
/* Accepts NULL. */
void site_free(struct site *site);
/* Pages that the index links to: the latest runs and those after a step, and what each driver
 * changed. */
struct site_file *site_files(const struct site *site, size_t *count);
/* STATUS_INVALID or STATUS_NOT_FOUND: these runs cannot be compared. */
enum status site_print_file(struct site *site, const struct site_file *file,
                            const struct expect_set *expected, FILE *page,
                            struct error *err) CHECK_RESULT;
/* After the files, all of which are there, but for those that are left out. */
enum status site_print_index(struct site *site, FILE *page, struct error *err) CHECK_RESULT;

/* page is in memory: failures to write to it are not checked. */
enum status report_print(const struct report_request *request, FILE *page,
                         struct error *err) CHECK_RESULT;
