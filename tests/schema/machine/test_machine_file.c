/* Machine files: what is saved loads back, what is wrong is refused with its place. */
#include "schema/machine/machine_file.h"

#include "engine/machine/facts.h"
#include "engine/machine/machine.h"
#include "tests/cmocka.h"

#include <unistd.h>

static struct machine *new_machine(void) {
  struct machine *machine = memory_new(1, sizeof *machine);
  return machine;
}

static struct machine *load_shipped(const char *name) {
  struct error err = {0};
  struct machine *machine = new_machine();
  PRINTED(path, 512, "%s/tests/machines/%s", HAUL_SOURCE_DIR, name);
  if (machine_file_load(path, machine, &err) != STATUS_OK) {
    fail_msg("%s:%u:%u: %s", path, err.position.line, err.position.column, err.message);
  }
  return machine;
}

static char *save_text(const struct machine *machine) {
  struct error err = {0};
  CAPTURE(out);
  assert_ok(machine_file_save(out.stream, machine, &err), &err);
  return capture_take(&out);
}

static void assert_round_trip(const struct machine *machine) {
  SCOPED(memory_free) char *text = save_text(machine);
  SCOPED(memory_free) struct machine *again = new_machine();
  struct error err = {0};
  if (machine_file_parse(text, strlen(text), machine->source, again, &err) != STATUS_OK) {
    fail_msg("%u:%u: %s\n%s", err.position.line, err.position.column, err.message, text);
  }
  assert_memory_equal(machine, again, sizeof *machine);
}

static const char *const SHIPPED[] = {"h100x8-nvlink.toml", "l40sx4-pcie.toml", "gh200.toml",
                                      "gb200x4.toml",       "h200x4.toml",      "no-gpu.toml"};

TEST(test_shipped_machines_round_trip) {
  for (size_t i = 0; i < COUNT_OF(SHIPPED); i++) {
    SCOPED(memory_free) struct machine *machine = load_shipped(SHIPPED[i]);
    assert_round_trip(machine);
  }
}

/* A shipped machine answers every fact that a probe answers. */
TEST(test_shipped_machines_are_complete) {
#define NAME_(name, meaning) name,
  static const char *const HOST[] = {HOST_FACT_LIST(NAME_)};
  static const char *const GPU[] = {GPU_FACT_LIST(NAME_)};
#undef NAME_
  for (size_t file = 0; file < COUNT_OF(SHIPPED); file++) {
    SCOPED(memory_free) struct machine *machine = load_shipped(SHIPPED[file]);
    for (size_t i = 0; i < COUNT_OF(HOST); i++) {
      if (machine_fact(machine, HOST[i], -1) == NULL) {
        fail_msg("%s has no fact %s", SHIPPED[file], HOST[i]);
      }
    }
    for (uint32_t gpu = 0; gpu < machine->gpu_count; gpu++) {
      for (size_t i = 0; i < COUNT_OF(GPU); i++) {
        if (machine_fact(machine, GPU[i], (int32_t)gpu) == NULL) {
          fail_msg("%s: GPU %u has no fact %s", SHIPPED[file], gpu, GPU[i]);
        }
      }
    }
  }
}

TEST(test_values_of_a_shipped_machine) {
  SCOPED(memory_free) struct machine *machine = load_shipped("h100x8-nvlink.toml");
  assert_int_equal(machine->gpu_count, 8);
  assert_int_equal(machine->node_count, 2);
  assert_int_equal(machine->node_distance[0][1], 21);
  assert_int_equal(machine->gpus[4].numa_node, 1);
  assert_int_equal(machine->gpus[7].memory_bytes, 85028896768);
  assert_true(machine->links[0][7].peer_access);
  assert_int_equal(machine->links[0][7].nvlink_count, 18);
  assert_int_equal(machine->links[0][7].bytes_per_second, 478116000000);
  assert_false(machine->links[3][3].peer_access);
}

