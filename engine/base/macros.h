/* macros.h - what every file may write shorter. */
#pragma once

/* How many elements an array has. */
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* Before a local variable: what releases it at the end of its scope, however that is left.
 *   SCOPED(arena_fini) struct arena arena = {0}; */
#define SCOPED(release) __attribute__((cleanup(release)))
