#include "runner/statistics/sample.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>

namespace {

/* NAN comes last, so that it has a place. */
struct IsLess {
  bool operator()(double a, double b) const { return a < b || (std::isnan(b) && !std::isnan(a)); }
};

/* Whole numbers in the order of the values: a negative value with all of its bits inverted, any
 * other one with its sign. */
constexpr uint64_t SIGN = UINT64_C(1) << 63;

uint64_t key_of(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return std::isnan(value) ? UINT64_MAX : bits ^ ((bits & SIGN) != 0 ? UINT64_MAX : SIGN);
}

double value_of(uint64_t key) {
  const uint64_t bits = key ^ ((key & SIGN) != 0 ? SIGN : UINT64_MAX);
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/* By one byte after the other, from the last; bytes that all keys have in common are left out. */
constexpr size_t BYTES = sizeof(uint64_t);
constexpr size_t BYTE_VALUES = 256;

void sort_by_bytes(double *values, size_t count) {
  const std::unique_ptr<uint64_t[]> room(new uint64_t[2 * count]);
  uint64_t *keys = room.get();
  uint64_t *sorted = keys + count;
  size_t places[BYTES][BYTE_VALUES] = {};
  for (size_t i = 0; i < count; i++) {
    keys[i] = key_of(values[i]);
    for (size_t b = 0; b < BYTES; b++) {
      places[b][keys[i] >> 8 * b & 0xff]++;
    }
  }
  for (size_t b = 0; b < BYTES; b++) {
    size_t place = 0;
    if (places[b][keys[0] >> 8 * b & 0xff] == count) {
      continue;
    }
    for (size_t &next : places[b]) {
      const size_t own = next;
      next = place;
      place += own;
    }
    for (size_t i = 0; i < count; i++) {
      sorted[places[b][keys[i] >> 8 * b & 0xff]++] = keys[i];
    }
    std::swap(keys, sorted);
  }
  for (size_t i = 0; i < count; i++) {
    values[i] = value_of(keys[i]);
  }
}

/* From so many values on, bytes take less time than comparisons: a fifth of it for thousands. */
constexpr size_t BYTES_LEAST = 64;

} // namespace

void sample_sort(double *values, size_t count) {
  if (count >= BYTES_LEAST) {
    sort_by_bytes(values, count);
  } else {
    std::sort(values, values + count, IsLess());
  }
}

double sample_median_in_place(double *values, size_t count) {
  if (count == 0) {
    return NAN;
  }
  double *const middle = values + count / 2;
  std::nth_element(values, middle, values + count, IsLess());
  return count % 2 == 1 ? *middle : (*std::max_element(values, middle, IsLess()) + *middle) / 2;
}