/* Every member at a value of its own, texts with all that TOML must escape. */
TEST(test_every_member_survives) {
  SCOPED(memory_free) struct machine *machine = load_shipped("l40sx4-pcie.toml");
  struct gpu *gpu = &machine->gpus[1];
  int64_t value = 1;
  for (size_t i = 0; i < GPU_KEY_COUNT; i++) {
    char *member = (char *)gpu + GPU_KEYS[i].offset;
    value = value % 15 + 1;
    switch (GPU_KEYS[i].type) {
    case KEY_TEXT:
      break;
    case KEY_BOOL:
      *(bool *)member = !*(bool *)member;
      break;
    case KEY_I32:
    case KEY_U32:
      *(int32_t *)member = strcmp(GPU_KEYS[i].name, "numa_node") == 0 ? 1 : (int32_t)value;
      break;
    case KEY_U64:
      *(uint64_t *)member = (uint64_t)value << 50 >> (value % 2 == 0 ? 0 : 30);
      break;
    }
  }
  gpu->sm_clock_max_khz = 7;
  gpu->memory_clock_khz = 8;
  (void)snprintf(gpu->name, sizeof gpu->name, "quote \" backslash \\ tab \t ümlaut");
  machine_add_fact(machine, "odd.name", 1, FACT_DENIED, "%s", "because \"no\"");
  machine->simulated = true;
  /* Facts of a GPU follow the host's in a file: put the odd one where it will be. */
  struct fact odd = machine->facts[machine->fact_count - 1];
  size_t at = 0;
  for (size_t i = 0; i < machine->fact_count - 1; i++) {
    at = machine->facts[i].gpu <= 1 ? i + 1 : at;
  }
  memmove(&machine->facts[at + 1], &machine->facts[at],
          (machine->fact_count - 1 - at) * sizeof odd);
  machine->facts[at] = odd;
  assert_round_trip(machine);
}

TEST(test_absent_numbers_are_unknown) {
  static const char TEXT[] = "format = 1\n[machine]\ncuda_state = \"ok\"\n[[gpu]]\nname = \"x\"\n"
                             "pci_address = \"0000:0A:00.0\"\n[fake]\nanything = [1, {a = 2}]\n";
  SCOPED(memory_free) struct machine *machine = new_machine();
  assert_ok(machine_file_parse(TEXT, sizeof TEXT - 1, "x.toml", machine, err), err);
  assert_string_equal(machine->gpus[0].pci_address, "0000:0a:00.0");
  assert_int_equal(machine->gpus[0].numa_node, -1);
  assert_int_equal(machine->gpus[0].utilization_percent, -1);
  assert_int_equal(machine->gpus[0].memory_bytes, 0);
  assert_int_equal(machine->gpus[0].compute_minor, 0);
  assert_string_equal(machine->source, "x.toml");
}

struct mistake {
  const char *text;
  unsigned line, column;
  const char *message;
};

#define START "format = 1\nmachine = { cuda_state = \"ok\" }\n"
#define GPU   "[[gpu]]\nname = \"x\"\npci_address = \"0000:01:00.0\"\n"

