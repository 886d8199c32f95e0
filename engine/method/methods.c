#include "engine/method/method.h"

extern const struct method_ops method_cpu;
#ifdef HAUL_CUDA
extern const struct method_ops method_ce;
extern const struct method_ops method_sm;
extern const struct method_ops method_um;
#endif

const struct method_ops *const methods[method_name_count] = {
    [METHOD_CPU] = &method_cpu,
#ifdef HAUL_CUDA
    [METHOD_CE] = &method_ce,
    [METHOD_SM] = &method_sm,
    [METHOD_UM] = &method_um,
#endif
};

enum clock method_clock(const struct flow *flow) {
  const struct method_ops *ops = methods[flow->method];
  return ops->clock_of != NULL ? ops->clock_of(flow) : ops->clock;
}
