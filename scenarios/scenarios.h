/* scenarios.h - the shipped scenarios, compiled into the executable. Static data; no errors. */
#pragma once

#include "engine/base/embed.h"

#include <stdbool.h>

/* What a file's name and the path of a shipped scenario in complaints begin with. */
#define SCENARIOS_PREFIX "<embedded>/"

/* By name with or without ".toml" and SCENARIOS_PREFIX: "quick", "common/careful.toml". NULL = no
 * such file. */
const struct embedded_file *scenarios_find(const char *name);

/* All of them in the order of their names. */
size_t scenarios_count(void);
const struct embedded_file *scenarios_at(size_t i);
/* False for the files that others include (common/...): they measure nothing by themselves. */
bool scenarios_runnable(const struct embedded_file *file);
