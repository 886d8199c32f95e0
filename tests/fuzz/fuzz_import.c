/* Any bytes as the JSON or text of nvbandwidth, up to the machine that it speaks of. */
#include "engine/base/arena.h"
#include "engine/machine/machine.h"
#include "runner/import/nvbandwidth.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

static struct machine machine;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena arena = {0};
  struct nvbandwidth_file file;
  struct error err = {0};
  int32_t gpu_of_device[MACHINE_GPUS_MAX];
  char *text = malloc(size + 1);
  fuzz_require(text != NULL, "no memory");
  memcpy(text, data, size);
  text[size] = '\0';
  if (nvbandwidth_parse(text, size, "fuzz.json", &arena, &file, &err) == STATUS_OK) {
    for (size_t i = 0; i < file.test_count; i++) {
      const double sum =
          TOTAL_OF(k, file.tests[i].rows * file.tests[i].columns, file.tests[i].cells[k]);
      (void)sum;
    }
    if (nvbandwidth_machine(&file, NULL, "host", &machine, gpu_of_device, &err) == STATUS_OK) {
      fuzz_require(machine.gpu_count <= MACHINE_GPUS_MAX, "a count is out of range");
    }
  } else {
    fuzz_require(err.message[0] != '\0', "no error is reported");
  }
  arena_fini(&arena);
  free(text);
  return 0;
}
