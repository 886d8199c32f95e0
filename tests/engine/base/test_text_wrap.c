#include "engine/base/text_wrap.h"

#include "tests/cmocka.h"

TEST(commands_keep_their_verbs) {
  SCOPED(strbuf_fini) struct strbuf text;
  strbuf_init(&text, 1000);
  text_wrap(&text, "change it once: haul migrate (haul list)", 20, 0, false);
  assert_string_equal(text.text, "change it once:\nhaul migrate\n(haul list)");
}

/* Where a line has room for the whole command. */
TEST(commands_in_parentheses_stay_whole) {
  static const char SKIPPED[] = "42 cases skipped (haul query --saved skipped), 2 ok";
  SCOPED(strbuf_fini) struct strbuf text;
  strbuf_init(&text, 1000);
  text_wrap(&text, SKIPPED, 36, 2, false);
  assert_string_equal(text.text, "42 cases skipped\n  (haul query --saved skipped), 2 ok");
  strbuf_clear(&text);
  text_wrap(&text, SKIPPED, 24, 2, false);
  assert_string_equal(text.text, "42 cases skipped\n  (haul query --saved\n  skipped), 2 ok");
}

TEST(numbers_keep_their_units) {
  SCOPED(strbuf_fini) struct strbuf text;
  strbuf_init(&text, 1000);
  text_wrap(&text, "L2 (one) 2 MiB; 48.5 GB/s (+12 %), 4 GPUs, 123456789 MiB a lot 2 MiBs", 12, 0,
            false);
  assert_string_equal(
      text.text, "L2 (one)\n2 MiB;\n48.5 GB/s\n(+12 %), 4\nGPUs,\n123456789\nMiB a lot 2\nMiBs");
}

TEST(blanks_of_a_name_stay) {
  SCOPED(strbuf_fini) struct strbuf text;
  strbuf_init(&text, 1000);
  text_wrap(&text, "no case is \"a  b\",   or none", 20, 2, false);
  assert_string_equal(text.text, "no case is \"a  b\",\n  or none");
}
