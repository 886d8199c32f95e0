/* Runs a libFuzzer entry point without libFuzzer: over every file given, and over mutations of them
 * that are the same on every machine.
 *   fuzz_x MUTATIONS FILE...
 * With clang, the same entry point links with -fsanitize=fuzzer instead of this file. */
#include "engine/base/macros.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 16, CHANGES_MAX = 6 };

struct input {
  uint8_t *data;
  size_t size;
};

/* xorshift64*: small, and equal everywhere. */
static uint64_t next_random(uint64_t *random) {
  *random ^= *random >> 12;
  *random ^= *random << 25;
  *random ^= *random >> 27;
  return *random * UINT64_C(0x2545f4914f6cdd1d);
}

static size_t below(uint64_t *random, size_t limit) {
  return limit == 0 ? 0 : (size_t)(next_random(random) >> 16) % limit;
}

static bool read_input(const char *path, struct input *input) {
  FILE *stream = fopen(path, "rb");
  if (stream == NULL) {
    return false;
  }
  input->data = malloc(INPUT_MAX);
  input->size = input->data == NULL ? 0 : fread(input->data, 1, INPUT_MAX, stream);
  (void)fclose(stream);
  return input->data != NULL;
}

/* Replace `removed` bytes at `at` by `size` others, within INPUT_MAX. */
static void splice(struct input *input, size_t at, size_t removed, const uint8_t *data,
                   size_t size) {
  if (input->size - removed + size > INPUT_MAX) {
    return;
  }
  memmove(input->data + at + size, input->data + at + removed, input->size - at - removed);
  memcpy(input->data + at, data, size);
  input->size = input->size - removed + size;
}

/* The line around an offset. */
static void find_line(const struct input *input, size_t at, size_t *start, size_t *length) {
  *start = at;
  while (*start > 0 && input->data[*start - 1] != '\n') {
    (*start)--;
  }
  const uint8_t *end = memchr(input->data + at, '\n', input->size - at);
  *length = (end == NULL ? input->size : (size_t)(end - input->data) + 1) - *start;
}

static void change(struct input *input, const struct input *other, uint64_t *random) {
  static const char *const tokens[] = {"\"",
                                       "[",
                                       "]",
                                       "{ from = 1, to = 9, factor = 2 }",
                                       "}",
                                       "=",
                                       ".",
                                       "0",
                                       "-1",
                                       "\"auto\"",
                                       "9223372036854775807",
                                       "1e309",
                                       "true",
                                       "\n",
                                       "[[\"size\", \"method\"]]",
                                       "[1, 2, 3]",
                                       "\"\\u0000\"",
                                       "\xff",
                                       "\xe2\x80\xae",
                                       "'''",
                                       "\"sm\"",
                                       "\"managed\"",
                                       "[[transfer.load]]\n",
                                       "from.gpu = 0\n",
                                       "\n--set transfer.size="};
  const size_t at = below(random, input->size);
  const uint8_t byte = (uint8_t)next_random(random);
  size_t start = 0;
  size_t length = 0;
  switch (below(random, 6)) {
  case 0: /* one byte */
    splice(input, at, input->size > 0 ? 1 : 0, &byte, 1);
    return;
  case 1: /* a piece is removed */
    length = below(random, 16);
    splice(input, at, length < input->size - at ? length : input->size - at, &byte, 0);
    return;
  case 2: { /* a token is inserted, or replaces something */
    const char *token = tokens[below(random, COUNT_OF(tokens))];
    length = below(random, 2) * below(random, 12);
    splice(input, at, length < input->size - at ? length : input->size - at, (const uint8_t *)token,
           strlen(token));
    return;
  }
  case 3: /* a line is removed */
    find_line(input, at, &start, &length);
    splice(input, start, length, &byte, 0);
    return;
  default: { /* a line of another file is inserted */
    const size_t from = below(random, other->size);
    size_t here = 0;
    size_t here_length = 0;
    find_line(other, from, &start, &length);
    find_line(input, at, &here, &here_length);
    splice(input, here, 0, other->data + start, length);
    return;
  }
  }
}

/* Holds the input under test, in the working folder: after a crash it is the input that crashed. */
static const char last_input[] = "fuzz_last_input";

static void run(const uint8_t *data, size_t size) {
  FILE *stream = fopen(last_input, "wb");
  if (stream != NULL) {
    (void)fwrite(data, 1, size, stream);
    (void)fclose(stream);
  }
  uint8_t *exact = malloc(size == 0 ? 1 : size); /* so that one byte too far is seen */
  if (exact == NULL) {
    abort();
  }
  memcpy(exact, data, size);
  (void)LLVMFuzzerTestOneInput(exact, size);
  free(exact);
}

static void mutate(const struct input *corpus, size_t count, unsigned long mutations) {
  uint64_t random = 42;
  struct input input = {malloc(INPUT_MAX), 0};
  for (unsigned long i = 0; i < mutations && input.data != NULL; i++) {
    const struct input *origin = &corpus[i % count];
    input.size = origin->size;
    memcpy(input.data, origin->data, origin->size);
    for (size_t changes = 1 + below(&random, CHANGES_MAX); changes > 0; changes--) {
      change(&input, &corpus[below(&random, count)], &random);
    }
    run(input.data, input.size);
  }
  free(input.data);
}

int main(int argc, char **argv) {
  if (argc < 3) {
    (void)fprintf(stderr, "usage: %s MUTATIONS FILE...\n", argv[0]);
    return 2;
  }
  const size_t count = (size_t)argc - 2;
  struct input *corpus = calloc(count, sizeof *corpus);
  for (size_t i = 0; corpus != NULL && i < count; i++) {
    if (!read_input(argv[i + 2], &corpus[i])) {
      (void)fprintf(stderr, "cannot read %s\n", argv[i + 2]);
      return 2;
    }
    run(corpus[i].data, corpus[i].size);
  }
  const unsigned long mutations =
      strtoul(argv[1], NULL, 10) * (getenv("HAUL_NIGHTLY") != NULL ? 4 : 1);
  mutate(corpus, count, mutations);
  for (size_t i = 0; i < count; i++) {
    free(corpus[i].data);
  }
  free(corpus);
  (void)remove(last_input);
  (void)printf("%zu files and %lu mutations\n", count, mutations);
  return 0;
}
