#include "engine/method/method.h"

extern const struct method_ops method_cpu;
#ifdef HAUL_CUDA
extern const struct method_ops method_ce;
extern const struct method_ops method_sm;
#endif

const struct method_ops *const methods[method_word_count] = {
    [METHOD_CPU] = &method_cpu,
#ifdef HAUL_CUDA
    [METHOD_CE] = &method_ce,
    [METHOD_SM] = &method_sm,
#endif
};
