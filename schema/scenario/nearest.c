#include "schema/scenario/nearest.h"

#include "engine/base/macros.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { WORD_MAX = 64 };

static unsigned nearest_min3(unsigned a, unsigned b, unsigned c) {
  const unsigned least = a < b ? a : b;
  return least < c ? least : c;
}

static int nearest_letter(const char *word, size_t i) {
  return tolower((unsigned char)word[i]);
}

unsigned nearest_distance(const char *a, const char *b, unsigned limit) {
  const size_t a_length = strlen(a);
  const size_t b_length = strlen(b);
  const size_t gap = a_length > b_length ? a_length - b_length : b_length - a_length;
  if (a_length >= WORD_MAX || b_length >= WORD_MAX || gap >= limit) {
    return limit;
  }
  unsigned rows[3][WORD_MAX]; /* of the distance matrix: i-2, i-1 and i, in turn */
  for (size_t j = 0; j <= b_length; j++) {
    rows[0][j] = (unsigned)j;
  }
  for (size_t i = 1; i <= a_length; i++) {
    unsigned *row = rows[i % 3];
    const unsigned *above = rows[(i + 2) % 3];
    const unsigned *two_above = rows[(i + 1) % 3];
    row[0] = (unsigned)i;
    for (size_t j = 1; j <= b_length; j++) {
      const unsigned change = nearest_letter(a, i - 1) == nearest_letter(b, j - 1) ? 0 : 1;
      row[j] = nearest_min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + change);
      if (i > 1 && j > 1 && nearest_letter(a, i - 1) == nearest_letter(b, j - 2) &&
          nearest_letter(a, i - 2) == nearest_letter(b, j - 1) && two_above[j - 2] + 1 < row[j]) {
        row[j] = two_above[j - 2] + 1;
      }
    }
  }
  const unsigned distance = rows[a_length % 3][b_length];
  return distance < limit ? distance : limit;
}

/* Words of other tools, and of people, beside ours. */
static const char *const MEANINGS[][2] = {
    {"copy_engine", "ce"},
    {"dma", "ce"},
    {"copy", "ce"},
    {"memcpy", "ce"},
    {"kernel", "sm"},
    {"kernels", "sm"},
    {"managed", "um"},
    {"unified", "um"},
    {"uvm", "um"},
    {"host", "cpu"},
    {"threads", "cpu"},
    {"host", "numa"},
    {"cpu", "numa"},
    {"node", "numa"},
    {"device", "gpu"},
    {"flush", "flushed"},
    {"cold", "flushed"},
    {"hot", "warm"},
    {"cache", "host_cache"},
    {"cpu_cache", "host_cache"},
    {"l2_cache", "device_cache"},
    {"gpu_cache", "device_cache"},
    {"copy", "transfer"},
    {"memcpy", "transfer"},
    {"repeat", "iterations"},
    {"repetitions", "trials"},
    {"repeats", "trials"},
    {"timeout", "max_time"},
    {"tolerance", "precision"},
    {"all", "*"},
    {"any", "*"},
    {"bidirectional", "both"},
    {"bidir", "both"},
    {"duplex", "both"},
    {"unidirectional", "forward"},
    {"page_locked", "pinned"},
    {"pagelocked", "pinned"},
    {"malloc", "pageable"},
    {"hugepages", "huge"},
    {"step", "factor"},
    {"driver", "driver_version"},
    {"case", "case_name"},
    {"size", "size_bytes"},
    {"bandwidth", "gbps"},
    {"throughput", "gbps"},
    {"rate", "gbps"},
    {"speed", "gbps"},
    {"bandwidth", "value"},
    {"throughput", "value"},
    {"gbps", "value"},
    {"latency", "ns_per_hop"},
    {"latency", "value"},
    {"name", "case_name"},
    {"median", "value"},
    {"start", "trial_started_at_ns"},
    {"start", "case_started_at_ns"},
    {"start", "started_at"},
    {"start_time", "trial_started_at_ns"},
    {"start_time", "case_started_at_ns"},
    {"start_time", "started_at"},
    {"started_at", "trial_started_at_ns"},
    {"model", "gpu_name"},
    {"src", "from"},
    {"source", "from"},
    {"dst", "to"},
    {"dest", "to"},
    {"destination", "to"},
    {"bytes", "size"},
    {"bytes", "footprint"},
    {"size", "footprint"},
    {"working_set", "footprint"},
    {"buffer", "footprint"},
    {"engine", "method"},
    {"compare", "diff"},
    {"measure", "run"},
    {"bench", "run"},
    {"results", "show"},
    {"sql", "query"},
    {"ls", "list"},
    {"rm", "delete"},
    {"why", "explain"},
    {"page", "report"},
    {"html", "report"},
};

static bool nearest_is_meant(const char *wanted, const char *candidate) {
  for (size_t i = 0; i < COUNT_OF(MEANINGS); i++) {
    if (strcasecmp(wanted, MEANINGS[i][0]) == 0 && strcmp(candidate, MEANINGS[i][1]) == 0) {
      return true;
    }
  }
  return false;
}

struct nearest nearest_start(const char *wanted) {
  const size_t third = strlen(wanted) / 3;
  return (struct nearest){wanted, NULL, (unsigned)(third < 1 ? 1 : third) + 1};
}

void nearest_offer(struct nearest *nearest, const char *candidate) {
  const unsigned distance = nearest_is_meant(nearest->wanted, candidate)
                                ? 0
                                : nearest_distance(nearest->wanted, candidate, nearest->distance);
  if (distance < nearest->distance) {
    nearest->distance = distance;
    nearest->word = candidate;
  }
}

const char *nearest_word(const char *wanted, const char *const *words) {
  struct nearest nearest = nearest_start(wanted);
  for (size_t i = 0; words[i] != NULL; i++) {
    nearest_offer(&nearest, words[i]);
  }
  return nearest.word;
}

/* Directions, which are two keys here, and a check that is taken for what it checks. */
static const char *const HINTS[][2] = {
    {"h2d", "from a host to a GPU is from = { numa = \"local\" }, to = { gpu = \"*\" }"},
    {"htod", "from a host to a GPU is from = { numa = \"local\" }, to = { gpu = \"*\" }"},
    {"d2h", "from a GPU to a host is from = { gpu = \"*\" }, to = { numa = \"local\" }"},
    {"dtoh", "from a GPU to a host is from = { gpu = \"*\" }, to = { numa = \"local\" }"},
    {"d2d", "between GPUs is from = { gpu = \"*\" }, to = { gpu = \"*\" }"},
    {"dtod", "between GPUs is from = { gpu = \"*\" }, to = { gpu = \"*\" }"},
    {"cache_flush",
     "to flush the caches, write host_cache = \"flushed\" here; the check that flushing works is "
     "cache_flush in [checks]"},
    {"p2p", "between GPUs is from = { gpu = \"*\" }, to = { gpu = \"*\" }"},
};

const char *nearest_hint(const char *wanted) {
  for (size_t i = 0; i < COUNT_OF(HINTS); i++) {
    if (strcasecmp(wanted, HINTS[i][0]) == 0) {
      return HINTS[i][1];
    }
  }
  return NULL;
}
