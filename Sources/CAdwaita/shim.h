// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtk/gtk.h>
#include <adwaita.h>
#include <glib-unix.h>
#include <gdk/x11/gdkx.h>
#include <X11/extensions/Xrandr.h>
#include <libintl.h>
#include <locale.h>
