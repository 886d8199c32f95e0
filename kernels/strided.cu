/* Rows of one width, pitch apart, and pieces of one size, anywhere: strided and scattered copies,
 * and the pattern that verifies them. Planes follow each other without a gap of their own, so that
 * a third dimension is only more rows. */
#include "kernels/kernels.h"
#include "kernels/pattern_values.h"

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

/* On to this thread's next element. */
static __device__ __forceinline__ void advance(struct cursor *cursor) {
  cursor->row += cursor->row_step;
  cursor->column += cursor->column_step;
  if (cursor->column >= cursor->columns) {
    cursor->column -= cursor->columns;
    cursor->row++;
  }
}

/* The byte offset of the element, then on to the next one. */
static __device__ __forceinline__ uint64_t take(struct cursor *cursor, uint64_t pitch_bytes,
                                                uint64_t element_bytes) {
  const uint64_t offset = cursor->row * pitch_bytes + cursor->column * element_bytes;
  advance(cursor);
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

/* Where the element is at both ends, then on to the next one. */
static __device__ __forceinline__ struct piece
take_piece(struct cursor *cursor, const ulonglong2 *list, uint64_t element_bytes) {
  const ulonglong2 piece = list[cursor->row];
  const uint64_t within = cursor->column * element_bytes;
  advance(cursor);
  return {piece.x + within, piece.y + within};
}

/* Neighbouring threads take neighbouring elements, of one piece where it is large enough, so that
 * few blocks keep a link busy however small the pieces are. Four looks at the list, then four loads
 * are in flight. */
template <typename T>
static __device__ __forceinline__ void
scattered_copy(const struct copy_pieces_arguments &arguments) {
  const uint64_t columns = arguments.piece_bytes / sizeof(T);
  const uint64_t count = columns * arguments.pieces;
  const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
  uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  struct cursor cursor = cursor_at(i, step, columns);
  const ulonglong2 *list = (const ulonglong2 *)arguments.list;
  const unsigned char *source = (const unsigned char *)arguments.source;
  unsigned char *target = (unsigned char *)arguments.target;
  for (; i + 3 * step < count; i += 4 * step) {
    struct piece places[4];
    T values[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
      places[k] = take_piece(&cursor, list, sizeof(T));
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
      values[k] = *(const T *)(source + places[k].source);
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
      *(T *)(target + places[k].target) = values[k];
    }
  }
  for (; i < count; i += step) {
    const struct piece place = take_piece(&cursor, list, sizeof(T));
    *(T *)(target + place.target) = *(const T *)(source + place.source);
  }
}

extern "C" __global__ void haul_copy_pieces(const struct copy_pieces_arguments arguments) {
  switch (arguments.vector_bytes) {
  case 16:
    scattered_copy<uint4>(arguments);
    break;
  case 8:
    scattered_copy<unsigned long long>(arguments);
    break;
  case 4:
    scattered_copy<unsigned int>(arguments);
    break;
  case 2:
    scattered_copy<unsigned short>(arguments);
    break;
  default:
    scattered_copy<unsigned char>(arguments);
  }
}

/* A warp fills a chunk of a piece; its first lane looks at the list, which may be host memory. */
extern "C" __global__ void haul_pattern_pieces(const struct pattern_pieces_arguments arguments) {
  const uint64_t flip = arguments.complement ? ~UINT64_C(0) : 0;
  const uint64_t chunks = (arguments.piece_bytes + PATTERN_PIECES_CHUNK - 1) / PATTERN_PIECES_CHUNK;
  const uint64_t warps = (uint64_t)gridDim.x * blockDim.x / warpSize;
  const uint32_t lane = threadIdx.x % warpSize;
  uint64_t unit = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
  for (; unit < chunks * arguments.pieces; unit += warps) {
    ulonglong2 piece = {0, 0};
    if (lane == 0) {
      piece = ((const ulonglong2 *)arguments.list)[unit / chunks];
    }
    const uint64_t source = __shfl_sync(~0U, piece.x, 0);
    const uint64_t target = __shfl_sync(~0U, piece.y, 0);
    const uint64_t first = unit % chunks * PATTERN_PIECES_CHUNK;
    const uint64_t left = arguments.piece_bytes - first;
    const uint64_t size = left < PATTERN_PIECES_CHUNK ? left : (uint64_t)PATTERN_PIECES_CHUNK;
    const uint64_t place = target + first; /* in the pattern */
    unsigned char *bytes =
        (unsigned char *)arguments.address + (arguments.at_target ? target : source) + first;
    if (((uint64_t)bytes | place | size) % 8 == 0) {
      for (uint64_t i = lane; i < size / 8; i += warpSize) {
        ((unsigned long long *)bytes)[i] = pattern_word(arguments.seed, place / 8 + i) ^ flip;
      }
      continue;
    }
    for (uint64_t i = lane; i < size; i += warpSize) {
      bytes[i] = (unsigned char)(pattern_byte(arguments.seed, place + i) ^ flip);
    }
  }
}
