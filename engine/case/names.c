/* The names of every enumeration of cases and states, and what else their lists say. */
#define ENUM_NAMES_DEFINE_ALL
#include "engine/case/transfer.h"
#include "engine/case/work.h"

unsigned method_version(enum method method) {
#define METHOD_VERSION_(id, text, name, build, version, ...) [id] = (version),
  static const unsigned versions[method_name_count] = {METHOD_LIST(METHOD_VERSION_)};
  return versions[method];
}

enum memory_kind share_memory(enum share share) {
#define SHARE_MEMORY_(id, text, memory, ...) [id] = (memory),
  static const enum memory_kind kinds[share_name_count] = {SHARE_LIST(SHARE_MEMORY_)};
  return kinds[share];
}

enum share share_usual(enum memory_kind memory) {
  unsigned share = 0;
  while (share < share_name_count - 1 && share_memory((enum share)share) != memory) {
    share++;
  }
  return (enum share)share;
}

bool memory_is_shareable(enum memory_kind memory) {
  bool found = false;
  for (unsigned i = 0; i < share_name_count; i++) {
    found = found || share_memory((enum share)i) == memory;
  }
  return found;
}

uint64_t overhead_pages_bytes(enum overhead_pages pages) {
#define OVERHEAD_PAGES_BYTES_(id, text, bytes) [id] = (bytes),
  static const uint64_t all[overhead_pages_name_count] = {
      OVERHEAD_PAGES_LIST(OVERHEAD_PAGES_BYTES_)};
  return all[pages];
}

enum overhead_traits overhead_traits_of(enum overhead_operation operation) {
#define OVERHEAD_TRAITS_(id, text, entry, traits, ...) [id] = (traits),
  static const int all[overhead_operation_name_count] = {OVERHEAD_OPERATION_LIST(OVERHEAD_TRAITS_)};
  return (enum overhead_traits)all[operation];
}

const char *host_cache_in_definition(enum host_cache state) {
#define HOST_CACHE_WORD_(id, text, word) [id] = (word),
  static const char *const words[host_cache_name_count] = {HOST_CACHE_LIST(HOST_CACHE_WORD_)};
  return words[state];
}

unsigned stream_op_arrays(enum stream_op op) {
  switch (op) {
  case STREAM_READ:
  case STREAM_WRITE:
    return 1;
  case STREAM_COPY:
  case STREAM_MUL:
  case STREAM_DOT:
    return 2;
  case STREAM_ADD:
  case STREAM_TRIAD:
    return 3;
  case stream_op_name_count:
    break;
  }
  return 0;
}
