/* engine_state.h - what one engine owns; for the files of engine/ only. */
#ifndef HAUL_ENGINE_ENGINE_STATE_H
#define HAUL_ENGINE_ENGINE_STATE_H

#include "engine/data.h"
#include "engine/engine.h"
#include "engine/host/cache.h"
#include "engine/memory/pool.h"

struct engine {
  struct memory_context context;
  struct pool *pool;
  struct data *data;
  bool flush_proven; /* flush_proof is filled in: at the first case that flushes host caches */
  struct cache_flush_proof flush_proof;
};

#endif
