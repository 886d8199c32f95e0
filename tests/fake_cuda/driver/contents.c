#include "tests/fake_cuda/driver/contents.h"

#include "kernels/pattern_values.h"
#include "tests/fake_cuda/driver/kernels.h"
#include "tests/fake_cuda/driver/memory.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Less is written at once: a promise costs more, and hiding memory from the host much more. */
static const size_t DEVICE_PROMISE_BYTES = 4096;
static const size_t PINNED_PROMISE_BYTES = (size_t)1 << 20;

static struct sigaction faults_before;

static size_t least_bytes(const struct allocation *allocation) {
  if (allocation->backed) {
    return SIZE_MAX; /* another process would not know of it */
  }
  switch (allocation->kind) {
  case ALLOCATION_DEVICE:
    return DEVICE_PROMISE_BYTES;
  case ALLOCATION_PINNED:
    return allocation->hidden ? DEVICE_PROMISE_BYTES : PINNED_PROMISE_BYTES;
  case ALLOCATION_REGISTERED:
  case ALLOCATION_MANAGED:
    break;
  }
  return SIZE_MAX;
}

/* Bytes of the pattern from that offset in it. */
static void write_pattern(unsigned char *bytes, size_t size_bytes, uint64_t seed, uint64_t phase,
                          unsigned char invert) {
  const uint64_t flip = invert * UINT64_C(0x0101010101010101);
  size_t i = 0;
  for (; i < size_bytes && (phase + i) % sizeof flip != 0; i++) {
    bytes[i] = (unsigned char)(pattern_byte(seed, phase + i) ^ invert);
  }
  for (; i + sizeof flip <= size_bytes; i += sizeof flip) {
    const uint64_t word = pattern_word(seed, (phase + i) / sizeof flip) ^ flip;
    memcpy(bytes + i, &word, sizeof word);
  }
  for (; i < size_bytes; i++) {
    bytes[i] = (unsigned char)(pattern_byte(seed, phase + i) ^ invert);
  }
}

/* The part of a promise between two offsets inside it. */
static struct promise part_of(const struct promise *promise, uint64_t start, uint64_t end) {
  struct promise part = *promise;
  part.start = start;
  part.end = end;
  part.phase += start - promise->start;
  return part;
}

static void write_down(const struct allocation *allocation, const struct promise *promise) {
  write_pattern(allocation->data + promise->start, promise->end - promise->start, promise->seed,
                promise->phase, promise->invert);
}

static void protect(const struct allocation *allocation, int protection) {
  if (mprotect(allocation->data, allocation->mapped_bytes, protection) != 0) {
    abort();
  }
}

static void show(struct allocation *allocation) {
  if (allocation->hidden) {
    protect(allocation, PROT_READ | PROT_WRITE);
    allocation->hidden = false;
  }
}

static void keep_all(struct allocation *allocation) {
  show(allocation);
  for (uint32_t i = 0; i < allocation->promise_count; i++) {
    write_down(allocation, &allocation->promises[i]);
  }
  allocation->promise_count = 0;
}

/* No promise is for [start, end) any more; what they say of it is written down, or lost. */
static void take_back(struct allocation *allocation, uint64_t start, uint64_t end, bool keep) {
  struct promise kept[2 * PROMISES_MAX];
  uint32_t count = 0;
  for (uint32_t i = 0; i < allocation->promise_count; i++) {
    const struct promise *promise = &allocation->promises[i];
    const uint64_t low = promise->start > start ? promise->start : start;
    const uint64_t high = promise->end < end ? promise->end : end;
    if (low >= high) {
      kept[count++] = *promise;
      continue;
    }
    if (keep) {
      const struct promise lost = part_of(promise, low, high);
      write_down(allocation, &lost);
    }
    if (promise->start < low) {
      kept[count++] = part_of(promise, promise->start, low);
    }
    if (high < promise->end) {
      kept[count++] = part_of(promise, high, promise->end);
    }
  }
  for (uint32_t i = PROMISES_MAX; i < count; i++) {
    write_down(allocation, &kept[i]);
  }
  allocation->promise_count = count < PROMISES_MAX ? count : PROMISES_MAX;
  memcpy(allocation->promises, kept, allocation->promise_count * sizeof kept[0]);
}

/* The host touches what was hidden from it. Another thread may have come first. */
static void serve_fault(int number, siginfo_t *info, void *context) {
  const bool sent = info->si_code <= 0; /* by a process, not by an access */
  struct allocation *allocation = sent ? NULL : memory_lock_owner(info->si_addr);
  const bool ours = allocation != NULL && allocation->kind == ALLOCATION_PINNED;
  if (ours) {
    keep_all(allocation);
  }
  if (!sent) {
    memory_unlock();
  }
  if (ours) {
    return;
  }
  if ((faults_before.sa_flags & SA_SIGINFO) != 0) {
    faults_before.sa_sigaction(number, info, context);
  } else if (faults_before.sa_handler == SIG_DFL || faults_before.sa_handler == SIG_IGN) {
    (void)sigaction(number, &faults_before, NULL); /* the same access comes again */
    if (sent) {
      (void)raise(number);
    }
  } else {
    faults_before.sa_handler(number);
  }
}

