// SPDX-License-Identifier: Apache-2.0
#pragma once
// Linux headers that the Glibc module lacks. Defines no feature macro: see STYLE, section 4.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/file.h>
#include <sys/random.h>
