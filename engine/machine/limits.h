/* limits.h - how much struct machine (machine.h) holds, for headers that need no more of it. */
#pragma once

enum {
  MACHINE_GPUS_MAX = 32,
  MACHINE_NODES_MAX = 64,
  MACHINE_FACTS_MAX = 640,
  MACHINE_TEXT_MAX = 96,
  FACT_NAME_MAX = 40,
  FACT_VALUE_MAX = 512,
  PEERS_MAX = 7, /* other processes on it whose memory a case can have */
};
#define PEERS_NAME "haul-process" /* the name of such a process, before its number */
