/* Two parts of an L2 cache, found in times of lines that are made up, and none in noise. */
#include "engine/base/random.h"
#include "engine/workload/chase_lines.h"
#include "tests/cmocka.h"

enum { SMS = 20, LINES = 600 };

struct world {
  double apart;  /* far less near, in cycles */
  double spread; /* of one time, up to so much more */
  double by_sm;  /* of the distance between SMs to all lines */
};

/* 0 to 1 */
static double drawn(uint64_t *state) {
  return (double)(random_next(state) >> 11) * 0x1p-53;
}

static bool divides(const struct world *world, struct chase_lines *lines) {
  static uint16_t cycles[SMS * LINES];
  uint64_t state = 1;
  for (int sm = 0; sm < SMS; sm++) {
    for (int line = 0; line < LINES; line++) {
      const bool far = (sm % 3 == 0) != (line * 7 % 10 < 4);
      cycles[sm * LINES + line] =
          (uint16_t)(300 + world->by_sm * sm + (far ? world->apart : 0) +
                     world->spread * (drawn(&state) + drawn(&state) + drawn(&state)));
    }
  }
  for (int i = 0; i < 2; i++) {
    lines->lines[i] = lines->sms[i] = 0;
  }
  return chase_lines_divide(lines, cycles);
}

TEST(parts_are_found) {
  uint8_t line_part[LINES], sm_part[SMS];
  struct chase_lines lines = {
      .count = LINES, .sm_count = SMS, .line_part = line_part, .sm_part = sm_part};
  const struct world worlds[] = {{30, 1, 0}, {30, 8, 3}, {200, 60, 1}};
  for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
    assert_true(divides(&worlds[i], &lines));
    for (int sm = 0; sm < SMS; sm++) {
      for (int line = 0; line < LINES; line++) {
        const bool far = (sm % 3 == 0) != (line * 7 % 10 < 4);
        assert_int_equal(line_part[line] != sm_part[sm], far);
      }
    }
    assert_int_equal(lines.lines[0] + lines.lines[1], LINES);
    assert_true(lines.lines[0] == LINES * 4 / 10 || lines.lines[1] == LINES * 4 / 10);
    assert_true(lines.sms[0] == 7 || lines.sms[1] == 7);
  }
}

TEST(noise_has_no_parts) {
  uint8_t line_part[LINES], sm_part[SMS];
  struct chase_lines lines = {
      .count = LINES, .sm_count = SMS, .line_part = line_part, .sm_part = sm_part};
  const struct world worlds[] = {{0, 0, 0}, {0, 10, 0}, {0, 30, 5}, {2, 60, 0}};
  for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
    assert_false(divides(&worlds[i], &lines));
  }
}
