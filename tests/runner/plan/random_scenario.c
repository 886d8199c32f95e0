#include "tests/runner/plan/random_scenario.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static uint64_t random_state;

static unsigned pick(unsigned count) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (unsigned)(random_state >> 33) % count;
}

static bool chance(unsigned per_cent) {
  return pick(100) < per_cent;
}

/* key = one of the words, or an axis of several in a random order. */
static void put_axis(struct strbuf *text, const char *key, const char *const *words, unsigned count,
                     unsigned sweep_per_cent) {
  const char *left[16];
  const unsigned wanted = chance(sweep_per_cent) ? 2 + pick(count - 1) : 1;
  memcpy(left, words, count * sizeof *left);
  strbuf_printf(text, wanted > 1 ? "%s = [" : "%s = ", key);
  for (unsigned i = 0; i < wanted; i++) {
    const unsigned at = i + pick(count - i);
    const char *word = left[at];
    left[at] = left[i];
    strbuf_printf(text, "%s%s", i > 0 ? ", " : "", word);
  }
  strbuf_append(text, wanted > 1 ? "]\n" : "\n");
}
#define PUT_AXIS(text, key, sweep_per_cent, ...)                                                   \
  put_axis(text, key, (const char *const[]){__VA_ARGS__},                                          \
           sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *), sweep_per_cent)

static void put_sizes(struct strbuf *text, const char *key) {
  PUT_AXIS(text, key, 60, "4096", "\"64KiB\"", "\"1MiB\"", "\"4MiB\"", "\"16MiB\"", "\"100kB\"",
           "\"32KiB\"", "\"8MiB\"", "\"2MiB\"");
}

static void put_gpus(struct strbuf *text, const char *key) {
  PUT_AXIS(text, key, 0, "\"*\"", "\"*\"", "0", "1", "[0, 1]", "[1, 2, 3]");
}

static void put_nodes(struct strbuf *text, const char *key, bool local) {
  PUT_AXIS(text, key, 0, "\"*\"", "0", "1", "[0, 1]", local ? "\"local\"" : "0",
           local ? "\"remote\"" : "1");
}

static void put_end(struct strbuf *text, const char *end, bool gpu, bool local) {
  char key[32];
  (void)snprintf(key, sizeof key, "%s.%s", end, gpu ? "gpu" : "numa");
  if (gpu) {
    put_gpus(text, key);
  } else {
    put_nodes(text, key, local);
    (void)snprintf(key, sizeof key, "%s.memory", end);
    if (chance(60)) {
      PUT_AXIS(text, key, 50, "\"pinned\"", "\"pageable\"", "\"huge\"", "\"registered\"");
    }
  }
}

/* Axes in lockstep. */
static void put_zip(struct strbuf *text, const char *key) {
  strbuf_printf(text,
                "size = [\"1MiB\", \"64KiB\", \"4MiB\"]\n%s = [1, 2, 4]\n"
                "zip = [[\"size\", \"%s\"]]\n",
                key, key);
}

static void put_transfer(struct strbuf *text) {
  const bool from_gpu = chance(60);
  const bool to_gpu = chance(60);
  const bool by_threads = !from_gpu && !to_gpu && chance(75);
  const bool by_kernel = (from_gpu || to_gpu) && chance(25);
  put_end(text, "from", from_gpu, to_gpu);
  put_end(text, "to", to_gpu, from_gpu);
  if (by_threads) {
    strbuf_append(text, "method = \"cpu\"\n");
  } else if (by_kernel) {
    strbuf_append(text, "method = \"sm\"\n");
  } else {
    PUT_AXIS(text, "method", from_gpu || to_gpu ? 30 : 0, "\"ce\"", "\"sm\"");
  }
  if ((by_threads || by_kernel) && chance(25)) {
    put_zip(text, by_threads ? "threads" : "kernel.grid");
  } else {
    put_sizes(text, "size");
    if (by_threads || by_kernel) {
      PUT_AXIS(text, by_threads ? "threads" : "kernel.block", 50, "32", "64", "128", "256");
    }
  }
  PUT_AXIS(text, "direction", 50, "\"forward\"", "\"reverse\"", "\"both\"");
  if (from_gpu && to_gpu && chance(30)) {
    PUT_AXIS(text, "initiator", 70, "\"source\"", "\"target\"");
  }
  if (from_gpu && to_gpu && chance(15)) {
    PUT_AXIS(text, "peer", 70, "true", "false");
  }
  if (from_gpu == to_gpu && chance(25)) {
    PUT_AXIS(text, "pairs", 40, "\"ordered\"", "\"unordered\"", "\"same\"", "\"sample\"");
  }
  if (chance(25)) {
    PUT_AXIS(text, "concurrent", 40, "\"none\"", "\"all\"", "\"per_source\"", "\"per_target\"",
             "\"ring\"");
  }
  if (chance(10)) {
    strbuf_append(text, "[[transfer.load]]\n");
    PUT_AXIS(text, "direction", 50, "\"forward\"", "\"reverse\"");
  }
}

static void put_other(struct strbuf *text, unsigned kind) {
  switch (kind) {
  case 0:
    PUT_AXIS(text, "space", 0, "\"host\"", "\"peer\"", "\"global\"", "\"shared\"");
    put_gpus(text, "at.gpu");
    PUT_AXIS(text, "footprint", 60, "4096", "\"8KiB\"", "\"16KiB\"", "\"32KiB\"");
    PUT_AXIS(text, "threads", 25, "1", "32", "64");
    break;
  case 1:
    PUT_AXIS(text, "op", 60, "\"copy\"", "\"triad\"", "\"read\"");
    put_gpus(text, "at.gpu");
    put_sizes(text, "size");
    PUT_AXIS(text, "grid", 30, "\"auto\"", "\"full\"", "264", "\"per_sm*2\"");
    break;
  case 2:
    PUT_AXIS(text, "operation", 50, "\"kernel_launch\"", "\"event_record\"", "\"allocate\"",
             "\"free\"");
    put_gpus(text, "at.gpu");
    break;
  default:
    PUT_AXIS(text, "op", 50, "\"add\"", "\"fma\"");
    PUT_AXIS(text, "type", 50, "\"f32\"", "\"f64\"");
    PUT_AXIS(text, "measure", 30, "\"latency\"", "\"throughput\"");
    put_gpus(text, "at.gpu");
    break;
  }
}

void random_scenario(uint64_t seed, struct strbuf *text) {
  random_state = seed * UINT64_C(0x9E3779B97F4A7C15);
  const unsigned blocks = 1 + pick(4);
  strbuf_append(text, "schema_version = 1\nname = \"random\"\n[measure]\n");
  PUT_AXIS(text, "order", 0, "\"file\"", "\"shuffled\"");
  PUT_AXIS(text, "host_cache", 10, "\"warm\"", "\"flushed\"", "\"as_is\"");
  PUT_AXIS(text, "trials.min", 10, "5", "7");
  for (unsigned i = 0; i < blocks; i++) {
    static const char *const KINDS[] = {"chase", "stream", "overhead", "arithmetic"};
    const bool transfer = chance(70);
    const unsigned kind = pick(4);
    strbuf_printf(text, "[[%s]]\nname = \"block%u\"\n", transfer ? "transfer" : KINDS[kind], i);
    if (transfer) {
      put_transfer(text);
    } else {
      put_other(text, kind);
    }
  }
}
