/* um_pages.h - where the pages of managed memory are: brought to a place, and proven to be there.
 *
 * The driver says where a range was last prefetched to (cuMemRangeGetAttribute), the kernel says
 * which of its pages the host has and on which node (move_pages). A view is the buffer with the
 * endpoint of one side. Never inside a timed part, but for um_pages_prefetch(). */
#pragma once

#include "engine/method/method.h"

/* What a driver and a kernel can do here, found out by um_pages_place_host(). */
struct um_abilities {
  bool prefetch_to_node;  /* the driver takes a NUMA node of the host as the destination */
  bool kernel_sees_pages; /* move_pages tells of managed memory */
};

/* Queue a prefetch of size_bytes to the view's endpoint; stream is of the current context. */
enum status um_pages_prefetch(const struct memory_context *context, const struct buffer *view,
                              uint64_t size_bytes, bool to_node, void *stream,
                              struct error *err) CHECK_RESULT;
/* Advise about the side that the flow's pages go to; nothing for ADVISE_NONE. */
enum status um_pages_advise(const struct memory_context *context, const struct buffer *view,
                            uint64_t size_bytes, enum advise advise, bool set,
                            struct error *err) CHECK_RESULT;
/* For a flow with an end at the host, once: its pages come into being on the node of that view, so
 * that the driver later finds them there. Finds out what can be done. gpu: any of the flow's. */
enum status um_pages_place_host(const struct memory_context *context, const struct buffer *view,
                                uint64_t size_bytes, int32_t gpu, struct um_abilities *abilities,
                                struct error *err) CHECK_RESULT;
/* All pages to the view's endpoint; returns when they are there, and proven. */
enum status um_pages_put(const struct memory_context *context, const struct buffer *view,
                         uint64_t size_bytes, int32_t gpu, const struct um_abilities *abilities,
                         struct error *err) CHECK_RESULT;
/* STATUS_UNSUPPORTED when the last prefetch of the whole range went elsewhere. */
enum status um_pages_check_prefetched(const struct memory_context *context,
                                      const struct buffer *view, uint64_t size_bytes,
                                      struct error *err) CHECK_RESULT;
/* STATUS_UNSUPPORTED when pages are not on the host's node of that view; with `gone`, when pages
 * are still on the host. Nothing is checked where the kernel does not see the pages, and on a
 * simulated machine nothing is ever gone. */
enum status um_pages_check_host(const struct memory_context *context, const struct buffer *view,
                                uint64_t size_bytes, const struct um_abilities *abilities,
                                bool gone, struct error *err) CHECK_RESULT;

/* Host threads that fault pages in: each writes one byte per stride, with the value that the
 * pattern has there (kernels/pattern_values.h), or reads it, so that a page left out shows. The
 * same as kernel haul_touch. */
struct touch {
  unsigned char *bytes;
  uint64_t size_bytes;
  uint64_t stride_bytes; /* at least 1 */
  uint64_t page_bytes;
  uint64_t seed;
  bool complement; /* poison instead */
  bool reads;
  bool random;
  uint32_t passes; /* 0 = one */
};

/* The share of one of `count` threads. In linear order no two threads touch the same page where the
 * stride divides the page size, or the page size the stride. The sum of the bytes that were read.
 */
uint64_t touch_part(const struct touch *touch, uint32_t part, uint32_t count);
/* That of one pass of all threads. */
uint64_t touch_expected_sum(const struct touch *touch);
