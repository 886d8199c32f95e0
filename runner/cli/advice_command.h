/* advice_command.h - the command that measures again what a run measured. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct measured_run;
struct strbuf;

/* Whether the command of the run measures its scenario if it is given again. */
bool advice_is_plain(struct arena *arena, const struct measured_run *run);

/* Whether the commands of both runs measure the same: they differ in the database and the name of
 * the node alone. */
bool advice_is_same(struct arena *arena, const struct measured_run *a,
                    const struct measured_run *b);

/* The command that made a run, with that number of processes and, unless tag is NULL, that tag.
 * Options that only change how the result is shown are left out; the name of a node is NODE where
 * there are several. */
void advice_put_command(struct strbuf *command, struct arena *arena, const struct measured_run *run,
                        unsigned processes, size_t nodes, const char *tag);
