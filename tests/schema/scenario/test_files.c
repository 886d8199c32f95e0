/* Files, includes, and files that are no scenario. */
#include "support.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[FOLDER_PATH_MAX];

static int make_folder(void **state) {
  folder_make(folder);
  return 0;
}

static const char *path_of(const char *name) {
  static char path[256];
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void put(const char *name, const char *text) {
  write_text(path_of(name), text);
}

static int remove_folder(void **state) {
  folder_remove(folder);
  return 0;
}

TEST_GROUP(make_folder, remove_folder);

static struct scenario *must_load(const char *name) {
  SCOPED(diagnostics_free_at) struct diagnostics *diagnostics = diagnostics_new();
  struct scenario *scenario = NULL;
  if (scenario_load(path_of(name), NULL, 0, &scenario, diagnostics) != STATUS_OK) {
    diagnostics_print(diagnostics, stderr, 0, false);
    fail_msg("%s is refused", name);
  }
  return scenario;
}

static struct diagnostics *must_not_load(const char *path) {
  struct diagnostics *diagnostics = diagnostics_new();
  struct scenario *scenario = NULL;
  assert_int_equal(scenario_load(path, NULL, 0, &scenario, diagnostics), STATUS_INVALID);
  assert_null(scenario);
  return diagnostics;
}

TEST(includes_are_defaults) {
  (void)mkdir(path_of("sub"), 0700);
  put("sub/x.toml", "[measure]\nwarmup = 1\nmax_time = \"1ms\"\nprocesses = 2\n"
                    "[checks]\ngovernor = { on_fail = \"abort\" }\necc.want = \"off\"\n");
  put("a.toml", "include = [\"sub/x.toml\"]\n[measure]\nwarmup = 2\ntrials = { min = 3 }\n");
  put("b.toml", "[measure]\ntrials = { min = 4 }\n");
  put("main.toml", HEAD "include = [\"a.toml\", \"b.toml\"]\n[measure]\nmax_time = \"3ms\"\n"
                        "[checks]\ngovernor = { want = \"powersave\" }\n" BLOCK "size = 1\n");
  SCOPED(scenario_free_at) struct scenario *scenario = must_load("main.toml");
  struct setting setting;
  block_setting(scenario->blocks[0], 0, &setting);
  assert_int_equal(setting.measure.warmup, 2);
  assert_int_equal(setting.measure.trials_min, 4);
  assert_int_equal(setting.measure.max_time_ns, 3000000);
  assert_int_equal(scenario->run.processes, 2);
  assert_int_equal(scenario->check_count, 2);
  assert_string_equal(scenario->checks[0].want, "powersave");
  assert_int_equal(scenario->checks[0].on_fail, ON_FAIL_ABORT);
  assert_null(strstr(scenario->resolved, "include"));
  assert_null(strstr(scenario->text, "warmup"));
  scenario_free(must_parse(scenario->resolved));
}

TEST(shipped_files_can_be_included_from_anywhere) {
  put("main.toml", HEAD "include = [\"common/careful.toml\"]\n" BLOCK "size = 1\n");
  SCOPED(scenario_free_at) struct scenario *scenario = must_load("main.toml");
  assert_true(scenario->run.processes > 1);
  assert_true(scenario->check_count > 0);
}

TEST(bad_includes_are_told_where_they_stand) {
  put("a.toml", "include = [\"b.toml\"]\n");
  put("b.toml", "include = [\"c.toml\"]\n[measure]\nwarmpu = 1\n");
  put("c.toml", "include = [\"../x/none.toml\", \"a.toml\"]\n" BLOCK "size = 1\n");
  put("main.toml", HEAD "include = [ \"a.toml\", 5, \"none.toml\", \".\" ]\n" BLOCK);
  SCOPED(diagnostics_free_at) struct diagnostics *diagnostics = must_not_load(path_of("main.toml"));
  assert_int_equal(diagnostics_count(diagnostics), 8);
  assert_complaint(diagnostics, 0, path_of("main.toml"), 3, 23, "expected text");
  assert_complaint(diagnostics, 1, path_of("main.toml"), 3, 26, "No such file");
  assert_complaint(diagnostics, 2, path_of("main.toml"), 3, 39, "directory");
  assert_complaint(diagnostics, 3, path_of("main.toml"), 4, 1, "missing \"size\"");
  assert_complaint(diagnostics, 4, path_of("b.toml"), 3, 1, "unknown key \"warmpu\"");
  assert_complaint(diagnostics, 5, path_of("c.toml"), 1, 12, "No such file");
  assert_complaint(diagnostics, 6, path_of("c.toml"), 1, 30, "circular include");
  assert_complaint(diagnostics, 7, path_of("c.toml"), 2, 1, "blocks are not allowed");
}

TEST(includes_do_not_explode) {
  put("a.toml",
      "include = [\"b.toml\", \"b.toml\", \"b.toml\", \"b.toml\", \"b.toml\", \"b.toml\"]\n");
  put("b.toml",
      "include = [\"c.toml\", \"c.toml\", \"c.toml\", \"c.toml\", \"c.toml\", \"c.toml\"]\n");
  put("c.toml",
      "include = [\"sub/x.toml\", \"sub/x.toml\", \"sub/x.toml\"]\n[measure]\nwarmup = 1\n");
  put("main.toml", HEAD "include = [\"a.toml\"]\n" BLOCK "size = 1\n");
  SCOPED(diagnostics_free_at) struct diagnostics *diagnostics = must_not_load(path_of("main.toml"));
  assert_contains(diagnostics_at(diagnostics, 0)->error.message, "too many includes");
}

static void one_bad_file(const char *path, const char *message) {
  SCOPED(diagnostics_free_at) struct diagnostics *diagnostics = must_not_load(path);
  assert_int_equal(diagnostics_count(diagnostics), 1);
  const struct position *at = &diagnostics_at(diagnostics, 0)->error.position;
  assert_complaint(diagnostics, 0, path, at->line, at->column, message);
}

TEST(files_that_are_no_scenario_have_one_complaint) {
  one_bad_file(path_of("none.toml"), "No such file");
  one_bad_file(folder, "directory");
  one_bad_file("/dev/null", "empty");
  put("a.toml", "\x7f"
                "ELF\x02\x01\x01");
  one_bad_file(path_of("a.toml"), "control character");
  FILE *stream = fopen(path_of("big.toml"), "w");
  assert_non_null(stream);
  assert_int_equal(ftruncate(fileno(stream), 100000000), 0);
  assert_int_equal(fclose(stream), 0);
  one_bad_file(path_of("big.toml"), "larger than a scenario may be");
  put("secret.toml", HEAD);
  assert_int_equal(chmod(path_of("secret.toml"), 0), 0);
  if (access(path_of("secret.toml"), R_OK) != 0) { /* root may read everything */
    one_bad_file(path_of("secret.toml"), "Permission denied");
  }
}

#define GPU_FLOW                                                                                   \
  HEAD "[[transfer]]\nname = \"b\"\nmethod = \"ce\"\n[[transfer.flow]]\nfrom.gpu = 0\nto.gpu = "   \
       "1\nsize = 2\n"
#define CSV_BLOCK HEAD "[[transfer]]\nname = \"b\"\nmethod = \"ce\"\nstream = 1\nfrom_csv = "

TEST(flows_come_from_a_csv_file) {
  put("a.csv",
      "# what an application copies\r\n\r\nname,from.numa,from.memory,to.gpu,size,count\r\n"
      "batch, local ,,0,4MiB,\r\n\"loss\",0,pageable,1,\"4\",12\r\n");
  put("main.toml", CSV_BLOCK "\"a.csv\"\n");
  SCOPED(scenario_free_at) struct scenario *scenario = must_load("main.toml");
  scenario_free(must_parse(scenario->resolved)); /* without the file */
  assert_null(strstr(scenario->resolved, "csv"));
  struct setting setting;
  block_setting(scenario->blocks[0], 0, &setting);
  const struct transfer_setting *transfer = &setting.transfer;
  assert_int_equal(transfer->flow_count, 2);
  assert_string_equal(transfer->flows[1].name, "loss");
  assert_int_equal(transfer->flows[0].base.size_bytes, 4 << 20);
  assert_int_equal(transfer->flows[0].from.memory, MEMORY_PINNED);
  assert_int_equal(transfer->flows[0].from.selector.kind, SELECTOR_LOCAL);
  assert_int_equal(transfer->flows[0].base.copies, 1);
  assert_int_equal(transfer->flows[1].from.memory, MEMORY_PAGEABLE);
  assert_int_equal(transfer->flows[1].base.copies, 12);
  assert_int_equal(transfer->flows[1].base.stream, 1);
}

TEST(another_csv_file_can_be_set) {
  put("a.csv", "\xef\xbb\xbf"
               "from.gpu,to.gpu,size\r\n0,1,1\r\n1,0,1\r\n"); /* as Excel writes it */
  const struct scenario_override overrides[] = {{"b.from_csv", path_of("a.csv")},
                                                {"b.flow.2.size", "64"}};
  SCOPED(scenario_free_at) struct scenario *scenario = must_parse_with(GPU_FLOW, overrides, 2);
  struct setting setting;
  block_setting(scenario->blocks[0], 0, &setting);
  assert_int_equal(setting.transfer.flow_count, 2);
  assert_int_equal(setting.transfer.flows[0].base.size_bytes, 1);
  assert_int_equal(setting.transfer.flows[1].base.size_bytes, 64);
}

TEST(mistakes_in_a_csv_file_are_told_where_they_stand) {
  put("a.csv", "from.gpu,to.gpu,sise,size,count,size\n0,1,,8,0\n0,1,,8,2,,7\n\n1,0,,\"1\n1,0,,\n");
  put("main.toml", CSV_BLOCK "\"a.csv\"\n[[transfer]]\nname = \"c\"\nfrom_csv = \"none.csv\"\n"
                             "[[transfer]]\nname = \"d\"\nmethod = \"ce\"\nsize = 1\nfrom_csv = "
                             "\"b.csv\"\n[[transfer.flow]]\nfrom.gpu = 0\nto.gpu = 1\n");
  put("b.csv", "from.gpu,to.gpu\n\n");
  SCOPED(diagnostics_free_at) struct diagnostics *diagnostics = must_not_load(path_of("main.toml"));
  assert_int_equal(diagnostics_count(diagnostics), 9);
  assert_complaint(diagnostics, 0, path_of("main.toml"), 10, 12, "from_csv \"none.csv\": cannot");
  assert_complaint(diagnostics, 1, path_of("main.toml"), 15, 1, "from_csv lists the flows, and so");
  assert_complaint(diagnostics, 2, path_of("a.csv"), 1, 17, "unknown key \"sise\"");
  assert_string_equal(diagnostics_at(diagnostics, 2)->suggestion, "size");
  assert_complaint(diagnostics, 3, path_of("a.csv"), 1, 33, "two columns of one name");
  assert_complaint(diagnostics, 4, path_of("a.csv"), 2, 8, "count: 0 is out of range");
  assert_complaint(diagnostics, 5, path_of("a.csv"), 3, 11, "a cell too many");
  assert_complaint(diagnostics, 6, path_of("a.csv"), 5, 6, "has no end");
  assert_complaint(diagnostics, 7, path_of("a.csv"), 6, 1, "missing \"size\"");
  assert_complaint(diagnostics, 8, path_of("b.csv"), 1, 1, "the file has no flow");
}

/* One mistake that concerns all lines is told once. */
TEST(the_first_line_of_a_csv_file_is_checked) {
  static const struct {
    const char *text, *message, *expected, *suggestion;
    unsigned column;
  } CASES[] = {
      {"size,from,to.gpu\n1MiB,0,1\n1MiB,1,0\n", "from: a column is one key of it",
       "one of: from.gpu, from.numa, from.memory, from.process, from.share", "from.gpu", 6},
      {"from.gpu;to.gpu;size\n0;1;1MiB\n1;0;1MiB\n", "the cells are separated by semicolons",
       "commas between the cells of every line", "from.gpu,to.gpu,size", 1},
      {"from.gpu\tto.gpu\n0\t1\n", "the cells are separated by tabulators",
       "commas between the cells of every line", "from.gpu,to.gpu", 1},
      {"0,1,1MiB\n1,0,1MiB\n", "the first line says which keys the columns are",
       "keys of [[transfer.flow]], such as from.numa,to.gpu,size,count", NULL, 1},
  };
  put("main.toml", CSV_BLOCK "\"a.csv\"\nsize = \"1MiB\"\n");
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    put("a.csv", CASES[i].text);
    SCOPED(diagnostics_free_at)
    struct diagnostics *diagnostics = must_not_load(path_of("main.toml"));
    assert_int_equal(diagnostics_count(diagnostics), 1);
    assert_complaint(diagnostics, 0, path_of("a.csv"), 1, CASES[i].column, CASES[i].message);
    const struct diagnostic *said = diagnostics_at(diagnostics, 0);
    assert_string_equal(said->expected, CASES[i].expected);
    assert_true((said->suggestion == NULL) == (CASES[i].suggestion == NULL));
    if (said->suggestion != NULL) {
      assert_string_equal(said->suggestion, CASES[i].suggestion);
    }
  }
}

TEST(the_largest_file_is_read) {
  SCOPED(memory_free) char *text = malloc(SCENARIO_FILE_MAX + 1);
  assert_non_null(text);
  memset(text, '#', SCENARIO_FILE_MAX);
  static const char scenario_text[] = HEAD BLOCK "size = 1\n";
  memcpy(text, scenario_text, sizeof scenario_text - 1);
  text[SCENARIO_FILE_MAX] = '\0';
  put("big.toml", text);
  SCOPED(scenario_free_at) struct scenario *scenario = must_load("big.toml");
  assert_int_equal(strlen(scenario->text), SCENARIO_FILE_MAX);
}
