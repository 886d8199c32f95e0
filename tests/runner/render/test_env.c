/* A machine as people and programs see it. */
#include "engine/case/case.h"
#include "engine/machine/machine.h"
#include "runner/render/env.h"
#include "runner/render/plot/machine_drawing.h"
#include "schema/machine/machine_file.h"
#include "tests/cmocka.h"

#include <jansson.h>

RELEASE(json_decref, json_t)

static const char *const SHIPPED[] = {"h100x8-nvlink.toml", "l40sx4-pcie.toml", "gh200.toml",
                                      "gb200x4.toml",       "h200x4.toml",      "no-gpu.toml"};

static struct machine *load(const char *name) {
  struct error err = {0};
  struct machine *machine = malloc(sizeof *machine);
  assert_non_null(machine);
  PRINTED(path, 512, "%s/tests/machines/%s", HAUL_SOURCE_DIR, name);
  assert_ok(machine_file_load(path, machine, &err), &err);
  return machine;
}

static char *print(const struct machine *machine, unsigned width, bool colour) {
  struct error err = {0};
  CAPTURE(out);
  const struct table_options options = {.stream = out.stream, .width = width, .colour = colour};
  assert_ok(env_print(machine, &options, &err), &err);
  return capture_take(&out);
}

static json_t *print_json(const struct machine *machine) {
  struct error err = {0};
  CAPTURE(out);
  assert_ok(env_print_json(machine, out.stream, &err), &err);
  json_error_t problem;
  json_t *root = json_loads(capture_text(&out), 0, &problem);
  assert_non_null(root);
  return root;
}

static size_t longest_line(const char *text) {
  size_t longest = 0;
  while (*text != '\0') {
    size_t length = strcspn(text, "\n");
    longest = length > longest ? length : longest;
    text += length + (text[length] == '\n' ? 1 : 0);
  }
  return longest;
}

TEST(test_fits_eighty_columns) {
  for (size_t i = 0; i < COUNT_OF(SHIPPED); i++) {
    SCOPED(memory_free) struct machine *machine = load(SHIPPED[i]);
    SCOPED(memory_free) char *text = print(machine, 80, false);
    if (longest_line(text) > 80) {
      fail_msg("%s needs %zu columns:\n%s", SHIPPED[i], longest_line(text), text);
    }
    assert_null(strchr(text, '\033'));
  }
}

TEST(test_what_is_shown) {
  struct machine *machine = load("h100x8-nvlink.toml");
  machine->simulated = true;
  char *text = print(machine, 100, false);
  assert_contains(text, "NVIDIA driver 580.95.05 (open kernel module), CUDA 13.0");
  assert_contains(text, "NVLink GB/s");
  assert_contains(
      text, "  7  H100 80GB HBM3     1  79.2 GiB      3352  PCIe 5 x16      63.02  18 x 26.6");
  assert_contains(text, "NV18: 18 NVLinks, 478.1 GB/s each way");
  assert_contains(text, "   1         112  1008 GiB  998 GiB  4-7   21 10");
  assert_contains(text, "power_limit           700 W");
  assert_contains(text, "SIMULATED");
  free(text);
  free(machine);
  machine = load("l40sx4-pcie.toml");
  text = print(machine, 100, false);
  assert_contains(text, "host: no peer access, copies go through host memory, at most 31.5 GB/s");
  assert_contains(text, "PCIe at 1 x16 when looked at");
  free(text);
  free(machine);
}

TEST(test_denied_and_unavailable_differ) {
  SCOPED(memory_free) struct machine *machine = load("no-gpu.toml");
  SCOPED(memory_free) char *text = print(machine, 100, true);
  assert_contains(text, "\033[31mdenied: /proc/cmdline: Permission denied\033[0m");
  assert_contains(text, "\033[2munavailable: there is no CUDA driver\033[0m");
  assert_contains(text, "No GPU to use: no NVIDIA driver");
  assert_null(strstr(text, "GPU to GPU"));
  SCOPED(json_decref_at) json_t *root = print_json(machine);
  json_t *fact = json_object_get(json_object_get(root, "facts"), "kernel_command_line");
  assert_string_equal(json_string_value(json_object_get(fact, "state")), "denied");
  assert_string_equal(json_string_value(json_object_get(fact, "reason")),
                      "/proc/cmdline: Permission denied");
  assert_true(json_is_null(json_object_get(root, "driver_cuda_version")));
}

