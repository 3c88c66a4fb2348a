// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <curl/curl.h>
#include "variadic.h"
