/* lock.h - who uses a resource of this host (a GPU, the host itself, a run in a database), as far
 * as haul does: one file for each in a folder that everybody shares.
 *
 * The locks are open file description locks of the kernel (fcntl(2), F_OFD_SETLK), so they end with
 * their holder, however it ends, and nothing is left to clean up. A file has one byte that is
 * locked by who uses the resource, exclusively or with others of the same kind; one that is locked
 * by those who measure beside them (--share); and a slot for each, locked as long as what it says
 * of its user is true. The text in a file is for people and for messages: nothing is decided by it.
 *
 * In a folder that others may write to, no link is followed, and a file that has a second name is
 * not written to: it may be another user's.
 *
 * A process with another folder (a container with a /run of its own) is not seen. */
#pragma once

#include "engine/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LOCK_PATH_MAX = 4096, LOCK_TEXT_MAX = 256 };

/* What a user of a resource says of itself. */
struct lock_user {
  int pid;
  bool shared;   /* goes together with others that are shared */
  bool beside;   /* takes no notice of others, but they do of it */
  char user[64]; /* of the operating system */
  char host[64];
  char since[24];               /* UTC */
  char run[40];                 /* "" = not begun */
  char database[LOCK_TEXT_MAX]; /* cut at its begin */
};

struct lock;

/* This process, from now on. */
void lock_user_init(struct lock_user *user, const char *database);
/* The folder to keep locks in: `wanted`, or, if that is NULL, the first of /run/lock/haul,
 * /dev/shm/haul and /tmp/haul-locks that is there, else the first that can be made. */
enum status lock_find_folder(const char *wanted, char folder[LOCK_PATH_MAX],
                             struct error *err) CHECK_RESULT;
/* name: of the resource, a part of the file's name. Nothing is locked yet. */
enum status lock_open(const char *folder, const char *name, struct lock **lock,
                      struct error *err) CHECK_RESULT;
/* Lock it for that user, without waiting. False: *other, if not NULL, is one who uses it. A user
 * that is beside always gets it. */
bool lock_take(struct lock *lock, const struct lock_user *user, struct lock_user *other);
/* Say the run, once it is known. */
void lock_name_run(struct lock *lock, const char *run);
/* How many others use what is locked here in a way that does not go together with this use; *other
 * is one of them. */
size_t lock_count_others(const struct lock *lock, struct lock_user *other);
/* How often somebody began to measure beside others, and who did last (0 = not known): also of one
 * who came and went between two looks. */
uint64_t lock_count_visits(const struct lock *lock, int *pid);
/* Whether somebody uses a resource whose name begins so; what cannot be told counts as used. */
bool lock_is_used(const char *folder, const char *prefix);
/* Remove the files whose names begin so that nobody uses: of runs whose processes were killed. */
void lock_sweep(const char *folder, const char *prefix);
/* Unlock. remove: nobody will want the resource again (a run that has ended). NULL is accepted. */
void lock_close(struct lock *lock, bool remove);