/* GPUs that differ are named; control characters are shown and not obeyed. */
TEST(test_differing_gpus_and_odd_text) {
  SCOPED(memory_free) struct machine *machine = load("h200x4.toml");
  for (uint32_t i = 0; i < machine->fact_count; i++) {
    struct fact *fact = &machine->facts[i];
    if (fact->gpu >= 2 && strcmp(fact->name, "ecc") == 0) {
      (void)snprintf(fact->value, sizeof fact->value, "off");
    }
  }
  (void)snprintf(machine->host_name, sizeof machine->host_name, "evil\033[2J");
  SCOPED(memory_free) char *text = print(machine, 100, false);
  assert_contains(text, "ecc                   gpu 0,1: on");
  assert_contains(text, "ecc                   gpu 2,3: off");
  assert_contains(text, "evil\\u001b[2J: ");
}

TEST(test_json) {
  struct machine *machine = load("gh200.toml");
  json_t *root = print_json(machine);
  json_t *gpu = json_array_get(json_object_get(root, "gpus"), 0);
  assert_int_equal(json_integer_value(json_object_get(gpu, "host_peak_bytes_per_second")),
                   447120000000);
  assert_string_equal(json_string_value(json_object_get(gpu, "host_link")), "c2c");
  assert_int_equal(json_integer_value(json_object_get(gpu, "memory_bytes")), 102005473280);
  assert_true(json_is_null(json_object_get(gpu, "nvlink_count")));
  assert_true(json_is_true(json_object_get(gpu, "host_page_tables")));
  json_t *node = json_array_get(json_object_get(root, "numa_nodes"), 1);
  assert_int_equal(json_integer_value(json_object_get(node, "cpu_count")), 0);
  assert_int_equal(json_integer_value(json_array_get(json_object_get(node, "distance"), 0)), 80);
  assert_int_equal(json_array_size(json_object_get(root, "links")), 0);
  json_decref(root);
  free(machine);
  machine = load("h100x8-nvlink.toml");
  root = print_json(machine);
  assert_int_equal(json_array_size(json_object_get(root, "links")), 56);
  json_decref(root);
  free(machine);
}

TEST(test_full_disk) {
  SCOPED(memory_free) struct machine *machine = load("gh200.toml");
  FILE *stream = fopen("/dev/full", "w");
  assert_non_null(stream);
  const struct table_options options = {.stream = stream, .width = 80};
  assert_int_equal(env_print(machine, &options, err), STATUS_IO);
  assert_string_not_equal(err->message, "");
  (void)fclose(stream);
  stream = fopen("/dev/full", "w");
  assert_non_null(stream);
  assert_int_equal(env_print_json(machine, stream, err), STATUS_IO);
  (void)fclose(stream);
}

/* ---- the drawing ---- */

enum { TEXTS_MAX = 2000 };

/* A line of text as it is drawn, about as wide as its characters. */
struct drawn_text {
  double left, right, bottom;
  char words[200];
};

/* What is seen of an element: without tags and titles. Returns behind the element. */
static const char *read_words(const char *at, char words[200]) {
  size_t length = 0;
  while (strncmp(at, "</text>", 7) != 0) {
    if (strncmp(at, "<title>", 7) == 0) {
      at = strstr(at, "</title>") + 8;
    } else if (*at == '<') {
      at = strchr(at, '>') + 1;
    } else {
      if (length < 199) {
        words[length++] = *at;
      }
      at++;
    }
  }
  words[length] = '\0';
  return at;
}

static size_t read_texts(const char *svg, struct drawn_text texts[TEXTS_MAX]) {
  size_t count = 0;
  for (const char *at = strstr(svg, "<text "); at != NULL; at = strstr(at, "<text ")) {
    struct drawn_text *text = &texts[count];
    double x = 0;
    assert_int_equal(sscanf(strstr(at, " x="), " x=\"%lf\" y=\"%lf\"", &x, &text->bottom), 2);
    const bool right = strncmp(at, "<text class=\"end\"", 17) == 0 ||
                       strncmp(at, "<text class=\"dim end\"", 21) == 0;
    at = read_words(strchr(at, '>') + 1, text->words);
    size_t characters = 0; /* the zero-width space behind a letter is none */
    for (const char *c = text->words; *c != '\0'; c++) {
      characters += ((unsigned char)*c & 0xc0) != 0x80 && strncmp(c, "\xe2\x80\x8b", 3) != 0;
    }
    const double width = 5.6 * (double)characters;
    text->left = right ? x - width : x;
    text->right = right ? x : x + width;
    count += characters > 0;
    assert_true(count < TEXTS_MAX);
  }
  return count;
}

