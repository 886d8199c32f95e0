/* fake_table.h - reads the [fake] table of a TOML file into a configuration. README.md beside this
 * file documents its keys. */
#ifndef HAUL_TESTS_FAKE_CUDA_MACHINE_FAKE_TABLE_H
#define HAUL_TESTS_FAKE_CUDA_MACHINE_FAKE_TABLE_H

#include "tests/fake_cuda/machine/config.h"

/* What stands there replaces what config has; links and faults are added to its. `alone`: the file
 * must hold nothing but [fake]. STATUS_INVALID with a position for anything that is not known. */
enum status fake_table_load(const char *path, bool alone, struct fake_config *config,
                            struct error *err) CHECK_RESULT;

#endif
