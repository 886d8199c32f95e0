// Holds engine/cuda/driver_api.h against the cuda.h of a CUDA Toolkit: every value, layout and
// signature. C++, for namespaces: both declare the same names. Says each difference, and ends with
// 1 where there is one.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <type_traits>

// Before cuda.h, which makes macros of some names.
namespace ours {
#include "engine/cuda/driver_api.h"

struct constant {
  const char *name;
  long long value;
};
#define CONSTANT_ROW_(name, value) {#name, name},
#define STREAM_ROW_(name)          {#name, (long long)(intptr_t)(name)},
static const constant constants[] = {CUDA_RESULT_LIST(CONSTANT_ROW_) CUDA_DEVICE_ATTRIBUTE_LIST(
    CONSTANT_ROW_) CUDA_FLAG_LIST(CONSTANT_ROW_) STREAM_ROW_(CU_STREAM_LEGACY)
                                         STREAM_ROW_(CU_STREAM_PER_THREAD)};
#undef CU_STREAM_LEGACY
#undef CU_STREAM_PER_THREAD
} // namespace ours

#include <cuda.h>
#include <cudaTypedefs.h>

namespace {

int failures = 0;

void expect(bool equal, const char *what, const char *name) {
  if (!equal) {
    std::printf("%s of %s is not that of cuda.h\n", what, name);
    failures++;
  }
}

// Whether two types pass the same way and mean the same: integers and enumerations by size, opaque
// handles by the structure behind them, other structures by size.
template <typename A, typename B> struct same;

template <typename A, typename B> struct same_handle : std::false_type {};
#define SAME_HANDLE_(type, structure)                                                              \
  template <> struct same_handle<ours::structure, ::structure> : std::true_type {};
CUDA_HANDLE_LIST(SAME_HANDLE_)

template <typename T, typename = void> struct is_complete : std::false_type {};
template <typename T> struct is_complete<T, decltype(void(sizeof(T)))> : std::true_type {};

template <typename T>
constexpr bool is_whole = std::is_integral<T>::value || std::is_enum<T>::value;

template <typename A, typename B> constexpr bool same_value() {
  if constexpr (is_whole<A> && is_whole<B>) {
    return sizeof(A) == sizeof(B);
  } else if constexpr (is_complete<A>::value && is_complete<B>::value && std::is_class<A>::value) {
    return std::is_class<B>::value && sizeof(A) == sizeof(B);
  } else {
    return std::is_same<A, B>::value || same_handle<A, B>::value;
  }
}
template <typename A, typename B> struct same { static constexpr bool value = same_value<A, B>(); };
template <typename A, typename B> struct same<A *, B *> {
  static constexpr bool value = std::is_const<A>::value == std::is_const<B>::value &&
                                same<std::remove_cv_t<A>, std::remove_cv_t<B>>::value;
};
template <typename R, typename... A, typename S, typename... B>
struct same<R (*)(A...), S (*)(B...)> {
  static constexpr bool all() {
    if constexpr (sizeof...(A) == sizeof...(B)) {
      return same<R, S>::value && (same<A, B>::value && ...);
    } else {
      return false;
    }
  }
  static constexpr bool value = all();
};
// A check that cannot fail is none.
static_assert(!same<ours::CUstream, ::CUevent>::value && same<ours::CUstream, ::CUstream>::value,
              "");
static_assert(!same<ours::cuMemFree_function, PFN_cuMemAlloc_v3020>::value, "");
static_assert(!same<ours::cuMemcpyHtoDAsync_function, PFN_cuMemcpyDtoHAsync_v3020>::value, "");

const ours::constant theirs[] = {
// What this toolkit lacks is not compared.
#if CUDA_VERSION < 12020
#define CU_DEVICE_ATTRIBUTE_NUMA_CONFIG                    130
#define CU_DEVICE_ATTRIBUTE_NUMA_ID                        131
#define CU_MEM_LOCATION_TYPE_HOST                          2
#define CU_MEM_LOCATION_TYPE_HOST_NUMA                     3
#define CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT             4
#define CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE 7
#endif
#if CUDA_VERSION < 12080
#define CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE 1
#define CU_MEMCPY_SRC_ACCESS_ORDER_ANY             3
#define CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL 2
#define CU_MEMCPY_SRC_ACCESS_ORDER_STREAM          1
#endif
#undef CONSTANT_ROW_
#define CONSTANT_ROW_(name, value) {#name, (long long)(name)},
    CUDA_RESULT_LIST(CONSTANT_ROW_) CUDA_DEVICE_ATTRIBUTE_LIST(CONSTANT_ROW_)
        CUDA_FLAG_LIST(CONSTANT_ROW_) STREAM_ROW_(CU_STREAM_LEGACY)
            STREAM_ROW_(CU_STREAM_PER_THREAD)};

void compare_constants() {
  constexpr std::size_t count = sizeof theirs / sizeof theirs[0];
  static_assert(count == sizeof ours::constants / sizeof ours::constants[0], "");
  for (std::size_t i = 0; i < count; i++) {
    expect(ours::constants[i].value == theirs[i].value, "the value", theirs[i].name);
  }
}

#define MEMBER(type, member)                                                                       \
  expect(offsetof(ours::type, member) == offsetof(::type, member) &&                               \
             same<decltype(ours::type::member), decltype(::type::member)>::value,                  \
         "member " #member, #type)
#define SIZE(type) expect(sizeof(ours::type) == sizeof(::type), "the size", #type)
#define SIDE(type, side)                                                                           \
  MEMBER(type, side##XInBytes);                                                                    \
  MEMBER(type, side##Y);                                                                           \
  MEMBER(type, side##MemoryType);                                                                  \
  MEMBER(type, side##Host);                                                                        \
  MEMBER(type, side##Device);                                                                      \
  MEMBER(type, side##Array);                                                                       \
  MEMBER(type, side##Pitch)
#define VOLUME(type)                                                                               \
  SIZE(type);                                                                                      \
  SIDE(type, src);                                                                                 \
  SIDE(type, dst);                                                                                 \
  MEMBER(type, srcZ);                                                                              \
  MEMBER(type, srcLOD);                                                                            \
  MEMBER(type, srcHeight);                                                                         \
  MEMBER(type, dstZ);                                                                              \
  MEMBER(type, dstLOD);                                                                            \
  MEMBER(type, dstHeight);                                                                         \
  MEMBER(type, WidthInBytes);                                                                      \
  MEMBER(type, Height);                                                                            \
  MEMBER(type, Depth)

void compare_layouts() {
  SIZE(CUuuid);
  SIZE(CUmemLocation);
  MEMBER(CUmemLocation, type);
  MEMBER(CUmemLocation, id);
  SIZE(CUDA_MEMCPY2D);
  SIDE(CUDA_MEMCPY2D, src);
  SIDE(CUDA_MEMCPY2D, dst);
  MEMBER(CUDA_MEMCPY2D, WidthInBytes);
  MEMBER(CUDA_MEMCPY2D, Height);
  VOLUME(CUDA_MEMCPY3D);
  MEMBER(CUDA_MEMCPY3D, reserved0);
  MEMBER(CUDA_MEMCPY3D, reserved1);
  VOLUME(CUDA_MEMCPY3D_PEER);
  MEMBER(CUDA_MEMCPY3D_PEER, srcContext);
  MEMBER(CUDA_MEMCPY3D_PEER, dstContext);
  SIZE(CUmemAllocationProp);
  MEMBER(CUmemAllocationProp, requestedHandleTypes);
  MEMBER(CUmemAllocationProp, location);
  MEMBER(CUmemAllocationProp, allocFlags);
  SIZE(CUmemAccessDesc);
  MEMBER(CUmemAccessDesc, flags);
  SIZE(CUmemPoolProps);
  MEMBER(CUmemPoolProps, location);
  MEMBER(CUmemPoolProps, maxSize);
  SIZE(CUipcMemHandle);
  SIZE(CUipcEventHandle);
  SIZE(CUdevResource);
#if CUDA_VERSION >= 12080
  SIZE(CUmemcpyAttributes);
  MEMBER(CUmemcpyAttributes, srcAccessOrder);
  MEMBER(CUmemcpyAttributes, srcLocHint);
  MEMBER(CUmemcpyAttributes, dstLocHint);
  MEMBER(CUmemcpyAttributes, flags);
#endif
}

#define SIGNATURE(type, pointer, name)                                                             \
  expect(same<ours::type, pointer>::value, "the signature", name);
#define SIGNATURE_REQUIRED(type, pointer, name) SIGNATURE(type, pointer, name)
// Toolkits before 12.4 do not declare the optional one.
#if CUDA_VERSION >= 12040
#define SIGNATURE_OPTIONAL(type, pointer, name) SIGNATURE(type, pointer, name)
#else
#define SIGNATURE_OPTIONAL(type, pointer, name)
#endif
// Pasted here: cuda.h makes macros of many names.
#define FUNCTION_(name, version, need, arguments)                                                  \
  SIGNATURE_##need(name##_function, PFN_##name##_v##version, #name)

void compare_signatures() {
  CUDA_FUNCTION_LIST(FUNCTION_)
  SIGNATURE(cuGetProcAddress_function, PFN_cuGetProcAddress_v11030, "cuGetProcAddress")
  SIGNATURE(cuGetProcAddress_v2_function, PFN_cuGetProcAddress_v12000, "cuGetProcAddress_v2")
#if CUDA_VERSION >= 12020
  SIGNATURE(cuMemPrefetchAsync_v2_function, PFN_cuMemPrefetchAsync_v12020, "cuMemPrefetchAsync_v2")
  SIGNATURE(cuMemAdvise_v2_function, PFN_cuMemAdvise_v12020, "cuMemAdvise_v2")
#endif
#if CUDA_VERSION >= 12080
  SIGNATURE(cuMemcpyBatchAsync_function, PFN_cuMemcpyBatchAsync_v12080, "cuMemcpyBatchAsync")
#endif
}

} // namespace

int main() {
  compare_constants();
  compare_layouts();
  compare_signatures();
  std::printf(
      "%zu values, the layouts and the signatures were compared with CUDA %d.%d: %d differ\n",
      sizeof theirs / sizeof theirs[0], CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10, failures);
  return failures == 0 ? 0 : 1;
}
