#include "engine/base/units.h"

#include "tests/cmocka.h"

TEST(sizes_are_read) {
  static const struct {
    const char *text;
    uint64_t bytes;
  } table[] = {
      {"0", 0},
      {"4096", 4096},
      {"1B", 1},
      {"64KiB", 65536},
      {"64kB", 64000},
      {"2MiB", UINT64_C(2) << 20},
      {"2MB", 2000000},
      {"1GiB", UINT64_C(1) << 30},
      {"1GB", 1000000000},
      {"1TiB", UINT64_C(1) << 40},
      {"1TB", UINT64_C(1000000000000)},
      {"1.5GiB", UINT64_C(3) << 29},
      {"0.5KiB", 512},
      {"1.0", 1},
      {"007", 7},
      {"9223372036854775807", INT64_MAX},
  };
  for (size_t i = 0; i < COUNT_OF(table); i++) {
    uint64_t bytes = 99;
    if (!units_parse_size(table[i].text, &bytes) || bytes != table[i].bytes) {
      fail_msg("\"%s\" gives %llu", table[i].text, (unsigned long long)bytes);
    }
  }
}

TEST(text_that_is_no_size_is_rejected) {
  static const char *const texts[] = {
      "",
      "x",
      "KiB",
      "64 KiB",
      " 64",
      "64K",
      "64kib",
      "64KB",
      "-1",
      "+1",
      "1e3",
      "0x10",
      ".5",
      "1.",
      "1..5",
      "1.5",
      "0.3KiB",
      "1.5.5B",
      "64KiB ",
      "8EiB",
      "1,5GiB",
      "1.KiB",
      "nan",
      "200ms",
      "9223372036854775808",
      "18446744073709551616",
      "99999999999999999999999999",
      "16777216TiB",
      "0.00000000000000000000000000001TiB",
  };
  for (size_t i = 0; i < COUNT_OF(texts); i++) {
    uint64_t bytes = 99;
    if (units_parse_size(texts[i], &bytes) || bytes != 99) {
      fail_msg("\"%s\" gives %llu", texts[i], (unsigned long long)bytes);
    }
  }
}

TEST(durations_are_read) {
  static const struct {
    const char *text;
    uint64_t ns;
  } table[] = {
      {"200ns", 200},
      {"50us", 50000},
      {"20ms", 20000000},
      {"2s", 2000000000},
      {"5min", UINT64_C(300000000000)},
      {"1h", UINT64_C(3600000000000)},
      {"2.5h", UINT64_C(9000000000000)},
      {"0.5s", 500000000},
      {"1.5us", 1500},
      {"0s", 0},
  };
  for (size_t i = 0; i < COUNT_OF(table); i++) {
    uint64_t ns = 99;
    if (!units_parse_duration(table[i].text, &ns) || ns != table[i].ns) {
      fail_msg("\"%s\" gives %llu", table[i].text, (unsigned long long)ns);
    }
  }
  static const char *const wrong[] = {"", "5", "0", "1.5ns", "1H", "10 ms", "5m", "1KiB", "s"};
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    uint64_t ns = 99;
    if (units_parse_duration(wrong[i], &ns) || ns != 99) {
      fail_msg("\"%s\" gives %llu", wrong[i], (unsigned long long)ns);
    }
  }
}

TEST(what_is_written_reads_back) {
  static const struct {
    uint64_t value;
    const char *size;
    const char *duration;
  } table[] = {
      {0, "0B", "0ns"},
      {1, "1B", "1ns"},
      {1000, "1000B", "1us"},
      {1024, "1KiB", "1024ns"},
      {65536, "64KiB", "65536ns"},
      {65537, "65537B", "65537ns"},
      {200000, "200000B", "200us"},
      {UINT64_C(60000000000), "58593750KiB", "1min"},
      {UINT64_C(9000000000000), "8789062500KiB", "150min"},
      {UINT64_C(86400000000000), "84375000000KiB", "24h"},
      {UINT64_C(3) << 40, "3TiB", "3298534883328ns"},
      {INT64_MAX, "9223372036854775807B", "9223372036854775807ns"},
  };
  for (size_t i = 0; i < COUNT_OF(table); i++) {
    char text[UNITS_TEXT_MAX];
    uint64_t value = 99;
    units_format_size(table[i].value, text);
    assert_string_equal(text, table[i].size);
    assert_true(units_parse_size(text, &value));
    assert_int_equal(value, table[i].value);
    units_format_duration(table[i].value, text);
    assert_string_equal(text, table[i].duration);
    assert_true(units_parse_duration(text, &value));
    assert_int_equal(value, table[i].value);
  }
}

TEST(short_durations_have_three_digits) {
  static const struct {
    uint64_t ns;
    const char *text;
  } table[] = {
      {0, "0 ns"},
      {999, "999 ns"},
      {1000, "1 us"},
      {1234567, "1.23 ms"},
      {999499, "999 us"},
      {999600, "1 ms"},
      {999999999, "1 s"},
      {59940000000, "59.9 s"},
      {59990000000, "1 min 0 s"},
      {UINT64_C(95000000000), "1 min 35 s"},
      {UINT64_C(119600000000), "2 min 0 s"},
      {UINT64_C(3599000000000), "59 min 59 s"},
      {UINT64_C(3599600000000), "1 h 0 min"},
      {UINT64_C(7505000000000), "2 h 5 min"},
  };
  for (size_t i = 0; i < COUNT_OF(table); i++) {
    char text[UNITS_TEXT_MAX];
    units_format_duration_short(table[i].ns, text);
    assert_string_equal(text, table[i].text);
  }
}

TEST(short_sizes_have_three_digits) {
  static const struct {
    uint64_t bytes;
    const char *text;
  } table[] = {{0, "0 B"},
               {1023, "1023 B"},
               {1536, "1.5 KiB"},
               {UINT64_C(128) << 20, "128 MiB"},
               {85028896768, "79.2 GiB"},
               {UINT64_C(1008) << 30, "1008 GiB"},
               {UINT64_C(3) << 50, "3072 TiB"}};
  for (size_t i = 0; i < COUNT_OF(table); i++) {
    char text[UNITS_TEXT_MAX];
    units_format_size_short(table[i].bytes, text);
    assert_string_equal(text, table[i].text);
  }
}

TEST(times_are_utc) {
  char text[32];
  units_format_utc(INT64_C(1795332123456789012), UNITS_UTC_SECONDS, text, sizeof text);
  assert_string_equal(text, "2026-11-22T07:22:03Z");
  units_format_utc(INT64_C(1795332123456789012), UNITS_UTC_MINUTES, text, sizeof text);
  assert_string_equal(text, "2026-11-22 07:22");
  units_format_utc(INT64_C(1795332123456789012), UNITS_UTC_ISO_MINUTES, text, sizeof text);
  assert_string_equal(text, "2026-11-22T07:22Z");
  units_format_utc(0, UNITS_UTC_SECONDS, text, 4); /* no room */
  assert_string_equal(text, "");
}
