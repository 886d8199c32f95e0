/* page.h - the frame of a report: one file that needs nothing else, no network and no script.
 *
 * Its style is report.css, embedded. */
#ifndef HAUL_RUNNER_RENDER_PAGE_H
#define HAUL_RUNNER_RENDER_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The first line of every report: what a file begins with that a later report may replace. */
#define PAGE_FIRST_LINES "<!DOCTYPE html>\n<!-- a report of haul -->\n"

struct page_entry {
  const char *id;    /* of an element of the page: letters, digits and '-' */
  const char *text;  /* escaped by the page */
  const char *extra; /* smaller, behind it; may be "" */
};

/* Up to the table of contents, which is left out where there is one entry. */
void page_begin(FILE *page, const char *title, const char *lead, const struct page_entry *entries,
                size_t entry_count);
void page_end(FILE *page, const char *haul_version);

#endif
