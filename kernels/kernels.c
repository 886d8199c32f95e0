#include "kernels/kernels.h"

ENUM_NAMES_DEFINE(kernel_module, KERNEL_MODULE_LIST)
ENUM_NAMES_DEFINE(kernel, KERNEL_LIST)

#define PLUS_ONE_(id, text)              +1
#define MODULE_COUNT_(id, text, KERNELS) [id] = 0 KERNELS(PLUS_ONE_),
static const int module_counts[kernel_module_name_count] = {KERNEL_MODULE_LIST(MODULE_COUNT_)};

/* KERNEL_LIST has the modules one after the other. */
enum kernel kernel_module_first(enum kernel_module module) {
  int first = 0;
  for (int i = 0; i < (int)module; i++) {
    first += module_counts[i];
  }
  return (enum kernel)first;
}
