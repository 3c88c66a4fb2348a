// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nghttp2/nghttp2.h>
// malloc_usable_size, for the memory that nghttp2 is given: the Glibc module lacks this header.
#include <malloc.h>
