/* Hostile things done with files that others may write: shared folders, parts of databases, names
 * and texts that reach a terminal. */
#include "tests/torture/torture.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_S = 240, LIMIT_READ_S = 60, NOBODY = 65534, SOMEBODY = 65533, SCREEN_SIZE = 1 << 20 };
static const char PRECIOUS[] = "precious\n";

#define ARGUMENTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- a file of another user, which nothing may change ---- */

static void victim_path(const struct trial *trial, char path[PATH_SIZE]) {
  (void)snprintf(path, PATH_SIZE, "%.400s/victim", trial->folder);
}

static void victim_make(const struct trial *trial) {
  char path[PATH_SIZE];
  victim_path(trial, path);
  const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  (void)!write(fd, PRECIOUS, strlen(PRECIOUS));
  (void)close(fd);
}

static void victim_judge(struct trial *trial, const char *by) {
  char path[PATH_SIZE];
  char text[64] = "";
  victim_path(trial, path);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
  if (fd >= 0) {
    (void)close(fd);
  }
  if (got != (ssize_t)strlen(PRECIOUS) || strcmp(text, PRECIOUS) != 0) {
    trial_count(trial, COUNT_spoilt, 1, "the file of another user was %s by %s",
                fd < 0 ? "removed" : "changed", by);
  }
}

/* A link to it, its other name, a FIFO or a folder, of another user where this one is root. */
static void plant(struct trial *trial, const char *path) {
  char victim[PATH_SIZE];
  victim_path(trial, victim);
  switch (trial_below(trial, 4)) {
  case 0:
    (void)!link(victim, path);
    return;
  case 1:
    (void)mkfifo(path, 0666);
    break;
  case 2:
    (void)mkdir(path, 0777);
    break;
  default:
    (void)!symlink(victim, path);
    break;
  }
  if (geteuid() == 0) {
    (void)!lchown(path, NOBODY, NOBODY);
  }
}

/* ---- shards ---- */

/* Names of files in a folder that end so; the last one in name. */
static unsigned count_files(const char *folder, const char *end, char name[PATH_SIZE]) {
  unsigned count = 0;
  DIR *entries = opendir(folder);
  const struct dirent *entry;
  while (entries != NULL && (entry = readdir(entries)) != NULL) {
    const size_t length = strlen(entry->d_name);
    if (length > strlen(end) && strcmp(entry->d_name + length - strlen(end), end) == 0 &&
        entry->d_name[0] != '.') {
      (void)snprintf(name, PATH_SIZE, "%.250s/%.250s", folder, entry->d_name);
      count++;
    }
  }
  if (entries != NULL) {
    (void)closedir(entries);
  }
  return count;
}

static unsigned count_said(const struct haul *haul) {
  unsigned count = 0;
  for (const char *at = haul->err; (at = strstr(at, ": ok")) != NULL; at++) {
    const char *name = at; /* "[3/54] up/gpu0/4KiB: ok": of a further visit it is the same name */
    while (name > haul->err && name[-1] != ' ' && name[-1] != '\n') {
      name--;
    }
    char words[512];
    (void)snprintf(words, sizeof words, " %.*s", (int)(at - name + 4), name);
    const char *first = strstr(haul->err, words);
    count += first == NULL || first + 1 == name;
  }
  return count;
}

/* What is left on the local disk: folders of runs. */
static unsigned count_local(const char *local) {
  char parent[PATH_SIZE];
  unsigned count = 0;
  (void)snprintf(parent, sizeof parent, "%.400s/haul-shards-%u", local, (unsigned)geteuid());
  DIR *entries = opendir(parent);
  const struct dirent *entry;
  while (entries != NULL && (entry = readdir(entries)) != NULL) {
    count += entry->d_name[0] != '.';
  }
  if (entries != NULL) {
    (void)closedir(entries);
  }
  return count;
}

