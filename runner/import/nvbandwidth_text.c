#include "runner/import/nvbandwidth_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 4096, NAME_CHARS_MAX = 200 };

/* While a text is read. */
struct text_reader {
  json_t *top, *tests;
  json_t *test;   /* the last test that ran; NULL: none, or an error ended it */
  json_t *matrix; /* of it, whose rows are being read; NULL: none is open */
  size_t columns; /* of that */
  char *previous; /* the last line that was none of the known ones; NULL: blank or none */
};

static const char *text_skip_blanks(const char *at) {
  return at + strspn(at, " \t");
}

/* What follows a prefix of the line; NULL: it begins otherwise. */
static const char *text_after(const char *line, const char *prefix) {
  const size_t length = strlen(prefix);
  return strncmp(line, prefix, length) == 0 ? text_skip_blanks(line + length) : NULL;
}

static void text_set(json_t *object, const char *key, const char *value) {
  (void)json_object_set_new(object, key, json_string(value));
}

static json_t *text_add_test(struct text_reader *reader, const char *name, const char *status) {
  json_t *test = json_object();
  text_set(test, "name", name);
  text_set(test, "status", status);
  (void)json_array_append_new(reader->tests, test);
  return test;
}

/* How many column numbers from 0 on the line consists of. */
static size_t text_count_columns(const char *line) {
  size_t count = 0;
  for (const char *at = text_skip_blanks(line); *at != '\0'; at = text_skip_blanks(at)) {
    char *end = NULL;
    if (!isdigit((unsigned char)*at) || strtoul(at, &end, 10) != count || count == COLUMNS_MAX ||
        (*end != '\0' && *end != ' ')) {
      return 0;
    }
    at = end;
    count++;
  }
  return count;
}

/* A row's cells: its number, then as many values as there are columns. NULL: the line is none. What
 * is not measured is 0.00 in 0.2, else N/A. */
static json_t *text_read_row(const char *line, size_t number, size_t columns) {
  char *at = NULL;
  line = text_skip_blanks(line);
  if (!isdigit((unsigned char)*line) || strtoul(line, &at, 10) != number || *at != ' ') {
    return NULL;
  }
  json_t *row = json_array();
  const char *cell = text_skip_blanks(at);
  while (*cell != '\0') {
    const size_t length = strcspn(cell, " \t");
    const bool none = length == 4 && strncmp(cell, "0.00", length) == 0;
    (void)json_array_append_new(row, none ? json_string("N/A") : json_stringn(cell, length));
    cell = text_skip_blanks(cell + length);
  }
  if (json_array_size(row) != columns) {
    json_decref(row);
    return NULL;
  }
  return row;
}

/* Texts of 0.2 say no version, and their matrices have no sum: one that is whole has a row for each
 * GPU, or one for the host. */
static bool text_is_whole(const struct text_reader *reader) {
  const char *name = json_string_value(json_object_get(reader->test, "name"));
  const bool square = strncmp(name, "device_to_device", strlen("device_to_device")) == 0;
  return json_object_get(reader->top, "version") == NULL &&
         json_array_size(reader->matrix) == (square ? reader->columns : 1);
}

/* A matrix ends with its sum; without it, rows may be missing. */
static void text_end_matrix(struct text_reader *reader, bool summed) {
  if (reader->matrix == NULL) {
    return;
  }
  if (summed || text_is_whole(reader)) {
    json_t *all = json_object_get(reader->test, "bandwidth_matrix");
    if (all == NULL) {
      (void)json_object_set(reader->test, "bandwidth_matrix", reader->matrix);
    } else {
      (void)json_array_extend(all, reader->matrix);
    }
    text_set(reader->test, "status", "Passed");
  } else {
    (void)json_object_del(reader->test, "bandwidth_matrix");
    (void)json_object_del(reader->test, "error");
    text_set(reader->test, "status", "cut short");
    reader->test = NULL;
  }
  json_decref(reader->matrix);
  reader->matrix = NULL;
}

