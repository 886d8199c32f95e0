#include "runner/table/number.h"

#include <charconv>
#include <cstdlib>
#include <cstring>

void text_integer(int64_t value, char text[NUMBER_TEXT_MAX]) {
  *std::to_chars(text, text + NUMBER_TEXT_MAX - 1, value).ptr = '\0';
}

void text_real_exact(double value, char text[NUMBER_TEXT_MAX]) {
  char *const last = text + NUMBER_TEXT_MAX - 1;
  *std::to_chars(text, last, value, std::chars_format::scientific).ptr = '\0';
  const char *const exponent = std::strchr(text, 'e');
  if (exponent == nullptr) {
    return; /* infinity, or no number */
  }
  const long power = std::strtol(exponent + 1, nullptr, 10);
  int digits = 0;
  for (const char *at = text; at < exponent; at++) {
    digits += *at >= '0' && *at <= '9';
  }
  digits = digits < 15 ? 15 : digits;
  if (power >= -4 && power < digits) {
    *std::to_chars(text, last, value, std::chars_format::fixed).ptr = '\0';
  }
}
