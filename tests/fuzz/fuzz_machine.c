/* Any bytes as a machine file: either it is loaded, and then what is saved of it loads as well, or
 * rejected with an error. */
#include "engine/machine/machine.h"
#include "schema/machine/machine_file.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

static struct machine loaded, again;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct error err = {0};
  char *text = malloc(size + 1);
  fuzz_require(text != NULL, "no memory");
  memcpy(text, data, size);
  text[size] = '\0';
  const enum status status = machine_file_parse(text, size, "fuzz.toml", &loaded, &err);
  free(text);
  if (status != STATUS_OK) {
    fuzz_require(err.message[0] != '\0', "no error is reported");
    return 0;
  }
  fuzz_require(loaded.gpu_count <= MACHINE_GPUS_MAX && loaded.node_count <= MACHINE_NODES_MAX &&
                   loaded.fact_count <= MACHINE_FACTS_MAX,
               "a count is out of range");
  size_t length = 0;
  FILE *stream = open_memstream(&text, &length);
  fuzz_require(stream != NULL, "no memory");
  fuzz_require(machine_file_save(stream, &loaded, &err) == STATUS_OK, "it cannot be saved");
  (void)fclose(stream);
  if (machine_file_parse(text, length, "fuzz.toml", &again, &err) != STATUS_OK) {
    (void)fprintf(stderr, "%s\n%s\n", err.message, text);
    fuzz_require(false, "what is saved cannot be loaded");
  }
  free(text);
  return 0;
}
