// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtk/gtk.h>
#include <adwaita.h>
#include <glib-unix.h>
#include <gdk/x11/gdkx.h>
#include <libintl.h>
#include <locale.h>
