/* sources.h - where the facts about the host are read from: files below a root, so that recorded
 * machines can be looked at in tests.
 *
 * Reading never fails hard: what cannot be read is unavailable or denied, and the caller says so in
 * a fact. */
#ifndef HAUL_ENGINE_MACHINE_SOURCES_H
#define HAUL_ENGINE_MACHINE_SOURCES_H

#include "engine/machine/machine.h"

struct machine_sources {
  const char *root; /* "" = this machine; else a folder that holds proc, sys, etc, ... */
  char hypervisor_signature[16]; /* of the CPUID leaf; "" = none or not known */
};

enum { SOURCES_PATH_MAX = 512, SOURCES_SET_MAX = 4096 };

/* This machine. */
void sources_init(struct machine_sources *sources);

/* The content of a file, trailing white space removed, cut at size - 1 bytes. When the answer is
 * not FACT_OK, text holds the reason ("/proc/x: Permission denied"). */
enum fact_state sources_read(const struct machine_sources *sources, char *text, size_t size,
                             const char *path_format, ...) __attribute__((format(printf, 4, 5)));
/* A decimal number in a file; false = there is none. */
bool sources_read_number(const struct machine_sources *sources, int64_t *value,
                         const char *path_format, ...) __attribute__((format(printf, 3, 4)));
bool sources_exists(const struct machine_sources *sources, const char *path);

/* Calls visit for each entry of a folder whose name begins with prefix, in the order of names. */
void sources_each(const struct machine_sources *sources, const char *folder, const char *prefix,
                  void (*visit)(void *context, const char *name), void *context);

/* The value of "key : value" or "key=value" lines (cpuinfo, limits, os-release), the first with
 * that key, quotes removed; false = no such key. */
bool sources_find_value(const char *text, const char *key, char separator, char *value,
                        size_t size);

/* "0-3,8" -> members of a set; returns their number. Members past SOURCES_SET_MAX are left out. */
size_t sources_parse_list(const char *text, bool set[SOURCES_SET_MAX]);

#endif
