/* man_page.h - the manual page haul(1), made from the tables of verbs, options and exit codes. */
#pragma once

#include <stdio.h>

/* In the man macros of roff. A failure to write is left to the stream. */
void man_page_print(FILE *stream);
