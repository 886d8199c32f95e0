/* nvbandwidth_text.h - what nvbandwidth prints without -j, as the JSON that it prints with it.
 *
 * The text has a line "nvbandwidth Version: v0.8", versions of CUDA and the driver, "Device 0:
 * NVIDIA H200 (00000000:06:00)" with the host's name in the line above (0.8 on), and for each test
 * "Running NAME.", then for each matrix a line of what it shows, one of column numbers, the rows,
 * and "SUM NAME value" (or "&&&& PERF NAME value"). Values have two decimals. Tests that do not
 * apply print "Waived:" in place of "Running" - up to 0.8 without their name - and errors "Error:
 * what"; after others it just ends. (nvbandwidth 0.5 to 0.8: output.cpp, inline_common.h; 0.10: its
 * published output, which adds COEFFICIENT_OF_VARIATION lines and writes versions of CUDA as "13.3
 * (13030)".) The text of 0.2 has tests and matrices alone, as its README shows them: no versions,
 * no devices, no sums, and 0.00 where others have N/A. */
#pragma once

#include <jansson.h>
#include <stddef.h>

/* Name of the tests of which the text does not say which they are. */
#define NVBANDWIDTH_UNNAMED "(a test without its name)"

/* What a text with a whole matrix and no version is of. */
#define NVBANDWIDTH_UNVERSIONED "v0.2"

/* NULL: the text has no line with the version and no whole matrix. A test whose matrix is cut short
 * has the status "cut short" and no matrix. The caller releases it with json_decref(). */
json_t *nvbandwidth_text_read(const char *text, size_t length);
