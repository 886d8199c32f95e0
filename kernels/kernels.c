#include "kernels/kernels.h"

ENUM_NAMES_DEFINE(kernel, KERNEL_LIST)
