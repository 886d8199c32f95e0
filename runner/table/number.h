/* number.h - numbers as text that reads back as the same number, by std::to_chars(), which takes a
 * tenth of printf()'s time. */
#pragma once

#include <stdint.h>

enum { NUMBER_TEXT_MAX = 40 };

#ifdef __cplusplus
extern "C" {
#endif

void text_integer(int64_t value, char text[NUMBER_TEXT_MAX]);
/* The shortest that reads back, in the form of printf()'s %.*g with at least 15 digits. At a power
 * of two that number of digits may have another text, which does not read back. Infinity is "inf".
 */
void text_real_exact(double value, char text[NUMBER_TEXT_MAX]);

#ifdef __cplusplus
}
#endif
