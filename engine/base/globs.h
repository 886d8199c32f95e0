/* globs.h - lists of globs in one text, as --only takes them: "host_*,*latency*".
 *
 * A comma ends a glob, unless a digit follows: names of cases have such
 * ("all_to_host/gpu0,1-numa0"). Blanks before a glob are no part of it: ", 1*" is a glob that
 * begins with a digit. */
#pragma once

#include "engine/base/arena.h"

#include <stdbool.h>

/* The first glob of *rest, which moves behind it; NULL = there is none. */
const char *globs_next(const char **rest, struct arena *arena);
/* Whether one of them matches the text (fnmatch: "*" matches "/" too). */
bool globs_match(const char *globs, const char *text);
/* The list with more globs at its end; globs may be NULL. */
const char *globs_add(const char *globs, const char *more, struct arena *arena);
/* The list as a JSON array, for SQL; NULL for NULL. */
const char *globs_json(const char *globs, struct arena *arena);
