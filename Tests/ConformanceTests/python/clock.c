// SPDX-License-Identifier: Apache-2.0
//
// A library to preload into a server whose clocks a test puts forward. It adds an offset in nanoseconds to every clock.
// The offset is the first eight bytes of $POSTHORN_CLOCK_FILE, which the test changes while the server runs. A wait until
// a shifted time is converted back to the kernel's clock.
//
// The functions have the versions that glibc gives them (clock.map), because the thread sanitizer looks them up by version.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *offset;

__attribute__((constructor)) static void map_offset(void) {
    const char *path = getenv("POSTHORN_CLOCK_FILE");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *memory = mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (memory != MAP_FAILED) offset = memory;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    long code = syscall(SYS_clock_gettime, clock, time);
    if (code == 0 && offset && (clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME)) {
        int64_t sum = time->tv_nsec + *offset % 1000000000;
        time->tv_sec += *offset / 1000000000 + sum / 1000000000;
        time->tv_nsec = sum % 1000000000;
    }
    return (int)code;
}

__asm__(".symver wait_until, pthread_cond_timedwait@@@GLIBC_2.3.2");
int wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *moment) {
    static int (*wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    if (!wait) wait = (int (*)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *))dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    struct timespec real = *moment;
    if (offset) {
        real.tv_sec -= *offset / 1000000000;
        real.tv_nsec -= *offset % 1000000000;
        if (real.tv_nsec < 0) {
            real.tv_nsec += 1000000000;
            real.tv_sec -= 1;
        }
        if (real.tv_sec < 0) real = (struct timespec){0};
    }
    return wait(condition, mutex, &real);
}
