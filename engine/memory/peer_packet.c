#include "engine/memory/peer_packet.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

ENUM_NAMES_DEFINE(peer_request, PEER_REQUEST_LIST)

/* Room for one descriptor beside a packet. */
union peer_control {
  char bytes[CMSG_SPACE(sizeof(int))];
  struct cmsghdr header;
};

bool peer_send(int fd, const void *packet, size_t size_bytes, int file) {
  struct iovec part = {.iov_base = (void *)(uintptr_t)packet, .iov_len = size_bytes};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  union peer_control control;
  memset(&control, 0, sizeof control);
  if (file >= 0) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(header), &file, sizeof file);
  }
  ssize_t sent = -1;
  do {
    sent = sendmsg(fd, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == (ssize_t)size_bytes;
}

bool peer_receive(int fd, void *packet, size_t size_bytes, int *file) {
  struct iovec part = {.iov_base = packet, .iov_len = size_bytes};
  union peer_control control;
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  ssize_t got = -1;
  do {
    got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  *file = -1;
  const struct cmsghdr *header = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
  if (header != NULL && header->cmsg_type == SCM_RIGHTS) {
    memcpy(file, CMSG_DATA(header), sizeof *file);
  }
  const bool whole = got == (ssize_t)size_bytes;
  if (!whole && *file >= 0) {
    (void)close(*file);
    *file = -1;
  }
  return whole;
}
