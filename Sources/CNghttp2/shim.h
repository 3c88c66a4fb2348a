// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nghttp2/nghttp2.h>
