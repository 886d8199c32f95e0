/* hint.h - what to write instead, behind SQLite's message on SQL of people: the column that was
 * meant, the view that has it, the quotes that lack. Views and facts are those of the database. */
#pragma once

#include "engine/base/arena.h"
#include "runner/record/database.h"

/* Begins with ": " or "; ", in the arena; "" = nothing is known. */
const char *hint_for(struct database *database, const char *sql, const char *message,
                     struct arena *arena);
