#include "kernels/kernels.h"

WORDS_DEFINE(kernel, KERNEL_LIST)
