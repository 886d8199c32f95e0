#include "tests/fake_cuda/machine/faults.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <unistd.h>

ENUM_NAMES_DEFINE(fault_kind, FAULT_KIND_LIST)

static bool place_fits(int32_t wanted, int32_t place) {
  return wanted == PLACE_ANY || wanted == place;
}

static bool fits(const struct fault *fault, const struct fault_call *call) {
  if (fault->kind == FAULT_FLIP_BYTE && fault->offset >= call->size_bytes) {
    return false; /* it has no such byte: small copies beside the data stay whole */
  }
  return fnmatch(fault->call, call->name, 0) == 0 && place_fits(fault->gpu, call->gpu) &&
         place_fits(fault->from, call->from) && place_fits(fault->to, call->to) &&
         (fault->size_bytes == 0 || fault->size_bytes == call->size_bytes);
}

/* A marker makes a fault strike once over all processes: only one of them can create the file. */
static bool take_marker(const struct fault *fault) {
  if (fault->marker[0] == '\0') {
    return true;
  }
  int file = open(fault->marker, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (file >= 0) {
    (void)close(file);
  }
  return file >= 0;
}

const struct fault *faults_strike(struct fault *faults, uint32_t fault_count,
                                  const struct fault_call *call) {
  const struct fault *struck = NULL;
  for (uint32_t i = 0; i < fault_count; i++) {
    struct fault *fault = &faults[i];
    if (!fits(fault, call)) {
      continue;
    }
    uint64_t ordinal = atomic_fetch_add(&fault->seen, 1) + 1;
    bool due = ordinal >= fault->nth && (fault->count == 0 || ordinal - fault->nth < fault->count);
    if (due && struck == NULL && take_marker(fault)) {
      struck = fault;
    }
  }
  return struck;
}
