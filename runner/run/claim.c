#include "runner/run/claim.h"

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/engine.h"
#include "engine/machine/machine.h"
#include "runner/record/selector.h"
#include "runner/run/lock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { POLL_NS = 100000000, NAME_MAX_BYTES = 128, HOST = MACHINE_GPUS_MAX };
enum { ITEMS_MAX = MACHINE_GPUS_MAX + 1 };

/* ---- what a case uses ---- */

static bool use_is_gpu(const struct machine *machine, const struct endpoint *end) {
  return end->place == PLACE_GPU && end->index >= 0 && (uint32_t)end->index < machine->gpu_count;
}

/* The link of a GPU to the host. */
static void use_link(struct case_use *use, const struct machine *machine,
                     const struct endpoint *end) {
  use->links |= use_is_gpu(machine, end) ? UINT32_C(1) << end->index : 0;
}

/* Bytes go between two places: through the host, but within a GPU or over NVLink. */
static void use_path(struct case_use *use, const struct machine *machine,
                     const struct case_path *path) {
  if (use_is_gpu(machine, &path->from) && use_is_gpu(machine, &path->to) && !path->staged) {
    const struct gpu_link *link = &machine->links[path->from.index][path->to.index];
    if (path->from.index == path->to.index || (link->peer_access && link->nvlink_count > 0)) {
      return;
    }
  }
  use->host = true;
  use_link(use, machine, &path->from);
  use_link(use, machine, &path->to);
}

void case_use_add(struct case_use *use, const struct machine *machine, const struct case_def *def) {
  use->gpus |= engine_case_gpus(def);
  struct case_path path;
  for (uint32_t i = 0; engine_case_path(def, i, &path); i++) {
    use_path(use, machine, &path);
  }
}

/* ---- what is claimed ---- */

/* A resource: GPUs have their number, the host comes last. */
struct claim_item {
  struct lock *lock; /* NULL = not claimed */
  bool shared;
  bool taken;
  uint64_t visits;              /* by others that measure beside, at the last look */
  struct lock_user now, before; /* another user at the last look and the one before; pid 0 = none */
};

struct claim {
  struct lock_user self;
  struct claim_item items[ITEMS_MAX];
};

static void claim_item_name(size_t item, char text[16]) {
  if (item == HOST) {
    (void)snprintf(text, 16, "the host");
  } else {
    (void)snprintf(text, 16, "gpu%zu", item);
  }
}

/* ---- opening ---- */

/* The name of a GPU's file: its UUID, or, if it tells none, its address. */
static void claim_file_name(const struct gpu *gpu, char name[NAME_MAX_BYTES]) {
  (void)snprintf(name, NAME_MAX_BYTES, "gpu-%s",
                 gpu->uuid[0] != '\0' ? gpu->uuid : gpu->pci_address);
  for (char *c = name; *c != '\0'; c++) {
    if (*c == '/') {
      *c = '_';
    }
  }
}

static struct case_use claim_find_use(const struct plan *plan) {
  struct case_use use = {0};
  for (size_t i = 0; i < plan->case_count; i++) {
    if (plan->cases[i].skip_reason == NULL) {
      case_use_add(&use, plan->machine, &plan->cases[i].def);
    }
  }
  return use;
}

static enum status claim_open(struct claim *claim, const char *wanted_folder,
                              const struct plan *plan, struct error *err) {
  char folder[LOCK_PATH_MAX];
  const struct case_use use = claim_find_use(plan);
  if (use.gpus == 0 && !use.host) {
    return STATUS_OK;
  }
  enum status status = lock_find_folder(wanted_folder, folder, err);
  for (uint32_t i = 0; i < plan->machine->gpu_count && status == STATUS_OK; i++) {
    if ((use.gpus & UINT32_C(1) << i) != 0) {
      char name[NAME_MAX_BYTES];
      claim_file_name(&plan->machine->gpus[i], name);
      status = lock_open(folder, name, &claim->items[i].lock, err);
    }
  }
  claim->items[HOST].shared = !use.host;
  return THEN(status, lock_open(folder, "host", &claim->items[HOST].lock, err));
}

/* ---- waiting ---- */

/* In the order of the items, which all runs have in common up to their numbers of GPUs, so that a
 * run may hold the first while it waits for the others. False: *blocked is in use, by *other. */
