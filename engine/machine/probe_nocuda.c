/* probe_cuda() of a build without the CUDA headers. */
#include "engine/machine/probe.h"

#include <stdio.h>

void probe_cuda(struct probe *probe) {
  (void)snprintf(probe->machine->cuda_state, sizeof probe->machine->cuda_state,
                 "this executable was built without CUDA");
}
