/* simulated.h - how a fake driver says that it is one.
 *
 * The fake libcuda.so.1 of tests/fake_cuda exports haul_simulation(). Where the loaded driver has
 * that symbol, the machine is marked simulated, its host topology is taken from here, and NUMA
 * bindings to node n go to the real node n % (number of real nodes): code paths run, numbers mean
 * nothing. A real driver has no such symbol. */
#ifndef HAUL_ENGINE_CUDA_SIMULATED_H
#define HAUL_ENGINE_CUDA_SIMULATED_H

#include <stdint.h>

#define SIMULATION_SYMBOL "haul_simulation"
enum { SIMULATION_NODES_MAX = 64 };

struct simulation {
  uint32_t version; /* 1, or 2: with the last two members */
  uint32_t node_count;
  int32_t node_numbers[SIMULATION_NODES_MAX];
  uint8_t node_distance[SIMULATION_NODES_MAX][SIMULATION_NODES_MAX];
  const char *machine_file;                      /* path of the TOML it was told to be */
  uint32_t node_cpu_count[SIMULATION_NODES_MAX]; /* 0 = memory only */
  uint64_t node_memory_bytes[SIMULATION_NODES_MAX];
};

typedef const struct simulation *(*simulation_function)(void);

#endif
