/* fake_engine.h - the two answers of the engine that a plan needs, in the hand of the test. */
#ifndef HAUL_TESTS_RUNNER_PLAN_FAKE_ENGINE_H
#define HAUL_TESTS_RUNNER_PLAN_FAKE_ENGINE_H

#include "engine/engine.h"

struct fake_engine {
  enum memory_kind refused; /* flows with this kind of memory are refused */
  bool refuses;
  uint64_t host_buffer_bytes; /* besides the flows' own buffers */
};
extern struct fake_engine fake_engine;

#endif
