/* embed.h - files compiled into the executable (cmake/HaulTargets.cmake). */
#ifndef HAUL_ENGINE_BASE_EMBED_H
#define HAUL_ENGINE_BASE_EMBED_H

#include <stddef.h>

struct embedded_file {
  const char *name;          /* path below the embedding folder */
  const unsigned char *data; /* NUL-terminated */
  const unsigned char *end;  /* size = end - data, the NUL not counted */
};

#endif
