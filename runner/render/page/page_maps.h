/* page_maps.h - where a change is: for each block whose cases are places, A, B and the change side
 * by side, one cell per case. A block of few sizes is a matrix of places per setting, from row to
 * column; one of many sizes has paths down and sizes across. Cells are found by all that
 * distinguishes the cases of a block: where two cases would have one cell, there is no map of it.
 */
#pragma once

#include "runner/analysis/compare.h"

#include <stdio.h>

/* Maps that are larger are left out, and all maps of a comparison with more cases. */
enum { PAGE_MAP_ROWS_MAX = 80, PAGE_MAP_COLUMNS_MAX = 40, PAGE_MAP_CASES_MAX = 5000 };

struct page_maps;

/* Never NULL; both arguments are borrowed. */
struct page_maps *page_maps_new(const struct comparison *comparison);
void page_maps_free(struct page_maps *maps);
/* Whether the row of the comparison has a cell: its id is "cell-ROW". */
bool page_maps_have(const struct page_maps *maps, size_t row);
/* Those with a change are open, the others folded. Links each cell to the id "case-ROW". */
void page_maps_put(FILE *page, const struct page_maps *maps);
