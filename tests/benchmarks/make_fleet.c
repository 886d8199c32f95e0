/* make_fleet.c TEMPLATE FOLDER NODES [OPTION=VALUE...] - the shards of a fleet: the run of
 * TEMPLATE, a database with one run, copied into FOLDER as that of NODES nodes n0001, n0002 ...
 * with hardware of their own. The same options make the same fleet, on every machine.
 *
 * What differs: nodes, GPUs and paths by their hardware, which stays the same on each occasion;
 * nodes, processes and results on an occasion. Each is normal, with the standard deviation that
 * SPREAD says; of small copies and latencies results vary three times as much.
 *
 *   seed=N             of the hardware; 1
 *   occasion=N         a later fleet run on the same hardware, N days later; 0
 *   name=TEXT          of the fleet run; fleet0, by its occasion
 *   processes=N        of each run; 5
 *   driver=VERSION     another one than the template's
 *   spread=X           times all spreads; 1
 *   slow_gpu=N:G:P     GPU G of node N is P % slower in everything
 *   half_link=N:G      the PCIe link of GPU G of node N has half its width
 *   half_pair=N:G:H    copies between GPUs G and H of node N take twice as long
 *   slow_node=N:P      node N is P % slower in everything
 *   shift=BLOCK:P      all nodes are P % slower in that block
 *   missing=N          node N was expected and left nothing
 *   partial=N          node N died after its first process
 *
 * Options of faults may be repeated. */
#include "tests/benchmarks/bench.h"
#include "tests/benchmarks/generator.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { FAULTS_MAX = 64, TEXT_MAX = 256, PATH_MAX_BYTES = 4096 };
#define DAY_NS INT64_C(86400000000000)

/* Relative standard deviations. */
static const struct {
  double node, gpu, path, node_now, process, result;
} SPREAD = {0.003, 0.003, 0.002, 0.001, 0.001, 0.0015};

enum fault_kind { SLOW_GPU, HALF_LINK, HALF_PAIR, SLOW_NODE, SHIFT, MISSING, PARTIAL, FAULT_KINDS };
static const char *const FAULT_NAMES[FAULT_KINDS] = {
    "slow_gpu", "half_link", "half_pair", "slow_node", "shift", "missing", "partial"};

struct fault {
  enum fault_kind kind;
  int node, gpu, other;
  double percent;
  char block[TEXT_MAX];
};

struct fleet {
  const char *template_path, *folder, *name, *driver;
  char *script;
  int nodes, processes, occasion, node; /* node: the one that is made */
  uint64_t seed;
  double spread;
  struct fault faults[FAULTS_MAX];
  size_t fault_count;
};

static void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
static void die(const char *format, ...) {
  va_list args;
  va_start(args, format);
  (void)fputs("make_fleet: ", stderr);
  (void)vfprintf(stderr, format, args);
  (void)fputc('\n', stderr);
  va_end(args);
  exit(2);
}

/* ---- how much slower ---- */

/* A standard normal number that belongs to the text. */
static double draw(uint64_t seed, const char *format, ...) __attribute__((format(printf, 2, 3)));
static double draw(uint64_t seed, const char *format, ...) {
  char text[2 * TEXT_MAX];
  struct generator generator;
  va_list args;
  va_start(args, format);
  const int length = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  generator_seed(&generator, XXH64(text, (size_t)length < sizeof text ? (size_t)length : 0, seed));
  return normal(&generator);
}

static bool has_gpu(const char *path, int gpu) {
  char name[TEXT_MAX];
  const int length = snprintf(name, sizeof name, "gpu%d", gpu);
  const char *found = strstr(path, name);
  return found != NULL && (found[length] < '0' || found[length] > '9');
}

static double fault_slows(const struct fault *fault, int node, const char *block,
                          const char *path) {
  const bool here = fault->node == node;
  const double times = 1 / (1 - fault->percent / 100);
  switch (fault->kind) {
  case SLOW_GPU:
    return here && has_gpu(path, fault->gpu) ? times : 1;
  case HALF_LINK: /* pageable copies are bound by the host */
    return here && has_gpu(path, fault->gpu) && strstr(path, "numa") != NULL &&
                   strstr(path, "pageable") == NULL && strstr(block, "latency") == NULL
               ? 2
               : 1;
  case HALF_PAIR:
    return here && fault->gpu != fault->other && has_gpu(path, fault->gpu) &&
                   has_gpu(path, fault->other)
               ? 2
               : 1;
  case SLOW_NODE:
    return here ? times : 1;
  case SHIFT:
    return strcmp(block, fault->block) == 0 ? times : 1;
  case MISSING:
  case PARTIAL:
  case FAULT_KINDS:
    break;
  }
  return 1;
}

