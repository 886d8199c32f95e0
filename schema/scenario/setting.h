/* setting.h - a block of a scenario at one point of the product of its axes, every default filled
 * in: what block_setting() (scenario.h) yields and the plan turns into cases. */
#pragma once

#include "engine/case/transfer.h"
#include "engine/case/work.h"
#include "schema/scenario/selector.h"

struct endpoint_setting {
  enum place place;
  struct selector selector;
  enum memory_kind memory;
  uint32_t process;
  enum share share;
};

/* A [[transfer]], [[transfer.load]] or [[transfer.flow]] at one point of the product. */
struct flow_setting {
  const char *name; /* of a load or flow, may be NULL */
  /* A load without ends: one flow for each measured one, between the same places, that way. What is
   * given here is the load's own; the rest is as in the flow that it mirrors. */
  bool mirrors;
  enum direction mirror_direction; /* forward or reverse */
  bool method_given;               /* method, threads, kernel and unified */
  bool size_given;                 /* size and shape */
  bool initiator_given; /* false: the method's usual side (gpu over numa, else the source) */
  bool peer;            /* false: staged through the host */
  struct endpoint_setting from;
  struct endpoint_setting to;
  struct flow_cpu cpu; /* as written: the node of "local" and "remote" is the plan's to find */
  uint32_t streams;    /* that its bytes are divided among: so many flows of a share each */
  struct flow base;    /* the rest; role, source, target and staged are the plan's to fill in */
};

struct transfer_setting {
  struct flow_setting flow;
  enum direction direction;
  bool pairs_given;
  enum pairs pairs;
  uint32_t samples; /* of PAIRS_SAMPLE: how often every place is a source, and a target */
  enum concurrent concurrent;
  enum case_order stream_order; /* of the copies of flows that share a stream */
  const struct flow_setting *loads;
  size_t load_count;
  const struct flow_setting *flows; /* spelled out: then flow.from and flow.to are not used */
  size_t flow_count;
};

/* How many blocks a kernel has. */
enum grid_kind {
  GRID_AUTO,   /* what is best there */
  GRID_BLOCKS, /* `count` */
  GRID_PER_SM, /* `count` for every SM of the GPU */
  GRID_FULL,   /* one element per thread: as many as cover the arrays once */
};
struct grid_setting {
  enum grid_kind kind;
  uint32_t count;
};

/* The value of an axis in one setting, for names: {"size", "64KiB"}. */
struct axis_value {
  const char *key; /* dotted: "from.memory" */
  const char *text;
};

/* A block at one point of the product. */
struct setting {
  struct measure measure;
  enum case_kind kind;
  struct transfer_setting transfer; /* of a transfer */
  /* Of the other kinds: what is measured, but for what the plan finds on a machine, and where. */
  union work work;
  struct endpoint_setting at; /* the places that work: GPUs, or a stream's nodes */
  struct endpoint_setting of; /* whose memory, where it is not theirs: of a chase, of allocations */
  struct grid_setting grid;   /* of a stream on a GPU; of arithmetic, never auto or full */
  bool per_sm;                /* of a stream on a GPU: its size is that of each SM's share */
  const struct axis_value *axis_values; /* in the order of the axes in the file */
  size_t axis_value_count;
};