/* Random names of 16 digits: what was written when haul was killed. */
static unsigned count_temporary(const char *folder) {
  unsigned count = 0;
  DIR *entries = opendir(folder);
  const struct dirent *entry;
  while (entries != NULL && (entry = readdir(entries)) != NULL) {
    const char *dot = strrchr(entry->d_name, '.');
    count += entry->d_name[0] == '.' && dot != NULL && strlen(dot + 1) == 16;
  }
  if (entries != NULL) {
    (void)closedir(entries);
  }
  return count;
}

/* A run in shards is killed, in a folder where another user puts links and FIFOs; another run of
 * the node, and one that goes on, leave nothing behind and lose nothing that was said to be ok. */
void trial_shard(struct trial *trial) {
  struct environment environment = {0};
  struct haul haul;
  char scenario[PATH_SIZE];
  char shards[PATH_SIZE];
  char local[PATH_SIZE];
  char shard[PATH_SIZE] = "";
  char planted[2 * PATH_SIZE];
  (void)snprintf(scenario, sizeof scenario, "%s.toml", trial->settings->clean);
  (void)snprintf(shards, sizeof shards, "%.400s/shards", trial->folder);
  (void)snprintf(local, sizeof local, "%.400s/local", trial->folder);
  (void)mkdir(shards, 0777);
  (void)chmod(shards, 01777);
  (void)mkdir(local, 0700);
  victim_make(trial);
  environment_add(&environment, "TMPDIR=%s", local);
  if (trial_below(trial, 2) == 0) { /* as on a file system that knows no files without a name */
    environment_add(&environment, "LD_PRELOAD=%s", trial->settings->preload);
    environment_add(&environment, "TORTURE_NAMED=1");
  }
  const char *const *first =
      ARGUMENTS("run", scenario, "-v", "--shard", shards, "--node-name", "n1", "--shard-every",
                "20ms", "--expected-nodes", "n[1-2]", "--tag", "t");
  haul_start(trial, &haul, &environment, first);
  pause_ms(trial_below(trial, 500));
  if (count_files(shards, ".db", shard) > 0) {
    const char *name = strrchr(shard, '/') + 1;
    (void)snprintf(planted, sizeof planted, "%s/.%s.part", shards, name);
    plant(trial, planted);
    (void)snprintf(planted, sizeof planted, "%.500s.failed", shard);
    (void)(trial_below(trial, 2) == 0 ? plant(trial, planted) : (void)0);
  }
  pause_ms(trial_below(trial, 700));
  if (trial_below(trial, 4) > 0) {
    (void)kill(trial_below(trial, 2) == 0 ? haul.pid : -haul.pid, SIGKILL);
  }
  haul_finish(trial, &haul, LIMIT_S);
  const unsigned said = count_said(&haul);
  const bool killed = haul.code == 128 + SIGKILL;
  haul_fini(&haul);
  victim_judge(trial, "a shard");
  /* The node's next run takes up what is left; then the first one goes on. */
  haul_run(trial, &haul, &environment, LIMIT_S,
           ARGUMENTS("run", scenario, "--shard", shards, "--node-name", "n2", "--expected-nodes",
                     "n[1-2]", "--tag", "t", "--set", "measure.processes=1"));
  haul_fini(&haul);
  char any[PATH_SIZE];
  const unsigned count = count_files(shards, ".db", any);
  if (said > 0 && shard[0] != '\0' && database_count_results(shard) < said) {
    trial_count(trial, COUNT_lost, 1, "%u cases were ok on the screen, %u are in %s", said,
                database_count_results(shard), shard);
  }
  if (count_local(local) > 0 || count_temporary(shards) > 0) {
    trial_count(trial, COUNT_left, 1, "%u folders in %s and %u temporary files in %s",
                count_local(local), local, count_temporary(shards), shards);
  }
  if (killed && shard[0] != '\0' && count > 0 && !database_run_is(shard, "done")) {
    haul_run(trial, &haul, &environment, LIMIT_S,
             ARGUMENTS("run", "--resume", "latest", "--shard", shards, "--node-name", "n1"));
    if (!database_run_is(shard, "done")) {
      trial_count(trial, COUNT_lost, 1, "--resume ended with %d: %.300s", haul.code, haul.err);
    }
    haul_fini(&haul);
  }
  if (shard[0] != '\0') {
    judge_database(trial, shard, UINT32_MAX);
  }
  haul_run(trial, &haul, &environment, LIMIT_READ_S, ARGUMENTS("merge", trial->database, shards));
  haul_fini(&haul);
  judge_database(trial, trial->database, UINT32_MAX);
  victim_judge(trial, "a merge of shards");
}

