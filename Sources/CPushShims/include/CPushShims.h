// SPDX-License-Identifier: Apache-2.0
// The one C target: macros, variadic functions and what needs _GNU_SOURCE, which Swift cannot import.
// Prefix push_, no logic.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "CPushShimsCurl.h"

/// accept4(2) with SOCK_NONBLOCK | SOCK_CLOEXEC: Glibc's module hides it without _GNU_SOURCE.
int push_accept_nonblocking(int listener);

/// pipe2(2) with O_CLOEXEC: Glibc's module hides it without _GNU_SOURCE. Returns 0, or -1 with errno.
int push_pipe(int ends[2]);

/// posix_spawn_file_actions_addclosefrom_np(3), which needs _GNU_SOURCE. Returns 0, or the value of errno. `actions` is a
/// posix_spawn_file_actions_t: with spawn.h here, types of Glibc's module would count as this one's in a static build.
int push_spawn_closing_from(void *actions, int lowest);

/// posix_spawn_file_actions_addchdir_np(3), which needs _GNU_SOURCE. Returns 0, or the value of errno.
int push_spawn_in_directory(void *actions, const char *path);

/// Peer credentials of a UNIX socket: `struct ucred` needs _GNU_SOURCE. Returns 0, or -1 with errno.
int push_peer_credentials(int socket, uint32_t *user, uint32_t *group, int32_t *process);

/// pthread_setname_np(3) needs _GNU_SOURCE, prctl(2) is variadic. Keeps the first 15 bytes of the name.
void push_name_this_thread(const char *name);

/// Removes a directory and all below it by nftw(3), which Glibc's module hides without _XOPEN_SOURCE. Follows no links.
int push_remove_tree(const char *path);
