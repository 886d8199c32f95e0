#include "runner/record/content.h"

#include "engine/base/arena.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

enum { UUID_BYTES = 16, UUID_TIME_BYTES = 6 };

struct content {
  XXH3_state_t *state;
};

static void content_to_hex(const unsigned char bytes[UUID_BYTES], char text[CONTENT_KEY_MAX]) {
  for (size_t i = 0; i < UUID_BYTES; i++) {
    (void)snprintf(text + 2 * i, 3, "%02x", (unsigned)bytes[i]);
  }
}

struct content *content_new(void) {
  struct content *content = memory_new(1, sizeof *content);
  content->state = XXH3_createState();
  if (content->state == NULL || XXH3_128bits_reset(content->state) != XXH_OK) {
    abort();
  }
  return content;
}

static void content_add(struct content *content, const char *bytes, size_t length) {
  if (XXH3_128bits_update(content->state, bytes, length) != XXH_OK) {
    abort();
  }
}

void content_text(struct content *content, const char *text) {
  char length[24];
  if (text == NULL) {
    content_add(content, "-,", 2);
    return;
  }
  size_t size = strlen(text);
  int digits = snprintf(length, sizeof length, "%zu:", size);
  content_add(content, length, (size_t)digits);
  content_add(content, text, size);
  content_add(content, ",", 1);
}

void content_int(struct content *content, int64_t value) {
  char digits[24];
  (void)snprintf(digits, sizeof digits, "%" PRId64, value);
  content_text(content, digits);
}

void content_finish(struct content *content, char key[CONTENT_KEY_MAX]) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(content->state));
  content_to_hex(canonical.digest, key);
  (void)XXH3_freeState(content->state);
  free(content);
}

void content_uuid(uint64_t time_ms, char uuid[CONTENT_KEY_MAX]) {
  unsigned char bytes[UUID_BYTES];
  if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
    abort(); /* up to 256 bytes always come whole once the kernel has started */
  }
  for (int i = 0; i < UUID_TIME_BYTES; i++) {
    bytes[i] = (unsigned char)(time_ms >> (8 * (UUID_TIME_BYTES - 1 - i)));
  }
  bytes[6] = (unsigned char)(0x70 | (bytes[6] & 0x0f)); /* version 7 */
  bytes[8] = (unsigned char)(0x80 | (bytes[8] & 0x3f)); /* variant */
  content_to_hex(bytes, uuid);
}
