#include "runner/run/expectations.h"

#include <string.h>
#include <unistd.h>

static bool expectations_open_own(struct expectations *expectations,
                                  const struct common_options *common, const char *given) {
  struct arena arena = {0};
  bool named = given != NULL;
  const char *path = named ? given : console_expect_path(&arena, &named);
  bool good = true;
  if (path != NULL && (named || access(path, F_OK) == 0)) {
    struct diagnostics *diagnostics = diagnostics_new();
    good = expect_load(path, &expectations->files[0], diagnostics) == STATUS_OK;
    diagnostics_print(diagnostics, stderr, use_colour(common, stderr));
    diagnostics_free(diagnostics);
  }
  arena_fini(&arena);
  return good;
}

bool expectations_open(struct expectations *expectations, const struct common_options *common,
                       const char *given) {
  *expectations = (struct expectations){0};
  struct diagnostics *diagnostics = diagnostics_new();
  /* A test reads the shipped file: it has no mistakes. */
  (void)!expect_load_shipped(&expectations->files[1], diagnostics);
  diagnostics_free(diagnostics);
  const bool good = expectations_open_own(expectations, common, given);
  for (size_t i = 0; i < EXPECT_FILES_MAX; i++) {
    expectations->set.files[i] = expectations->files[i];
  }
  return good;
}

void expectations_fini(struct expectations *expectations) {
  for (size_t i = 0; i < EXPECT_FILES_MAX; i++) {
    expect_free(expectations->files[i]);
    expectations->files[i] = NULL;
  }
}
