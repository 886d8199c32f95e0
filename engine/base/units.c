#include "engine/base/units.h"
#include "engine/base/macros.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct unit {
  const char *name;
  uint64_t factor;
};

/* Large before small: formatting takes the first that divides. */
static const struct unit shown_size_units[] = {
    {"TiB", UINT64_C(1) << 40},
    {"GiB", UINT64_C(1) << 30},
    {"MiB", UINT64_C(1) << 20},
    {"KiB", UINT64_C(1) << 10},
    {"B", 1},
};

static const struct unit size_units[] = {
    {"TiB", UINT64_C(1) << 40}, {"GiB", UINT64_C(1) << 30},      {"MiB", UINT64_C(1) << 20},
    {"KiB", UINT64_C(1) << 10}, {"TB", UINT64_C(1000000000000)}, {"GB", UINT64_C(1000000000)},
    {"MB", UINT64_C(1000000)},  {"kB", UINT64_C(1000)},          {"B", 1},
};

static const struct unit duration_units[] = {
    {"h", UINT64_C(3600000000000)}, {"min", UINT64_C(60000000000)}, {"s", UINT64_C(1000000000)},
    {"ms", UINT64_C(1000000)},      {"us", UINT64_C(1000)},         {"ns", 1},
};

static bool find_unit(const struct unit *units, size_t count, const char *name, uint64_t *factor) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(units[i].name, name) == 0) {
      *factor = units[i].factor;
      return true;
    }
  }
  return false;
}

/* Exact decimal arithmetic: value = digits[.fraction] * factor must be a whole number. */
static bool parse_scaled(const char *text, const struct unit *units, size_t count,
                         const char *default_unit, uint64_t *value) {
  unsigned __int128 mantissa = 0;
  uint64_t divisor = 1;
  const char *p = text;
  bool fraction = false;
  bool digits = false;
  for (;; p++) {
    if (isdigit((unsigned char)*p)) {
      mantissa = mantissa * 10 + (unsigned)(*p - '0');
      if (mantissa > (unsigned __int128)UINT64_MAX || divisor > UINT64_MAX / 10) {
        return false;
      }
      divisor = fraction ? divisor * 10 : divisor;
      digits = true;
    } else if (*p == '.' && !fraction && digits) {
      fraction = true;
    } else {
      break;
    }
  }
  if (!digits || p[-1] == '.') {
    return false;
  }
  uint64_t factor = 0;
  const char *unit = *p == '\0' ? default_unit : p;
  if (unit == NULL || !find_unit(units, count, unit, &factor)) {
    return false;
  }
  unsigned __int128 scaled = mantissa * factor;
  if (scaled % divisor != 0 || scaled / divisor > (unsigned __int128)INT64_MAX) {
    return false;
  }
  *value = (uint64_t)(scaled / divisor);
  return true;
}

bool units_parse_size(const char *text, uint64_t *size_bytes) {
  return parse_scaled(text, size_units, COUNT_OF(size_units), "B", size_bytes);
}

bool units_parse_duration(const char *text, uint64_t *duration_ns) {
  return parse_scaled(text, duration_units, COUNT_OF(duration_units), NULL, duration_ns);
}

/* The first of `units` (large before small) that divides the value; the last always does. */
static void format_exact(uint64_t value, const struct unit *units, size_t count,
                         char text[UNITS_TEXT_MAX]) {
  const struct unit *unit = units;
  while (unit < units + count - 1 && (value == 0 || value % unit->factor != 0)) {
    unit++;
  }
  (void)snprintf(text, UNITS_TEXT_MAX, "%" PRIu64 "%s", value / unit->factor, unit->name);
}

/* Binary units and bytes only: 1000 stays "1000B", so that a column of sizes reads alike. */
const char *units_format_size(uint64_t size_bytes, char text[UNITS_TEXT_MAX]) {
  format_exact(size_bytes, shown_size_units, COUNT_OF(shown_size_units), text);
  return text;
}

const char *units_format_size_short(uint64_t size_bytes, char text[UNITS_TEXT_MAX]) {
  static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = (double)size_bytes;
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < COUNT_OF(names)) {
    value /= 1024;
    unit++;
  }
  (void)snprintf(text, UNITS_TEXT_MAX, value < 999.5 ? "%.3g %s" : "%.0f %s", value, names[unit]);
  return text;
}

const char *units_format_duration(uint64_t duration_ns, char text[UNITS_TEXT_MAX]) {
  format_exact(duration_ns, duration_units, COUNT_OF(duration_units), text);
  return text;
}

const char *units_format_duration_short(uint64_t duration_ns, char text[UNITS_TEXT_MAX]) {
  /* The first unit in which three digits do not round up to 1000 (60 for seconds). */
  const double ns = (double)duration_ns;
  if (duration_ns < 1000) {
    (void)snprintf(text, UNITS_TEXT_MAX, "%" PRIu64 " ns", duration_ns);
  } else if (ns < 999.5e3) {
    (void)snprintf(text, UNITS_TEXT_MAX, "%.3g us", ns / 1e3);
  } else if (ns < 999.5e6) {
    (void)snprintf(text, UNITS_TEXT_MAX, "%.3g ms", ns / 1e6);
  } else if (ns < 59.95e9) {
    (void)snprintf(text, UNITS_TEXT_MAX, "%.3g s", ns / 1e9);
  } else if (ns < 3599.5e9) {
    uint64_t seconds = (duration_ns + UINT64_C(500000000)) / UINT64_C(1000000000);
    (void)snprintf(text, UNITS_TEXT_MAX, "%" PRIu64 " min %" PRIu64 " s", seconds / 60,
                   seconds % 60);
  } else {
    uint64_t minutes = (duration_ns / UINT64_C(1000000000) + 30) / 60;
    (void)snprintf(text, UNITS_TEXT_MAX, "%" PRIu64 " h %" PRIu64 " min", minutes / 60,
                   minutes % 60);
  }
  return text;
}

const char *units_format_utc(int64_t time_ns, const char *format, char *text, size_t size) {
  const time_t seconds = (time_t)(time_ns / 1000000000);
  struct tm utc;
  if (gmtime_r(&seconds, &utc) == NULL || strftime(text, size, format, &utc) == 0) {
    text[0] = '\0';
  }
  return text;
}
