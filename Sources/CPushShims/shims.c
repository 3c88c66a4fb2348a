// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CPushShims.h"
#include <fcntl.h>
#include <ftw.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int push_accept_nonblocking(int listener) {
    return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int push_peer_credentials(int socket, uint32_t *user, uint32_t *group, int32_t *process) {
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -1;
    *user = credentials.uid;
    *group = credentials.gid;
    *process = credentials.pid;
    return 0;
}

int push_close_on_exec_from(int lowest) { return close_range((unsigned)lowest, ~0U, CLOSE_RANGE_CLOEXEC); }

static int argument_count;
static char **arguments;

// glibc calls each constructor with the parameters of main.
__attribute__((constructor)) static void keep_arguments(int count, char **values) {
    argument_count = count;
    arguments = values;
}

int push_argument_count(void) { return argument_count; }

const char *push_argument(int index) { return arguments[index]; }

void push_name_this_thread(const char *name) {
    prctl(PR_SET_NAME, name, 0, 0, 0);
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    return remove(path);
}

int push_remove_tree(const char *path) {
    return nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

int push_pipe(int ends[2]) {
    return pipe2(ends, O_CLOEXEC);
}

int push_spawn_closing_from(void *actions, int lowest) {
    return posix_spawn_file_actions_addclosefrom_np(actions, lowest);
}

int push_spawn_in_directory(void *actions, const char *path) {
    return posix_spawn_file_actions_addchdir_np(actions, path);
}

int push_install_system_call_filter(const void *instructions, unsigned short count) {
    struct sock_fprog program = {count, (struct sock_filter *)instructions};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    // With this flag, the result is the ID of a thread that cannot be filtered.
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0 ? 0 : -1;
}
