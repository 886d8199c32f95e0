/* result_layout.h - what the two files that lay out a block share: result_layout.c, which finds
 * its matrices and grids, and result_labels.c, which labels them. Texts are in the maker's arena or
 * the rows'. */
#pragma once

#include "runner/render/result/result_block.h"

/* What the places of a case are to each other. */
enum row_class {
  CLASS_NONE,    /* no place in a matrix or grid */
  CLASS_ONE_WAY, /* from one place to another */
  CLASS_TO_HOST, /* from a GPU to a node, which is still the row */
  CLASS_BOTH,
  CLASS_LOCAL, /* within one place */
  CLASS_CHASE, /* loads of a thread from the memory of another place */
  CLASS_AT_ONCE,
  CLASS_ALONE, /* work at a place, not between two */
};

/* A layout in the making. */
struct layout_maker {
  struct arena *arena;
  const struct result_block *block;
  bool memories_vary; /* then each kind is a setting of its own: a matrix compares links */
  bool all_local;     /* what goes one way */
  bool places_vary;   /* axes of places tell facets apart: their values come to the same places */
  const char *swept;  /* the axis whose values are rows; NULL = none */
  const char **along; /* axes whose values follow from it */
  size_t along_count;
};

/* ---- what tells cases apart (result_layout.c) ---- */

enum row_class layout_class(const struct layout_maker *maker, const struct run_row *row);
bool layout_class_is_pair(enum row_class class);
bool layout_is_kind(const struct run_row *row, const char *kind);
bool layout_is_gpu(const char *place);
/* Whether the source is the row of a matrix. */
bool layout_source_is_down(const struct run_row *row, enum row_class class);
/* Device memory of a GPU is not named: "pinned", "pageable to huge", "managed". */
const char *layout_memory(struct arena *arena, const struct run_row *row);
/* Whether the values of the axis follow from those of the swept one. */
bool layout_is_along(const struct layout_maker *maker, const char *key);
/* Whether the axis tells facets apart. */
bool layout_is_setting(const struct layout_maker *maker, const char *key);
/* "64KiB", "4", "10us" as a number; NAN = none. */
double layout_number(const char *text);

/* ---- labels (result_labels.c) ---- */

/* What the cases of a facet have in common, beside its words. in_full: also what the words say. */
const char *layout_setting(const struct layout_maker *maker, const struct run_row *row,
                           bool in_full);
/* Fill in setting, words, and the labels of all cells. */
void layout_label_matrix(const struct layout_maker *maker, struct result_facet *facet);
void layout_label_grid(const struct layout_maker *maker, struct result_facet *facet);