static bool claim_try(struct claim *claim, size_t *blocked, struct lock_user *other) {
  for (size_t i = 0; i < ITEMS_MAX; i++) {
    struct claim_item *item = &claim->items[i];
    struct lock_user self = claim->self;
    self.shared = item->shared;
    if (item->lock != NULL && !item->taken) {
      item->taken = lock_take(item->lock, &self, other);
      if (!item->taken) {
        *blocked = i;
        return false;
      }
    }
  }
  return true;
}

static void claim_release(struct claim *claim) {
  for (size_t i = 0; i < ITEMS_MAX; i++) {
    lock_close(claim->items[i].lock, false);
    claim->items[i] = (struct claim_item){0};
  }
}

/* "in use by haul, pid 4242 of alice on node7 since 2026-11-22T01:02:03Z (run:01a2...)". */
static void claim_describe_holder(size_t item, const struct lock_user *other,
                                  char text[CASE_REASON_MAX]) {
  char name[16];
  claim_item_name(item, name);
  if (other->pid == 0) {
    (void)snprintf(text, CASE_REASON_MAX, "%s is in use by another haul", name);
    return;
  }
  (void)snprintf(text, CASE_REASON_MAX, "%s is in use by haul, pid %d of %s on %s since %s", name,
                 other->pid, other->user, other->host, other->since);
  if (strlen(other->run) > 1) {
    const size_t length = strlen(text);
    (void)snprintf(text + length, CASE_REASON_MAX - length, " (" RUN_NAME ")", other->run);
  }
}

static void claim_show_wait(const struct common_options *common, const char *text,
                            uint64_t waited_ns) {
  char line[CASE_REASON_MAX + 64];
  (void)snprintf(line, sizeof line, "waiting for %llu s: %s",
                 (unsigned long long)(waited_ns / UINT64_C(1000000000)), text);
  (void)say_progress(common, line);
}

static int claim_wait(const struct claim_request *request, struct claim *claim, bool *waited) {
  const struct common_options *common = request->common;
  const uint64_t started_ns = clock_now_ns();
  struct lock_user other = {0};
  size_t blocked = 0;
  int code = EXIT_DONE;
  *waited = false;
  char text[CASE_REASON_MAX];
  while (code == EXIT_DONE && !claim_try(claim, &blocked, &other)) {
    const uint64_t waited_ns = clock_now_ns() - started_ns;
    claim_describe_holder(blocked, &other, text);
    const char *limit = units_format_duration_short(request->wait_ns, UNITS_TEXT);
    if (waited_ns >= request->wait_ns) {
      (void)say_progress(common, "");
      say_error(common,
                "%s: %s%s%snothing was measured; --wait DURATION waits longer, --share measures at "
                "once and marks the cases",
                text, request->wait_ns > 0 ? "waited for " : "", request->wait_ns > 0 ? limit : "",
                request->wait_ns > 0 ? ", " : "");
      code = EXIT_NOT_MEASURED;
      break;
    }
    if (!*waited) {
      *waited = true;
      say_wait("%s: waiting for up to %s (--wait changes that; --share measures at once and marks "
               "the cases)",
               text, limit);
    }
    claim_show_wait(common, text, waited_ns);
    (void)nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
    if (*request->interrupted != 0) {
      (void)say_progress(common, "");
      say_warning(common, "interrupted while waiting: nothing was measured");
      code = EXIT_INTERRUPTED;
    }
  }
  if (*waited) {
    (void)say_progress(common, "");
  }
  return code;
}

int claim_take(const struct claim_request *request, const struct plan *plan, struct claim **claim,
               bool *waited) {
  struct error err = {0};
  *waited = false;
  *claim = NULL;
  if (plan->machine->simulated && request->folder == NULL) {
    return EXIT_DONE;
  }
  struct claim *made = memory_new(1, sizeof *made);
  lock_user_init(&made->self, request->database);
  made->self.beside = request->share;
  if (claim_open(made, request->folder, plan, &err) != STATUS_OK) {
    say_warning(request->common,
                "%s: two runs at once on this host do not notice each other; HAUL_LOCKS names a "
                "folder for locks that all users can write to",
                err.message);
    claim_release(made);
  }
  int code = claim_wait(request, made, waited);
  if (code != EXIT_DONE) {
    claim_free(made);
    return code;
  }
  claim_look(made); /* who came before this run is not of its time */
  for (size_t i = 0; i < ITEMS_MAX; i++) {
    made->items[i].before = made->items[i].now = (struct lock_user){0};
  }
  claim_look(made);
  *claim = made;
  return code;
}

