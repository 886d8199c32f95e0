/* units.h - sizes and durations as people write and read them.
 *
 * Sizes: "4096", "64KiB" (65536), "64kB" (64000), also B, MiB, MB, GiB, GB, TiB, TB. Durations:
 * "200ns", "50us", "20ms", "2s", "5min", "1h". A number may have a fraction ("1.5GiB") where the
 * result is a whole number of bytes or nanoseconds. Spaces are not allowed. Rates are in bytes per
 * second; GB/s means 10^9 bytes per second everywhere. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UNITS_TEXT_MAX = 32 };

/* false, *value untouched: not a size / duration, or past INT64_MAX. */
bool units_parse_size(const char *text, uint64_t *size_bytes);
bool units_parse_duration(const char *text, uint64_t *duration_ns);

/* Room for the text of one call, until the end of the block that it stands in:
 *   printf("%s", units_format_size(size_bytes, UNITS_TEXT)); */
#define UNITS_TEXT ((char[UNITS_TEXT_MAX]){0})

/* The shortest exact text that parses back to the same value: 65536 -> "64KiB", 1000 -> "1000B". */
const char *units_format_size(uint64_t size_bytes, char text[UNITS_TEXT_MAX]);
/* For people, three digits: 85028896768 -> "79.2 GiB". */
const char *units_format_size_short(uint64_t size_bytes, char text[UNITS_TEXT_MAX]);
/* The shortest exact text: 200000 -> "200us". */
const char *units_format_duration(uint64_t duration_ns, char text[UNITS_TEXT_MAX]);
/* For people, three digits: 1234567 -> "1.23 ms"; 95 s -> "1 min 35 s", "2 h 5 min". */
const char *units_format_duration_short(uint64_t duration_ns, char text[UNITS_TEXT_MAX]);

/* A time in ns since 1970 as UTC, in the words of strftime(); "" where it cannot be told. */
#define UNITS_UTC_MINUTES     "%Y-%m-%d %H:%M"
#define UNITS_UTC_ISO_MINUTES "%Y-%m-%dT%H:%MZ"
#define UNITS_UTC_SECONDS     "%Y-%m-%dT%H:%M:%SZ"
const char *units_format_utc(int64_t time_ns, const char *format, char *text, size_t size);
#define UNITS_UTC(time_ns, format) units_format_utc((time_ns), (format), UNITS_TEXT, UNITS_TEXT_MAX)
