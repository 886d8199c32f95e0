/* embed.h - files compiled into the executable (cmake/HaulTargets.cmake). */
#pragma once

#include <stddef.h>

struct embedded_file {
  const char *name;          /* path below the embedding folder */
  const unsigned char *data; /* NUL-terminated */
  const unsigned char *end;  /* size = end - data, the NUL not counted */
};