void claim_free(struct claim *claim) {
  if (claim != NULL) {
    claim_release(claim);
    free(claim);
  }
}

void claim_name_run(struct claim *claim, const char *run) {
  for (size_t i = 0; claim != NULL && i < ITEMS_MAX; i++) {
    if (claim->items[i].lock != NULL) {
      lock_name_run(claim->items[i].lock, run);
    }
  }
}

/* ---- others, meanwhile ---- */

void claim_look(struct claim *claim) {
  for (size_t i = 0; claim != NULL && i < ITEMS_MAX; i++) {
    struct claim_item *item = &claim->items[i];
    item->before = item->now;
    item->now = (struct lock_user){0};
    struct lock_user other = {0};
    int visitor = 0;
    const uint64_t visits = item->lock != NULL ? lock_count_visits(item->lock, &visitor) : 0;
    if (item->lock != NULL && lock_count_others(item->lock, &other) > 0) {
      item->now = other;
      item->now.pid = other.pid != 0 ? other.pid : -1;
    } else if (visits != item->visits) {
      item->now.pid = visitor != 0 ? visitor : -1;
    }
    item->visits = visits;
  }
}

uint32_t claim_note_others(const struct claim *claim, const struct case_use *use,
                           struct notes *notes) {
  uint32_t gpus = 0;
  for (size_t i = 0; claim != NULL && i < ITEMS_MAX; i++) {
    const struct claim_item *item = &claim->items[i];
    const struct lock_user *other = item->now.pid != 0 ? &item->now : &item->before;
    const bool used = i == HOST ? use->host && gpus == 0 : (use->gpus >> i & 1) != 0;
    if (!used || other->pid == 0) {
      continue;
    }
    struct note note = {.kind = other->pid > 0 ? NOTE_SHARED : NOTE_SHARED_UNNAMED,
                        .gpu = i == HOST ? NOTE_NO_GPU : (int32_t)i};
    if (other->pid > 0) {
      (void)snprintf(note.what, sizeof note.what, "pid %d", other->pid);
    }
    notes_add(notes, &note);
    gpus |= i == HOST ? 0 : UINT32_C(1) << i;
  }
  return gpus;
}

/* ---- the owner of a run ---- */

bool claim_is_measured(const struct claim_request *request, const char *run) {
  char folder[LOCK_PATH_MAX];
  char name[NAME_MAX_BYTES];
  (void)snprintf(name, sizeof name, "run-%s-", run);
  return lock_find_folder(request->folder, folder, NULL) != STATUS_OK || lock_is_used(folder, name);
}

enum status claim_run(const struct claim_request *request, const char *run, struct lock **owner,
                      struct error *err) {
  char folder[LOCK_PATH_MAX];
  char name[NAME_MAX_BYTES];
  struct stat file = {0};
  struct error why = {0};
  struct lock_user self;
  struct lock_user other = {0};
  *owner = NULL;
  /* A copy of the database holds another run of that name; a shard is copied to and fro. */
  if (!request->sole) {
    (void)stat(request->database, &file);
  }
  (void)snprintf(name, sizeof name, "run-%s-%llx-%llx", run, (unsigned long long)file.st_dev,
                 (unsigned long long)file.st_ino);
  enum status status = lock_find_folder(request->folder, folder, &why);
  if (status == STATUS_OK) {
    lock_sweep(folder, "run-");
  }
  status = THEN(status, lock_open(folder, name, owner, &why));
  if (status != STATUS_OK) {
    say_warning(request->common, "%s: nothing keeps another haul from resuming this run meanwhile",
                why.message);
    return STATUS_OK;
  }
  lock_user_init(&self, request->database);
  (void)snprintf(self.run, sizeof self.run, "%s", run);
  if (lock_take(*owner, &self, &other)) {
    return STATUS_OK;
  }
  lock_close(*owner, false);
  *owner = NULL;
  if (other.pid == 0) {
    return error_set(err, STATUS_DENIED, RUN_NAME " is being measured by another haul", run);
  }
  return error_set(err, STATUS_DENIED,
                   RUN_NAME " is being measured by haul, pid %d of %s on %s since %s", run,
                   other.pid, other.user, other.host, other.since);
}

void claim_leave_run(struct lock *owner) {
  lock_close(owner, true);
}
