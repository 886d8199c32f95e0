/* name.h - paths, axes and names of cases, for people, shells and globs.
 *
 * path: where the bytes go. "numa0:pinned-gpu0" one way, "gpu0--gpu1" both ways at once; several
 * flows as sets: "gpu0..7-numa0,1:pinned", or "5flows" where one end mixes kinds. Host memory is
 * always named, device memory is not.
 *
 * name: block/path, then key=value of every axis that the path and the size do not show, then the
 * size (left out where the measured flows differ in it): "host_to_device/numa0:pinned-gpu0/64MiB",
 * "copy/gpu0-gpu1/method=sm/64MiB". Every character is a letter, a digit or one of . _ - : / = + ,
 * so that names need no quoting; others become "_". */
#pragma once

#include "engine/base/strbuf.h"
#include "engine/case/case.h"

#include <stddef.h>

struct axis_value; /* schema/scenario/setting.h */

void name_append_endpoint(struct strbuf *text, const struct endpoint *endpoint);
void name_append_gpu(struct strbuf *text, int32_t gpu);
void name_append_flows(struct strbuf *text, const struct flow *flows, uint32_t flow_count);
/* "from.memory=pinned size=64KiB"; "" without axes. */
void name_axes(const struct axis_value *axes, size_t axis_count, struct strbuf *text);
/* The part of a name after block and path, with its leading "/". size_bytes 0: no size. */
void name_settings(const struct axis_value *axes, size_t axis_count, uint64_t size_bytes,
                   struct strbuf *text);
/* The axes that names leave out, for a second case of one name: "/direction=reverse". */
void name_hidden_settings(const struct axis_value *axes, size_t axis_count, struct strbuf *text);