/* SQL function factor(process, block, path, name). */
static void fleet_factor(sqlite3_context *context, int count, sqlite3_value **values) {
  const struct fleet *fleet = sqlite3_user_data(context);
  const int process = sqlite3_value_int(values[0]);
  const char *block = (const char *)sqlite3_value_text(values[1]);
  const char *path = (const char *)sqlite3_value_text(values[2]);
  const char *name = (const char *)sqlite3_value_text(values[3]);
  const int n = fleet->node;
  const int now = fleet->occasion;
  const bool small = strstr(name, "latency") != NULL || strstr(name, "KiB") != NULL;
  (void)count;
  double sum = SPREAD.node * draw(fleet->seed, "node %d", n) +
               SPREAD.path * draw(fleet->seed, "path %d %s", n, path) +
               SPREAD.node_now * draw(fleet->seed, "node %d at %d", n, now) +
               SPREAD.process * draw(fleet->seed, "process %d %d at %d", n, process, now) +
               (small ? 3 : 1) * SPREAD.result *
                   draw(fleet->seed, "result %d %d %s at %d", n, process, name, now);
  for (int gpu = 0; gpu < 16; gpu++) {
    sum += has_gpu(path, gpu) ? SPREAD.gpu * draw(fleet->seed, "gpu %d %d", n, gpu) : 0;
  }
  double factor = exp(fleet->spread * sum);
  for (size_t i = 0; i < fleet->fault_count; i++) {
    factor *= fault_slows(&fleet->faults[i], n, block, path);
  }
  sqlite3_result_double(context, factor);
}

/* SQL function digest(digits, value...): hexadecimal digits that belong to the values. */
static void fleet_digest(sqlite3_context *context, int count, sqlite3_value **values) {
  XXH64_hash_t high = 1;
  XXH64_hash_t low = 2;
  char digits[33];
  for (int i = 1; i < count; i++) {
    const char *text = (const char *)sqlite3_value_text(values[i]);
    text = text != NULL ? text : "";
    high = XXH64(text, strlen(text) + 1, high);
    low = XXH64(text, strlen(text) + 1, low);
  }
  (void)snprintf(digits, sizeof digits, "%016" PRIx64 "%016" PRIx64, high, low);
  sqlite3_result_text(context, digits, sqlite3_value_int(values[0]), SQLITE_TRANSIENT);
}

/* ---- one shard ---- */

static const struct fault *fault_of(const struct fleet *fleet, enum fault_kind kind) {
  for (size_t i = 0; i < fleet->fault_count; i++) {
    if (fleet->faults[i].kind == kind && fleet->faults[i].node == fleet->node) {
      return &fleet->faults[i];
    }
  }
  return NULL;
}

static void copy_template(const struct fleet *fleet, const char *path) {
  struct stat info;
  const int from = open(fleet->template_path, O_RDONLY | O_CLOEXEC);
  const int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (from < 0 || to < 0 || fstat(from, &info) != 0) {
    die("cannot copy %s to %s", fleet->template_path, path);
  }
  for (off_t at = 0; at < info.st_size;) {
    if (sendfile(to, from, &at, (size_t)(info.st_size - at)) <= 0) {
      die("cannot write %s", path);
    }
  }
  (void)close(from);
  (void)close(to);
}

static void run_sql(sqlite3 *db, const char *sql) {
  char *message = NULL;
  if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) {
    die("%s", message != NULL ? message : sqlite3_errmsg(db));
  }
}