/* ---- parts of databases, and outputs ---- */

/* A journal as SQLite writes it, that names the file of another user as its super-journal. */
static void write_journal(struct trial *trial, const char *path) {
  static const unsigned char magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
  char victim[PATH_SIZE];
  unsigned char page[512] = {0};
  victim_path(trial, victim);
  const unsigned length = (unsigned)strlen(victim);
  unsigned sum = 0;
  for (unsigned i = 0; i < length; i++) {
    sum += (unsigned char)victim[i];
  }
  memcpy(page, magic, sizeof magic);
  page[23] = 0;
  page[22] = 0x02; /* sectors of 512 */
  page[26] = 0x10; /* pages of 4096 */
  const unsigned char end[16] = {(unsigned char)(length >> 24), (unsigned char)(length >> 16),
                                 (unsigned char)(length >> 8),  (unsigned char)length,
                                 (unsigned char)(sum >> 24),    (unsigned char)(sum >> 16),
                                 (unsigned char)(sum >> 8),     (unsigned char)sum};
  const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  (void)!write(fd, page, sizeof page);
  (void)!write(fd, "\xff\xff\xff\xff", 4);
  (void)!write(fd, victim, length);
  (void)!write(fd, end, 8);
  (void)!write(fd, magic, sizeof magic);
  (void)close(fd);
}

void trial_parts(struct trial *trial) {
  static const char *const suffixes[] = {"-journal", "-wal", "-shm"};
  char folder[PATH_SIZE];
  char copy[PATH_SIZE];
  char part[PATH_SIZE + 16];
  struct haul haul;
  (void)snprintf(folder, sizeof folder, "%.400s/inputs", trial->folder);
  (void)snprintf(copy, sizeof copy, "%.450s/s.db", folder);
  (void)mkdir(folder, 0777);
  victim_make(trial);
  for (unsigned reads = 0; reads < 4; reads++) {
    (void)unlink(copy);
    if (!trial_copy_clean_to(trial, copy)) {
      return;
    }
    (void)snprintf(part, sizeof part, "%.500s%s", copy, suffixes[trial_below(trial, 3)]);
    if (trial_below(trial, 2) == 0) {
      write_journal(trial, part);
    } else {
      plant(trial, part);
    }
    const char *const *verbs[] = {
        ARGUMENTS("merge", trial->database, folder),
        ARGUMENTS("list", "runs", "--db", copy),
        ARGUMENTS("query", "select * from v_case", "--db", copy),
        ARGUMENTS("tag", "latest", "t", "--db", copy),
        ARGUMENTS("export", "csv", "-o", part, "--db", copy),
        ARGUMENTS("export", "csv", "-o", copy, "--db", copy),
        ARGUMENTS("env", "--save", copy),
        ARGUMENTS("run", "--resume", "latest", "--db", copy),
    };
    const unsigned verb = trial_below(trial, COUNT_OF(verbs));
    haul_run(trial, &haul, NULL, LIMIT_READ_S, verbs[verb]);
    haul_fini(&haul);
    victim_judge(trial, verbs[verb][0]);
    if (unlink(part) != 0) {
      (void)rmdir(part);
    }
    judge_database(trial, copy, UINT32_MAX);
  }
}

/* ---- two users ---- */

