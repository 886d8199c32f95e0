#include "kernels/code.h"

#include "engine/base/embed.h"
#include "engine/base/macros.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* The build (kernels/CMakeLists.txt) makes the tables, of which kernel_machine_code may be empty,
 * and says HAUL_NVCC_VERSION ("13.0", "" without nvcc) and HAUL_MACHINE_CODE ("75 80 90"). */
extern const struct embedded_file kernel_ptx[];
extern const struct embedded_file kernel_machine_code[];

static const void *image_find(const struct embedded_file *files, const char *name) {
  for (; files->name != NULL; files++) {
    if (strcmp(files->name, name) == 0) {
      return files->data;
    }
  }
  return NULL;
}

/* The architecture whose machine code the GPU runs, 90 for example; 0: none of this executable. */
static unsigned long machine_code_for(const struct kernel_target *target) {
  unsigned long best = 0;
  if (target->driver_version / 1000 < strtol(HAUL_NVCC_VERSION, NULL, 10)) {
    return 0;
  }
  char *end = NULL;
  for (const char *at = HAUL_MACHINE_CODE; *at != '\0'; at = end) {
    const unsigned long code = strtoul(at, &end, 10);
    if (code / 10 == target->compute_major && code % 10 <= target->compute_minor && code > best) {
      best = code;
    }
  }
  return best;
}

/* The PTX of that module with the highest version that the GPU has; *version: 75, 80 or 90. */
static const void *ptx_for(const char *module, const struct kernel_target *target,
                           unsigned *version) {
  static const struct {
    const char *name;
    unsigned least;
    unsigned most;
  } versions[] = {
      {"90a", 90, 90}, {"90", 90, UINT_MAX}, {"80", 80, UINT_MAX}, {"75", 75, UINT_MAX}};
  const unsigned has = 10 * target->compute_major + target->compute_minor;
  const void *image = NULL;
  for (size_t i = 0; image == NULL && i < COUNT_OF(versions); i++) {
    char name[64];
    (void)snprintf(name, sizeof name, "%s.%s.ptx", module, versions[i].name);
    image =
        has >= versions[i].least && has <= versions[i].most ? image_find(kernel_ptx, name) : NULL;
    *version = versions[i].least;
  }
  return image;
}

const void *kernel_image(enum kernel_module module, const struct kernel_target *target) {
  unsigned version;
  char name[64];
  (void)snprintf(name, sizeof name, "%s.fatbin", kernel_module_text(module));
  return machine_code_for(target) != 0 ? image_find(kernel_machine_code, name)
                                       : ptx_for(kernel_module_text(module), target, &version);
}

void kernel_code_describe(const struct kernel_target *target, char text[KERNEL_CODE_TEXT_MAX]) {
  const unsigned long code = machine_code_for(target);
  unsigned version;
  if (code != 0) {
    (void)snprintf(text, KERNEL_CODE_TEXT_MAX, "sm_%lu by nvcc %s", code, HAUL_NVCC_VERSION);
  } else if (ptx_for(kernel_module_text(KERNEL_MODULE_COPY), target, &version) != NULL) {
    (void)snprintf(text, KERNEL_CODE_TEXT_MAX, "PTX %u.%u by the driver", version / 10,
                   version % 10);
  } else {
    (void)snprintf(text, KERNEL_CODE_TEXT_MAX, "none");
  }
}

const char *kernel_code_built(void) {
  return HAUL_NVCC_VERSION[0] == '\0' ? "PTX"
                                      : "PTX; machine code for " HAUL_MACHINE_CODE
                                        " by nvcc " HAUL_NVCC_VERSION;
}
