#include "reference_files.h"

int main(void) {
  for (size_t i = 0; i < sizeof reference_files / sizeof *reference_files; i++) {
    struct error err = {0};
    FILE *stream = fopen(reference_files[i].path, "w");
    if (stream == NULL || reference_files[i].write(stream, &err) != STATUS_OK ||
        fclose(stream) != 0) {
      (void)fprintf(stderr, "%s: cannot be written: %s\n", reference_files[i].path, err.message);
      return 1;
    }
  }
  return 0;
}