static bool become(unsigned user) {
  return setgroups(0, NULL) == 0 && setresgid(user, user, user) == 0 &&
         setresuid(user, user, user) == 0;
}

/* Something of this user under that name, in place of what was there where that may be. */
static void meddle(struct trial *trial, const char *path) {
  char victim[PATH_SIZE];
  char aside[4 * PATH_SIZE];
  victim_path(trial, victim);
  (void)snprintf(aside, sizeof aside, "%s~", path);
  switch (trial_below(trial, 8)) {
  case 0:
    (void)!link(victim, path);
    break;
  case 1:
    (void)mkfifo(path, 0666);
    break;
  case 2:
    (void)mkdir(path, 0777);
    break;
  case 3:
    write_journal(trial, path);
    break;
  case 4: /* a folder that becomes a link */
    (void)rename(path, aside);
    (void)!symlink(trial->folder, path);
    break;
  case 5:
    (void)unlink(path);
    (void)rmdir(path);
    break;
  case 6: {
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0666);
    (void)!write(fd, "pid=1 use=exclusive\n", 20);
    (void)!ftruncate(fd, trial_below(trial, 2) == 0 ? 20 : (off_t)1 << 40);
    (void)close(fd);
    break;
  }
  default:
    (void)!symlink(victim, path);
    break;
  }
}

/* Another user, who puts things into the folders that all may write to, until the end. */
static void meddle_all(struct trial *trial, const char *const *folders) {
  static const char *const guesses[] = {".%s.part", "%s.part", "%s.failed", "%s-journal",
                                        "%s-wal",   "%s-shm",  ".%s",       "%s.tmp",
                                        "%s~",      "%s",      "%s.lock",   "%s-merge-000000"};
  static const char *const names[] = {"haul-shards-65534", "r.db",  "r.db-journal", "out.csv",
                                      "page.html",         "host",  "gpu0",         "m.db",
                                      "m.db-journal",      "taken", "run",          "haul"};
  for (;;) {
    const char *folder = folders[trial_below(trial, 3)];
    char path[3 * PATH_SIZE];
    char name[PATH_SIZE] = "";
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    for (unsigned skip = trial_below(trial, 40);
         entries != NULL && (entry = readdir(entries)) != NULL && skip > 0; skip--) {
      (void)snprintf(name, sizeof name, "%.250s", entry->d_name);
      if (strncmp(name, "n1-", 3) == 0 && strstr(name, ".db") == name + strlen(name) - 3) {
        break; /* a shard, of which haul writes a newer copy soon */
      }
    }
    if (entries != NULL) {
      (void)closedir(entries);
    }
    size_t used = (size_t)snprintf(path, sizeof path, "%s/", folder);
    if (name[0] == '.' || name[0] == '\0' || trial_below(trial, 2) == 0) {
      (void)snprintf(name, sizeof name, "%s", names[trial_below(trial, 12)]);
    }
    const char *guess = guesses[trial_below(trial, 12)];
    const char *at = strstr(guess, "%s");
    (void)snprintf(path + used, sizeof path - used, "%.*s%s%s", (int)(at - guess), guess, name,
                   at + 2);
    meddle(trial, path);
    pause_ms(trial_below(trial, 4));
  }
}

/* haul runs as one user, and its files of no concern to others stay as they are, whatever another
 * user does in folders that both may write to. */
