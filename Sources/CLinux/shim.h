// SPDX-License-Identifier: Apache-2.0
#pragma once
// Linux headers that the Glibc module lacks. Defines no feature macro: _GNU_SOURCE here would give one struct two definitions.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/random.h>
#include <asm/unistd.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/rtnetlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <libintl.h>