/* What begins in a box ends in it. */
static void assert_in_boxes(const char *svg, const struct drawn_text *texts, size_t count) {
  for (const char *at = strstr(svg, "<rect "); at != NULL; at = strstr(at + 1, "<rect ")) {
    double x, y, width, height;
    assert_int_equal(sscanf(strstr(at, " x="), " x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\"",
                            &x, &y, &width, &height),
                     4);
    for (size_t i = 0; i < count; i++) {
      if (texts[i].left >= x && texts[i].left < x + width && texts[i].bottom > y &&
          texts[i].bottom <= y + height && texts[i].right > x + width) {
        fail_msg("\"%s\" sticks out of its box", texts[i].words);
      }
    }
  }
}

static void assert_readable(const struct machine *machine, const struct result_set *rates) {
  static struct drawn_text texts[TEXTS_MAX];
  SCOPED(strbuf_fini) struct strbuf svg;
  double width = 0;
  double height = 0;
  strbuf_init(&svg, (size_t)1 << 24);
  const struct machine_measured measured = {"run 7: this on that, 2026-11-20", rates};
  machine_drawing_put(machine, rates != NULL ? &measured : NULL, "m", &svg);
  assert_int_equal(sscanf(strstr(svg.text, "viewBox="), "viewBox=\"0 0 %lf %lf", &width, &height),
                   2);
  const size_t count = read_texts(svg.text, texts);
  assert_true(count > 3);
  assert_in_boxes(svg.text, texts, count);
  for (size_t i = 0; i < count; i++) {
    if (texts[i].right > width || texts[i].bottom > height || texts[i].left < 0) {
      fail_msg("%s: \"%s\" is outside of the drawing", machine->host_name, texts[i].words);
    }
    for (size_t k = 0; k < i; k++) {
      if (texts[i].left < texts[k].right && texts[k].left < texts[i].right &&
          texts[i].bottom < texts[k].bottom + 12 && texts[k].bottom < texts[i].bottom + 12) {
        fail_msg("%s: \"%s\" is over \"%s\"", machine->host_name, texts[i].words, texts[k].words);
      }
    }
  }
}

static void add_rate(struct result_set *rates, enum place from, uint32_t a, enum place to,
                     uint32_t b) {
  PRINTED(source, 24, "%s%u", place_text(from), a);
  PRINTED(target, 24, "%s%u", place_text(to), b);
  const size_t row = result_set_add_row(rates);
  result_set_put(rates, row, 0, cell_text(source));
  result_set_put(rates, row, 1, cell_text(target));
  result_set_put(rates, row, 2, cell_text("a_block/its_path/256MiB"));
  result_set_put(rates, row, 3, cell_text(from == to ? "a_block/*/256MiB" : "another/*/256MiB"));
  result_set_put(rates, row, 4, cell_real(4321.09));
}

/* Of every place to every other. */
static void make_rates(const struct machine *machine, struct result_set *rates) {
  static const char *const COLUMNS[] = {"source", "target", "case", "cases", "gbps"};
  result_set_init(rates, SIZE_MAX);
  for (size_t i = 0; i < COUNT_OF(COLUMNS); i++) {
    (void)result_set_add_column(rates, &(struct column){.name = COLUMNS[i]});
  }
  for (uint32_t a = 0; a < machine->gpu_count; a++) {
    for (uint32_t b = 0; b < machine->gpu_count; b++) {
      add_rate(rates, PLACE_GPU, a, PLACE_GPU, b);
    }
    for (uint32_t n = 0; n < machine->node_count; n++) {
      add_rate(rates, PLACE_GPU, a, PLACE_NUMA, (uint32_t)machine->nodes[n].number);
      add_rate(rates, PLACE_NUMA, (uint32_t)machine->nodes[n].number, PLACE_GPU, a);
    }
  }
  for (uint32_t n = 0; n < machine->node_count * machine->node_count; n++) {
    add_rate(rates, PLACE_NUMA, (uint32_t)machine->nodes[n / machine->node_count].number,
             PLACE_NUMA, (uint32_t)machine->nodes[n % machine->node_count].number);
  }
}

static void assert_readable_with_and_without_rates(const struct machine *machine) {
  SCOPED(result_set_fini) struct result_set rates;
  assert_readable(machine, NULL);
  make_rates(machine, &rates);
  assert_readable(machine, &rates);
}

/* Links of their own between so many pairs, the first GPUs with each other. */
static void join_pairs(struct machine *machine, uint32_t pairs) {
  for (uint32_t a = 0; a < machine->gpu_count; a++) {
    for (uint32_t b = a + 1; b < machine->gpu_count; b++) {
      machine->links[a][b].nvlink_count = pairs > 0 ? 1 + a : 0;
      machine->links[b][a].nvlink_count = machine->links[a][b].nvlink_count;
      pairs -= pairs > 0;
    }
  }
}

