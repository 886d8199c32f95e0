/* nvbandwidth.h - what nvbandwidth printed, versions 0.2 and 0.5 to 0.10, as plain data: its JSON
 * (-j), or its text, which nvbandwidth_text.h brings into the same form. The content says which it
 * is.
 *
 * One object "nvbandwidth" with "version" ("v0.8"), "Driver Version", "CUDA Runtime Version", from
 * 0.6 on "GPU Device list" (0.8 names the host in it), and "testcases": name, status and
 * "bandwidth_matrix", whose cells are texts: a number in GB/s (latencies: ns) or "N/A". Tests that
 * report several matrices append the rows of all to one (0.6 on: each direction, then their sums).
 * (nvbandwidth, json_output.cpp.)
 *
 * Everything is owned by the arena. Errors: STATUS_INVALID with what is wrong and where - of a
 * mistake in the JSON itself with line and column in err->position (file borrows path) - and
 * STATUS_UNSUPPORTED for another version. */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/machine/limits.h"

#include <stddef.h>
#include <stdint.h>

struct machine;

enum { NVBANDWIDTH_FILE_MAX = 64 << 20 };
#define NVBANDWIDTH_VERSIONS "0.2 and 0.5 to 0.10"

struct nvbandwidth_device {
  const char *name;        /* "NVIDIA H200"; NULL = not known */
  const char *pci_address; /* normalised, "0000:06:00.0"; NULL = not known */
};

struct nvbandwidth_test {
  const char *name;
  const char *status;   /* "Passed", "Waived", ...; "" = not given */
  const char *detail;   /* of one that has no numbers: why; NULL = not given */
  size_t rows, columns; /* 0: no matrix */
  const double *cells;  /* rows * columns; NAN = "N/A" */
};

struct nvbandwidth_file {
  const char *text;           /* as read */
  bool rounded;               /* to 0.01: from text */
  unsigned version;           /* 8 for 0.8 */
  const char *driver_version; /* NULL = not given; the same below */
  int cuda_runtime_version;   /* 13000; 0 = not given */
  const char *host_name;
  const struct nvbandwidth_device *devices; /* in nvbandwidth's order: CUDA's */
  size_t device_count;
  const struct nvbandwidth_test *tests;
  size_t test_count;
};

enum status nvbandwidth_read(const char *path, struct arena *arena, struct nvbandwidth_file *file,
                             struct error *err) CHECK_RESULT;
/* The same from text; path names it in errors. */
enum status nvbandwidth_parse(const char *text, size_t length, const char *path,
                              struct arena *arena, struct nvbandwidth_file *file,
                              struct error *err) CHECK_RESULT;

/* The machine that the file speaks of. saved may be NULL; else it is the machine of that name with
 * its nodes and links, and must have the GPUs of the file (STATUS_INVALID otherwise, saying how
 * they differ). Nothing else of it is taken over that may have changed since: only the file says
 * under which driver it was measured. gpu_of_device[i] is the index of the file's device i. */
enum status nvbandwidth_machine(const struct nvbandwidth_file *file, const struct machine *saved,
                                const char *host_name, struct machine *machine,
                                int32_t gpu_of_device[MACHINE_GPUS_MAX],
                                struct error *err) CHECK_RESULT;
