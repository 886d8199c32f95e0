/* bound.h - the least time in which the hardware could move the bytes of a case.
 *
 * Each flow loads the resources that it crosses, in bytes:
 *
 *   a GPU's link to the host (PCIe or C2C), each direction for itself: flows from and to host
 *     memory; both ends of a staged flow; GPU to GPU where the direct path is PCIe
 *   the NVLink path of two GPUs, each direction for itself
 *   a GPU's NVLink port, out and in for themselves: all its NVLink flows together
 *   a GPU's memory: read and written bytes together; also by way of the NUMA node that the system
 *     has it as (GH200)
 *
 * A resource needs bytes / rate (engine/machine/machine.h); the slowest gives the least window that
 * is possible. This is a lower bound for any schedule, exact for one flow, and needs no search:
 *
 *   traffic_bytes = payload, or for LIMIT_DRAM what is read and written in all memories
 *   peak_bytes_per_second = traffic_bytes / least window
 *   of kernels that compute (kind_compute.c) both are of operations in place of bytes, where the
 *     units of the SMs limit
 *
 * so that traffic_bytes / elapsed / peak is the share of the possible, whatever limits. Two
 * directions of one link at once have twice the peak of one; eight GPUs fed by eight links eight
 * times; seven GPUs writing to one that one's port.
 *
 * Flows that share a stream run one after the other: they need the sum of the times that each needs
 * alone, where that is more.
 *
 * Only measured flows count: with a load beside them the bound holds, but may not be within reach.
 * Where the resource that carries a measured flow has no known rate (host memory to host memory is
 * such a flow), the peak is 0 and the limit LIMIT_UNKNOWN. So it is where a cache may serve the
 * bytes in place of the memory: of copies inside a GPU that are small beside its L2 cache.
 *
 * A rate above the peak is a mistake of one of the two: nothing compares it (above_peak in
 * schema/results/views.sql). */
#pragma once

#include "engine/case/states.h"

#include <stdbool.h>
#include <stdint.h>

struct flow;
struct gpu;
struct machine;

struct bound {
  uint64_t payload_bytes; /* of the measured flows together */
  uint64_t traffic_bytes;
  enum limit limit;
  uint64_t peak_bytes_per_second; /* 0 = unknown */
};

void bound_of_flows(const struct flow *flows, uint32_t flow_count, const struct machine *machine,
                    struct bound *bound);

/* Whether the GPU's L2 cache may serve a good part of what is read and written again and again, all
 * of it together that many bytes: up to twice the cache. */
bool bound_l2_may_serve(const struct gpu *gpu, uint64_t footprint_bytes);

/* Whether that time is more than 1 % shorter than the peak allows. Peak 0, not known: false. */
bool bound_is_exceeded(uint64_t traffic_bytes, uint64_t peak_bytes_per_second, double median_ns);

/* The same window in ns for an estimate: loads count too, host memory and rates that are not known
 * are taken as typical of present machines, and slow kinds of memory as slow. At least 1. */
double bound_typical_ns(const struct flow *flows, uint32_t flow_count,
                        const struct machine *machine);
