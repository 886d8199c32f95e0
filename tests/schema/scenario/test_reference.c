#include "schema/scenario/field.h"
#include "schema/scenario/reference.h"

#include "support.h"

/* The committed files that the table of keys yields. */
struct reference_file {
  const char *path;
  const char *mark; /* what stands before it in the file, and stays; NULL = nothing */
  enum status (*write)(FILE *stream, struct error *err);
};

static const struct reference_file reference_files[] = {
    {HAUL_SOURCE_DIR "/schema/scenario.schema.json", NULL, reference_write_schema},
    {HAUL_SOURCE_DIR "/schema/scenario/README.md", REFERENCE_MARK, reference_write_markdown},
};

/* How much of the text stays. */
static size_t kept_length(const struct reference_file *file, const char *text) {
  const char *mark = file->mark != NULL ? strstr(text, file->mark) : NULL;
  if (file->mark != NULL && mark == NULL) {
    fail_msg("%s has no mark", file->path);
  }
  return mark != NULL ? (size_t)(mark - text) + strlen(file->mark) : 0;
}

TEST(committed_files_are_what_the_table_gives) {
  for (size_t i = 0; i < COUNT_OF(reference_files); i++) {
    CAPTURE(made);
    assert_ok(reference_files[i].write(made.stream, err), err);
    SCOPED(bytes_fini) struct bytes committed = bytes_read(reference_files[i].path);
    const size_t kept = kept_length(&reference_files[i], committed.data);
    if (strcmp(capture_text(&made), committed.data + kept) != 0) {
      fail_msg("%s is out of date: build the target update_reference", reference_files[i].path);
    }
  }
}

TEST(every_row_is_complete) {
  for (size_t i = 0; i < field_count(); i++) {
    const struct field *field = field_at(i);
    assert_true(field->help != NULL && field->help[0] != '\0');
    assert_true(field->sections != 0);
    assert_true((field->type == FIELD_WORD || field->type == FIELD_CPU) == (field->words != NULL));
    assert_true(!field_is_numeric(field) || field->minimum <= field->maximum);
    assert_true(!field->required || field->default_text == NULL);
    char expected[FIELD_EXPECTED_MAX];
    field_expected(field, expected);
    assert_true(strlen(expected) > 0 && strlen(expected) < FIELD_EXPECTED_MAX - 1);
    for (unsigned s = 0; s < section_count; s++) {
      if ((field->sections & (1U << s)) != 0) {
        assert_ptr_equal(field_find((enum section)s, field->name),
                         field); /* no other of its name */
      }
    }
  }
}

static void collect(void *context, const struct reference_key *key) {
  const char **wanted = context;
  for (size_t i = 0; wanted[i] != NULL; i++) {
    if (strcmp(wanted[i], key->key) == 0) {
      assert_non_null(key->help);
      wanted[i] = "";
    }
  }
}

TEST(keys_for_set_are_complete) {
  const char *wanted[] = {
      "measure.max_time",     "measure.trials.min", "description",       "checks.governor.on_fail",
      "transfer.from.memory", "transfer.warmup",    "measure.processes", NULL};
  reference_keys(collect, wanted);
  for (size_t i = 0; wanted[i] != NULL; i++) {
    assert_string_equal(wanted[i], "");
  }
}

/* --write makes the files anew: the target update_reference. */
static int write_files(void) {
  for (size_t i = 0; i < COUNT_OF(reference_files); i++) {
    struct error err = {0};
    SCOPED(bytes_fini) struct bytes committed = bytes_read(reference_files[i].path);
    const size_t kept = kept_length(&reference_files[i], committed.data);
    FILE *stream = fopen(reference_files[i].path, "w");
    if (stream == NULL || fwrite(committed.data, 1, kept, stream) != kept ||
        reference_files[i].write(stream, &err) != STATUS_OK || fclose(stream) != 0) {
      (void)fprintf(stderr, "cannot write %s: %s\n", reference_files[i].path, err.message);
      return 1;
    }
  }
  return 0;
}

int test_options(int argc, char **argv) {
  return argc > 1 && strcmp(argv[1], "--write") == 0 ? write_files() : TEST_GO_ON;
}
