/* shell_word.h - words of a command line as a shell takes them. Texts are made in the arena. */
#pragma once

#include "engine/base/arena.h"

/* The text as one word: as it is, or in single quotes where a shell would make something else of
 * it. */
const char *shell_word(struct arena *arena, const char *text);
