/* [fake] is read whole or refused with a place; links share as their machine says. */
#include "tests/fake_cuda/machine/links.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on

static struct fake_config *load(const char *machine, const char *faults, enum status wanted) {
  char path[4096];
  struct fake_config *config = malloc(sizeof *config);
  struct error error = {0};
  assert_non_null(config);
  (void)snprintf(path, sizeof path, "%s/tests/machines/%s", HAUL_SOURCE_DIR, machine);
  enum status status = config_load(config, path, faults, &error);
  if (status != wanted) {
    print_error("%s: %s\n", faults, error.message);
  }
  assert_int_equal(status, wanted);
  if (wanted == STATUS_INVALID) {
    assert_true(error.position.line > 0 && error.position.column > 0);
  }
  return config;
}

static void test_all_faults_fit_all_machines(void **state) {
  (void)state;
  char folder[4096];
  (void)snprintf(folder, sizeof folder, "%s/tests/fake_cuda/faults", HAUL_SOURCE_DIR);
  DIR *files = opendir(folder);
  int count = 0;
  assert_non_null(files);
  for (const struct dirent *file; (file = readdir(files)) != NULL;) {
    if (strstr(file->d_name, ".toml") != NULL) {
      char path[8192];
      (void)snprintf(path, sizeof path, "%s/%s", folder, file->d_name);
      free(load("h100x8-nvlink.toml", path, STATUS_OK));
      free(load("no-gpu.toml", path, STATUS_OK));
      count++;
    }
  }
  (void)closedir(files);
  assert_true(count >= 9);
}

static void refused(const char *text) {
  char name[] = "/tmp/haul-faults-XXXXXX";
  int file = mkstemp(name);
  assert_true(file >= 0);
  assert_int_equal(write(file, text, strlen(text)), strlen(text));
  assert_int_equal(close(file), 0);
  free(load("no-gpu.toml", name, STATUS_INVALID));
  assert_int_equal(unlink(name), 0);
}

static void test_mistakes_are_refused(void **state) {
  (void)state;
  refused("[machine]\n");
  refused("fake = 1\n");
  refused("[fake]\nclok = \"real\"\n");
  refused("[fake]\nclock = \"slow\"\n");
  refused("[fake.speeds]\nlocal = 0\n");
  refused("[fake.speeds]\nlocall = 1\n");
  refused("[fake.noise]\nwithin = -1\n");
  refused("[[fake.link]]\nfrom = 0\nto = 1\n");
  refused("[[fake.link]]\nfrom = -3\nfactor = 1\n");
  refused("[[fake.fault]]\nkind = \"explode\"\ncall = \"cuInit\"\n");
  refused("[[fake.fault]]\nkind = \"hang\"\n");
  refused("[[fake.fault]]\nkind = \"hang\"\ncall = \"cuInit\"\nnth = 0\n");
  refused("[fake.fault]\nkind = \"hang\"\n");
}

static double rate_alone(const struct links *links, struct transfer transfer) {
  struct work work = {.bytes = (double)transfer.bytes};
  const struct work *works[] = {&work};
  double rate;
  links_add_transfer(links, &work, &transfer);
  links_share(links, works, 1, &rate);
  return rate; /* bytes per ns = GB/s */
}

/* Without [fake], speeds follow from the machine; numbers as measured on such machines. */
static void test_speeds_come_from_the_machine(void **state) {
  (void)state;
  struct fake_config *config = load("h100x8-nvlink.toml", NULL, STATUS_OK);
  struct links links;
  links_init(&links, config);
  double up = rate_alone(&links, (struct transfer){.from = PLACE_HOST, .to = 0, .bytes = 1000});
  double peer = rate_alone(&links, (struct transfer){.from = 3, .to = 7, .bytes = 1000});
  double local = rate_alone(&links, (struct transfer){.from = 2, .to = 2, .bytes = 1000});
  double pageable = rate_alone(
      &links, (struct transfer){.from = 2, .to = PLACE_HOST, .bytes = 1000, .pageable = true});
  assert_true(up > 54 && up < 56);
  assert_true(peer > 385 && peer < 400);
  assert_true(local > 1400 && local < 1500); /* bytes copied; twice as many move */
  assert_true(pageable > 16 && pageable < 17);
  free(config);
  config = load("l40sx4-pcie.toml", NULL, STATUS_OK);
  links_init(&links, config);
  peer = rate_alone(&links, (struct transfer){.from = 0, .to = 1, .bytes = 1000, .staged = true});
  up = rate_alone(&links, (struct transfer){.from = PLACE_HOST, .to = 0, .bytes = 1000});
  assert_true(up > 26 && up < 29 && peer > 15 && peer < up);
  free(config);
}

/* All to one: seven sources share one GPU's port, and the eighth flow elsewhere is not slowed. */
static void test_ports_are_shared_fairly(void **state) {
  (void)state;
  struct fake_config *config = load("h100x8-nvlink.toml", NULL, STATUS_OK);
  struct links links;
  links_init(&links, config);
  struct work works[8] = {0};
  const struct work *pointers[8];
  double rates[8];
  for (int32_t i = 0; i < 8; i++) {
    works[i].bytes = 1e6;
    pointers[i] = &works[i];
    struct transfer transfer = {.from = i < 7 ? i + 1 : 0, .to = i < 7 ? 0 : 1, .bytes = 1000000};
    links_add_transfer(&links, &works[i], &transfer);
  }
  double alone = rate_alone(&links, (struct transfer){.from = 1, .to = 0, .bytes = 1000});
  links_share(&links, pointers, 8, rates);
  for (int i = 0; i < 7; i++) {
    assert_true(rates[i] > alone / 7.01 && rates[i] < alone / 6.99);
  }
  assert_true(rates[7] > alone * 0.999);
  free(config);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_faults_fit_all_machines),
      cmocka_unit_test(test_mistakes_are_refused),
      cmocka_unit_test(test_speeds_come_from_the_machine),
      cmocka_unit_test(test_ports_are_shared_fairly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
