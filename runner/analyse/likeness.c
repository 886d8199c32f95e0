#include "runner/analyse/likeness.h"

#include <string.h>
#include <xxhash.h>

/* How two ends are joined. */
struct joint {
  bool same_node, node_known;
  bool peer_access;
  int nvlink_count;
};

static const struct measured_gpu *gpu_of(const struct measured_environment *e, bool is_gpu,
                                         int number) {
  for (size_t i = 0; i < e->gpu_count && is_gpu; i++) {
    if (e->gpus[i].number == number) {
      return &e->gpus[i];
    }
  }
  return NULL;
}

static struct joint joint_of(const struct measured_environment *e,
                             const struct measured_flow *flow) {
  const struct measured_gpu *a = gpu_of(e, flow->source_is_gpu, flow->source);
  const struct measured_gpu *b = gpu_of(e, flow->target_is_gpu, flow->target);
  const int from = a != NULL ? a->numa_node : flow->source;
  const int to = b != NULL ? b->numa_node : flow->target;
  struct joint joint = {.node_known = from >= 0 && to >= 0};
  joint.same_node = joint.node_known && from == to;
  for (size_t i = 0; i < e->link_count && a != NULL && b != NULL; i++) {
    if (e->links[i].source == a->number && e->links[i].target == b->number) {
      joint.peer_access = e->links[i].peer_access;
      joint.nvlink_count = e->links[i].nvlink_count;
      joint.same_node = joint.same_node && joint.nvlink_count == 0; /* NVLink knows no nodes */
      joint.node_known = joint.node_known && joint.nvlink_count == 0;
    }
  }
  return joint;
}

/* Without the digits after "index": and "gpu":. */
static uint64_t hash_definition(const char *definition, uint64_t hash) {
  static const char *const NUMBERS[] = {"\"index\":", "\"gpu\":"};
  const char *rest = definition;
  while (*rest != '\0') {
    const char *next = NULL;
    size_t length = 0;
    for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++) {
      const char *found = strstr(rest, NUMBERS[i]);
      if (found != NULL && (next == NULL || found < next)) {
        next = found;
        length = strlen(NUMBERS[i]);
      }
    }
    if (next == NULL) {
      return XXH64(rest, strlen(rest), hash);
    }
    const char *number = next + length;
    hash = XXH64(rest, (size_t)(number - rest), hash);
    rest = number + strspn(number, "0123456789");
  }
  return hash;
}

uint64_t likeness_of(const struct measured *measured, size_t environment, size_t bench) {
  const struct measured_environment *e = &measured->environments[environment];
  const struct measured_case *c = &measured->cases[bench];
  uint64_t hash = XXH64(c->block, strlen(c->block), 0);
  hash = hash_definition(c->definition, hash);
  for (size_t i = 0; i < c->flow_count; i++) {
    const struct measured_flow *flow = &c->flows[i];
    const struct joint joint = joint_of(e, flow);
    const int parts[] = {joint.same_node, joint.node_known, joint.peer_access, joint.nvlink_count,
                         flow->source_is_gpu && flow->target_is_gpu &&
                             flow->source == flow->target};
    hash = XXH64(parts, sizeof parts, hash);
    const struct measured_gpu *gpus[] = {gpu_of(e, flow->source_is_gpu, flow->source),
                                         gpu_of(e, flow->target_is_gpu, flow->target)};
    for (size_t g = 0; g < 2; g++) {
      if (gpus[g] != NULL && gpus[g]->name != NULL) {
        hash = XXH64(gpus[g]->name, strlen(gpus[g]->name), hash);
      }
    }
  }
  return hash;
}