TEST(test_no_text_of_a_drawing_is_over_another) {
  for (size_t i = 0; i < COUNT_OF(SHIPPED); i++) {
    SCOPED(memory_free) struct machine *machine = load(SHIPPED[i]);
    assert_readable_with_and_without_rates(machine);
    join_pairs(machine, 5);
    assert_readable_with_and_without_rates(machine);
    join_pairs(machine, 20);
    assert_readable_with_and_without_rates(machine);
  }
}

static void assert_drawn(const struct machine *machine, const struct result_set *rates,
                         const char *part, bool there) {
  SCOPED(strbuf_fini) struct strbuf svg;
  strbuf_init(&svg, (size_t)1 << 24);
  const struct machine_measured measured = {"run 7: this on that, 2026-11-20", rates};
  machine_drawing_put(machine, rates != NULL ? &measured : NULL, "m", &svg);
  if ((strstr(svg.text, part) != NULL) != there) {
    fail_msg("\"%s\" is %s in:\n%s", part, there ? "not" : "", svg.text);
  }
}

static void set_fact(struct machine *machine, const char *name, int32_t gpu, const char *value) {
  for (uint32_t i = 0; i < machine->fact_count; i++) {
    struct fact *fact = &machine->facts[i];
    if (fact->gpu == gpu && strcmp(fact->name, name) == 0) {
      fact->state = FACT_OK;
      (void)snprintf(fact->value, sizeof fact->value, "%s", value);
    }
  }
}

TEST(test_what_is_drawn) {
  struct result_set rates;
  struct machine *machine = load("h100x8-nvlink.toml");
  assert_drawn(machine, NULL, ">PCIe 5 x16<", true);
  assert_drawn(machine, NULL, ">peak 63.0 GB/s<", true);
  assert_drawn(machine, NULL, ">NVLink 4 x18, peak 478.1 GB/s between each pair<", true);
  assert_drawn(machine, NULL, "16 x DDR5 at 4800 MT/s, peak 614.4 GB/s over all channels", true);
  assert_drawn(machine, NULL, "4 UPI, of a rate that is not known; NUMA distance 21", true);
  assert_drawn(machine, NULL, "PCIe switch", false);
  set_fact(machine, "pcie_path", 2, "0000:4a:01.0 0000:4b:00.0");
  set_fact(machine, "pcie_path", 3, "0000:4a:01.0 0000:4b:01.0");
  set_fact(machine, "pcie_path", 4, "0000:4a:01.1");
  assert_drawn(machine, NULL, ">PCIe switch below 0000:4a:01.0<", true);
  assert_readable_with_and_without_rates(machine);
  make_rates(machine, &rates);
  assert_drawn(machine, &rates, "<title>a_block/its_path/256MiB: 4321 GB/s</title>4321<", true);
  assert_drawn(machine, &rates, "by run 7: this on that, 2026-11-20<", true);
  assert_drawn(machine, NULL, "Blue: measured", false);
  assert_drawn(machine, &rates, ">a another/*/256MiB<", false);
  assert_drawn(machine, &rates, ">a a_block/*/256MiB<", true);
  assert_drawn(machine, &rates, ">Measured from GPU to GPU: from row to column, GB/s<", true);
  assert_drawn(machine, &rates, ">Measured from host to GPU: from row to column, GB/s<", true);
  join_pairs(machine, 3);
  assert_drawn(machine, &rates, ">0 - 2: NVLink 4 x1, ", true);
  result_set_fini(&rates);
  free(machine);
  machine = load("gb200x4.toml");
  assert_drawn(machine, NULL, ">Links between sockets: unknown; NUMA distance 40<", true);
  set_fact(machine, "socket_links", -1, "none");
  assert_drawn(machine, NULL, ">Within one socket; NUMA distance 40<", true);
  (void)snprintf(machine->gpus[0].name, sizeof machine->gpus[0].name, "NVIDIA Grüße an GB200 Ünï");
  assert_drawn(machine, NULL, "<title>Grüße an GB200 Ünï</title>Grüße an GB200 Ü…<", true);
  free(machine);
  machine = load("no-gpu.toml");
  assert_drawn(machine, NULL, "No GPU: no NVIDIA driver", true);
  (void)snprintf(machine->host_name, sizeof machine->host_name, "<b>&");
  assert_drawn(machine, NULL, "<b>", false);
  free(machine);
}
