/* diff_group.h - the mean change of a group of cases, as one case more that diff_compare() judges.
 *
 * The group's value of a process (of nodes: of a node) is the mean, over its cases, of how far the
 * process is from the middle of both sides of the case. The difference of the sides' means is then
 * the mean change of the cases, and its error that between processes, runs or nodes: what all cases
 * of a run share does not count as many observations. This is the estimate of a balanced
 * hierarchical model with cases as fixed and runs as random effects (Gelman and Hill 2007, "Data
 * Analysis Using Regression and Multilevel/Hierarchical Models", chapter 12). A process that has
 * fewer than nine in ten of the cases that another one has does not count, nor does a node that has
 * fewer than half. */
#pragma once

#include "engine/base/arena.h"
#include "runner/analysis/diff.h"

/* members: of cases, which have both sides and are alike in `paired`. delta is the mean of theirs.
 * The samples are in the arena. */
struct diff_case diff_group_make(const struct diff_case *cases, const size_t *members, size_t count,
                                 struct arena *arena);

/* What the cases say of the order of their runs holds for groups, but for those that share noise:
 * what is common to many cases is hidden by the noise of each. */
void diff_group_take_order(const struct diff_summary *cases, struct diff_options *options);