/* The word in the line that is a test's name: lower case, with underscores. */
static bool text_find_name(const char *line, char name[NAME_CHARS_MAX]) {
  static const char WORD[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
  for (const char *at = line; *at != '\0';) {
    const size_t length = strspn(at, WORD);
    if (length < NAME_CHARS_MAX && memchr(at, '_', length) != NULL) {
      memcpy(name, at, length);
      name[length] = '\0';
      return true;
    }
    at += length + (at[length] != '\0' ? 1 : 0);
  }
  return false;
}

/* "Waived:", "Waived: NAME", "Error: what": of the test that runs, else of one that did not begin.
 */
static void text_read_outcome(struct text_reader *reader, const char *status, const char *line,
                              const char *rest) {
  char name[NAME_CHARS_MAX] = NVBANDWIDTH_UNNAMED;
  text_end_matrix(reader, false);
  json_t *test = reader->test;
  if (test == NULL || json_object_get(test, "bandwidth_matrix") != NULL) {
    (void)text_find_name(line, name);
    test = text_add_test(reader, name, status);
  }
  text_set(test, "status", status);
  if (*rest != '\0') {
    text_set(test, "error", rest);
  }
  reader->test = NULL;
}

static bool text_read_test_line(struct text_reader *reader, const char *line) {
  const char *rest = text_after(line, "Running ");
  if (rest != NULL) {
    char name[NAME_CHARS_MAX];
    text_end_matrix(reader, false);
    reader->test =
        text_add_test(reader, text_find_name(rest, name) ? name : NVBANDWIDTH_UNNAMED, "Running");
    return true;
  }
  if (text_after(line, "SUM ") != NULL || text_after(line, "&&&& PERF ") != NULL) {
    text_end_matrix(reader, true);
    return true;
  }
  if ((rest = text_after(line, "Error:")) != NULL || (rest = text_after(line, "ERROR:")) != NULL) {
    text_read_outcome(reader, "Error", line, rest);
    return true;
  }
  if (strcasestr(line, "waived") != NULL) {
    rest = strchr(line, ':');
    text_read_outcome(reader, "Waived", line, rest != NULL ? text_skip_blanks(rest + 1) : "");
    return true;
  }
  return false;
}

static bool text_read_matrix_line(struct text_reader *reader, const char *line) {
  if (reader->test == NULL) {
    return false;
  }
  if (reader->matrix == NULL) {
    reader->columns = text_count_columns(line);
    reader->matrix = reader->columns > 0 ? json_array() : NULL;
    return reader->matrix != NULL;
  }
  json_t *row = text_read_row(line, json_array_size(reader->matrix), reader->columns);
  if (row != NULL) {
    (void)json_array_append_new(reader->matrix, row);
  }
  return row != NULL;
}

/* "Device 0: NVIDIA H200 (00000000:06:00)", under the host's name where that is said. */
static void text_add_device(struct text_reader *reader, const char *device) {
  json_t *list = json_object_get(reader->top, "GPU Device list");
  if (list == NULL) {
    list = json_array();
    (void)json_object_set_new(reader->top, "GPU Device list", list);
  }
  const char *host = json_string_value(json_object_get(reader->top, "Hostname"));
  if (host == NULL && reader->previous != NULL && strchr(reader->previous, ' ') == NULL) {
    text_set(reader->top, "Hostname", reader->previous);
    host = reader->previous;
  }
  json_t *entry = host != NULL && strchr(device, ')') != NULL
                      ? json_sprintf("%s: (%s)", device, host)
                      : json_string(device);
  (void)json_array_append_new(list, entry);
}

static bool text_read_head_line(struct text_reader *reader, const char *line) {
  const char *rest = text_after(line, "nvbandwidth Version:");
  if (rest != NULL) {
    text_set(reader->top, "version", rest);
    return true;
  }
  if ((rest = text_after(line, "Driver Version:")) != NULL) {
    text_set(reader->top, "Driver Version", rest);
    return true;
  }
  if ((rest = text_after(line, "CUDA Runtime Version:")) != NULL) {
    const char *number = strchr(rest, '(');
    (void)json_object_set_new(reader->top, "CUDA Runtime Version",
                              json_integer(strtol(number != NULL ? number + 1 : rest, NULL, 10)));
    return true;
  }
  rest = text_after(line, "Device ");
  if (rest != NULL && isdigit((unsigned char)*rest) && reader->test == NULL) {
    text_add_device(reader, rest);
    return true;
  }
  return false;
}

static void text_read_line(struct text_reader *reader, const char *line) {
  const bool known = text_read_matrix_line(reader, line) || text_read_test_line(reader, line) ||
                     text_read_head_line(reader, line);
  free(reader->previous);
  reader->previous = known || *text_skip_blanks(line) == '\0' ? NULL : strdup(line);
  /* Of a test without numbers, the last line says the most. */
  if (reader->previous != NULL && reader->test != NULL && reader->matrix == NULL &&
      json_object_get(reader->test, "bandwidth_matrix") == NULL) {
    text_set(reader->test, "error", line);
  }
}

static bool text_has_matrix(const struct text_reader *reader) {
  size_t i = 0;
  const size_t count = json_array_size(reader->tests);
  while (i < count &&
         json_object_get(json_array_get(reader->tests, i), "bandwidth_matrix") == NULL) {
    i++;
  }
  return i < count;
}

json_t *nvbandwidth_text_read(const char *text, size_t length) {
  struct text_reader reader = {.top = json_object(), .tests = json_array()};
  (void)json_object_set_new(reader.top, "testcases", reader.tests);
  for (size_t at = 0; at < length;) {
    const char *end = memchr(text + at, '\n', length - at);
    const size_t whole = (end != NULL ? (size_t)(end - text) : length) - at;
    char *line = strndup(text + at, whole);
    if (line == NULL) {
      abort();
    }
    line[strcspn(line, "\r")] = '\0';
    text_read_line(&reader, line);
    free(line);
    at += whole + 1;
  }
  text_end_matrix(&reader, false);
  free(reader.previous);
  if (json_object_get(reader.top, "version") == NULL && text_has_matrix(&reader)) {
    text_set(reader.top, "version", NVBANDWIDTH_UNVERSIONED);
  }
  if (json_object_get(reader.top, "version") == NULL) {
    json_decref(reader.top);
    return NULL;
  }
  json_t *root = json_object();
  (void)json_object_set_new(root, "nvbandwidth", reader.top);
  return root;
}
