/* selector.h - which GPUs or NUMA nodes a key of a scenario selects. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum selector_kind {
  SELECTOR_NONE,   /* the key is absent */
  SELECTOR_ALL,    /* "*" */
  SELECTOR_LIST,   /* indices and UUIDs */
  SELECTOR_LOCAL,  /* numa only: the node nearest to the GPU at the other end */
  SELECTOR_REMOTE, /* numa only: every other node with processors */
};

struct selector {
  enum selector_kind kind;
  const int32_t *indices; /* ascending, without duplicates */
  size_t count;
  const char *const *uuids; /* of GPUs, each whole or its beginning */
  size_t uuid_count;
};