void trial_users(struct trial *trial) {
  char folders[3][PATH_SIZE];
  char scenario[PATH_SIZE];
  char paths[4][2 * PATH_SIZE];
  struct environment environment = {0};
  struct haul haul;
  if (geteuid() != 0) {
    trial->skipped = "only root can start haul as another user";
    return;
  }
  for (unsigned i = 0; i < 3; i++) {
    static const char *const names[] = {"shared", "tmp", "locks"};
    (void)snprintf(folders[i], sizeof folders[i], "%.400s/%s", trial->folder, names[i]);
    (void)mkdir(folders[i], 0777);
    (void)chmod(folders[i], 01777);
  }
  char victim[PATH_SIZE];
  victim_make(trial);
  victim_path(trial, victim);
  (void)!chown(victim, NOBODY, NOBODY);
  (void)!chown(trial->folder, NOBODY, NOBODY);
  (void)snprintf(scenario, sizeof scenario, "%s.toml", trial->settings->clean);
  static const char *const files[] = {"r.db", "out.csv", "page.html", "m.db"};
  for (unsigned i = 0; i < 4; i++) {
    (void)snprintf(paths[i], sizeof paths[i], "%s/%s", folders[0], files[i]);
  }
  environment_add(&environment, "TMPDIR=%s", folders[1]);
  environment_add(&environment, "HAUL_LOCKS=%s", folders[2]);
  trial->helper = fork();
  if (trial->helper == 0) {
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (become(SOMEBODY)) {
      meddle_all(trial, (const char *const[]){folders[0], folders[1], folders[2]});
    }
    _exit(0);
  }
  trial->user = NOBODY;
  const char *const *verbs[] = {
      ARGUMENTS("run", scenario, "-v", "--shard", folders[0], "--node-name", "n1", "--shard-every",
                "20ms", "--set", "measure.processes=1", "--wait", "2s"),
      ARGUMENTS("run", scenario, "--db", paths[0], "--set", "measure.processes=1", "--wait", "2s"),
      ARGUMENTS("export", "csv", "-o", paths[1], "--db", paths[0]),
      ARGUMENTS("report", paths[2], "--db", paths[0]),
      ARGUMENTS("merge", paths[3], folders[0]),
      ARGUMENTS("tag", "latest", "t", "--db", paths[0]),
      ARGUMENTS("env", "--save", paths[1]),
      ARGUMENTS("list", "runs", "--db", paths[0]),
  };
  for (unsigned uses = 0; uses < 5; uses++) {
    const unsigned verb = uses < 2 ? uses : trial_below(trial, (unsigned)(COUNT_OF(verbs)));
    haul_run(trial, &haul, &environment, LIMIT_S, verbs[verb]);
    haul_fini(&haul);
    victim_judge(trial, verbs[verb][0]);
  }
  trial->user = 0;
  (void)kill(trial->helper, SIGKILL);
  (void)waitpid(trial->helper, NULL, 0);
  trial->helper = 0;
}

/* ---- a terminal ---- */