static void make_shard(struct fleet *fleet) {
  char node[TEXT_MAX];
  char uuid[33];
  char path[PATH_MAX_BYTES];
  char shard[PATH_MAX_BYTES];
  sqlite3 *db = NULL;
  const struct fault *link = fault_of(fleet, HALF_LINK);
  (void)snprintf(node, sizeof node, "n%04d", fleet->node);
  const uint64_t random = XXH64(node, strlen(node), fleet->seed + (uint64_t)fleet->occasion);
  /* As UUIDv7 has it: milliseconds, then random bits. */
  (void)snprintf(uuid, sizeof uuid, "%012" PRIx64 "7%03x8%015" PRIx64,
                 UINT64_C(1790000000000) + (uint64_t)fleet->occasion * (DAY_NS / 1000000),
                 (unsigned)(random >> 52), random & UINT64_C(0xfffffffffffffff));
  (void)snprintf(path, sizeof path, "%s/.new", fleet->folder);
  (void)snprintf(shard, sizeof shard, "%s/%s-%s.db", fleet->folder, node, uuid);
  copy_template(fleet, path);
  if (sqlite3_open(path, &db) != SQLITE_OK) {
    die("%s: %s", path, sqlite3_errmsg(db));
  }
  (void)sqlite3_create_function(db, "factor", 4, SQLITE_UTF8, fleet, fleet_factor, NULL, NULL);
  (void)sqlite3_create_function(db, "digest", -1, SQLITE_UTF8, NULL, fleet_digest, NULL, NULL);
  run_sql(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -20000;"
              "PRAGMA temp_store = MEMORY; BEGIN");
  char *values = sqlite3_mprintf(
      "CREATE TEMP TABLE node AS SELECT %Q AS name, %Q AS uuid, %Q AS fleet, 'n[0001-%04d]' AS "
      "expected, %Q AS driver, %d AS occasion, %lld AS later_ns, %d AS partial, %d AS half_link, "
      "%d AS processes",
      node, uuid, fleet->name, fleet->nodes, fleet->driver, fleet->occasion,
      (long long)fleet->occasion * DAY_NS, fault_of(fleet, PARTIAL) != NULL,
      link != NULL ? link->gpu : -1, fleet->processes);
  run_sql(db, values);
  sqlite3_free(values);
  run_sql(db, fleet->script);
  run_sql(db, "COMMIT");
  (void)sqlite3_close(db);
  if (rename(path, shard) != 0) {
    die("cannot rename %s to %s", path, shard);
  }
}

/* ---- the command line ---- */

static bool take_fault(struct fleet *fleet, const char *name, const char *value) {
  struct fault fault = {.kind = SLOW_GPU};
  while (fault.kind < FAULT_KINDS && strcmp(FAULT_NAMES[fault.kind], name) != 0) {
    fault.kind++;
  }
  int taken = 0;
  switch (fault.kind) {
  case SLOW_GPU:
    taken = sscanf(value, "%d:%d:%lf", &fault.node, &fault.gpu, &fault.percent) == 3;
    break;
  case HALF_LINK:
    taken = sscanf(value, "%d:%d", &fault.node, &fault.gpu) == 2;
    break;
  case HALF_PAIR:
    taken = sscanf(value, "%d:%d:%d", &fault.node, &fault.gpu, &fault.other) == 3;
    break;
  case SLOW_NODE:
    taken = sscanf(value, "%d:%lf", &fault.node, &fault.percent) == 2;
    break;
  case SHIFT:
    taken = sscanf(value, "%255[^:]:%lf", fault.block, &fault.percent) == 2;
    break;
  case MISSING:
  case PARTIAL:
    taken = sscanf(value, "%d", &fault.node) == 1;
    break;
  case FAULT_KINDS:
    break;
  }
  if (taken && fleet->fault_count < FAULTS_MAX) {
    fleet->faults[fleet->fault_count++] = fault;
    return true;
  }
  return false;
}

static void take_option(struct fleet *fleet, char *word) {
  char *value = strchr(word, '=');
  if (value == NULL) {
    die("%s is not OPTION=VALUE", word);
  }
  *value++ = '\0';
  if (strcmp(word, "seed") == 0) {
    fleet->seed = strtoull(value, NULL, 10);
  } else if (strcmp(word, "occasion") == 0) {
    fleet->occasion = atoi(value);
  } else if (strcmp(word, "processes") == 0) {
    fleet->processes = atoi(value);
  } else if (strcmp(word, "name") == 0) {
    fleet->name = value;
  } else if (strcmp(word, "driver") == 0) {
    fleet->driver = value;
  } else if (strcmp(word, "spread") == 0) {
    fleet->spread = strtod(value, NULL);
  } else if (!take_fault(fleet, word, value)) {
    die("cannot take %s=%s", word, value);
  }
}

int main(int argc, char **argv) {
  struct fleet fleet = {.seed = 1, .processes = 5, .spread = 1};
  char name[TEXT_MAX];
  if (argc < 4 || (fleet.nodes = atoi(argv[3])) < 1) {
    die("usage: make_fleet TEMPLATE FOLDER NODES [OPTION=VALUE...]");
  }
  fleet.template_path = argv[1];
  fleet.folder = argv[2];
  for (int i = 4; i < argc; i++) {
    take_option(&fleet, argv[i]);
  }
  if (fleet.name == NULL) {
    (void)snprintf(name, sizeof name, "fleet%d", fleet.occasion);
    fleet.name = name;
  }
  fleet.script = bench_read_file(HAUL_BENCHMARKS_DIR "/make_fleet.sql");
  (void)mkdir(fleet.folder, 0755);
  for (fleet.node = 1; fleet.node <= fleet.nodes; fleet.node++) {
    if (fault_of(&fleet, MISSING) == NULL) {
      make_shard(&fleet);
    }
  }
  free(fleet.script);
  return 0;
}
