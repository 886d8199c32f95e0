/* Control groups as files below a folder. */
#include "engine/machine/memory_limit.h"

#include "tests/cmocka.h"

#include <sys/stat.h>

static char root[] = "/tmp/haul-cgroup-XXXXXX";

static void put(const char *path, const char *text) {
  PRINTED(whole, 256, "%s/%s", root, path);
  for (char *slash = strchr(whole + strlen(root) + 1, '/'); slash != NULL;
       slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    (void)mkdir(whole, 0700); /* it may be there */
    *slash = '/';
  }
  FILE *file = fopen(whole, "we");
  assert_non_null(file);
  (void)fputs(text, file);
  (void)fclose(file);
}

static int empty_root(void **state) {
  folder_remove(root);
  return mkdir(root, 0700);
}

TEST_WITH(no_group_is_no_limit, empty_root, NULL) {
  assert_int_equal(memory_limit_left(root), UINT64_MAX);
  put("proc/self/cgroup", "0::/user.slice\n");
  put("sys/fs/cgroup/user.slice/memory.max", "max\n");
  put("sys/fs/cgroup/user.slice/memory.current", "1000\n");
  assert_int_equal(memory_limit_left(root), UINT64_MAX);
}

TEST_WITH(version_2_is_read_up_to_the_root, empty_root, NULL) {
  put("proc/self/cgroup", "0::/a/b\n");
  put("sys/fs/cgroup/a/b/memory.max", "max\n");
  put("sys/fs/cgroup/a/b/memory.current", "700\n");
  put("sys/fs/cgroup/a/memory.max", "3221225472\n");
  put("sys/fs/cgroup/a/memory.current", "1073741824\n");
  put("sys/fs/cgroup/a/memory.stat", "anon 5\ninactive_file 73741824\nactive_file 9\n");
  assert_int_equal(memory_limit_left(root), UINT64_C(3221225472) - 1000000000);
  put("sys/fs/cgroup/a/memory.current", "4000000000\n"); /* over its limit */
  assert_int_equal(memory_limit_left(root), 0);
}

/* In a container the paths are the host's, and the files those of the container. */
TEST_WITH(version_1_is_read_where_its_files_are, empty_root, NULL) {
  put("proc/self/cgroup", "9:cpu:/x\n4:memory:/docker/abc\n0::/\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "3000\n");
  put("sys/fs/cgroup/memory/memory.usage_in_bytes", "1500\n");
  put("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 500\n");
  assert_int_equal(memory_limit_left(root), 2000);
}

static int make_root(void **state) {
  return mkdtemp(root) == NULL ? -1 : 0;
}

static int remove_root(void **state) {
  (void)empty_root(state);
  return remove(root);
}

TEST_GROUP(make_root, remove_root);