/* Its screen as bytes; the exit code is that of the program, -1: it did not end. */
static int run_on_terminal(const struct trial *trial, const char *const *arguments, char *screen) {
  int terminal = -1;
  size_t size = 0;
  const struct winsize window = {.ws_row = 40, .ws_col = 100};
  const pid_t pid = forkpty(&terminal, NULL, NULL, &window);
  if (pid == 0) {
    const char *values[ARGUMENTS_MAX + 2] = {"haul"};
    char *texts[ARGUMENTS_MAX + 2];
    for (size_t i = 0; i < ARGUMENTS_MAX && arguments[i] != NULL; i++) {
      values[i + 1] = arguments[i];
    }
    memcpy(texts, values, sizeof texts);
    (void)setenv("LC_ALL", "C.UTF-8", 1);
    (void)setenv("HOME", trial->folder, 1);
    (void)setenv("TERM", "xterm", 1);
    (void)setenv("NO_COLOR", "1", 1);
    (void)execv(trial->settings->haul, texts);
    _exit(127);
  }
  struct pollfd looked = {.fd = terminal, .events = POLLIN};
  while (size < SCREEN_SIZE - 1 && poll(&looked, 1, LIMIT_READ_S * 1000) > 0) {
    const ssize_t got = read(terminal, screen + size, SCREEN_SIZE - 1 - size);
    if (got <= 0) {
      break;
    }
    size += (size_t)got;
  }
  screen[size] = '\0';
  int status = 0;
  (void)kill(pid, SIGHUP);
  (void)close(terminal);
  (void)waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Nothing but text, ends of lines, and a line that is cleared. */
static void judge_screen(struct trial *trial, const char *screen, const char *what) {
  for (const char *at = screen; *at != '\0'; at++) {
    const unsigned char byte = (unsigned char)at[0];
    const unsigned char next = (unsigned char)at[1];
    const unsigned char third = next != 0 ? (unsigned char)at[2] : 0;
    if (strncmp(at, "\033[K", 3) == 0) {
      at += 2;
    } else if ((byte < 0x20 && strchr("\r\n", byte) == NULL) || byte == 0x7f ||
               (byte == 0xc2 && next >= 0x80 && next < 0xa0) ||
               (byte == 0xe2 && next == 0x80 && third >= 0xaa && third <= 0xae) ||
               (byte == 0xe2 && next == 0x81 && third >= 0xa6 && third <= 0xa9)) {
      trial_count(trial, COUNT_escaped, 1, "bytes %02x %02x %02x on the terminal by %s", byte, next,
                  third, what);
      return;
    }
  }
}

void trial_screen(struct trial *trial) {
  static const char *const texts[] = {"\x1b]0;title\x07",    "\xc2\x9b[2J",
                                      "\xe2\x80\xae right",  "\x7f\x08\x08\rover",
                                      "\xe2\x81\xa6isolate", "\x1b[31mred"};
  static const char *const formats[] = {"table", "csv", "csv-safe", "json", "jsonl", "md"};
  static const char *const columns[] = {
      "run SET tag =", "environment SET host_name =", "bench_case SET name =",
      "case_note SET what =", "device SET name ="};
  char *screen = malloc(SCREEN_SIZE);
  char folder[PATH_SIZE];
  char named[2 * PATH_SIZE];
  char sql[512];
  (void)snprintf(folder, sizeof folder, "%.400s/in", trial->folder);
  (void)mkdir(folder, 0777);
  if (screen == NULL || !trial_copy_clean(trial)) {
    free(screen);
    return;
  }
  const char *text = texts[trial_below(trial, 6)];
  for (unsigned i = 0; i < 5; i++) {
    (void)snprintf(sql, sizeof sql, "UPDATE OR IGNORE %s '%s'", columns[i], text);
    database_execute(trial->database, sql);
  }
  (void)snprintf(named, sizeof named, "%s/%s%u.db", folder, text, trial_below(trial, 9));
  (void)trial_copy_clean_to(trial, named);
  (void)snprintf(named, sizeof named, "%s/z.db", folder);
  (void)trial_copy_clean_to(trial, named);
  char out[PATH_SIZE];
  (void)snprintf(out, sizeof out, "%.400s/out.db", trial->folder);
  char option[64];
  (void)snprintf(option, sizeof option, "--%s", text);
  const char *format = formats[trial_below(trial, 6)];
  const char *const *verbs[] = {
      ARGUMENTS("list", "runs", "--db", trial->database, "--format", format),
      ARGUMENTS("list", "cases", "--db", trial->database, "--format", format),
      ARGUMENTS("query", "select * from v_case", "--db", trial->database, "--format", format),
      ARGUMENTS("show", "latest", "--db", trial->database),
      ARGUMENTS("env", "--run", "latest", "--db", trial->database),
      ARGUMENTS("export", "csv", "--db", trial->database),
      ARGUMENTS("export", "prometheus", "--db", trial->database),
      ARGUMENTS("merge", out, folder),
      ARGUMENTS("list", text),
      ARGUMENTS("run", "quick", option),
      ARGUMENTS("validate", text),
  };
  for (unsigned i = 0; i < COUNT_OF(verbs); i++) {
    const int code = run_on_terminal(trial, verbs[i], screen);
    trial->runs++;
    if (code < 0 || code > 4) {
      trial_count(trial, COUNT_broken, 1, "%s on a terminal ended with %d: %.200s", verbs[i][0],
                  code, screen);
    }
    judge_screen(trial, screen, verbs[i][0]);
  }
  free(screen);
}