/* false: somebody else waits for faults, as cmocka does, and might not know this one. Sanitizers,
 * who only report, are told of those that are not ours. */
static bool catch_faults(void) {
  struct sigaction now;
  (void)sigaction(SIGSEGV, NULL, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == serve_fault) {
    return true;
  }
  Dl_info handler;
  if (now.sa_handler != SIG_DFL && (dladdr((void *)(uintptr_t)now.sa_handler, &handler) == 0 ||
                                    strstr(handler.dli_fname, "libasan") == NULL)) {
    return false;
  }
  faults_before = now;
  struct sigaction action = {.sa_sigaction = serve_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  (void)sigemptyset(&action.sa_mask);
  return sigaction(SIGSEGV, &action, NULL) == 0;
}

/* Locked. false: the bytes are to be written. */
static bool promise(struct allocation *allocation, const struct promise *made) {
  const uint64_t size_bytes = made->end - made->start;
  if (size_bytes < least_bytes(allocation) || size_bytes > allocation->size_bytes - made->start) {
    return false;
  }
  if (allocation->promise_count >= PROMISES_MAX / 2) {
    keep_all(allocation);
  }
  if (allocation->kind == ALLOCATION_PINNED && !allocation->hidden) {
    if (!catch_faults()) {
      return false;
    }
    protect(allocation, PROT_NONE);
    allocation->hidden = true;
  }
  take_back(allocation, made->start, made->end, false);
  allocation->promises[allocation->promise_count++] = *made;
  return true;
}

/* Locked. The promise for all of [start, end); NULL: there is none. */
static const struct promise *promised(const struct allocation *allocation, uint64_t start,
                                      uint64_t end) {
  for (uint32_t i = 0; i < allocation->promise_count; i++) {
    const struct promise *promise = &allocation->promises[i];
    if (promise->start <= start && end <= promise->end) {
      return promise;
    }
  }
  return NULL;
}

/* Of memory that was hidden all promises are kept: the host's next access is not seen. */
static void need(const void *data, size_t size_bytes, bool keep) {
  struct allocation *allocation = memory_lock_owner(data);
  if (allocation != NULL) {
    const uint64_t start = (uint64_t)((const unsigned char *)data - allocation->data);
    const bool all = allocation->hidden;
    show(allocation);
    take_back(allocation, start, start + size_bytes, keep);
    if (all) {
      keep_all(allocation);
    }
  }
  memory_unlock();
}

void contents_need(const void *data, size_t size_bytes) {
  need(data, size_bytes, true);
}

void contents_fill(void *data, size_t size_bytes, uint64_t seed, bool complement) {
  struct allocation *allocation = memory_lock_owner(data);
  bool done = false;
  if (allocation != NULL) {
    const uint64_t start = (uint64_t)((unsigned char *)data - allocation->data);
    done = promise(allocation, &(struct promise){.start = start,
                                                 .end = start + size_bytes,
                                                 .seed = seed,
                                                 .invert = complement ? 0xff : 0});
  }
  memory_unlock();
  if (!done) {
    need(data, size_bytes, false);
    write_pattern(data, size_bytes, seed, 0, complement ? 0xff : 0);
  }
}

void contents_copy(void *to, const void *from, size_t size_bytes) {
  struct promise made = {0};
  struct allocation *allocation = memory_lock_owner(from);
  if (allocation != NULL) {
    const uint64_t start = (uint64_t)((const unsigned char *)from - allocation->data);
    const struct promise *source = promised(allocation, start, start + size_bytes);
    if (source != NULL) {
      made = part_of(source, start, start + size_bytes);
    }
  }
  memory_unlock();
  const bool known = made.end > 0;
  bool done = false;
  allocation = known ? memory_lock_owner(to) : NULL;
  if (allocation != NULL) {
    made.start = (uint64_t)((unsigned char *)to - allocation->data);
    made.end = made.start + size_bytes;
    done = promise(allocation, &made);
  }
  if (known) {
    memory_unlock();
  }
  if (done) {
    return;
  }
  if (known) {
    need(to, size_bytes, false);
    write_pattern(to, size_bytes, made.seed, made.phase, made.invert);
    return;
  }
  need(from, size_bytes, true);
  need(to, size_bytes,
       from < to ? (const unsigned char *)from + size_bytes > (unsigned char *)to
                 : (unsigned char *)to + size_bytes > (const unsigned char *)from);
  copy_bytes(to, from, size_bytes);
}

bool contents_known(const void *data, size_t size_bytes, uint64_t seed) {
  const struct allocation *allocation = memory_lock_owner(data);
  bool known = false;
  if (allocation != NULL) {
    const uint64_t start = (uint64_t)((const unsigned char *)data - allocation->data);
    const struct promise *promise = promised(allocation, start, start + size_bytes);
    known = promise != NULL && promise->seed == seed && promise->invert == 0 &&
            promise->phase + (start - promise->start) == 0;
  }
  memory_unlock();
  return known;
}
