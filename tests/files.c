/* files.c - files and folders of tests. */
#include "tests/cmocka.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

struct bytes bytes_read(const char *path) {
  struct bytes bytes = {0};
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    fail_msg("cannot read %s", path);
  }
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  bytes.size = (size_t)ftell(file);
  rewind(file);
  bytes.data = memory_new(1, bytes.size + 1);
  assert_int_equal(fread(bytes.data, 1, bytes.size, file), bytes.size);
  (void)fclose(file);
  return bytes;
}

void bytes_fini(struct bytes *bytes) {
  free(bytes->data);
}

void bytes_write(const char *path, struct bytes bytes) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
  assert_int_equal(fclose(file), 0);
}

void assert_bytes_equal(struct bytes a, struct bytes b) {
  assert_int_equal(a.size, b.size);
  assert_memory_equal(a.data, b.data, a.size);
}

void write_text(const char *path, const char *text) {
  bytes_write(path, (struct bytes){(char *)text, strlen(text)});
}

void folder_make(char path[FOLDER_PATH_MAX]) {
  (void)snprintf(path, FOLDER_PATH_MAX, "/tmp/haul-test-XXXXXX");
  assert_non_null(mkdtemp(path));
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk) {
  return remove(path);
}

void folder_remove(const char *path) {
  assert_int_equal(nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}

void folder_remove_only(const char *path, const char *const *names) {
  for (size_t i = 0; names[i] != NULL; i++) {
    PRINTED(file, FOLDER_PATH_MAX + NAME_MAX, "%s/%s", path, names[i]);
    (void)unlink(file); /* it may not be there */
  }
  if (rmdir(path) != 0) {
    fail_msg("something else is left in %s: %s", path, strerror(errno));
  }
}
