#include "engine/machine/probe.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* CPUID leaf 0x40000000 names the hypervisor when leaf 1 says that there is one ("Intel 64 and
 * IA-32 Architectures Software Developer's Manual", CPUID: ECX bit 31 is always 0 on hardware). */
static void read_hypervisor_signature(char signature[16]) {
#if defined(__x86_64__)
  unsigned eax, ebx, ecx, edx;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 1 && (ecx & (1U << 31)) != 0) {
    __cpuid(0x40000000, eax, ebx, ecx, edx);
    unsigned words[3] = {ebx, ecx, edx};
    memcpy(signature, words, sizeof words);
  }
#else
  (void)signature;
#endif
}

void sources_init(struct machine_sources *sources) {
  *sources = (struct machine_sources){.root = "", .page_bytes = sysconf(_SC_PAGESIZE)};
  read_hypervisor_signature(sources->hypervisor_signature);
  /* What containers refuse first: to read one's own policy needs no right and changes nothing. */
  sources->numa_policy_asked = true;
  sources->numa_policy_allowed = syscall(SYS_get_mempolicy, NULL, NULL, 0UL, NULL, 0UL) == 0;
}

static ssize_t read_whole(int file, char *text, size_t size) {
  size_t length = 0;
  while (length < size - 1) {
    ssize_t got = read(file, text + length, size - 1 - length);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return -1;
    }
    if (got == 0) {
      break;
    }
    length += (size_t)got;
  }
  return (ssize_t)length;
}

static enum fact_state sources_refuse(const char *path, char *text, size_t size) {
  int cause = errno;
  (void)snprintf(text, size, "%s: %s", path, strerror(cause));
  return cause == EACCES || cause == EPERM ? FACT_DENIED : FACT_UNAVAILABLE;
}

static enum fact_state read_path(const struct machine_sources *sources, const char *path,
                                 char *text, size_t size) {
  char full[SOURCES_PATH_MAX];
  (void)snprintf(full, sizeof full, "%s%s", sources->root, path);
  int file = open(full, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return sources_refuse(path, text, size);
  }
  ssize_t length = read_whole(file, text, size);
  if (length < 0) {
    enum fact_state state = sources_refuse(path, text, size);
    (void)close(file);
    return state;
  }
  (void)close(file);
  while (length > 0 && isspace((unsigned char)text[length - 1])) {
    length--;
  }
  text[length] = '\0';
  return FACT_OK;
}

enum fact_state sources_read_bytes(const struct machine_sources *sources, const char *path,
                                   unsigned char *bytes, size_t size, size_t *length,
                                   char *reason) {
  char full[SOURCES_PATH_MAX];
  (void)snprintf(full, sizeof full, "%s%s", sources->root, path);
  *length = 0;
  FILE *stream = fopen(full, "rbe");
  if (stream == NULL) {
    return sources_refuse(path, reason, FACT_VALUE_MAX);
  }
  *length = fread(bytes, 1, size, stream);
  (void)fclose(stream);
  return FACT_OK;
}

enum fact_state sources_read_link(const struct machine_sources *sources, const char *path,
                                  char *text, size_t size) {
  char full[SOURCES_PATH_MAX];
  (void)snprintf(full, sizeof full, "%s%s", sources->root, path);
  const ssize_t length = readlink(full, text, size - 1);
  if (length < 0) {
    return sources_refuse(path, text, size);
  }
  text[length] = '\0';
  return FACT_OK;
}

enum fact_state sources_read(const struct machine_sources *sources, char *text, size_t size,
                             const char *path_format, ...) {
  char path[SOURCES_PATH_MAX];
  va_list args;
  va_start(args, path_format);
  (void)vsnprintf(path, sizeof path, path_format, args);
  va_end(args);
  return read_path(sources, path, text, size);
}

bool sources_read_number(const struct machine_sources *sources, int64_t *value,
                         const char *path_format, ...) {
  char path[SOURCES_PATH_MAX];
  va_list args;
  va_start(args, path_format);
  (void)vsnprintf(path, sizeof path, path_format, args);
  va_end(args);
  char text[64];
  if (read_path(sources, path, text, sizeof text) != FACT_OK) {
    return false;
  }
  char *end = NULL;
  errno = 0;
  long long number = strtoll(text, &end, 10);
  if (end == text || *end != '\0' || errno != 0) {
    return false;
  }
  *value = number;
  return true;
}

bool sources_exists(const struct machine_sources *sources, const char *path) {
  char full[SOURCES_PATH_MAX];
  (void)snprintf(full, sizeof full, "%s%s", sources->root, path);
  return access(full, F_OK) == 0;
}

/* access() asks the control group as open() does (devcgroup_inode_permission() in Linux,
 * fs/namei.c), and wakes no driver. */
bool sources_may_use(const struct machine_sources *sources, const char *path) {
  char full[SOURCES_PATH_MAX];
  (void)snprintf(full, sizeof full, "%s%s", sources->root, path);
  return access(full, R_OK | W_OK) == 0;
}

void sources_each(const struct machine_sources *sources, const char *folder, const char *prefix,
                  void (*visit)(void *context, const char *name), void *context) {
  char full[SOURCES_PATH_MAX];
  (void)snprintf(full, sizeof full, "%s%s", sources->root, folder);
  struct dirent **entries = NULL;
  int count = scandir(full, &entries, NULL, versionsort);
  for (int i = 0; i < count; i++) {
    if (entries[i]->d_name[0] != '.' && strncmp(entries[i]->d_name, prefix, strlen(prefix)) == 0) {
      visit(context, entries[i]->d_name);
    }
    free(entries[i]);
  }
  free(entries);
}

static void copy_value(const char *start, const char *end, char *value, size_t size) {
  while (start < end && isspace((unsigned char)*start)) {
    start++;
  }
  while (end > start && isspace((unsigned char)end[-1])) {
    end--;
  }
  if (end - start >= 2 && *start == '"' && end[-1] == '"') {
    start++;
    end--;
  }
  (void)snprintf(value, size, "%.*s", (int)(end - start), start);
}

bool sources_find_value(const char *text, const char *key, char separator, char *value,
                        size_t size) {
  size_t key_length = strlen(key);
  for (const char *line = text; *line != '\0';) {
    const char *end = strchr(line, '\n');
    end = end == NULL ? line + strlen(line) : end;
    const char *after = line + key_length;
    if ((size_t)(end - line) > key_length && strncmp(line, key, key_length) == 0) {
      while (after < end && isspace((unsigned char)*after)) {
        after++;
      }
      if (after < end && *after == separator) {
        copy_value(after + 1, end, value, size);
        return true;
      }
    }
    line = *end == '\0' ? end : end + 1;
  }
  return false;
}

size_t sources_parse_list(const char *text, bool set[SOURCES_SET_MAX]) {
  size_t count = 0;
  memset(set, 0, SOURCES_SET_MAX * sizeof set[0]);
  while (isdigit((unsigned char)*text)) {
    char *end = NULL;
    unsigned long first = strtoul(text, &end, 10);
    unsigned long last = first;
    if (*end == '-') {
      last = strtoul(end + 1, &end, 10);
    }
    for (unsigned long i = first; i <= last && i < SOURCES_SET_MAX; i++) {
      count += set[i] ? 0 : 1;
      set[i] = true;
    }
    text = *end == ',' ? end + 1 : end;
  }
  return count;
}
