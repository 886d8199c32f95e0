/* Rows of one width, pitch apart: strided copies, and the pattern that verifies them. Planes follow
 * each other without a gap of their own, so that a third dimension is only more rows. */
#include "kernels/kernels.h"
#include "kernels/pattern.h"

/* Where a thread is: element `column` of row `row`. One division at the start, none in the loop. */
struct cursor {
  uint64_t row;
  uint64_t column;
  uint64_t row_step;
  uint64_t column_step;
  uint64_t columns;
};

static __device__ __forceinline__ struct cursor cursor_at(uint64_t index, uint64_t step,
                                                          uint64_t columns) {
  return {index / columns, index % columns, step / columns, step % columns, columns};
}

/* The byte offset of the element, then on to this thread's next one. */
static __device__ __forceinline__ uint64_t take(struct cursor *cursor, uint64_t pitch_bytes,
                                                uint64_t element_bytes) {
  const uint64_t offset = cursor->row * pitch_bytes + cursor->column * element_bytes;
  cursor->row += cursor->row_step;
  cursor->column += cursor->column_step;
  if (cursor->column >= cursor->columns) {
    cursor->column -= cursor->columns;
    cursor->row++;
  }
  return offset;
}

/* Four loads are in flight before the first store, as in copy.cu. */
template <typename T>
static __device__ __forceinline__ void
strided_copy_rows(const struct copy_rows_arguments &arguments) {
  const uint64_t columns = arguments.width_bytes / sizeof(T);
  const uint64_t count = columns * arguments.rows;
  const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
  uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  struct cursor cursor = cursor_at(i, step, columns);
  /* From the argument straight to a pointer: only so does the compiler know that it is global. */
  const unsigned char *source = (const unsigned char *)arguments.source;
  unsigned char *target = (unsigned char *)arguments.target;
  for (; i + 3 * step < count; i += 4 * step) {
    uint64_t offsets[4];
    T values[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
      offsets[k] = take(&cursor, arguments.pitch_bytes, sizeof(T));
      values[k] = *(const T *)(source + offsets[k]);
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
      *(T *)(target + offsets[k]) = values[k];
    }
  }
  for (; i < count; i += step) {
    const uint64_t offset = take(&cursor, arguments.pitch_bytes, sizeof(T));
    *(T *)(target + offset) = *(const T *)(source + offset);
  }
}

extern "C" __global__ void haul_copy_rows(const struct copy_rows_arguments arguments) {
  switch (arguments.vector_bytes) {
  case 16:
    strided_copy_rows<uint4>(arguments);
    break;
  case 8:
    strided_copy_rows<unsigned long long>(arguments);
    break;
  case 4:
    strided_copy_rows<unsigned int>(arguments);
    break;
  case 2:
    strided_copy_rows<unsigned short>(arguments);
    break;
  default:
    strided_copy_rows<unsigned char>(arguments);
  }
}

extern "C" __global__ void haul_pattern_rows(const struct pattern_rows_arguments arguments) {
  const unsigned char flip = arguments.complement ? 0xff : 0;
  const uint64_t count = arguments.width_bytes * arguments.rows;
  const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
  uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  struct cursor cursor = cursor_at(i, step, arguments.width_bytes);
  unsigned char *bytes = (unsigned char *)arguments.address;
  for (; i < count; i += step) {
    const uint64_t offset = take(&cursor, arguments.pitch_bytes, 1);
    bytes[offset] = (unsigned char)(pattern_byte(arguments.seed, offset) ^ flip);
  }
}
