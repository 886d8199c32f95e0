#include "engine/machine/machine.h"

#include <stdio.h>

const struct fact *machine_fact(const struct machine *machine, const char *name, int32_t gpu) {
  for (uint32_t i = 0; i < machine->fact_count; i++) {
    if (machine->facts[i].gpu == gpu && strcmp(machine->facts[i].name, name) == 0) {
      return &machine->facts[i];
    }
  }
  return NULL;
}

void machine_add_fact(struct machine *machine, const char *name, int32_t gpu, enum fact_state state,
                      const char *format, ...) {
  if (machine->fact_count == MACHINE_FACTS_MAX) {
    return;
  }
  struct fact *fact = &machine->facts[machine->fact_count++];
  *fact = (struct fact){.gpu = gpu, .state = state};
  (void)snprintf(fact->name, sizeof fact->name, "%s", name);
  va_list args;
  va_start(args, format);
  int length = vsnprintf(fact->value, sizeof fact->value, format, args);
  va_end(args);
  if (length >= (int)sizeof fact->value) {
    memcpy(fact->value + sizeof fact->value - 4, "...", 4);
  }
  for (char *c = fact->value; *c != '\0'; c++) {
    if ((unsigned char)*c < ' ' || *c == 0x7f) {
      *c = ' ';
    }
  }
}

int machine_gpu_index(const struct machine *machine, const char *pci_address) {
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    if (strcmp(machine->gpus[i].pci_address, pci_address) == 0) {
      return (int)i;
    }
  }
  return -1;
}

int machine_node_index(const struct machine *machine, int32_t number) {
  for (uint32_t i = 0; i < machine->node_count; i++) {
    if (machine->nodes[i].number == number) {
      return (int)i;
    }
  }
  return -1;
}

bool machine_normalise_pci(const char *text, char pci_address[16]) {
  unsigned domain, bus, device, function;
  int end = 0;
  if (sscanf(text, "%8x:%2x:%2x.%1x%n", &domain, &bus, &device, &function, &end) != 4 ||
      text[end] != '\0' || device > 0x1f || function > 7) {
    return false;
  }
  (void)snprintf(pci_address, 16, "%04x:%02x:%02x.%x", domain, bus & 0xff, device & 0x1f,
                 function & 7);
  return true;
}

/* Fixed width but for domains past ffff, which come last. */
int machine_compare_pci(const char *left, const char *right) {
  size_t left_length = strlen(left);
  size_t right_length = strlen(right);
  if (left_length != right_length) {
    return left_length < right_length ? -1 : 1;
  }
  return strcmp(left, right);
}
