// SPDX-License-Identifier: Apache-2.0
// The only C target: macros, variadic functions, and declarations that need _GNU_SOURCE, which Swift cannot import.
// All names have the prefix push_. The functions contain no logic.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Calls accept4(2) with SOCK_NONBLOCK | SOCK_CLOEXEC: Glibc's module hides it without _GNU_SOURCE.
int push_accept_nonblocking(int listener);

/// Calls pipe2(2) with O_CLOEXEC: Glibc's module hides it without _GNU_SOURCE. Returns 0, or -1 with errno.
int push_pipe(int ends[2]);

/// Calls posix_spawn_file_actions_addclosefrom_np(3), which needs _GNU_SOURCE. Returns 0, or the value of errno.
/// `actions` is a posix_spawn_file_actions_t. Including spawn.h here would assign types of Glibc's module to this
/// module in a static build.
int push_spawn_closing_from(void *actions, int lowest);

/// Calls posix_spawn_file_actions_addchdir_np(3), which needs _GNU_SOURCE. Returns 0, or the value of errno.
int push_spawn_in_directory(void *actions, const char *path);

/// Returns the peer credentials of a UNIX socket: `struct ucred` needs _GNU_SOURCE. Returns 0, or -1 with errno.
int push_peer_credentials(int socket, uint32_t *user, uint32_t *group, int32_t *process);

/// Returns the number of arguments of this process, including the program's name. The C library passes them to a function
/// that runs before main; Swift reads them from /proc, which is not mounted in every chroot.
int push_argument_count(void);

/// Returns an argument of this process; `index` is below push_argument_count().
const char *push_argument(int index);

/// Sets FD_CLOEXEC on all descriptors from `lowest` on: close_range(2) needs _GNU_SOURCE. Returns 0, or -1 with errno.
int push_close_on_exec_from(int lowest);

/// Names the current thread: pthread_setname_np(3) needs _GNU_SOURCE, and prctl(2) is variadic. Keeps the first 15
/// bytes.
void push_name_this_thread(const char *name);

/// Removes a directory tree with nftw(3), which Glibc's module hides without _XOPEN_SOURCE. Does not follow symbolic
/// links.
int push_remove_tree(const char *path);

/// Installs a filter of system calls for all threads with seccomp(2), after PR_SET_NO_NEW_PRIVS: both calls are
/// variadic. `instructions` is an array of struct sock_filter. Returns 0, or -1 with errno.
int push_install_system_call_filter(const void *instructions, unsigned short count);