TEST(test_mistakes_have_a_place) {
  static const struct mistake MISTAKES[] = {
      {"", 1, 1, "expected \"format = 1\""},
      {"format = 2", 1, 10, "expected \"format = 1\""},
      {"format = 1\n", 1, 1, "missing table [machine]"},
      {"format = 1\nmachine = 3", 2, 11, "expected a table, found an integer"},
      {"format = 1\n[machine]\n", 2, 0, "missing key \"cuda_state\""},
      {"format = 1\ngpus = 3", 2, 1, "unknown key \"gpus\""},
      {START "[[gpu]]\nnmae = 1", 4, 1, "unknown key \"nmae\""},
      {START "[[gpu]]\nname = \"x\"", 3, 0, "missing key \"pci_address\""},
      {START "[[gpu]]\nname = 3", 4, 8, "expected text, found an integer"},
      {START GPU "sm_count = -1", 6, 12, "-1 is not between 0 and"},
      {START GPU "mig_enabled = \"no\"", 6, 15, "expected true or false"},
      {START GPU "numa_node = 3", 6, 13, "there is no NUMA node 3"},
      {START GPU GPU, 8, 15, "ascending order"},
      {START "[[gpu]]\nname = \"x\"\npci_address = \"1:2\"", 5, 15, "\"0000:06:00.0\""},
      {START "[gpu]\nname = \"x\"", 3, 0, "expected an array, found a table"},
      {START "[[numa_node]]\nnumber = 0\ndistance = [10, 20]", 5, 12, "expected 1 numbers"},
      {START "[[numa_node]]\nnumber = 0\ndistance = [300]", 5, 13, "300 is not between 0 and 255"},
      {START "[[numa_node]]\nnumber = 0\n[[numa_node]]\nnumber = 0", 5, 0, "duplicate NUMA node 0"},
      {START "[facts]\nturbo = { maybe = \"x\" }", 4, 9, "{ denied = \"why\" }"},
      {START "[facts]\nturbo = true", 4, 9, "expected text, found true or false"},
      {START "[links]\npeers = []", 4, 1, "unknown key \"peers\""},
      {START GPU "[links]\npeer_access = [[false, true]]", 7, 16, "one for each GPU, found 2"},
      {START "[[gpu]\n", 3, 0, ""},
  };
  SCOPED(memory_free) struct machine *machine = new_machine();
  for (size_t i = 0; i < COUNT_OF(MISTAKES); i++) {
    const struct mistake *mistake = &MISTAKES[i];
    enum status status =
        machine_file_parse(mistake->text, strlen(mistake->text), "m.toml", machine, err);
    if (status != STATUS_INVALID || err->position.line != mistake->line ||
        (mistake->column != 0 && err->position.column != mistake->column) ||
        strstr(err->message, mistake->message) == NULL) {
      fail_msg("%s\n-> %s %u:%u: %s", mistake->text, status_text(status), err->position.line,
               err->position.column, err->message);
    }
    assert_string_equal(err->position.file, "m.toml");
  }
}

TEST(test_files_that_cannot_be_read) {
  SCOPED(memory_free) struct machine *machine = new_machine();
  assert_int_equal(machine_file_load("/nonexistent/m.toml", machine, err), STATUS_NOT_FOUND);
  assert_fails(machine_file_load("/proc", machine, err), STATUS_INVALID, err, "is a directory");
  assert_fails(machine_file_load("/dev/zero", machine, err), STATUS_INVALID, err, "not a file");
  char path[] = "/tmp/haul-machine-XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(ftruncate(file, INT32_MAX), 0);
  enum status status = machine_file_load(path, machine, err);
  assert_int_equal(close(file) + unlink(path), 0);
  assert_fails(status, STATUS_INVALID, err, "larger than a machine file");
}

TEST(test_full_disk) {
  SCOPED(memory_free) struct machine *machine = load_shipped("gh200.toml");
  FILE *stream = fopen("/dev/full", "w");
  assert_non_null(stream);
  assert_int_equal(machine_file_save(stream, machine, err), STATUS_IO);
  (void)fclose(stream);
}

/* README.md is the reference: it names every key. */
TEST(test_reference_is_complete) {
  static const struct {
    const struct key *keys;
    const size_t *count;
  } TABLES[] = {{MACHINE_KEYS, &MACHINE_KEY_COUNT},
                {NODE_KEYS, &NODE_KEY_COUNT},
                {GPU_KEYS, &GPU_KEY_COUNT},
                {LINK_KEYS, &LINK_KEY_COUNT}};
  static char text[1 << 16];
  FILE *stream = fopen(HAUL_SOURCE_DIR "/schema/machine/README.md", "r");
  assert_non_null(stream);
  text[fread(text, 1, sizeof text - 1, stream)] = '\0';
  (void)fclose(stream);
  for (size_t table = 0; table < COUNT_OF(TABLES); table++) {
    for (size_t i = 0; i < *TABLES[table].count; i++) {
      PRINTED(quoted, 64, "`%s`", TABLES[table].keys[i].name);
      assert_contains(text, quoted);
    }
  }
}
